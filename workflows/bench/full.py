"""Compare an update of AROW with full covariance with the symmetric matrix-vector product of its size.

An update needs at least Σx, which reads half of Σ, as SciPy's `dsymv` does. (Its time includes the call from
Python, a third of it at 123 features.)
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg.blas import dsymv
from threadpoolctl import threadpool_limits

from ...learners import AROW
from .timing import Measurement, best_times

# The numbers of features of a9a, USPS and MNIST.
SIZES = (123, 256, 784)
ROWS = 320
# Share of non-zeros in a CSR row, as in a9a.
DENSITY = 0.11


def stream(d: int, density: float) -> tuple[Any, Any]:
    """Generate rows of about unit length with random labels."""
    rng = np.random.RandomState(0)
    X = rng.standard_normal((ROWS, d)) * (rng.random_sample((ROWS, d)) < density)
    return X / np.sqrt(d * density), rng.randint(0, 2, ROWS).astype(np.int32)


def learner(d: int) -> AROW:
    """Return a learner with steps so short that every row updates it."""
    arow = AROW(r=1e6, covariance="full")
    arow.begin(np.array([0, 1]), d)
    return arow


def measure_size(d: int) -> list[Measurement]:
    """Compare at `d` features."""
    X, y = stream(d, 1.0)
    few, labels = stream(d, DENSITY)
    sparse = sp.csr_matrix(few)
    dense_learner, sparse_learner = learner(d), learner(d)
    A, x = np.asfortranarray(X.T @ X), X[0].copy()

    def products() -> None:
        for _ in range(ROWS):
            dsymv(1.0, A, x, lower=1)

    with threadpool_limits(1):
        times = best_times(
            {
                "dsymv": products,
                "dense": lambda: dense_learner.learn_rows(X, y),
                "CSR": lambda: sparse_learner.learn_rows(sparse, labels),
            },
            repeats=30,
        )
    peer = times["dsymv"]
    return [
        Measurement(
            f"AROW, full covariance, {rows}, {d} features: an update",
            f"{times[kind] / ROWS * 1e6:.2f} µs",
            f"SciPy's dsymv, one thread, {peer / ROWS * 1e6:.2f} µs",
            peer / times[kind],
            # An update may take at most 1.7 times as long as the product.
            "≥ 0.59" if kind == "dense" else "",
        )
        for kind, rows in (("dense", "dense rows"), ("CSR", f"CSR rows, {DENSITY:.0%} non-zeros"))
    ]


def measure() -> list[Measurement]:
    """Run the benchmark."""
    return [line for d in SIZES for line in measure_size(d)]
