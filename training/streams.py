"""Captions and manuals to streams of words for the teacher: ``python -m training.streams``."""

import argparse
import json
from pathlib import Path

import spacy

from howsteps import datasets
from howsteps.captions.words import words_of
from training.manuals import read_manuals


def main() -> None:
    """Write ``{name: [stream, …]}``; a stream is ``[[word, space after it], …]``.

    A narration is one stream; a page of a manual has one for each paragraph, because a sentence
    ends with its paragraph.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("captions", type=Path, help="caption files that howsteps can read")
    parser.add_argument("output", type=Path, help="JSON")
    parser.add_argument("--manuals", type=Path, help="folder of unpacked manuals")
    options = parser.parse_args()
    tokenize = spacy.blank("en").tokenizer
    texts = {
        f"silver/{task.name}/{video.id}": [" ".join(word.text for word in words_of(video.captions))]
        for task in datasets.read_tasks(options.captions).tasks
        for video in task.videos
    }
    texts.update(read_manuals(options.manuals) if options.manuals else ())
    streams = {
        name: [
            [[token.text, bool(token.whitespace_)] for token in tokenize(text)] for text in parts
        ]
        for name, parts in texts.items()
    }
    options.output.write_text(json.dumps(streams, ensure_ascii=False), "utf-8")


if __name__ == "__main__":
    main()
