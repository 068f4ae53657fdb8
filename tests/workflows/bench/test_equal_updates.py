"""Test that the updates compared at equal settings are the same: their losses agree."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from singlepass.workflows.bench import libraries, runner
from singlepass.workflows.bench.streams import NamedStream, absent

from .untimed import untimed


@pytest.fixture
def stream() -> NamedStream:
    random = np.random.RandomState(0)
    X = random.standard_normal((300, 8)) * (random.random_sample((300, 8)) < 0.6)
    y = (X[:, 0] + 0.5 * random.standard_normal(300) > 0).astype(np.int32)
    return NamedStream("generated", sp.csr_matrix(X), y)


@pytest.fixture(autouse=True)
def nothing_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "best_times", untimed)


@pytest.mark.parametrize("update", libraries.UPDATES, ids=lambda update: update.name)
def test_losses_are_those_of_scikit_learn(update: libraries.Update, stream: NamedStream) -> None:
    lines = list(libraries.compared_with_scikit_learn(update, stream))
    assert len(lines) == (0 if update.scikit_learn is None else 2)
    for loss in lines[:1]:
        assert loss.ratio == pytest.approx(1.0, abs=1e-9)


@pytest.mark.slow
def test_losses_are_those_of_vowpal_wabbit(stream: NamedStream) -> None:
    if not libraries.WABBIT.is_installed:
        pytest.skip(f"not installed: pip install {libraries.WABBIT.package}")
    lines = [line for line in libraries.measure_updates(stream) if "Vowpal Wabbit" in line.peer]
    losses, speeds = lines[::2], lines[1::2]
    assert len(losses) == len(speeds) == len(libraries.UPDATES)
    # Vowpal Wabbit learns in float32.
    assert [line.ratio for line in losses] == pytest.approx([1.0] * len(losses), abs=1e-4)
    assert {line.aim for line in speeds} == {"≥ 1"}
    assert {line.verdict for line in losses} == {"≤ 1.01"}


def test_what_is_not_there_is_skipped(stream: NamedStream, monkeypatch: pytest.MonkeyPatch) -> None:
    missing = libraries.WABBIT._replace(module="no_such_module", program="no-such-program")
    monkeypatch.setattr(libraries, "WABBIT", missing)
    found = [stream, absent("20newsgroups", "20newsgroups")]
    monkeypatch.setattr(libraries, "real_streams", lambda tasks: found)
    lines = libraries.equal_updates()
    assert [line.peer for line in lines if line.ours == "skipped"] == [
        "not installed: pip install vowpalwabbit",
        "not on this machine: singlepass data fetch 20newsgroups",
    ]
    assert len(lines) == 4


def test_the_order_is_drawn_once(stream: NamedStream) -> None:
    one, two = libraries.shuffled(stream), libraries.shuffled(stream)
    assert (one.y == two.y).all()
    assert sorted(one.y) == sorted(stream.y)
    assert (one.y != stream.y).any()


def test_the_log_loss() -> None:
    expected = np.log([1 + np.exp(2.0), 1 + np.exp(-3.0), 2.0]).mean()
    found = libraries.log_loss(np.array([2.0, 3.0, 0.0]), np.array([0, 1, 1]))
    assert found == pytest.approx(expected, rel=1e-12)
