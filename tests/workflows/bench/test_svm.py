"""Test that the benchmark of support vector machines compares equal work."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from singlepass.workflows.bench import streams, svm
from singlepass.workflows.bench.streams import NamedStream

pytestmark = pytest.mark.slow


@pytest.fixture
def stream() -> NamedStream:
    random = np.random.RandomState(0)
    X = random.standard_normal((400, 6))
    y = (X[:, 0] + X[:, 1] ** 2 + 0.3 * random.standard_normal(400) > 0.5).astype(np.int32)
    return NamedStream("a9a", X[:200], y[:200], X[200:], y[200:])


def test_both_solve_the_same_problem(stream: NamedStream) -> None:
    ours, peer = svm.lasvm(stream, True, C=1.0, gamma=0.2), svm.svc(stream, C=1.0, gamma=0.2)
    # One pass gets close to the optimum; no solution exceeds it by more than the tolerance.
    assert 0.97 * peer.objective < ours.objective < 1.001 * peer.objective
    assert ours.test_error == pytest.approx(peer.test_error, abs=0.03)
    assert ours.n_support == pytest.approx(peer.n_support, rel=0.15)
    online = svm.lasvm(stream, False, C=1.0, gamma=0.2)
    assert 0.0 < online.objective <= ours.objective


def test_rows_may_be_sparse(stream: NamedStream) -> None:
    rows = stream._replace(X=sp.csr_array(stream.X), X_test=sp.csr_array(stream.X_test))
    sparse, dense = svm.svc(rows, C=1.0, gamma=0.2), svm.svc(stream, C=1.0, gamma=0.2)
    assert sparse.objective == pytest.approx(dense.objective, rel=1e-3)
    assert sparse.n_support == pytest.approx(dense.n_support, abs=3)


def test_every_line_has_a_figure(stream: NamedStream, monkeypatch: pytest.MonkeyPatch) -> None:
    absent = streams.absent("MNIST 3 against the rest", "mnist")
    monkeypatch.setattr(svm, "real_streams", lambda tasks: [stream, absent])
    lines = svm.svm()
    assert len(lines) == 3
    assert all("LASVM, a9a, 200×6 float64 dense, C = 1, gamma = 0.05" in line.work for line in lines[:2])
    for line in lines[:2]:
        assert np.isfinite(line.ratio)
        for figure in ("s, test error ", "dual objective ", "support vectors"):
            assert figure in line.ours
            assert figure in line.peer
        assert "examples/s" in line.ours
    assert (lines[2].ours, lines[2].peer) == ("skipped", "not on this machine: singlepass data fetch mnist")


def test_absent_data_are_no_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "describe", list)
    assert [line.ours for line in svm.svm()] == ["skipped"] * 2
