"""Readers: each turns files on disk into a Task."""
