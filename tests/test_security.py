"""The guarantees of docs/reference/security.md about the code: no file content is executed."""

import ast
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import howsteps

ROOT = Path(howsteps.__file__).parent
MODULES = sorted(ROOT.rglob("*.py"))

# Modules that run text as code, open pickles, or start other programs.
FORBIDDEN_MODULES = {
    *("pickle", "cPickle", "dill", "cloudpickle", "joblib", "marshal", "shelve", "jsonpickle"),
    *("subprocess", "pty", "commands", "code", "codeop", "runpy"),
}
FORBIDDEN_CALLS = {
    *("eval", "exec", "compile", "__import__", "os.system", "os.popen", "yaml.load"),
    *("pandas.read_pickle", "numpy.loadtxt", "np.fromregex", "tempfile.mktemp"),
}
# The one place that starts a program: our own interpreter on one of our modules, a video each.
ALLOWED = {"io/worker_process.py": ["subprocess"]}
FORBIDDEN_STARTS = ("os.exec", "os.spawn", "os.posix_spawn", "asyncio.create_subprocess")


def dotted(node: ast.expr) -> str:
    """The dotted name of a called function, such as ``np.load``; empty if it has none."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and (before := dotted(node.value)):
        return f"{before}.{node.attr}"
    return ""


def faults(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        else:
            names = []
        yield from (n for n in names if n.split(".")[0] in FORBIDDEN_MODULES)
        if not isinstance(node, ast.Call):
            continue
        name = dotted(node.func)
        given = {keyword.arg: ast.unparse(keyword.value) for keyword in node.keywords}
        if name in FORBIDDEN_CALLS or name.startswith(FORBIDDEN_STARTS):
            yield name
        if given.get("shell", "False") != "False" or given.get("allow_pickle", "False") != "False":
            yield ast.unparse(node)
        if name.endswith(("np.load", "numpy.load")) and given.get("allow_pickle") != "False":
            yield ast.unparse(node)
        if name == "torch.load" and given.get("weights_only") != "True":
            yield ast.unparse(node)


@pytest.mark.slow
def test_no_pickle_no_eval_no_shell():
    found = {
        path.relative_to(ROOT).as_posix(): faulty
        for path in MODULES
        if (faulty := list(faults(ast.parse(path.read_text("utf-8")))))
    }
    assert found == ALLOWED


def test_the_only_program_that_is_started_is_our_own():
    tree = ast.parse((ROOT / "io" / "worker_process.py").read_text("utf-8"))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    started = [node for node in calls if dotted(node.func).startswith("subprocess.")]
    assert [ast.unparse(node.args[0]) for node in started] == ["[sys.executable, '-m', module]"]


@pytest.mark.parametrize(
    "text",
    [
        "import pickle",
        "from subprocess import run",
        "eval('1')",
        "os.system('ls')",
        "os.execv('ls', [])",
        "np.load(path)",
        "np.load(path, allow_pickle=True)",
        "np.save(path, x, allow_pickle=True)",
        "torch.load(path)",
        "anything(shell=True)",
    ],
)
def test_the_scan_finds_what_it_looks_for(text):
    assert list(faults(ast.parse(text)))


def test_the_package_contains_no_pickle():
    for path in ROOT.rglob("*"):
        if path.is_file():
            assert path.suffix not in {".pkl", ".pickle", ".pt", ".pth", ".joblib"}
            assert not os.access(path, os.X_OK), f"{path} can be run"


# Who opens files by other means than io/files.py, which opens only regular ones: files that ship
# with howsteps, files of the system, files that it writes itself.
OPENERS = {
    "io/worker_process.py": ["Path('/proc/self/statm').read_text"],
    "pipeline/executor.py": ["Path('/proc/meminfo').read_text"],
    "reader/exchange.py": ["(_QUESTIONS / f'{name}.txt').read_text"],
    "report/page.py": ["(_PARTS / name).read_text"],
    "report/exports/video_copies.py": ["av.open"],
    "datasets/fetch.py": ["tarfile.open"],
    "io/media.py": ["av.open", "target.open"],
    "demo/job.py": ["av.open", "caption.read_bytes"],
}
OPENING = {"open", "read_text", "read_bytes", "decode_audio", "memmap"}
# Who writes and removes files by other means: downloads, and files that the user named.
WRITERS = {
    "datasets/fetch.py": ["folder.mkdir"],
    "pipeline/cache.py": ["folder.mkdir"],  # the user's own
    "report/figures.py": ["path.parent.mkdir"],
    "serve/app.py": ["folder.mkdir"],  # in the user's own cache
}
WRITING = {"write_text", "write_bytes", "unlink", "rmtree", "rename", "mkdir"}
# Not files, io/text.py's own function, and constants that name files that ship with howsteps.
NOT_FILES = (
    "archive.open",
    "folder.open",
    "Folder(",
    "webbrowser.open",
    "build_opener",
    "read_text",
    "_TABLE.",
    "_FILE.",
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("functions", "known"), [(OPENING, OPENERS), (WRITING, WRITERS)], ids=["open", "write"]
)
def test_files_are_opened_written_and_removed_in_one_module(functions, known):
    found: dict[str, list[str]] = {}
    for path in set(MODULES) - {ROOT / "io" / "files.py"}:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            name = ast.unparse(node.func)
            if name.rpartition(".")[2] in functions and not name.startswith(NOT_FILES):
                found.setdefault(path.relative_to(ROOT).as_posix(), []).append(name)
    assert found == known
