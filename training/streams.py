"""Captions to streams of words, for the teacher to label: ``python -m training.streams``."""

import argparse
import json
from pathlib import Path

import spacy

from howsteps import datasets
from howsteps.narration.words import spoken


def main() -> None:
    """Write ``{"silver/task/video": [[word, space after it], …]}`` of every narration."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("captions", type=Path, help="caption files that howsteps can read")
    parser.add_argument("output", type=Path, help="JSON")
    options = parser.parse_args()
    tokenize = spacy.blank("en").tokenizer
    streams = {
        f"silver/{task.name}/{video.id}": [
            [token.text, bool(token.whitespace_)]
            for token in tokenize(" ".join(word.text for word in spoken(video.captions)))
        ]
        for task in datasets.read(options.captions).tasks
        for video in task.videos
    }
    options.output.write_text(json.dumps(streams, ensure_ascii=False), "utf-8")


if __name__ == "__main__":
    main()
