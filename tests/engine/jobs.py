"""Small folders of one job: people wash a cat, and say so."""

from pathlib import Path

LINES = (
    "first you fill the tub with some warm water",
    "then you catch the cat and you hold it",
    "now you wash the cat with a little soap",
    "after that you rinse the fur with clean water",
    "you dry the cat with an old towel",
    "at the end you open the door and let it go",
)
# Who leaves out which line.
NARRATORS = {"ann": (), "bob": (3,), "cyd": (1,), "dan": (4,), "eve": ()}


def narration(missing: tuple[int, ...] = (), *, lines: tuple[str, ...] = LINES) -> str:
    """A SubRip file: a line every eight seconds, but for those that are missing."""
    cues = [
        f"{n + 1}\n00:00:{8 * n + 2:02},000 --> 00:00:{8 * n + 5:02},000\n{line}\n"
        for n, line in enumerate(lines)
        if n not in missing
    ]
    return "\n".join(cues)


def captions(folder: Path, names: tuple[str, ...] = tuple(NARRATORS)) -> Path:
    """A folder with the captions of some videos."""
    folder.mkdir(parents=True)
    for name in names:
        (folder / f"{name}.srt").write_text(narration(NARRATORS[name]), "utf-8")
    return folder


def written(folder: Path) -> dict[str, bytes]:
    """All that a run wrote for people and programs; what it keeps for itself is left out."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and "cache" not in path.relative_to(folder).parts
        and not path.name.endswith(".part")
    }
