"""Output for people: the page, exports, and figures for papers."""
