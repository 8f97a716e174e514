"""Figures agree with the numbers, and are reproducible."""

import sys
from dataclasses import replace

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from howsteps.errors import HowstepsError, MissingExtra
from howsteps.evaluate.experiment import Summary
from howsteps.report import figures

ROWS = [
    Summary(task, method, steps, "paper-f1", f1, f1, f1, f1 - 0.1, f1 + 0.2, seeds=1)
    for task in ("Tea", "Toast")
    for method, f1 in (("uniform", 0.2), ("ours", 0.4))
    for steps in (7, 10, 12)
]


def test_f1_has_a_panel_per_task_and_a_line_per_method() -> None:
    figure = figures.f1_figure(ROWS)
    assert [axes.get_title() for axes in figure.axes] == ["Tea", "Toast"]
    for axes in figure.axes:
        heights = [list(container.lines[0].get_ydata()) for container in axes.containers]
        assert heights == [pytest.approx([20, 20, 20]), pytest.approx([40, 40, 40])]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["uniform", "ours"]
    assert figure.axes[0].get_ylim() == (0, pytest.approx(63))  # no error bar is cut off


def test_twelve_methods_have_twelve_colours_and_a_whole_legend() -> None:
    rows = [
        Summary("tea", f"a method of my own, number {n}", 7, "paper-f1", *[0.1] * 3, None, None, 1)
        for n in range(12)
    ]
    figure = figures.f1_figure(rows)
    lines = [container.lines[0] for container in figure.axes[0].containers]
    assert len({line.get_color() for line in lines}) == 12
    FigureCanvasAgg(figure).draw()
    page, legend = figure.bbox, figure.legends[0].get_window_extent()
    assert page.x0 <= legend.x0
    assert legend.x1 <= page.x1
    assert page.y0 <= legend.y0
    assert legend.y1 <= page.y1
    assert legend.x0 >= figure.axes[0].get_window_extent().x1


def test_f1_of_nothing_is_refused() -> None:
    with pytest.raises(HowstepsError, match="empty"):
        figures.f1_figure([])


@pytest.mark.parametrize("suffix", [".svg", ".png"])
def test_saved_twice_a_figure_has_the_same_bytes(tmp_path, suffix) -> None:
    first, second = (
        figures.save_figure(figures.f1_figure(ROWS), tmp_path / f"{name}{suffix}") for name in "ab"
    )
    assert first.read_bytes() == second.read_bytes()


def test_untrusted_text_is_never_parsed_as_mathematics(tmp_path) -> None:
    rows = [replace(row, method=r"spend $5 \frac{ and $x^ </svg><script>") for row in ROWS[:3]]
    saved = figures.save_figure(figures.f1_figure(rows), tmp_path / "hostile.svg").read_text()
    assert "spend $5" in saved
    assert "<script" not in saved


def test_without_matplotlib_the_message_names_the_command(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtra, match=r"howsteps\[plots\]"):
        figures.f1_figure(ROWS)
