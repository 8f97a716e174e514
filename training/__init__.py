"""Makes the files that ship with howsteps: the parser, the WordNet table, the demo captions."""
