"""Times as the formats write them."""


def stamp(seconds: float, point: str = ".") -> str:
    """``00:01:02.500`` (WebVTT), or with a comma (SubRip)."""
    minutes, rest = divmod(milliseconds(seconds), 60_000)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02}:{minutes:02}:{rest // 1000:02}{point}{rest % 1000:03}"


def milliseconds(seconds: float) -> int:
    """Whole milliseconds."""
    return round(1000 * seconds)
