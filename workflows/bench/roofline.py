"""Compare passes of linear learners with plain loops that only touch the same memory.

One loop reads the rows, one also reads ("gathers") the weights of each row's features, and one then also
writes ("scatters") these weights. A pass of a learner that updates with every row takes about as long as
the loop that touches the same arrays: one array of weights for PA-I and OGD, two for AROW (mean and
variance) and FTRL-Proximal (its sums z and √n). Rows have 39 non-zeros, like Criteo's.

Each timed pass is the first of a new learner: one that has already learned the rows updates fewer of them.
Before each timed loop that writes, its arrays are new too. Creating them and writing to them for the first
time, when the system provides their memory, is not timed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...learners import AROW, FTRLProximal, OnlineGradientDescent, PassiveAggressive
from ...learners.numeric.compiled import compiled
from ...learners.numeric.rows import new_state
from . import runner
from .runner import Contest, Measurement, Work, prepared_time
from .streams import begun

NON_ZEROS = 39
ROWS = (100_000, 1_000_000, 10_000_000, 100_000_000)
FEATURES = (1 << 18, 1 << 21, 1 << 24)
# Number of rows that are generated at a time.
_BLOCK = 100_000
# For each learner: its class, the number of arrays that an update reads and writes, and the aim for the time
# of a plain loop over as many arrays divided by the time of a pass.
LEARNERS: dict[str, tuple[Any, int, str]] = {
    "PA-I": (PassiveAggressive, 1, "≥ 0.8"),
    "OGD": (OnlineGradientDescent, 1, "≥ 0.8"),
    "FTRL": (FTRLProximal, 2, "≥ 0.8"),
    "AROW": (AROW, 2, "≥ 0.7"),
}
_READ, _GATHER = "read the rows", "gather"
_SCATTER = {1: "gather + scatter", 2: "gather + scatter of two arrays"}

CSR = tuple[NDArray[np.float32], NDArray[np.int32], NDArray[np.int64]]


def roofline(gigabytes: float = 0.4) -> list[Measurement]:
    """Compare passes with plain loops for each number in `ROWS` that fits into `gigabytes`, at least one."""
    lines = []
    for n in ROWS:
        if n > ROWS[0] and n * NON_ZEROS * 8 > gigabytes * 1e9:
            break
        for d in FEATURES:
            lines += _measure(n, d)
    return lines


def hashed_rows(n: int, n_features: int) -> tuple[CSR, NDArray[np.int32]]:
    """Draw rows with heavy-tailed column counts, like hashed categories, and labels of a linear concept."""
    rng = np.random.RandomState(0)
    data = np.empty(n * NON_ZEROS, np.float32)
    indices = np.empty(n * NON_ZEROS, np.int32)
    codes = np.empty(n, np.int32)
    concept = rng.standard_normal(n_features)
    for start in range(0, n, _BLOCK):
        size = min(_BLOCK, n - start)
        # Cubing uniform numbers makes low columns frequent. Sorting the drawn columns and adding each one's
        # position makes them distinct.
        columns = ((n_features - NON_ZEROS) * rng.random_sample((size, NON_ZEROS)) ** 3).astype(np.int32)
        columns.sort(axis=1)
        columns += np.arange(NON_ZEROS, dtype=np.int32)
        values = rng.random_sample(columns.shape).astype(np.float32)
        part = slice(start * NON_ZEROS, (start + size) * NON_ZEROS)
        indices[part], data[part] = columns.ravel(), values.ravel()
        margins = (values * concept[columns]).sum(axis=1) + rng.standard_normal(size)
        codes[start : start + size] = margins > 0
    return (data, indices, np.arange(n + 1, dtype=np.int64) * NON_ZEROS), codes


def _measure(n: int, n_features: int) -> list[Measurement]:
    rows, codes = hashed_rows(n, n_features)

    def zeros() -> NDArray[np.float64]:
        return _written(new_state(n_features))

    w = zeros()
    # Functions that prepare a pass or loop, and return it.
    works: dict[str, Callable[[], Work]] = {
        _READ: lambda: partial(read, *rows),
        _GATHER: lambda: partial(gather, *rows, w),
        _SCATTER[1]: lambda: partial(gather_scatter, *rows, zeros()),
        _SCATTER[2]: lambda: partial(gather_scatter_two, *rows, zeros(), new_state(n_features, 1.0, place=1)),
    }
    what = f"{n:,} rows, {n_features:,} weights"
    contests = [Contest(f"{what}: {_READ}", _READ, _GATHER)]
    for name, (make, arrays, aim) in LEARNERS.items():
        works[name] = partial(_first_pass, make, n_features, rows, codes)
        contests.append(Contest(f"{what}: {name}", name, _SCATTER[arrays], aim))
    # Repeat passes over many rows only twice, because long times vary little.
    return runner.contend(works, contests, repeats=5 if n <= ROWS[1] else 2, timed=prepared_time)


def _first_pass(make: Any, n_features: int, rows: CSR, codes: NDArray[np.int32]) -> Work:
    """Return a function that runs the first pass of a new learner."""
    learner = begun(make(), n_features)
    for value in vars(learner).values():
        if isinstance(value, np.ndarray) and value.dtype == np.float64:
            _written(value)
    return partial(learner.learn_rows, rows, codes)


def _written(array: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the array after writing it, so that the system provides its memory; its values stay."""
    array += 0.0
    return array


@compiled
def read(data: Any, indices: Any, indptr: Any) -> Any:
    """Read values and indices of all rows once: a loop that takes the least time any pass can take."""
    total, last = 0.0, 0
    for k in range(indptr[-1]):
        total += data[k]
        last ^= indices[k]
    return total, last


@compiled
def gather(data: Any, indices: Any, indptr: Any, w: Any) -> Any:
    """Read the rows, and the weights of their features."""
    total = 0.0
    for t in range(indptr.shape[0] - 1):
        margin = 0.0
        for k in range(indptr[t], indptr[t + 1]):
            margin += w[np.uintp(indices[k])] * data[k]
        total += margin
    return total


@compiled
def gather_scatter(data: Any, indices: Any, indptr: Any, w: Any) -> None:
    """Read the weights of each row's features, then write them."""
    for t in range(indptr.shape[0] - 1):
        margin = 0.0
        for k in range(indptr[t], indptr[t + 1]):
            margin += w[np.uintp(indices[k])] * data[k]
        step = 1e-3 if margin < 1.0 else -1e-3
        for k in range(indptr[t], indptr[t + 1]):
            w[np.uintp(indices[k])] += step * data[k]


@compiled
def gather_scatter_two(data: Any, indices: Any, indptr: Any, w: Any, v: Any) -> None:
    """Read two arrays at the positions of each row's features, then write them."""
    for t in range(indptr.shape[0] - 1):
        margin = spread = 0.0
        for k in range(indptr[t], indptr[t + 1]):
            margin += w[np.uintp(indices[k])] * data[k]
            spread += v[np.uintp(indices[k])] * data[k]
        step = 1e-3 if margin < 1.0 + spread else -1e-3
        for k in range(indptr[t], indptr[t + 1]):
            w[np.uintp(indices[k])] += step * data[k]
            v[np.uintp(indices[k])] += 1e-6 * data[k]
