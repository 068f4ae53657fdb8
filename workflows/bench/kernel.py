"""Compare inner products with BLAS, and kernel learners on whole streams with a plain loop.

The "tile" is the package's code for the inner products of a block of rows with support vectors. A pass is
judged by its rate of multiplications and additions in kernel values, divided by the rate of the tile alone.
This share is below 1 because a pass also computes exponentials and updates, and because every row has a fixed
cost. A Projectron with n support vectors also reads half of an n × n matrix for every one or two mistakes.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from threadpoolctl import threadpool_limits

from ...learners import FOGD, KernelPerceptron, Projectron, RemoveOldestPerceptron
from ...learners.kernel.values.products import LANES, dense_products
from ...learners.kernel.values.row_storage import aligned
from ...learners.numeric.compiled import compiled
from . import runner
from .runner import Contest, Measurement, Work, milliseconds
from .streams import NamedStream, is_sparse, measure_each, real_streams

BLOCK, SUPPORT = 60, 3_000
# How often the tile (inner products alone) and the passes that are compared with it are timed.
TURNS = 15
# Number of rows that the plain loop (row by row) learns: the whole stream would take minutes.
PEER_ROWS = 6_000
# Number of Fourier features (a cosine and a sine per frequency), and of mistakes that the Perceptron stores.
FEATURES, WINDOW = 1_000, 1_000
GAMMA = {"a9a": 0.04, "usps, 3 against the rest": 0.01, "usps, ten classes": 0.01, "generated": 0.02}
REAL = {
    "a9a": ("a9a", "binary"),
    "usps, 3 against the rest": ("usps", "one-vs-rest:3"),
    "usps, ten classes": ("usps", "multiclass"),
}
# Number type in which inner products are computed (by the tile), and aim for their rate relative to NumPy's.
TILES = ((np.float32, "> 1"), (np.float64, "1"))


@compiled
def _plain_perceptron(X: Any, y: Any, gamma: float, rows: Any, alpha: Any) -> Any:
    """Run a kernel Perceptron as a plain loop: row by row, value by value."""
    n = 0
    for t in range(X.shape[0]):
        score = 0.0
        for i in range(n):
            distance = 0.0
            for j in range(X.shape[1]):
                difference = X[t, j] - rows[i, j]
                distance += difference * difference
            score += alpha[i] * math.exp(-gamma * distance)
        if not y[t] * score > 0.0:
            rows[n] = X[t]
            alpha[n] = y[t]
            n += 1
    return n


def tile_work(d: int, dtype: Any) -> tuple[Work, Work, Any]:
    """Return two functions, which multiply rows of `d` features by support vectors, and their output array.

    The first function uses the tile, the second NumPy.
    """
    rng = np.random.RandomState(0)
    lanes = LANES[np.dtype(dtype).itemsize]
    A, B = (aligned((n, -(-d // lanes) * lanes), dtype) for n in (BLOCK, SUPPORT))
    A[:], B[:] = rng.standard_normal(A.shape), rng.standard_normal(B.shape)
    out = np.empty((BLOCK, SUPPORT), dtype)
    return lambda: dense_products(A, BLOCK, B, SUPPORT, out, A[:0]), lambda: np.matmul(A, B.T, out=out), out


def tile_rate(d: int, dtype: Any) -> tuple[float, float]:
    """Return floating-point operations per second of our matrix product and of NumPy's, on one core."""
    ours, numpy_, _ = tile_work(d, dtype)
    with threadpool_limits(1):
        times = runner.best_times({"tile": ours, "numpy": numpy_}, TURNS)
    work = 2.0 * BLOCK * SUPPORT * d
    return work / times["tile"], work / times["numpy"]


def _gigaflops(rate: float) -> str:
    return f"{rate / 1e9:.0f} GFLOP/s"


def measure_tile() -> list[Measurement]:
    """Compare the package's inner products (the tile) with NumPy's matrix product of the same precision."""
    lines = []
    for dtype, aim in TILES:
        for d in (128, 256, 784):
            ours, numpy_ = tile_rate(d, dtype)
            what = f"tile: {BLOCK}×{d} by {SUPPORT:,}×{d}, {np.dtype(dtype).name}"
            peer = f"NumPy, one thread, {_gigaflops(numpy_)}"
            lines.append(Measurement(what, _gigaflops(ours), peer, ours / numpy_, aim))
    return lines


def streams() -> list[NamedStream | Measurement]:
    """Return dense float32 streams: the real ones, or a generated one if none can be used.

    For a data set that is absent or damaged, return a line of the table.
    """
    found = list(real_streams(REAL))
    if not any(isinstance(each, NamedStream) for each in found):
        rng = np.random.RandomState(0)
        X = (rng.uniform(size=(10_000, 123)) < 0.11).astype(np.float32)
        y = (X @ rng.standard_normal(123) > 0) ^ (rng.uniform(size=10_000) < 0.2)
        found.append(NamedStream("generated", X, y.astype(np.int32)))
    return [each if isinstance(each, Measurement) else _dense(each) for each in found]


def _dense(stream: NamedStream) -> NamedStream:
    X = stream.X.toarray() if is_sparse(stream.X) else stream.X
    return stream._replace(X=np.asarray(X, np.float32))


def one_pass(learner: Any, X: Any, y: Any) -> None:
    """Learn rows without validating them, as a cell does: a stream's rows are validated when it is opened."""
    learner.begin(np.arange(y.max() + 1), X.shape[1])
    learner.learn_rows(X, y)


def measure_stream(stream: NamedStream) -> list[Measurement]:
    """Measure passes of kernel Perceptron and Projectron; with two classes, also compare a plain loop."""
    name, X, y, *_ = stream
    gamma, d = GAMMA[name], X.shape[1]
    tile, _ = tile_rate(d, np.float32)
    learners = {"KernelPerceptron": KernelPerceptron(gamma=gamma), "Projectron": Projectron(0.5, gamma=gamma)}
    works = {label: partial(one_pass, learner, X, y) for label, learner in learners.items()}
    times = runner.best_times(works, TURNS)
    lines = []
    for label, learner in learners.items():
        reached = 2.0 * d * learner.n_kernel_evaluations_ / times[label]
        what = f"{label}, {name}, {len(X):,}×{d} float32, {learner.n_support_:,} support vectors: one pass"
        ours = f"{milliseconds(times[label])}, {_gigaflops(reached)}"
        lines.append(Measurement(what, ours, f"the tile alone, {_gigaflops(tile)}", reached / tile, "≥ 0.6"))
    return lines if y.max() > 1 else lines + measure_loop(stream.first(PEER_ROWS))


def measure_loop(stream: NamedStream) -> list[Measurement]:
    """Compare the kernel Perceptron with the same algorithm written row by row."""
    name, X, y, *_ = stream
    gamma, sign = GAMMA[name], np.where(y == y.max(), 1.0, -1.0)
    rows, alpha = np.empty_like(X), np.empty(len(X))
    works: dict[str, Work] = {
        "ours": lambda: one_pass(KernelPerceptron(gamma=gamma), X, y),
        "plain": lambda: _plain_perceptron(X, sign, gamma, rows, alpha),
    }
    what = f"KernelPerceptron, {name}, {len(X):,}×{X.shape[1]} float32: one pass"
    contest = Contest(what, "ours", "plain", "≥ 2", peer_named="a plain Numba loop, row by row,")
    with threadpool_limits(1):
        return runner.contend(works, [contest], repeats=1)


def measure_features(stream: NamedStream) -> list[Measurement]:
    """Compare gradient descent on Fourier features with a kernel Perceptron with as many support vectors."""
    name, X, y, *_ = stream
    lines = []
    for kind, rows in (("dense", X), ("CSR", csr_matrix(X))):
        window = RemoveOldestPerceptron(WINDOW, gamma=GAMMA[name])
        one_pass(window, rows, y)
        works = {
            "features": partial(one_pass, FOGD(FEATURES // 2, gamma=GAMMA[name]), rows, y),
            "window": partial(one_pass, window, rows, y),
        }
        contest = Contest(
            f"FOGD, {name}, {len(X):,}×{X.shape[1]} {kind} float32, {FEATURES:,} features: one pass",
            "features",
            "window",
            # The aim applies only if the Perceptron has as many support vectors as there are Fourier
            # features.
            "≥ 3" if window.n_support_ == WINDOW else "",
            peer_named=f"a Perceptron of the last {window.n_support_:,} mistakes,",
        )
        lines += runner.contend(works, [contest], repeats=3)
    return lines


def kernel() -> list[Measurement]:
    """Run all comparisons of kernel values and kernel learners."""

    def measure(stream: NamedStream) -> list[Measurement]:
        return measure_stream(stream) + (measure_features(stream) if stream.y.max() == 1 else [])

    return measure_tile() + measure_each(streams(), measure)
