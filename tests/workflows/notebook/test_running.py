"""Test running from a notebook: cells, keys and integers of the command line, and the results object."""

from __future__ import annotations

import asyncio
import gc
import os
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster
from matplotlib import pyplot
from scipy.sparse import csr_array
from sklearn.datasets import load_breast_cancer

from singlepass.learners import AROW
from singlepass.pipeline import data
from singlepass.pipeline.errors import InputError
from singlepass.pipeline.store.schema import PROVENANCE
from singlepass.pipeline.store.store import Store
from singlepass.pipeline.study.plan import make_plan
from singlepass.workflows import Results, Study, compare, load, run
from singlepass.workflows.progress import LineProgress, NotebookBar, progress_display
from singlepass.workflows.report import write_report
from singlepass.workflows.running.run import run_study
from singlepass.workflows.shipped import find_study

X, Y = load_breast_cancer(return_X_y=True)
SPARSE = csr_array(np.where(X.mean(axis=0) < X, X, 0.0))
KEYS: dict[str, Any] = {
    "protocol": "holdout",
    "noise": [0.0, 0.2],
    "seeds": 2,
    "tune_by": "validation",
    "algorithms": ["Perceptron", {"name": "AROW", "r": [0.1, 1.0]}, "NoChange"],
}
TOML = """
name = "study"
protocol = "holdout"
noise = [0.0, 0.2]
seeds = 2
tune_by = "validation"
[[datasets]]
path = "dense.parquet"
target = "label"
label = "dense"
[[datasets]]
path = "dense.parquet"
target = "label"
label = "frame"
standardize = true
[[datasets]]
path = "sparse.svmlight"
label = "sparse"
[[algorithms]]
name = "Perceptron"
[[algorithms]]
name = "AROW"
r = [0.1, 1.0]
[[algorithms]]
name = "NoChange"
"""


@pytest.fixture(scope="module", autouse=True)
def drawn_nowhere() -> None:
    mpl.use("Agg")


@pytest.fixture(scope="module")
def results() -> Results:
    frame = pd.DataFrame(X)
    datasets = {
        "dense": (X, Y),
        "frame": {"frame": frame.assign(label=Y), "standardize": True},
        "sparse": (SPARSE, Y),
    }
    return compare(datasets, progress=False, **KEYS)


@pytest.fixture(scope="module")
def by_file(tmp_path_factory: pytest.TempPathFactory, results: Results) -> Path:
    folder = tmp_path_factory.mktemp("file")
    pd.DataFrame(X, columns=[f"x{i}" for i in range(30)]).assign(label=Y).to_parquet(folder / "dense.parquet")
    lines = []
    for i, label in enumerate(Y):
        row = slice(SPARSE.indptr[i], SPARSE.indptr[i + 1])
        pairs = zip(SPARSE.indices[row] + 1, SPARSE.data[row], strict=True)
        lines.append(f"{label} {' '.join(f'{j}:{float(value)!r}' for j, value in pairs)}\n")
    (folder / "sparse.svmlight").write_text("".join(lines))
    (folder / "study.toml").write_text(TOML)
    study, file = find_study(str(folder / "study.toml"))
    run_study(study, str(folder / "out"), progress=LineProgress(), file=file)
    return folder / "out"


def in_order(cells: pd.DataFrame) -> pd.DataFrame:
    """Return cells without the columns for origin of rows, time, place and speed."""
    return cells.drop(columns=[*PROVENANCE, "source"]).sort_values("key", ignore_index=True)


def test_cells_are_those_of_the_command_line(results: Results, by_file: Path) -> None:
    there = load(by_file)
    pd.testing.assert_frame_equal(in_order(results.cells), in_order(there.cells), check_exact=True)
    assert (results.cells["status"] == "ok").all()
    assert len(results.cells) == 3 * 2 * (2 + 3 * 2)
    ours, theirs = (
        each.curves.drop(columns="fit_seconds").sort_values(["key", "t"], ignore_index=True)
        for each in (results, there)
    )
    pd.testing.assert_frame_equal(ours, theirs, check_exact=True)


@pytest.mark.slow
def test_ranks_and_tests_are_those_of_the_report(results: Results, tmp_path: Path) -> None:
    write_report(results.out, tmp_path)
    ranks = results.ranks()
    printed = pd.read_csv(tmp_path / "tables" / "mean-ranks-test-accuracy.csv", index_col="algorithm")
    pd.testing.assert_frame_equal(ranks, printed)
    assert list(ranks) == ["noise 0", "noise 0.2", "overall"]
    pairs = results.tests(noise=0.2)
    friedman = pd.read_csv(tmp_path / "tables" / "friedman.csv")
    for own, printed in (
        (pairs, pd.read_csv(tmp_path / "tables" / "pairs-noise-0.2.csv")),
        (results.tests("friedman"), friedman[friedman["metric"] == "test_accuracy"]),
    ):
        np.testing.assert_allclose(own.select_dtypes("float"), printed[own.select_dtypes("float").columns])
    assert set(pairs["noise"]) == {"0.2"}
    assert len(pairs) == 3
    by_level = results.ranks("clean_error", noise=0.2)
    assert sorted(by_level) == list(by_level)
    assert by_level.index[-1] == "NoChange"


def test_data_frames_with_a_test_part() -> None:
    frame = pd.DataFrame(X).assign(site=np.where(Y, "a", "b"))
    parts = (frame[:400], Y[:400], frame[400:], Y[400:])
    datasets = {
        "mine": {**dict(zip(("X", "y", "X_test", "y_test"), parts, strict=True)), "categorical": ["site"]}
    }
    found = compare(datasets, "AROW", protocol="holdout", seeds=1, progress=False)
    assert found.cells["test_examples"].tolist() == [169]
    assert found.cells["n_features"].tolist() == [32]


def test_a_test_frame_is_named_by_its_data_set() -> None:
    frame = pd.DataFrame({"a": [0.0, 1.0], "b": [1.0, 0.0], "label": ["no", "yes"]})
    table = {"frame": frame, "test": frame[["b", "a", "label"]]}
    with pytest.raises(InputError, match=r"^data set 'mine': test: its feature columns differ from those of"):
        compare({"mine": table}, "AROW", protocol="holdout", progress=False)
    line = r"data set 'mine': test: label '2' is not a class of data set 'mine': no, yes$"
    with pytest.raises(InputError, match=line):
        compare({"mine": (frame[["a"]], frame["label"], frame[["a"]], [2, 2])}, "AROW", protocol="holdout")


@pytest.mark.parametrize(
    ("labels", "positive", "name"),
    [(Y == 0, True, "true"), (Y == 0, False, "false"), (Y * 1.0, 0.0, "0"), (Y * 1, np.int64(0), "0")],
)
def test_a_positive_class_is_named_as_in_the_labels(labels: Any, positive: Any, name: str) -> None:
    study = Study({"datasets": {"X": X, "y": labels, "positive": positive}, "algorithms": "AROW"})
    [task] = make_plan(study.valid).tasks
    assert task.task == f"binary:{name}"


def test_the_temporary_folder_exists_as_long_as_the_results() -> None:
    found = compare({"mine": (X, Y)}, "Perceptron", seeds=1, progress=False)
    out = Path(found.out)
    assert out.is_dir()
    del found
    gc.collect()
    assert not out.exists()


def test_a_study_is_resumed_and_loaded(tmp_path: Path) -> None:
    first = run(
        Study(datasets={"mine": (X, Y)}, algorithms="Perceptron", seeds=1), out=tmp_path, progress=False
    )
    again = run(
        {"datasets": {"mine": (X, Y)}, "algorithms": ["Perceptron", AROW(r=0.1)], "seeds": 1},
        out=tmp_path,
        threads=1,
        progress=False,
    )
    loaded = load(tmp_path)
    assert len(loaded.cells) == 2
    started = first.cells.set_index("key")["started"]
    assert loaded.cells.set_index("key").loc[started.index, "started"].tolist() == started.tolist()
    pd.testing.assert_frame_equal(loaded.ranks(), again.ranks())
    assert loaded.study["name"] == "study"
    assert "Results in" in repr(loaded)


def test_a_client_runs_the_cells_inside_an_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    given: Any = {"datasets": {"dense": (X, Y)}, "algorithms": AROW(r=0.1), "seeds": 2, "noise": 0.2}

    async def as_in_a_notebook() -> Results:
        return compare(**given, client=client, progress=False)

    with (
        LocalCluster(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0") as cluster,
        Client(cluster) as client,
        monkeypatch.context() as patch,
    ):
        # Forbid threads of this process.
        patch.setattr("singlepass.workflows.running.workers.compute_in_threads", None)
        inside = asyncio.run(as_in_a_notebook())
    with pytest.raises(InputError, match="client: its status is 'closed'"):
        asyncio.run(as_in_a_notebook())
    here = compare(**given, progress=False)
    assert (inside.cells["status"] == "ok").all()
    pd.testing.assert_frame_equal(in_order(inside.cells), in_order(here.cells), check_exact=True)


def test_an_asynchronous_client_is_refused() -> None:
    client: Any = SimpleNamespace(
        security=None, submit=None, status="running", asynchronous=True, cluster=object()
    )
    with pytest.raises(InputError, match="client: it is asynchronous: make"):
        compare((X, Y), "AROW", client=client, progress=False)


def test_names_are_escaped() -> None:
    found = compare(
        {"<b>": (X, Y), "a & b": (SPARSE, Y)}, {"<i>": "Perceptron", "AROW": "AROW"}, seeds=1, progress=False
    )
    shown = found._repr_html_()
    assert "&lt;b&gt;, a &amp; b" in shown
    assert "&lt;i&gt;" in shown
    assert not re.search("<b>|<i>", shown)
    found.plot_ranks()
    found.plot_curves("<b>")
    pyplot.close("all")


def test_figures_are_axes(results: Results) -> None:
    before = mpl.rcParams.copy()
    diagram = results.plot_ranks(noise=0.2)
    texts = [text.get_text() for text in diagram.texts]
    means = results.ranks(noise=0.2)
    assert {f"{name}  {mean:.2f}" for name, mean in means.items()} <= set(texts)
    figure, (left, right) = pyplot.subplots(2)
    assert results.plot_ranks(ax=left) is left
    assert results.plot_curves("frame", noise=0.2, column="updates", ax=right) is right
    assert right.get_title(loc="left") == "frame, 20% label noise"
    # NoChange has no updates.
    assert [text.get_text() for text in right.get_legend().get_texts()] == ["Perceptron", "AROW"]
    end = results.cells.query("dataset == 'frame' and noise == '0.2' and stage == 'run'")
    last = end.groupby("algorithm")["updates"].mean()
    drawn = [line.get_ydata()[-1] for line in right.lines]
    assert drawn == [last["Perceptron"], last["AROW"]]
    figure.canvas.draw()
    pyplot.close("all")
    assert mpl.rcParams == before


def test_a_diagram_of_one_data_set_has_no_bars() -> None:
    found = compare({"mine": (X, Y)}, ["Perceptron", "AROW"], seeds=1, progress=False)
    # A bar would be the thickest of all lines.
    assert max(line.get_linewidth() for line in found.plot_ranks().lines) < 4
    assert found.tests().empty
    assert found.tests("friedman").empty
    pyplot.close("all")


@pytest.mark.parametrize(
    ("call", "line"),
    [
        (
            lambda r: r.ranks("auc"),
            "metric 'auc' was not measured: name it in the study, metrics = [\"auc\"]",
        ),
        (lambda r: r.ranks("acuracy"), "metric: there is no 'acuracy': did you mean"),
        (lambda r: r.ranks(0.2), "metric: there is no 0.2: known: "),
        (lambda r: r.plot_ranks(["error"]), "metric: there is no ['error']: did you mean 'error'?"),
        (lambda r: r.ranks(noise=0.3), "noise: the study has no level 0.3: it has 0, 0.2"),
        (lambda r: r.ranks(noise="much"), "noise: "),
        (lambda r: r.tests("wilcoxon"), "tests: unknown kind 'wilcoxon'"),
        (lambda r: r.tests(0.2), "tests: unknown kind 0.2: known: friedman, pairs"),
        (
            lambda r: r.plot_curves("dence"),
            "no data set is called 'dence': did you mean 'dense'?",
        ),
        (lambda r: r.plot_curves(column="mistake"), "curves have no column 'mistake'"),
        (lambda r: r.plot_curves(column=3), "curves have no column 3"),
        (lambda r: load("nowhere"), "nowhere: no results here"),
        (lambda r: compare((X, Y[1:]), "AROW"), "data set 'data': X has 569 rows and y 568 labels"),
        (
            lambda r: compare((X, Y), "AORW", progress=False),
            "'AORW' is unknown: did you mean 'AROW'?",
        ),
        (lambda r: compare((X, Y), AROW(r=-1), progress=False), "algorithm 'AROW': "),
        (
            lambda r: run(Study(datasets="digits", algorithms="AROW"), "out"),
            "client: expected a distributed.Client, got a str",
        ),
        (
            # A cluster has an address and a security, too.
            lambda r: run("quickstart", SimpleNamespace(security=None, status="running")),  # type: ignore[arg-type]
            "client: expected a distributed.Client, got a SimpleNamespace",
        ),
        (
            lambda r: run("quickstart", SimpleNamespace(), threads=1),  # type: ignore[arg-type]
            "threads: for runs in this process",
        ),
        (lambda r: compare((X, Y), "AROW", threads=0, progress=False), "threads must be a whole number"),
        (lambda r: compare((X, Y), "AROW", threads=2.5, progress=False), "1 or more, got 2.5"),
        (
            lambda r: run({"datasets": "digits", "algorithms": "AROW"}, cell_limit=0, progress=False),
            "cell_limit must be > 0",
        ),
        (lambda r: compare((X, Y), "AROW", plugins="mine.py", progress=False), "mine.py does not exist"),
        (lambda r: r.plot_curves(3), "no data set is called '3'"),
        (
            lambda r: compare("digit", "AROW", progress=False),
            "'digit'; did you mean 'digits'?",
        ),
        (
            lambda r: compare({"mine": {"X": SPARSE, "y": Y, "standardize": True}}, "AROW", progress=False),
            "data set 'mine' is sparse: standardize would make it dense",
        ),
        (
            lambda r: compare(
                {"mine": {"X": SPARSE, "y": Y, "missing": "indicator"}}, "AROW", progress=False
            ),
            "data set 'mine': missing = \"indicator\" needs dense rows",
        ),
        (
            lambda r: compare(
                {"mine": pd.DataFrame({"a": ["u", "v"], "label": ["x", "y"]})}, "AROW", progress=False
            ),
            "data set 'mine', column 'a': contains",
        ),
    ],
)
def test_what_is_wrong_is_one_line(results: Results, call: Any, line: str) -> None:
    with pytest.raises(InputError) as error:
        call(results)
    assert line in str(error.value)
    assert "\n" not in str(error.value)
    # IPython shows this instead of a traceback.
    assert error.value._render_traceback_() == [f"InputError: {error.value}"]


def test_failed_cells_are_reported(tmp_path: Path) -> None:
    plugin = tmp_path / "mine.py"
    plugin.write_text(
        "from singlepass.learners import Perceptron\n\n\n"
        "class Breaks(Perceptron):\n"
        "    def learn(self, X, y, classes=None):\n        raise ValueError('no')\n"
    )
    found = compare({"mine": (X, Y)}, ["Perceptron", "Breaks"], plugins=[plugin], seeds=1, progress=False)
    assert found.failed["algorithm"].tolist() == ["Breaks"]
    assert "1 of them not finished (see .failed)" in found._repr_html_()


def test_cells_that_have_not_run_are_counted(tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    found = compare({"mine": (X, Y)}, ["Perceptron"], out=out, seeds=2, progress=False)
    assert "not yet run" not in repr(found)
    Store(out).write_json("plan.json", {"planned": 5})
    assert "2 cells, 3 not yet run." in repr(load(out))


def test_the_bar_replaces_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []

    class Handle:
        def update(self, content: Any) -> None:
            shown.append(content.data)

    def display(content: Any, display_id: bool) -> Handle:
        shown.append(content.data)
        return Handle()

    monkeypatch.setattr("IPython.display.display", display)
    with NotebookBar() as bar, data.watched(bar.read):
        bar.start(10, 2)
        bar.advance(8)
        bar.expect(3.0)
        bar.note("a <line>")
    assert "2 of 10 cells" in shown[0]
    assert "10 of 10 cells" in shown[-1]
    assert "<progress value=" in shown[-1]
    assert "a &lt;line&gt;" in shown[-1]


def test_a_process_without_a_notebook_shows_lines() -> None:
    assert isinstance(progress_display(), LineProgress) or os.isatty(2)
