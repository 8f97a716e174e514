"""Output for people: the page, exports, and figures for papers."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from howsteps.report.page import write_page as write_page

__all__ = ["write_page"]


def __getattr__(name: str) -> Any:
    """Load ``write_page`` on first use, because worker processes do not need it."""
    if name == "write_page":
        from howsteps.report.page import write_page  # noqa: PLC0415

        return write_page
    raise AttributeError(f"module 'howsteps.report' has no attribute {name!r}")
