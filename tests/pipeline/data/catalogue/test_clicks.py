"""Test the generator of clicks: its shape, its drift, and its memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from singlepass.learners import AROW
from singlepass.pipeline.data import expand, open_stream
from singlepass.pipeline.data.catalogue.clicks import N_NUMERIC, draw_clicks
from singlepass.pipeline.data.io import spill
from singlepass.pipeline.errors import InputError


def drawn(n: int, seed: int = 0, *, hash_bits: int = 18, rows_per_day: int = 5000) -> tuple[Any, Any]:
    return draw_clicks(np.random.RandomState(seed), n, hash_bits=hash_bits, rows_per_day=rows_per_day)


def test_rows_have_criteos_shape() -> None:
    X, y = drawn(20_000)
    assert X.shape == (20_000, 1 << 18)
    assert X.has_canonical_format
    assert X.dtype == np.float32
    assert X.indices.dtype == X.indptr.dtype == y.dtype == np.int32
    assert 38.9 < X.nnz / 20_000 <= 39
    assert 0.15 < y.mean() < 0.4
    # Heavy tails: some numbers are large, and some categories frequent, but most of them occur once.
    numeric = X[:, [0]].toarray()
    assert numeric.max() > 20 * np.median(numeric)
    counts = np.bincount(X.indices)[N_NUMERIC:]
    counts = counts[counts > 0]
    assert counts.max() > 5000
    assert np.median(counts) <= 3


def test_a_longer_stream_begins_with_a_shorter_one() -> None:
    (X, y), (longer, labels) = drawn(5000), drawn(9000)
    assert (longer[:5000] != X).nnz == 0
    np.testing.assert_array_equal(labels[:5000], y)
    assert (drawn(5000, seed=1)[0] != X).nnz > 0


@pytest.mark.slow
def test_it_can_be_learnt_and_drifts() -> None:
    X, y = drawn(40_000, rows_per_day=20_000, hash_bits=16)
    learner = AROW(r=10.0)
    scores = learner.learn(X[:20_000], y[:20_000], classes=[0, 1])
    wrong = (scores > 0) != y[:20_000]
    assert wrong[10_000:].mean() < 0.8 * y[:20_000].mean()
    # Half of the second day teaches more about its other half than the whole first day does.
    same_day = AROW(r=10.0).fit(X[20_000:30_000], y[20_000:30_000])
    assert same_day.score(X[30_000:], y[30_000:]) > learner.score(X[30_000:], y[30_000:]) + 0.02


def test_memory_does_not_grow(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SINGLEPASS_CACHE", str(tmp_path))
    expected = drawn(9000)[0]
    monkeypatch.setattr(spill, "_SPILL_BYTES", 1000)
    X = drawn(9000)[0]
    base = X.data
    while isinstance(base, np.ndarray) and not isinstance(base, np.memmap):
        base = base.base
    assert isinstance(base, np.memmap)
    assert (expected != X).nnz == 0


def test_a_study_can_name_it() -> None:
    ref = expand(name="clicks", options={"n_train": 300, "hash_bits": 10, "n_test": 50})[0]
    stream = open_stream(ref, seed=1)
    assert stream.X.shape == (300, 1024)
    assert stream.X_test is not None
    # The test part is the rows that follow, of the same concept.
    longer = open_stream(expand(name="clicks", options={"n_train": 350, "hash_bits": 10})[0], seed=1)
    assert (stream.X_test != longer.X[300:]).nnz == 0
    assert np.array_equal(stream.y_test, longer.y[300:])
    assert stream.classes == ("no click", "click")


@pytest.mark.parametrize("how", [True, "online"])
def test_they_are_not_standardized(how: bool | str) -> None:
    with pytest.raises(InputError, match="'c' is sparse: standardize would make it dense"):
        expand(label="c", name="clicks", options={"standardize": how})
