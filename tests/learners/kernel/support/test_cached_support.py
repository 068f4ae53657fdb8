"""Kernel rows on demand have the same values with any cache, order and storage."""

import pickle

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from singlepass.learners import as_rows
from singlepass.learners.kernel.support.cached_support import (
    CachedSupport,
    RowCache,
    add,
    cache_row,
    kernel_row,
    remove,
)
from singlepass.learners.kernel.support.support_set import SupportSet

from ...streams import as_csr

pytestmark = pytest.mark.slow

ADD, ADD_AND_CACHE, REMOVE, LOOK = range(4)
FUNCTIONS = [("rbf", 0.3, 0.0, 1), ("poly", 0.5, 1.0, 3), ("linear", 1.0, 0.0, 1)]


@numba.njit
def play(view, n, acts, looked):
    """Perform `acts`, pairs of an action and a number; write the rows that are read into `looked`."""
    t = shown = 0
    for what, number in acts:
        if what <= ADD_AND_CACHE:
            n = add(view, n, t, 1.0, 0.0)
            if what == ADD_AND_CACHE:
                cache_row(view, n, n - 1, t)
            t += 1
        elif n > 0 and what == REMOVE:
            remove(view, n, number % n, t)
            n -= 1
        elif n > 0:
            looked[shown, :n] = kernel_row(view, n, number % n)
            shown += 1
    return n


def all_values(function, X, sparse):
    """Return the kernel values of rows with one another, as computed in tiles."""
    support = SupportSet(function, X.shape[1], X.dtype, sparse)
    rows = as_rows(as_csr(X) if sparse else X)
    view = support.open_block(rows, len(X), 0)
    view.origin[: len(X)] = -1 - np.arange(len(X))
    support.commit(len(X))
    room = support.room(len(X))
    support._fill(rows, len(X), room)
    return room.values[: len(X), : len(X)]


acts = st.lists(
    st.tuples(st.sampled_from([ADD, ADD_AND_CACHE, ADD_AND_CACHE, REMOVE, LOOK, LOOK]), st.integers(0, 99)),
    max_size=60,
)


@pytest.mark.parametrize(
    ("dtype", "sparse"),
    [(np.float32, True), (np.float64, False)],
)
@given(
    blocks=st.lists(acts, min_size=1, max_size=4),
    function=st.sampled_from(FUNCTIONS),
    cache_mb=st.sampled_from([0, 0.0002, 0.001, 1]),
)
def test_rows_looked_at_are_those_of_the_matrix(dtype, sparse, blocks, function, cache_mb):
    random = np.random.RandomState(0)
    X = (random.standard_normal((250, 21)) * (random.uniform(size=(250, 21)) < 0.6)).astype(dtype)
    expected = all_values(function, X, sparse)
    kept = CachedSupport(function, 21, X.dtype, sparse, cache_mb)
    slots, first = [], 0
    for script in blocks:
        n = sum(what <= ADD_AND_CACHE for what, _ in script)
        block = X[first : first + n]
        view = kept.open_block(as_rows(as_csr(block) if sparse else block), n, first)
        looked = np.full((len(script), kept.support.size + n), np.nan)
        size = play(view, kept.support.size, np.array([*script, (ADD, 0)])[:-1], looked)
        kept.commit(size)
        shown, t = 0, first
        for what, number in script:
            if what <= ADD_AND_CACHE:
                slots.append(t)
                t += 1
            elif slots and what == REMOVE:
                slots[number % len(slots)] = slots[-1]
                slots.pop()
            elif slots:
                row = expected[slots[number % len(slots)], slots]
                assert looked[shown, : len(slots)].tolist() == row.tolist()
                shown += 1
        first += n
        assert kept.support.born.tolist() == slots
        rows = kept.support.matrix(np.arange(size))
        assert ((rows.toarray() if sparse else rows) == X[slots]).all()
        assert view.diagonal[:size].tolist() == expected[slots, slots].tolist()


@given(
    cache_mb=st.sampled_from([0, 0.001, 0.01]), n_slots=st.lists(st.integers(2, 300), min_size=1, max_size=5)
)
def test_the_cache_keeps_to_its_bytes(cache_mb, n_slots):
    n_bytes = int(cache_mb * 2**20)
    cache = RowCache(n_bytes, np.dtype(np.float64))
    for n in sorted(n_slots):
        lines = cache.in_loops(n)
        assert len(lines.slot) == max(2, min(n, n_bytes // (8 * n)))
        assert lines.values.nbytes <= max(n_bytes, 16 * n)


def test_a_pickle_holds_no_kernel_values():
    X = np.random.RandomState(1).standard_normal((40, 5))
    kept = CachedSupport(FUNCTIONS[0], 5, X.dtype, False, 100)
    view = kept.open_block(as_rows(X), 40, 0)
    looked, script = np.zeros((1, 40)), [(ADD_AND_CACHE, 0)] * 40 + [(LOOK, 7)]
    kept.commit(play(view, 0, np.array(script), looked))
    pickled = pickle.dumps(kept)
    assert len(pickled) < 20_000
    again, other = pickle.loads(pickled).open_empty_block(), np.zeros((1, 40))
    assert play(again, 40, np.array([(LOOK, 7)]), other) == 40
    assert other.tolist() == looked.tolist()
