"""Make the word vectors of the script: ``python -m training.word_vectors MODEL FILE``.

MODEL is the folder of potion-base-8M (``model.safetensors``, ``tokenizer.json``; MIT, Minish Lab):
static vectors of word pieces, distilled from a sentence encoder. Pieces of letters are kept, their
vectors cut down to the first principal components and to one byte a number. FILE is an ``.npz``.
"""

import argparse
import json
import struct
from pathlib import Path

import numpy as np

DIMENSIONS = 64


def read_safetensors(path: Path) -> np.ndarray:
    """The first table of a safetensors file: a header in JSON, then the numbers (float32)."""
    raw = path.read_bytes()
    [size] = struct.unpack("<Q", raw[:8])
    header = json.loads(raw[8 : 8 + size])
    [entry] = [value for name, value in header.items() if name != "__metadata__"]
    begin, end = entry["data_offsets"]
    return np.frombuffer(raw[8 + size + begin : 8 + size + end], np.float32).reshape(entry["shape"])


def pieces_of_letters(tokenizer: Path) -> dict[str, int]:
    """Pieces of letters with their rows; one that goes on a word begins with ``##``."""
    pieces: dict[str, int] = json.loads(tokenizer.read_text("utf-8"))["model"]["vocab"]
    return {
        piece: row
        for piece, row in pieces.items()
        if (letters := piece.removeprefix("##")).isascii() and letters.isalpha()
    }


def shrunk(rows: np.ndarray, dimensions: int = DIMENSIONS) -> np.ndarray:
    """Unit rows in the first principal directions, as whole numbers from −127 to 127."""
    unit = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
    _, vectors = np.linalg.eigh(unit.T @ unit)
    short = unit @ vectors[:, ::-1][:, :dimensions]
    short /= np.maximum(np.linalg.norm(short, axis=1, keepdims=True), 1e-9)
    return np.round(short * 127).astype(np.int8)


def main() -> None:
    """Read the model, write the table."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("model", type=Path)
    options.add_argument("file", type=Path)
    asked = options.parse_args()
    words = pieces_of_letters(asked.model / "tokenizer.json")
    names = sorted(words)
    rows = read_safetensors(asked.model / "model.safetensors")[[words[name] for name in names]]
    text = np.frombuffer("\n".join(names).encode(), np.uint8)
    np.savez_compressed(asked.file, words=text, vectors=shrunk(rows))


if __name__ == "__main__":
    main()
