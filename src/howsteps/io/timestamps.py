"""Times as text."""


def format_time(seconds: float) -> str:
    """``4:05``, or ``1:02:03`` from an hour on, as people write times under a video."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def format_timestamp(seconds: float, point: str = ".") -> str:
    """``00:01:02.500`` as in WebVTT, or with a comma as in SubRip."""
    minutes, rest = divmod(milliseconds(seconds), 60_000)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02}:{minutes:02}:{rest // 1000:02}{point}{rest % 1000:03}"


def milliseconds(seconds: float) -> int:
    """Seconds as whole milliseconds."""
    return round(1000 * seconds)
