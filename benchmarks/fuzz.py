"""Fuzz every reader of untrusted files: ``python -m benchmarks.fuzz --inputs 1000000``.

Coverage-guided with Atheris (``pip install atheris``), which mutates small valid files. Each reader
runs in its own process. A fault is an exception other than ``HowstepsError``, a crash, more than 20
seconds for one input, or more than 2 GB of memory. Prints a table, and the input of every fault;
the exit code is 1 if there was any.
"""

import argparse
import multiprocessing
import sys
import tempfile
import time
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path

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


def main() -> None:
    """Fuzz every reader with its share of the inputs, and print the table."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--inputs", type=int, default=1_000_000)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--only", default="", help="only readers whose name contains this")
    chosen = options.parse_args()
    names = [reader.name for reader in readers() if chosen.only in reader.name]
    shares = [SHARES.get(name, 1) for name in names]
    print("| reader | inputs | read | refused | seconds | faults |\n|---|---|---|---|---|---|")
    totals = [0, 0, 0]
    for name, share in zip(names, shares, strict=True):
        wanted = -(-chosen.inputs * share // sum(shares))
        tried, read, faults, seconds = _run(name, wanted, chosen.seed)
        cells = (name, f"{tried:,}", f"{read:,}", f"{tried - read:,}", f"{seconds:.0f}", faults)
        print("| " + " | ".join(map(str, cells)) + " |", flush=True)
        totals = [old + new for old, new in zip(totals, (tried, read, faults), strict=True)]
    print(f"\n{totals[0]:,} inputs: {totals[1]:,} read, the others refused; {totals[2]} faults")
    sys.exit(bool(totals[2]))


def _run(name: str, inputs: int, seed: int) -> tuple[int, int, int, float]:
    """Fuzz one reader; return the inputs tried, the inputs read, faults, and seconds."""
    context = multiprocessing.get_context("spawn")
    tried, read = context.Value("q", 0), context.Value("q", 0)
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as temporary:
        args = (name, inputs, seed, Path(temporary), tried, read)
        process = context.Process(target=_fuzz, args=args)
        process.start()
        process.join()
        found = sorted(Path(temporary).glob("fault-*"))
        for path in found:
            print(f"{name}: {path.name}: {path.read_bytes()!r}", file=sys.stderr)
    faults = len(found) or int(process.exitcode != 0)
    return tried.value, read.value, faults, time.perf_counter() - started


def _fuzz(
    name: str,
    inputs: int,
    seed: int,
    scratch: Path,
    tried: "Synchronized[int]",
    read: "Synchronized[int]",
) -> None:
    import atheris  # noqa: PLC0415 - only for the children; instruments later imports

    _unload_readers()
    with atheris.instrument_imports(include=["howsteps"], enable_loader_override=False):
        from benchmarks.fuzz_readers import readers as instrumented_readers  # noqa: PLC0415

        reader = next(reader for reader in instrumented_readers() if reader.name == name)
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

    limits = [f"-runs={inputs}", f"-timeout={SECONDS}", f"-rss_limit_mb={MEGABYTES}"]
    how = [f"-max_len={MAX_BYTES}", f"-seed={seed}", f"-dict={words}", "-verbosity=0"]
    where = [f"-artifact_prefix={scratch}/fault-", str(corpus)]
    atheris.Setup([sys.argv[0], *limits, *how, *where], one_input)
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
