"""Parse captions from text; helpers of the tests."""

from howsteps.captions import CaptionFile, parse_captions


def parse(text: str) -> CaptionFile:
    return parse_captions(text.encode("utf-8", "surrogatepass"), "here.txt")


def problems(text: str) -> list[str]:
    return [str(problem) for problem in parse(text).problems]


def spans(text: str) -> list[tuple[float, float, str]]:
    return [(line.start, line.end, line.text) for line in parse(text).captions]


def timed_words(text: str) -> list[tuple[str, float, float]]:
    """The words of the only caption."""
    (line,) = parse(text).captions
    return [(word.text, word.start, word.end) for word in line.words]


def subrip(*cues: tuple[str, str]) -> str:
    return "\n".join(f"{i}\n{times}\n{text}\n" for i, (times, text) in enumerate(cues, 1))
