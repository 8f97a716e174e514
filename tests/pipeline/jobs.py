"""Small folders of captions of one job, washing a cat."""

from pathlib import Path

ACTS = (
    "fill the tub",
    "catch the cat",
    "wash the cat",
    "rinse the fur",
    "dry the cat",
    "open the door",
)
# Everybody says it in other words: who speaks like another counts as a copy.
MANNERS = {
    "ann": "first of all you {} with a smile on your face",
    "bob": "so what i do now is {} and i take my time",
    "cyd": "okay here you want to {} before it gets any later",
    "dan": "next just go ahead and {} as my mother did",
    "eve": "at this point please {} while nobody is looking",
    "flo": "the thing is that you always {} on a sunday morning",
}
# Who leaves out which act.
NARRATORS: dict[str, tuple[int, ...]] = {
    "ann": (),
    "bob": (3,),
    "cyd": (1,),
    "dan": (4,),
    "eve": (),
}


def narration(who: str, missing: tuple[int, ...] = ()) -> str:
    """A SubRip file with an act every eight seconds, except for missing ones."""
    return subrip({n: MANNERS[who].format(act) for n, act in enumerate(ACTS) if n not in missing})


def subrip(lines: dict[int, str]) -> str:
    """A SubRip file with one line per eight seconds."""
    return "\n".join(
        f"{n + 1}\n00:00:{8 * n + 2:02},000 --> 00:00:{8 * n + 5:02},000\n{line}\n"
        for n, line in lines.items()
    )


def captions(folder: Path, names: tuple[str, ...] = tuple(NARRATORS)) -> Path:
    """A folder with the captions of some videos."""
    folder.mkdir(parents=True)
    for name in names:
        (folder / f"{name}.srt").write_text(narration(name, NARRATORS[name]), "utf-8")
    return folder


def written(folder: Path) -> dict[str, bytes]:
    """All files that a run wrote, by name, without the cache."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and "cache" not in path.relative_to(folder).parts
        and not path.name.endswith(".part")
    }
