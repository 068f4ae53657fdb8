"""Compare one pass of linear learners with scikit-learn, with reading memory once, and with checked rows.

The speed of a pass depends on how many rows cause updates. About half of them do in a generated stream, few
do in a real one; both are measured.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import SGDClassifier

from ...learners import AROW, PassiveAggressive
from ...learners.numeric.compiled import compiled
from ...learners.numeric.rows import as_rows, n_rows, row, squared_norm
from ...pipeline.data import describe, expand, open_stream
from .timing import Measurement, best_times, milliseconds

# Aim for the speed of the public `learn`, which checks its rows, relative to `learn_rows`.
CHECKED_AIM = "≥ 0.9"
# Share of non-zero features in MNIST.
STORED = 0.19

# MNIST's shape, and the shape of RCV1's training part with its 75 non-zeros per row.
DENSE = (60_000, 784)
SPARSE = (20_000, 47_000)
NON_ZEROS = 75


@compiled
def _read(X: Any, norms: Any) -> None:
    """Read every row once with the learners' vector code, as the time of a pass without learning."""
    for t in range(n_rows(X)):
        norms[t] = squared_norm(row(X, t))


def dense_stream(rng: np.random.RandomState) -> tuple[Any, Any]:
    """Generate a dense float32 stream: Gaussian features, a linear concept, 5% of the labels flipped."""
    n, d = DENSE
    X = rng.standard_normal(DENSE).astype(np.float32)
    y = (X @ rng.standard_normal(d).astype(np.float32) > 0) ^ (rng.random_sample(n) < 0.05)
    return X, y.astype(np.int32)


def mnist_stream() -> tuple[Any, Any] | None:
    """Return MNIST's training part, digit 3 against the rest, or None if it is not on this machine."""
    if not any(entry.name == "mnist" and entry.state.startswith("present") for entry in describe()):
        return None
    stream = open_stream(expand(name="mnist", task="one-vs-rest:3")[0])
    # Copied to memory, because the stream's rows may be mapped from a file.
    return np.array(stream.X), np.array(stream.y)


def sparse_stream(rng: np.random.RandomState) -> tuple[Any, Any]:
    """Generate a CSR float32 stream: Zipf-like columns as in text, unit rows, 5% of the labels flipped."""
    n, d = SPARSE
    # u^3 makes low columns frequent, like frequent words; of 88 drawn columns about 75 are distinct.
    columns = (d * rng.random_sample((n, 88)) ** 3).astype(np.int32)
    columns.sort(axis=1)
    first = np.ones(columns.shape, dtype=bool)
    first[:, 1:] = columns[:, 1:] != columns[:, :-1]
    # At most 75 per row.
    kept = first & (np.cumsum(first, axis=1) <= NON_ZEROS)
    indptr = np.concatenate([[0], np.cumsum(kept.sum(axis=1))]).astype(np.int32)
    values = rng.random_sample(indptr[-1]).astype(np.float32)
    X = sp.csr_matrix((values, columns[kept], indptr), shape=SPARSE)
    norms = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    X = sp.csr_matrix(
        (values / np.repeat(norms, np.diff(indptr)).astype(np.float32), X.indices, indptr), SPARSE
    )
    y = (X @ rng.standard_normal(d) > 0) ^ (rng.random_sample(n) < 0.05)
    return X, y.astype(np.int32)


def thinned(rng: np.random.RandomState, X: Any) -> Any:
    """Return a dense stream as CSR with MNIST's share of non-zeros, at random positions."""
    return sp.csr_matrix(X * (rng.random_sample(X.shape) < STORED))


def measure_checks(name: str, X: Any, y: Any) -> list[Measurement]:
    """Compare `learn` on unvalidated rows with `learn_rows`."""
    rows, codes, classes = as_rows(X), y.astype(np.int32), np.array([0, 1])
    works: dict[str, Callable[[], object]] = {}
    for label, make in (("PA-I", PassiveAggressive), ("AROW", AROW)):
        checked, unchecked = make(), make()
        # Both measure the middle of a stream.
        for learner in (checked, unchecked):
            learner.begin(classes, X.shape[1])
        works[f"{label} learn"] = partial(checked.learn, X, y)
        works[f"{label} learn_rows"] = partial(unchecked.learn_rows, rows, codes)
    times = best_times(works)
    stored = "" if isinstance(X, np.ndarray) else f" CSR, {X.nnz / len(y):.0f} non-zeros a row"
    return [
        Measurement(
            f"{label}, {name}, {X.shape[0]:,}×{X.shape[1]} {X.dtype}{stored}: rows checked",
            f"learn {milliseconds(times[f'{label} learn'])}",
            f"learn_rows {milliseconds(times[f'{label} learn_rows'])}",
            times[f"{label} learn_rows"] / times[f"{label} learn"],
            CHECKED_AIM,
        )
        for label in ("PA-I", "AROW")
    ]


def scikit_learn_pass(X: Any, y: Any) -> Callable[[], object]:
    """Return one pass of scikit-learn's PA-I, with rows in order."""

    def work() -> object:
        learner = SGDClassifier(
            loss="hinge",
            penalty=None,
            learning_rate="pa1",
            eta0=1.0,
            fit_intercept=False,
            shuffle=False,
            max_iter=1,
            tol=None,
        )
        return learner.fit(X, y)

    return work


def measure_dense(name: str, X: Any, y: Any) -> list[Measurement]:
    """Measure one pass over a dense stream."""
    rows, norms = as_rows(X), np.empty(len(y))
    times = best_times(
        {
            "read": lambda: _read(rows, norms),
            "PA-I": lambda: PassiveAggressive().fit(X, y),
            "AROW": lambda: AROW().fit(X, y),
            "scikit-learn": scikit_learn_pass(X, y),
        }
    )
    shape = f"{X.shape[0]:,}×{X.shape[1]} {X.dtype}"
    peer, read = times["scikit-learn"], times["read"]
    measurements = []
    learners: dict[str, tuple[Any, float]] = {"PA-I": (PassiveAggressive(), 0.65), "AROW": (AROW(), 0.55)}
    for label, (learner, share) in learners.items():
        updated = learner.fit(X, y).n_updates_ / len(y)
        work, ours = f"{label}, {name}, {shape}, {updated:.0%} of the rows update", milliseconds(times[label])
        measurements += [
            Measurement(
                f"{work}: one pass",
                ours,
                f"scikit-learn PA-I {milliseconds(peer)}",
                peer / times[label],
                "≥ 10" if label == "PA-I" else "",
            ),
            Measurement(
                f"{work}: share of memory-read speed",
                ours,
                f"reading X once {milliseconds(read)} ({X.nbytes / read / 1e9:.1f} GB/s)",
                read / times[label],
                f"≥ {share}",
            ),
        ]
    return measurements


def measure() -> list[Measurement]:
    """Run the benchmark."""
    rng = np.random.RandomState(0)
    X, y = dense_stream(rng)
    measurements = measure_dense("Gaussian stream", X, y) + measure_checks("Gaussian stream", X, y)
    mnist = mnist_stream()
    if mnist is None:
        reason = "not on this machine: singlepass data fetch mnist"
        measurements.append(Measurement("MNIST 3 against the rest", "skipped", reason, float("nan")))
    else:
        measurements += measure_dense("MNIST 3 against the rest", *mnist)
    sparse = sparse_stream(rng)
    measurements += measure_checks("Gaussian stream, thinned", thinned(rng, X), y)
    if mnist is not None:
        measurements += measure_checks("MNIST 3 against the rest", sp.csr_matrix(mnist[0]), mnist[1])
    X, y = sparse
    times = best_times(
        {
            "PA-I": lambda: PassiveAggressive().fit(X, y),
            "AROW": lambda: AROW().fit(X, y),
            "scikit-learn": scikit_learn_pass(X, y),
        },
        repeats=15,
    )
    shape = f"{SPARSE[0]:,}×{SPARSE[1]:,} CSR, {X.nnz / SPARSE[0]:.0f} non-zeros a row"
    peer = times["scikit-learn"]
    for name in ("PA-I", "AROW"):
        measurements.append(
            Measurement(
                f"{name}, one pass, {shape}",
                f"{milliseconds(times[name])}, {times[name] / X.nnz * 1e9:.2f} ns a non-zero",
                f"scikit-learn PA-I {milliseconds(peer)}",
                peer / times[name],
                "≥ 1.6" if name == "PA-I" else "",
            )
        )
    return measurements
