"""``howsteps report``: write the page of a result."""

from rich.markup import escape

from howsteps._cli import options, screen
from howsteps.errors import Problem


def report(work: options.WorkFolder, quiet: options.Quiet = False) -> None:
    """Write the page of a result again, for instance after changing its script.

    Example: howsteps report steps/
    """
    from howsteps.report import write_page  # noqa: PLC0415 - kept out of the start of every command
    from howsteps.result import read_result  # noqa: PLC0415

    result = read_result(work)
    problems: list[Problem] = []
    with screen.progress("taking thumbnails", len(result.task.videos), quiet=quiet) as advance:
        page = write_page(
            result,
            work if work.is_dir() else work.parent,
            progress=lambda _: advance(),
            on_problem=problems.append,
        )
    screen.out.print(f"written to {escape(str(page))}", soft_wrap=True)
    screen.finish(problems, found=True)
