"""Shared by the commands that run single stages: the context, and reading the tasks."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from howsteps._cli.live import live_callback
from howsteps.errors import Problem
from howsteps.pipeline.options import RunOptions
from howsteps.task import Task

if TYPE_CHECKING:
    from howsteps.engine.context import Context


@contextmanager
def stage_context(
    source: Path,
    out: Path | None,
    *,
    workers: int | None,
    quiet: bool,
    redo: frozenset[str] = frozenset(),
) -> Iterator["Context"]:
    """A context that caches in the work folder or, without one, in the user's cache folder."""
    from howsteps.engine.cache import Cache, user_cache  # noqa: PLC0415 - kept out of every start
    from howsteps.engine.context import Context  # noqa: PLC0415
    from howsteps.engine.executor import cores, local_executor  # noqa: PLC0415
    from howsteps.pipeline.work_folder import CACHE, check_folders, mark_work_folder  # noqa: PLC0415

    count = workers or cores()
    with ExitStack() as stack:
        if out is None:
            cache = stack.enter_context(user_cache())
        else:
            check_folders(out, source)
            mark_work_folder(out)
            cache = Cache(out / CACHE)
        callback = stack.enter_context(live_callback(quiet=quiet, json_lines=False))
        yield Context(cache, local_executor(count), callback, redo, count)


def narrated_tasks(
    source: Path, options: RunOptions, context: "Context", problems: list[Problem]
) -> Iterator[Task]:
    """Yield the tasks under a path, with mentions; problems are appended to the list."""
    from howsteps.pipeline.run import prepare_narration, read_source  # noqa: PLC0415 - loads NumPy
    from howsteps.pipeline.stages import check_parser  # noqa: PLC0415

    check_parser(options.parser)
    collection = read_source(source, options.title, context)
    problems += collection.problems
    for task in collection.tasks:
        narrated, found = prepare_narration(task, options, context)
        problems += found
        yield narrated
