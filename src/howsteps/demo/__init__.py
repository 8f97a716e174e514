"""A demo job that ships with howsteps: narrations, and code that renders the videos."""
