"""What people look at: the page, its pictures, and figures for papers."""
