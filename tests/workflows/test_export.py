"""Test `singlepass export`: tables as LaTeX and figures at the width of a column, as a user types it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pytest
from matplotlib import pyplot
from matplotlib.backends.backend_agg import FigureCanvasAgg

from singlepass.pipeline.analysis.averages import Averages
from singlepass.pipeline.analysis.comparison import compare
from singlepass.pipeline.analysis.design import study_design
from singlepass.pipeline.analysis.metrics import METRICS
from singlepass.pipeline.errors import InputError
from singlepass.pipeline.noise import Noise
from singlepass.workflows.cli import main
from singlepass.workflows.report.export import inches, write_figure
from singlepass.workflows.report.page.view import StudyView
from singlepass.workflows.report.parts.figures import rank_diagram
from singlepass.workflows.report.plots.svg import styles_of

from .conftest import STUDY
from .synthetic_results import make_results

Call = Callable[..., Any]
LONG_NAMES = (
    (
        "ConfidenceWeighted, full matrix",
        "AROW",
        "Passive-Aggressive II, averaged",
        "Averaged Perceptron",
        "OnlineGradientDescent",
        "SOP",
    ),
    # They differ at the end, in many rows, and in the middle.
    tuple(f"Passive-Aggressive, variant {name}" for name in ("PA", "PA-I", "PA-II")),
    tuple(f"a learner that has a label of 40, no. {i:02d}" for i in range(10)),
    tuple(f"linear_model.SGDClassifier(eta0={i},loss=log)" for i in range(4)),
)


@pytest.fixture(scope="module")
def finished_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run the small study once, with its report, and return its folder."""
    folder = tmp_path_factory.mktemp("finished")
    (folder / "small.toml").write_text(STUDY)
    with pytest.MonkeyPatch.context() as here:
        here.chdir(folder)
        here.setattr("sys.argv", ["singlepass", "run", "small.toml"])
        with pytest.raises(SystemExit) as ended:
            main()
    assert not ended.value.code
    return folder / "results" / "small"


@pytest.fixture
def finished(finished_once: Path, tmp_path: Path) -> str:
    """Copy the results into the test's folder."""
    shutil.copytree(finished_once, tmp_path / "results" / "small")
    return "results/small"


@pytest.mark.slow
def test_a_table_equals_the_one_of_the_report(singlepass: Call, finished: str, tmp_path: Path) -> None:
    found = singlepass("export", finished, "--table", "ranks")
    assert found.returncode == 0, found.stderr
    [file] = (tmp_path / finished / "tables").glob("mean-ranks-test-accuracy.tex")
    assert found.stdout == file.read_text(encoding="utf-8")
    assert singlepass("export", finished, "--table", file.stem).stdout == found.stdout


def test_figures_have_the_requested_width_and_format(singlepass: Call, finished: str, tmp_path: Path) -> None:
    command = ["export", finished, "--width", "84mm", "--figure", "cd.svg", "--figure", "curves-1.svg"]
    assert singlepass(*command).returncode == 0
    for name in ("cd.svg", "curves-1.svg"):
        # 84 mm are 238.11 points.
        assert 'width="238.11' in (tmp_path / name).read_text(encoding="utf-8")
    first = (tmp_path / "cd.svg").read_bytes()
    assert singlepass(*command, "--figure", "cd.pdf").returncode == 0
    assert (tmp_path / "cd.svg").read_bytes() == first
    assert (tmp_path / "cd.pdf").read_bytes().startswith(b"%PDF")
    # Journals refuse Type 3 fonts.
    assert b"/Type3" not in (tmp_path / "cd.pdf").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "name at least one --table or --figure"),
        (("--table", "rank"), "--table rank: the report has no such table: did you mean 'ranks'?"),
        (("--figure", "ranks.pdf"), "name it cd*.pdf"),
        (("--figure", "cd.bmp"), "name it cd*.pdf"),
        (("--figure", "nowhere/cd.pdf"), "nowhere/cd.pdf: cannot be written (No such file or directory)"),
        (("--figure", "cd.pdf", "--width", "3.3"), "--width 3.3: give a length from 0.5in to 40in"),
        (("--figure", "cd.pdf", "--noise", "0.7"), "noise: the study has no level 0.7: it has 0, 0.2"),
        (("--figure", "cd.pdf", "--noise", "much"), "noise: the study has no level much: it has 0, 0.2"),
        (("--figure", "curves.pdf", "--dataset", "none"), "no data set is called 'none'"),
        (("--figure", "curves.pdf", "--dataset", ""), "no data set is called ''"),
        (("--table", "ranks", "--width", "3in"), "--width is for figures: add --figure cd.pdf"),
        (("--table", "ranks", "--noise", "0.2"), "--noise is for figures: add --figure cd.pdf"),
        (
            ("--figure", "curves.pdf", "--metric", "clean_error"),
            "--metric is for figures: add --figure cd.pdf",
        ),
        (("--figure", "cd.pdf", "--dataset", "gauss"), "--dataset is for figures: add --figure curves.pdf"),
    ],
)
def test_bad_input_is_one_line(
    singlepass: Call, finished: str, arguments: tuple[str, ...], words: str
) -> None:
    result = singlepass("export", finished, *arguments)
    assert result.returncode == 2
    assert words in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_noise_level_is_a_rate_or_a_name() -> None:
    levels = (0.0, 0.2, {"model": "pair", "rate": 0.2})
    view = StudyView(make_results(datasets=("a",), algorithms=("A", "B"), noise=levels, seeds=1, tuned=()))
    none, uniform, pair = view.design.noise
    assert view.levels("0") == view.levels("0.0") == [none]
    assert view.levels("0.20") == view.levels(0.2) == [uniform]
    assert view.levels("pair_0.2") == view.levels(levels[2]) == [pair]


@pytest.mark.slow
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("name", "lines"), [("cd.pdf", 1), ("cd.svg", 0)])
def test_letters_that_the_font_lacks_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, lines: int
) -> None:
    view = StudyView(make_results(datasets=("a", "b"), algorithms=("日本", "B"), seeds=1, tuned=()))
    write_figure(view, tmp_path / name, width=None)
    assert capsys.readouterr().err.count("boxes replace letters that its font lacks") == lines


def test_a_png_of_very_many_pixels_needs_a_width(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    view = StudyView(make_results(datasets=("a", "b"), algorithms=("A", "B"), seeds=1, tuned=()))
    monkeypatch.setattr("singlepass.workflows.report.export._MOST_PIXELS", 1_000_000)
    with pytest.raises(InputError, match=r"cd\.png: would have 3,\d+ x \d+ pixels: add --width, or write"):
        write_figure(view, tmp_path / "cd.png", width=None)
    for name, width in (("cd.pdf", None), ("cd.png", 3.3)):
        write_figure(view, tmp_path / name, width=width)
        assert (tmp_path / name).exists()


@pytest.mark.parametrize("name", ["cd.pdf", "cd.svg", "cd.png"])
def test_an_earlier_figure_stays_if_the_disk_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    def full(path: Path, content: bytes) -> int:
        path.touch()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    view = StudyView(make_results(datasets=("a", "b"), algorithms=("A", "B"), seeds=1, tuned=()))
    (tmp_path / name).write_text("before")
    with pytest.raises(InputError, match=r"cannot be written .No space left on device"):
        write_figure(view, tmp_path / name, width=None)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == "before"


def test_a_figure_is_written_behind_a_link(tmp_path: Path) -> None:
    view = StudyView(make_results(datasets=("a", "b"), algorithms=("A", "B"), seeds=1, tuned=()))
    (tmp_path / "paper").mkdir()
    (tmp_path / "cd.svg").symlink_to("paper/ranks.svg")
    write_figure(view, tmp_path / "cd.svg", width=None)
    assert (tmp_path / "cd.svg").is_symlink()
    assert (tmp_path / "paper" / "ranks.svg").is_file()


def test_lengths_have_units() -> None:
    assert (inches("3.3in"), inches("25.4mm")) == (3.3, 1.0)


@pytest.mark.parametrize("names", LONG_NAMES)
@pytest.mark.parametrize(
    "wide", [2.5, 3.3, *(pytest.param(wide, marks=pytest.mark.slow) for wide in (5.0, 6.9, 9.0, None))]
)
@pytest.mark.parametrize("own", [False, True])
def test_labels_of_a_diagram_fit_and_differ(names: tuple[str, ...], wide: float | None, own: bool) -> None:
    """Check that no label is clipped, overlaps or is tiny, and that wide diagrams have complete labels."""
    results = make_results(algorithms=names, tuned=())
    comparison = compare(
        Averages(results.cells),
        METRICS["test_accuracy"],
        Noise(0.1),
        study_design(results.cells, results.study),
    )
    with mpl.rc_context():
        mpl.use("agg")
        ax = pyplot.figure(figsize=(wide or 7, 6)).add_axes((0, 0, 1, 1)) if own else None
        ax = rank_diagram(comparison, styles_of(names), ax, wide)
        figure = ax.get_figure(root=True)
        assert figure is not None
        if wide is not None:
            assert figure.get_figwidth() == pytest.approx(wide)
        # Use a printer's resolution: on a screen, letter widths are rounded to whole pixels.
        figure.set_dpi(300)
        renderer = FigureCanvasAgg(figure).get_renderer()
        boxes = [text.get_window_extent(renderer).padded(-1) for text in ax.texts]
        for text, box in zip(ax.texts, boxes, strict=True):
            assert figure.bbox.x0 - 2 <= box.x0 < box.x1 <= figure.bbox.x1 + 2, text.get_text()
            assert figure.bbox.y0 <= box.y0 < box.y1 <= figure.bbox.y1, text.get_text()
            assert sum(box.overlaps(other) for other in boxes) == 1, text.get_text()
            assert text.get_fontsize() >= 5
        # A label on two lines is two texts; the second has the mean rank.
        written = " ".join(text.get_text() for text in ax.texts if not text.get_text().isdigit())
        labels = re.findall(r"(.+?)  \d+\.\d\d ?", written.partition("CD = ")[2].partition(" ")[2])
        assert len({*labels}) == len(names)
        if wide is None or wide > 6:
            shown = {label.replace(" ", "") for label in labels}
            assert shown == {name.replace(" ", "") for name in names}
        pyplot.close(figure)
