"""Linear learners: one pass beside scikit-learn's, and beside reading the memory once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import SGDClassifier

from ...learners import AROW, PassiveAggressive
from .timing import Measurement, best_times, milliseconds

# MNIST's shape, and that of RCV1's training part with its 75 non-zeros a row.
DENSE = (60_000, 784)
SPARSE = (20_000, 47_000)
NON_ZEROS = 75


def dense_stream(rng: np.random.RandomState) -> tuple[Any, Any]:
    """Generate a dense float32 stream: uniform features, a linear concept, 5% of the labels flipped."""
    n, d = DENSE
    X = rng.random_sample(DENSE).astype(np.float32)
    margin = X @ rng.standard_normal(d).astype(np.float32)
    y = (margin > np.median(margin)) ^ (rng.random_sample(n) < 0.05)
    return X, y.astype(np.int32)


def sparse_stream(rng: np.random.RandomState) -> tuple[Any, Any]:
    """Generate a CSR float32 stream: Zipf-like columns as in text, unit rows, 5% of the labels flipped."""
    n, d = SPARSE
    # u^3 crowds the low columns as frequent words do; about 75 distinct ones are left of 88 drawn.
    columns = (d * rng.random_sample((n, 88)) ** 3).astype(np.int32)
    columns.sort(axis=1)
    first = np.ones(columns.shape, dtype=bool)
    first[:, 1:] = columns[:, 1:] != columns[:, :-1]
    # Exactly 75 a row.
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


def scikit_learn_pass(X: Any, y: Any) -> Callable[[], object]:
    """Return scikit-learn's PA-I, one pass in order."""

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


def measure() -> list[Measurement]:
    """Run the benchmark."""
    rng = np.random.RandomState(0)
    measurements = []
    X, y = dense_stream(rng)
    flat = X.reshape(-1)
    times = best_times(
        {
            "read": lambda: np.sum(flat),
            "PA-I": lambda: PassiveAggressive().fit(X, y),
            "AROW": lambda: AROW().fit(X, y),
            "scikit-learn": scikit_learn_pass(X, y),
        }
    )
    shape = f"{DENSE[0]:,}×{DENSE[1]} float32"
    peer = times["scikit-learn"]
    speed = X.nbytes / times["read"] / 1e9
    for name, share in (("PA-I", 0.65), ("AROW", 0.55)):
        ours = milliseconds(times[name])
        measurements += [
            Measurement(
                f"{name}, one pass, {shape}",
                ours,
                f"scikit-learn PA-I {milliseconds(peer)}",
                peer / times[name],
                "≥ 10" if name == "PA-I" else "",
            ),
            Measurement(
                f"{name}, share of memory-read speed ({speed:.1f} GB/s)",
                ours,
                f"reading X once {milliseconds(times['read'])}",
                times["read"] / times[name],
                f"≥ {share}",
            ),
        ]
    X, y = sparse_stream(rng)
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
