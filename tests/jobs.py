"""A synthetic job with narrations and ground truth."""

import json
from pathlib import Path

SAYINGS = (
    ("boil the water", 2.0),
    ("put the tea bag in the cup", 10.0),
    ("pour the water", 18.0),
    ("stir the tea", 26.0),
)
STEPS = ("boil water", "put bag", "pour water", "stir tea")
LENGTH = 34.0
RULES = {
    "boil water": [{"verbs": ["boil"], "nouns": ["water"]}],
    "put bag": [{"verbs": ["put"], "nouns": ["bag", "cup"]}],
    "pour water": [{"verbs": ["pour"], "nouns": ["water"]}],
    "stir tea": [{"verbs": ["stir"], "nouns": ["tea"]}],
}


def tea(videos: int = 6, *, name: str = "Make tea") -> dict[str, object]:
    """A task file; each step is mentioned, and starts a second later for four seconds."""
    entries = {}
    for n in range(videos):
        late = 0.4 * n
        said = [s for k, s in enumerate(SAYINGS) if k != n % 5]  # most videos leave a step unsaid
        entries[f"v{n}"] = {
            "duration": LENGTH,
            "asr": [
                [at + late, at + late + 2, f"now {what} like this and that is good"]
                for what, at in said
            ],
            "steps": [[k + 1, at + late + 1, at + late + 5] for k, (_, at) in enumerate(SAYINGS)],
        }
    return {"task": name, "step_names": list(STEPS), "videos": entries}


def write_tea(path: Path, **options: object) -> Path:
    path.write_text(json.dumps(tea(**options)))
    return path


def write_rules(path: Path) -> Path:
    path.write_text(json.dumps({"rules": RULES}))
    return path


def write_tea_folder(folder: Path, videos: int = 6) -> Path:
    """The same job as a folder of caption files with a table of steps."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = ["video,step,start,end"]
    for name, entry in tea(videos)["videos"].items():
        cues = [
            f"{n}\n00:00:{start:06.3f} --> 00:00:{end:06.3f}\n{text}\n".replace(".", ",")
            for n, (start, end, text) in enumerate(entry["asr"], 1)
        ]
        (folder / f"{name}.srt").write_text("\n".join(cues))
        rows += (f"{name},{STEPS[k - 1]},{start},{end}" for k, start, end in entry["steps"])
    (folder / "steps.csv").write_text("\n".join(rows) + "\n")
    return folder
