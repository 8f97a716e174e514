"""Reading and writing files: with size limits, atomically, checked."""
