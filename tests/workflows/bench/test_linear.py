"""Test the benchmark of the linear learners."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from singlepass.workflows.bench import linear, runner, streams

from .untimed import untimed


@pytest.mark.slow
@pytest.mark.parametrize("convert", [np.asarray, sp.csr_matrix])
def test_learn_is_measured_beside_learn_rows(convert, monkeypatch):  # type: ignore[no-untyped-def]
    monkeypatch.setattr(runner, "best_times", untimed)
    X, y = np.eye(30, dtype=np.float32), np.arange(30) % 2
    lines = linear.measure_checks(streams.NamedStream("generated", convert(X), y))
    assert [(line.ratio, line.aim) for line in lines] == [(1.0, "≥ 0.9")] * 2
    assert all(line.work.endswith("rows checked") for line in lines)


def test_the_price_of_a_grid_is_counted_in_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "best_times", untimed)
    first = dict([*linear.GRIDS.items()][:1])
    X, y = np.eye(30), np.arange(30, dtype=np.int32) % 2
    (line,) = linear.measure_grid(streams.NamedStream("generated", X, y), first)
    assert (line.ratio, line.verdict) == (8.0, "≤ 2.3: missed")


@pytest.mark.slow
def test_shrinking_learners_are_compared_with_gradient_descent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "best_times", untimed)
    X, y = sp.csr_matrix(np.eye(30, dtype=np.float32)), np.arange(30, dtype=np.int32) % 2
    lines = linear.measure_shrinkage(streams.NamedStream("generated", X, y))
    assert [(line.ratio, line.aim) for line in lines] == [(1.0, "≤ 1.3")] * len(linear.SHRINKING)


@pytest.mark.slow
@pytest.mark.parametrize("name", linear.SHRINKING)
def test_shrinking_learners_have_weights(name: str) -> None:
    stream = streams.text(np.random.RandomState(0))
    assert (linear.SHRINKING[name]().fit(stream.X, stream.y).coef_ != 0).any()


def test_a_thinned_stream_has_as_many_non_zeros_as_mnist() -> None:
    thin = streams.thinned(np.random.RandomState(0), np.ones((500, 40), np.float32))
    assert thin.nnz / 20_000 == pytest.approx(streams.STORED, abs=0.01)
    assert thin.has_canonical_format


def test_a_missed_aim_is_named() -> None:
    assert runner.Measurement("work", "1 s", "2 s", 2.0, "≥ 3").verdict == "≥ 3: missed"
