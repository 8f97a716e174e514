"""Make the table of word vectors: ``python -m training.word_vectors MODEL FILE``.

MODEL is the folder of potion-base-8M (``model.safetensors``, ``tokenizer.json``; MIT, Minish Lab):
static embeddings of word pieces, distilled from a sentence encoder. Pieces that consist of letters
are kept; their vectors are reduced to 64 principal components and quantised to int8. FILE is an
``.npz``.
"""

import argparse
import json
import struct
from pathlib import Path

import numpy as np

DIMENSIONS = 64


def read_safetensors(path: Path) -> np.ndarray:
    """The only float32 tensor of a safetensors file (a JSON header, then the raw data)."""
    raw = path.read_bytes()
    [size] = struct.unpack("<Q", raw[:8])
    header = json.loads(raw[8 : 8 + size])
    [entry] = [value for name, value in header.items() if name != "__metadata__"]
    begin, end = entry["data_offsets"]
    return np.frombuffer(raw[8 + size + begin : 8 + size + end], np.float32).reshape(entry["shape"])


def alphabetic_pieces(tokenizer: Path) -> dict[str, int]:
    """Word pieces of ASCII letters and their rows; ``##`` marks a continuation."""
    pieces: dict[str, int] = json.loads(tokenizer.read_text("utf-8"))["model"]["vocab"]
    return {
        piece: row
        for piece, row in pieces.items()
        if (letters := piece.removeprefix("##")).isascii() and letters.isalpha()
    }


def compress(rows: np.ndarray, dimensions: int = DIMENSIONS) -> np.ndarray:
    """Project unit rows onto the first principal directions; int8 from −127 to 127."""
    unit = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
    _, vectors = np.linalg.eigh(unit.T @ unit)
    short = unit @ vectors[:, ::-1][:, :dimensions]
    short /= np.maximum(np.linalg.norm(short, axis=1, keepdims=True), 1e-9)
    return np.round(short * 127).astype(np.int8)


def main() -> None:
    """Convert the model and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("file", type=Path)
    options = parser.parse_args()
    pieces = alphabetic_pieces(options.model / "tokenizer.json")
    names = sorted(pieces)
    rows = read_safetensors(options.model / "model.safetensors")[[pieces[name] for name in names]]
    text = np.frombuffer("\n".join(names).encode(), np.uint8)
    np.savez_compressed(options.file, words=text, vectors=compress(rows))


if __name__ == "__main__":
    main()
