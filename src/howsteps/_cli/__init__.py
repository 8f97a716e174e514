"""The command line, and nothing the library needs."""
