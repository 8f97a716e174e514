"""Fuzz every reader of untrusted files: ``python -m benchmarks.fuzz --inputs 1000000``.

Coverage-guided with Atheris (``pip install atheris``), which mutates small valid files. Each reader
runs in its own process, ``--processes`` of them at once; captions and task files then run in
several, with different seeds. A fault is an exception other than ``HowstepsError``, a crash, more
than 20 seconds for one input, or more than 2 GB of memory. Prints a table, and the input of every
fault; the exit code is 1 if there was any.
"""

import argparse
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path
from typing import NamedTuple

from benchmarks.fuzz_readers import NASTY, readers

SECONDS, MEGABYTES, MAX_BYTES = 20, 2048, 8192  # limits for one input
# Relative numbers of inputs (default 1): captions have the most varied sources.
SHARES = {"captions": 10, "task file": 4}
# Modules that are instrumented; code compiled by Numba cannot be.
INSTRUMENTED = (
    *("howsteps.captions", "howsteps.datasets", "howsteps.io", "howsteps.localise.model"),
    *("howsteps.pipeline.cache", "howsteps.pipeline.options", "howsteps.pipeline.work_folder"),
    *("howsteps.reader", "howsteps.script.text_form", "howsteps.serve.edits", "howsteps.store"),
)


class Shard(NamedTuple):
    """A part of the inputs of one reader, for one process."""

    reader: str
    inputs: int
    seed: int


class Outcome(NamedTuple):
    """What one or more shards found; seconds are of processor time."""

    tried: int
    read: int
    faults: int
    seconds: float


def main() -> None:
    """Fuzz every reader with its share of the inputs, and print the table."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--inputs", type=int, default=1_000_000)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--only", default="", help="only readers whose name contains this")
    options.add_argument("--processes", type=int, default=1, help="shards that run at once")
    chosen = options.parse_args()
    names = [reader.name for reader in readers() if chosen.only in reader.name]
    parts = shards(names, chosen.inputs, chosen.processes, chosen.seed)
    print("| reader | inputs | read | refused | processor s | faults |\n|---|---|---|---|---|---|")
    with ThreadPoolExecutor(chosen.processes) as pool:
        running = [(part.reader, pool.submit(_run, part)) for part in parts]
        rows = [_row(name, [run for of, run in running if of == name]) for name in names]
    tried, read, faults, seconds = map(sum, zip(*rows, strict=True))
    print(
        f"\n{tried:,} inputs, {seconds:.0f} s: {read:,} read, the others refused; {faults} faults"
    )
    sys.exit(bool(faults))


def shards(names: Sequence[str], inputs: int, processes: int, seed: int) -> list[Shard]:
    """Divide the inputs among the readers, and those of a reader with a large share further."""
    shares = [SHARES.get(name, 1) for name in names]
    parts = []
    for name, share in zip(names, shares, strict=True):
        count = min(share, processes)
        wanted = -(-inputs * share // (sum(shares) * count))
        parts += [Shard(name, wanted, seed + number) for number in range(count)]
    return parts


def _row(name: str, runs: Iterable[Future[Outcome]]) -> Outcome:
    """Wait for the shards of a reader, and print its row of the table."""
    total = Outcome(*map(sum, zip(*(run.result() for run in runs), strict=True)))
    tried, read, faults, seconds = total
    cells = (name, f"{tried:,}", f"{read:,}", f"{tried - read:,}", f"{seconds:.0f}", faults)
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)
    return total


def _run(shard: Shard) -> Outcome:
    """Fuzz one reader in a process of its own."""
    context = multiprocessing.get_context("spawn")
    tried, read, seconds = context.Value("q", 0), context.Value("q", 0), context.Value("d", 0.0)
    with tempfile.TemporaryDirectory() as temporary:
        args = (shard, Path(temporary), tried, read, seconds)
        process = context.Process(target=_fuzz, args=args)
        process.start()
        process.join()
        found = sorted(Path(temporary).glob("fault-*"))
        for path in found:
            print(f"{shard.reader}: {path.name}: {path.read_bytes()!r}", file=sys.stderr)
    faults = len(found) or int(process.exitcode != 0)
    return Outcome(tried.value, read.value, faults, seconds.value)


def _fuzz(
    shard: Shard,
    scratch: Path,
    tried: "Synchronized[int]",
    read: "Synchronized[int]",
    seconds: "Synchronized[float]",
) -> None:
    import atheris  # noqa: PLC0415 - only for the children; instruments later imports

    _unload_readers()
    with atheris.instrument_imports(include=["howsteps"], enable_loader_override=False):
        from benchmarks.fuzz_readers import readers as instrumented_readers  # noqa: PLC0415

        reader = next(reader for reader in instrumented_readers() if reader.name == shard.reader)
    corpus, folder, words = scratch / "corpus", scratch / "folder", scratch / "words"
    corpus.mkdir()
    folder.mkdir()
    for number, seed_file in enumerate(reader.seeds):
        (corpus / str(number)).write_bytes(seed_file)
    escaped = ("".join(f"\\x{byte:02x}" for byte in word) for word in NASTY if word)
    words.write_text("".join(f'"{word}"\n' for word in escaped))

    def one_input(data: bytes) -> None:
        tried.value += 1
        read.value += reader.check(data, folder)
        seconds.value = time.process_time() - began

    limits = [f"-runs={shard.inputs}", f"-timeout={SECONDS}", f"-rss_limit_mb={MEGABYTES}"]
    # Without control of the length, which keeps inputs at 120 bytes for the first 200,000.
    how = [f"-max_len={MAX_BYTES}", "-len_control=0", f"-seed={shard.seed}", f"-dict={words}"]
    where = [f"-artifact_prefix={scratch}/fault-", str(corpus)]
    atheris.Setup([sys.argv[0], "-verbosity=0", *limits, *how, *where], one_input)
    began = time.process_time()
    atheris.Fuzz()


def _unload_readers() -> None:
    """Unload the modules to be instrumented, so that they are imported again."""
    prefixes = (*INSTRUMENTED, "benchmarks.fuzz_readers")
    for module in [m for m in sys.modules if m.startswith(prefixes)]:
        del sys.modules[module]
        package, _, name = module.rpartition(".")
        # Otherwise ``from howsteps import captions`` would find the old module.
        if package in sys.modules:
            vars(sys.modules[package]).pop(name, None)


if __name__ == "__main__":
    main()
