"""Reading and writing files: bounded, atomic, checked."""
