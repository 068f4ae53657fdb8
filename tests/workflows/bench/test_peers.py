"""Test that the benchmark of other libraries runs the installed ones and names the missing ones."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from singlepass.workflows.bench import libraries, runner, streams

from .untimed import untimed


@pytest.fixture
def stream() -> streams.NamedStream:
    random = np.random.RandomState(0)
    X = (random.standard_normal((60, 5)) * (random.random_sample((60, 5)) < 0.7)).astype(np.float32)
    return streams.NamedStream("generated", X, (X[:, 0] > 0).astype(np.int32))


@pytest.fixture(autouse=True)
def nothing_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "best_times", untimed)


@pytest.mark.slow
@pytest.mark.parametrize("convert", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("library", libraries.LIBRARIES, ids=lambda library: library.name)
def test_every_line_has_a_figure(library, convert, stream):  # type: ignore[no-untyped-def]
    if not library.is_installed:
        pytest.skip(f"not installed: pip install {library.package}")
    lines = libraries.measure_library(library, stream._replace(X=convert(stream.X)))
    assert lines
    assert all(line.ratio == 1.0 and library.name in line.peer for line in lines)
    assert ("CSR" in lines[0].work) == (convert is not np.asarray)


@pytest.mark.slow
@pytest.mark.parametrize("name", libraries.SCIKIT_LEARN)
def test_update_rules_of_scikit_learn_are_equal(name, stream):  # type: ignore[no-untyped-def]
    make, ours = libraries.SCIKIT_LEARN[name]
    peer, learner = make(), ours()
    # Chunks of several rows, which scikit-learn shuffles by default.
    for X, y in libraries.pieces(stream, 20):
        peer.partial_fit(X, y, [0, 1])
        learner.learn(X, y, [0, 1])
    np.testing.assert_allclose(learner.coef_, peer.coef_, rtol=1e-5)


@pytest.mark.slow
def test_the_logistic_update_of_river_is_equal(stream: streams.NamedStream) -> None:
    models = pytest.importorskip("river.linear_model")
    settings, ours = libraries.RIVER["LogisticRegression"]
    peer, learner = models.LogisticRegression(**settings), ours()
    libraries._predict_then_learn(lambda: peer, libraries.as_dicts(stream.X), (stream.y == 1).tolist())
    learner.learn(stream.X, stream.y, [0, 1])
    weights = [peer.weights[feature] for feature in range(stream.X.shape[1])]
    np.testing.assert_allclose(learner.coef_[0], weights, rtol=1e-5)


@pytest.mark.slow
def test_what_is_not_installed_is_skipped(
    stream: streams.NamedStream, monkeypatch: pytest.MonkeyPatch
) -> None:
    absent = [
        library._replace(module="no_such_module", program=library.program and "no-such-program")
        for library in libraries.LIBRARIES
    ]
    monkeypatch.setattr(libraries, "LIBRARIES", (libraries.LIBRARIES[0], *absent[1:]))
    monkeypatch.setattr(libraries, "streams", lambda: [stream, runner.skipped("a9a", "not on this machine")])
    lines = libraries.peers()
    assert {line.peer for line in lines if line.ours == "skipped"} == {
        "not on this machine",
        "not installed: pip install river",
        "not installed: pip install vowpalwabbit",
    }
    assert [line.work for line in lines[-2:]] == ["River", "Vowpal Wabbit"]
    assert len(lines) == 2 * len(libraries.SCIKIT_LEARN) + 3


def test_a_program_on_the_path_does_too(monkeypatch: pytest.MonkeyPatch) -> None:
    library = libraries.LIBRARIES[2]._replace(module="no_such_module")
    monkeypatch.setattr(libraries.shutil, "which", lambda name: f"/bin/{name}")
    assert library.is_installed


def test_absent_data_are_no_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "describe", list)
    lines = list(streams.real_streams(libraries.REAL))
    assert [(line.work, line.ours) for line in lines] == [("mnist", "skipped"), ("a9a", "skipped")]


def test_row_by_row_few_rows_are_learnt(monkeypatch: pytest.MonkeyPatch) -> None:
    wide = streams.NamedStream("wide", np.ones((300, 4000), np.float32), np.zeros(300, np.int32))
    assert libraries.first_rows(wide).X.shape == (50, 4000)
    long = streams.NamedStream("long", sp.csr_matrix((5000, 3)), np.zeros(5000, np.int32))
    assert len(libraries.first_rows(long).y) == libraries.SINGLY_ROWS


def test_the_forms_of_the_others() -> None:
    X = np.array([[0.5, 0.0, -2.0], [0.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    for rows in (X, sp.csr_matrix(X)):
        assert libraries.as_dicts(rows) == [{0: 0.5, 2: -2.0}, {}, {1: 1.0}]


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_matrix])
def test_the_text_of_vowpal_wabbit(convert, tmp_path):  # type: ignore[no-untyped-def]
    X = np.array([[0.5, 0.0, -2.0], [0.0, 1.0, 0.0]])
    libraries.write_text(streams.NamedStream("s", convert(X), np.array([1, 0])), tmp_path / "rows.vw")
    assert (tmp_path / "rows.vw").read_text().splitlines() == ["1 | 0:0.5 2:-2", "-1 | 1:1"]
