"""What people look at: the page, its pictures, and figures for papers."""

from howsteps.report.page import write_page

__all__ = ["write_page"]
