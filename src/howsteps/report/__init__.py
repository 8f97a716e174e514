"""What people look at: the page, exports, and figures for papers."""

from howsteps.report.page import write_page

__all__ = ["write_page"]
