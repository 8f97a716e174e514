"""The stages put together: from a path to a work folder."""
