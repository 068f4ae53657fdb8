"""Test that the kernel benchmark compares equal work."""

from __future__ import annotations

import numpy as np
import pytest

from singlepass.learners import KernelPerceptron
from singlepass.workflows.bench import kernel, runner
from singlepass.workflows.bench.streams import NamedStream

from .untimed import untimed


@pytest.mark.slow
def test_the_peer_is_the_same_algorithm() -> None:
    random = np.random.RandomState(0)
    X = random.standard_normal((300, 7)).astype(np.float32)
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    ours = KernelPerceptron(gamma=0.3).fit(X, y)
    sign = 2.0 * y - 1.0
    rows, alpha = np.empty_like(X), np.empty(len(X))
    assert kernel._plain_perceptron(X, sign, 0.3, rows, alpha) == ours.n_support_
    assert (rows[: ours.n_support_] == ours.support_vectors_).all()


def test_the_tile_and_numpy_compute_the_same() -> None:
    ours, numpy_, out = kernel.tile_work(20, np.float64)
    ours()
    tile = out.copy()
    numpy_()
    np.testing.assert_allclose(tile, out, rtol=1e-12, atol=1e-12)


@pytest.mark.slow
def test_every_line_has_a_figure(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(kernel, "streams", list)
    monkeypatch.setattr(kernel, "tile_rate", lambda d, dtype: (2e9, 1e9))
    lines = kernel.kernel()
    assert [line.ratio for line in lines] == [2.0] * 6
    monkeypatch.setattr(runner, "best_times", untimed)
    stream = NamedStream("generated", np.eye(40, dtype=np.float32), np.arange(40) % 2)
    lines = kernel.measure_stream(stream)
    assert [line.aim for line in lines] == ["≥ 0.6", "≥ 0.6", "≥ 2"]
    assert all(np.isfinite(line.ratio) for line in lines)
    lines = kernel.measure_features(stream)
    # With so few mistakes there are fewer than a thousand support vectors, so the aim does not apply.
    assert [line.aim for line in lines] == ["", ""]
    monkeypatch.setattr(kernel, "WINDOW", 10)
    lines = kernel.measure_features(stream)
    assert [line.aim for line in lines] == ["≥ 3", "≥ 3"]
    # The peer handles two classes only.
    lines = kernel.measure_stream(stream._replace(y=np.arange(40) % 3))
    assert [line.aim for line in lines] == ["≥ 0.6", "≥ 0.6"]
