"""From captions to what the narrators say they do, with times."""
