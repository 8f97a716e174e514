"""``howsteps serve``: the page of a work folder, alive. Edits are journalled, and placed again."""
