"""Compare the tile of kernel values with BLAS, and kernel learners on whole streams with plain loops.

A pass is judged by its rate of kernel evaluations as a share of the tile's own rate. Only multiplications and
additions of inner products count, so exponentials and updates lower the share. Other costs of a pass:

- with few support vectors, the fixed cost of a row: copying it to aligned memory, and its share of some calls
from Python;
- in a Projectron, reading half an n × n matrix for each mistake or two, at the speed of the cache or memory
that contains it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from threadpoolctl import threadpool_limits

from ...learners import FOGD, KernelPerceptron, Projectron, ShiftingPerceptron
from ...learners.kernel.values.products import LANES, dense_products
from ...learners.kernel.values.row_storage import aligned
from ...learners.numeric.compiled import compiled
from ...pipeline.data import describe, expand, open_stream
from .timing import Measurement, best_times, milliseconds

BLOCK, SUPPORT = 60, 3_000
# Repetitions of the tile, and of each work that it is compared with.
TURNS = 15
# The row-by-row loops see only these rows: the whole stream would take them minutes.
PEER_ROWS = 6_000
# Each frequency gives two features, a cosine and a sine.
FEATURES, WINDOW = 1_000, 1_000
GAMMA = {"a9a": 0.04, "usps, 3 against the rest": 0.01, "usps, ten classes": 0.01, "generated": 0.02}


@compiled
def _plain_perceptron(X: Any, y: Any, gamma: float, rows: Any, alpha: Any) -> Any:
    """Run a kernel Perceptron written the obvious way: row by row, value by value."""
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


def _numpy_perceptron(X: Any, y: Any, gamma: float) -> int:
    """Run a kernel Perceptron with NumPy, row by row."""
    rows, norms = np.empty_like(X), np.empty(len(X), X.dtype)
    alpha, squares = np.empty(len(X), X.dtype), (X * X).sum(axis=1)
    n = 0
    for t in range(len(X)):
        distance = norms[:n] + squares[t] - 2 * (rows[:n] @ X[t])
        if not y[t] * (alpha[:n] @ np.exp(-gamma * distance)) > 0.0:
            rows[n], norms[n], alpha[n] = X[t], squares[t], y[t]
            n += 1
    return n


def tile_work(d: int, dtype: Any) -> tuple[Callable[[], object], Callable[[], object], Any]:
    """Return a block-by-rows product by the tile, the same by NumPy, and their output array."""
    rng = np.random.RandomState(0)
    width = -(-d // LANES[np.dtype(dtype).itemsize]) * LANES[np.dtype(dtype).itemsize]
    A, B = (aligned((n, width), dtype) for n in (BLOCK, SUPPORT))
    A[:], B[:] = rng.standard_normal(A.shape), rng.standard_normal(B.shape)
    out = np.empty((BLOCK, SUPPORT), dtype)
    return lambda: dense_products(A, BLOCK, B, SUPPORT, out, A[:0]), lambda: np.matmul(A, B.T, out=out), out


def tile_rate(d: int, dtype: Any) -> tuple[float, float]:
    """Return the rates of the tile and of NumPy in multiplications and additions per second, on one core."""
    ours, numpy_, _ = tile_work(d, dtype)
    with threadpool_limits(1):
        times = best_times({"tile": ours, "numpy": numpy_}, repeats=TURNS)
    work = 2.0 * BLOCK * SUPPORT * d
    return work / times["tile"], work / times["numpy"]


def measure_tile() -> list[Measurement]:
    """Compare the tile with NumPy's matrix product of the same precision."""
    measurements = []
    for dtype, aim in ((np.float32, "> 1"), (np.float64, "1")):
        for d in (128, 256, 784):
            ours, numpy_ = tile_rate(d, dtype)
            measurements.append(
                Measurement(
                    f"tile: {BLOCK}×{d} by {SUPPORT:,}×{d}, {np.dtype(dtype).name}",
                    f"{ours / 1e9:.0f} GFLOP/s",
                    f"NumPy, one thread, {numpy_ / 1e9:.0f} GFLOP/s",
                    ours / numpy_,
                    aim,
                )
            )
    return measurements


def streams() -> dict[str, tuple[Any, Any]]:
    """Return dense float32 streams: the real ones that are present, or a generated one if there are none."""
    here = {entry.name for entry in describe() if entry.state.startswith("present")}
    tasks = {
        "a9a": ("a9a", "binary"),
        "usps, 3 against the rest": ("usps", "one-vs-rest:3"),
        "usps, ten classes": ("usps", "multiclass"),
    }
    found = {}
    for name, (source, task) in tasks.items():
        if source in here:
            stream = open_stream(expand(name=source, task=task)[0])
            X = stream.X.toarray() if hasattr(stream.X, "toarray") else stream.X
            found[name] = np.array(X, np.float32), np.array(stream.y, np.int32)
    if not found:
        rng = np.random.RandomState(0)
        X = (rng.uniform(size=(10_000, 123)) < 0.11).astype(np.float32)
        y = (X @ rng.standard_normal(123) > 0) ^ (rng.uniform(size=10_000) < 0.2)
        found["generated"] = X, y.astype(np.int32)
    return found


def one_pass(learner: Any, X: Any, y: Any) -> None:
    """Learn the rows without checks, as a cell does: opening the stream validates them."""
    learner.begin(np.arange(y.max() + 1), X.shape[1])
    learner.learn_rows(X, y)


def measure_stream(name: str, X: Any, y: Any) -> list[Measurement]:
    """Measure a pass of the kernel Perceptron and of the Projectron over a whole stream."""
    gamma, d = GAMMA[name], X.shape[1]
    rate, blas = tile_rate(d, np.float32)
    learners = {"KernelPerceptron": KernelPerceptron(gamma=gamma), "Projectron": Projectron(0.5, gamma=gamma)}
    works: dict[str, Callable[[], object]] = {}
    for label, learner in learners.items():
        works[label] = lambda learner=learner: one_pass(learner, X, y)  # type: ignore[misc]
    times = best_times(works, repeats=TURNS)
    measurements = []
    for label, learner in learners.items():
        reached = 2.0 * d * learner.n_kernel_evaluations_ / times[label]
        shape = f"{name}, {len(X):,}×{d} float32, {learner.n_support_:,} support vectors"
        measurements.append(
            Measurement(
                f"{label}, {shape}: one pass",
                f"{milliseconds(times[label])}, {reached / 1e9:.0f} GFLOP/s",
                f"the tile alone, {rate / 1e9:.0f} GFLOP/s",
                reached / rate,
                "≥ 0.6",
            )
        )
        measurements.append(
            Measurement(
                f"{label}, {shape}: one pass",
                f"{milliseconds(times[label])}, {reached / 1e9:.0f} GFLOP/s",
                f"NumPy's matrix product alone, {blas / 1e9:.0f} GFLOP/s",
                reached / blas,
                "",
            )
        )
    if y.max() > 1:
        return measurements
    return measurements + measure_peers(name, X[:PEER_ROWS], y[:PEER_ROWS])


def measure_peers(name: str, X: Any, y: Any) -> list[Measurement]:
    """Compare the kernel Perceptron with the same algorithm written row by row."""
    gamma, sign = GAMMA[name], np.where(y == y.max(), 1.0, -1.0)
    rows, alpha = np.empty_like(X), np.empty(len(X))
    works: dict[str, Callable[[], object]] = {
        "ours": lambda: one_pass(KernelPerceptron(gamma=gamma), X, y),
        "a plain Numba loop, row by row": lambda: _plain_perceptron(X, sign, gamma, rows, alpha),
        "NumPy, row by row": lambda: _numpy_perceptron(X, sign, gamma),
    }
    with threadpool_limits(1):
        times = best_times(works, repeats=1)
    ours = times.pop("ours")
    return [
        Measurement(
            f"KernelPerceptron, {name}, {len(X):,}×{X.shape[1]} float32: one pass",
            milliseconds(ours),
            f"{peer}, {milliseconds(seconds)}",
            seconds / ours,
            "≥ 2" if "Numba" in peer else "",
        )
        for peer, seconds in times.items()
    ]


def measure_features(name: str, X: Any, y: Any) -> list[Measurement]:
    """Compare gradient descent on Fourier features with a kernel Perceptron with as many support vectors."""
    gamma = GAMMA[name]
    measurements = []
    for kind, rows in (("dense", X), ("CSR", csr_matrix(X))):
        fourier, window = FOGD(FEATURES // 2, gamma=gamma), ShiftingPerceptron(WINDOW, gamma=gamma)
        works: dict[str, Callable[[], object]] = {}
        for label, learner in (("features", fourier), ("window", window)):
            works[label] = lambda learner=learner, rows=rows: one_pass(learner, rows, y)  # type: ignore[misc]
        times = best_times(works, repeats=3)
        measurements.append(
            Measurement(
                f"FOGD, {name}, {len(X):,}×{X.shape[1]} {kind} float32, {FEATURES:,} features: one pass",
                milliseconds(times["features"]),
                f"a Perceptron of the last {window.n_support_:,} mistakes, {milliseconds(times['window'])}",
                times["window"] / times["features"],
                # The aim applies only if there are as many support vectors as features.
                "≥ 3" if window.n_support_ == WINDOW else "",
            )
        )
    return measurements


def measure_growth() -> list[Measurement]:
    """Measure how scoring time per row grows with the support set, when all rows join it."""
    rng = np.random.RandomState(0)
    sizes, chunk, d = (1_000, 4_000, 16_000), 600, 128
    X = rng.standard_normal((sizes[-1], d)).astype(np.float32)
    # Distant rows have scores of about 0, so at least every other row is a mistake.
    works: dict[str, Callable[[], object]] = {}
    for size in sizes:
        learner = KernelPerceptron(gamma=1.0).fit(X[:size], np.arange(size) % 2)
        works[str(size)] = lambda learner=learner: learner.score_rows(X[:chunk])  # type: ignore[misc]
    times = best_times(works, repeats=5)
    smallest = times[str(sizes[0])]
    return [
        Measurement(
            f"a row's score with {size:,} support vectors, {d} features, float32",
            f"{times[str(size)] / chunk * 1e6:.1f} µs",
            f"{size // sizes[0]} times that with {sizes[0]:,}, {smallest / chunk * 1e6:.1f} µs",
            smallest * size / sizes[0] / times[str(size)],
        )
        for size in sizes[1:]
    ]


def measure() -> list[Measurement]:
    """Run the benchmark."""
    measurements = measure_tile()
    for name, (X, y) in streams().items():
        measurements += measure_stream(name, X, y)
        if y.max() == 1:
            measurements += measure_features(name, X, y)
    return measurements + measure_growth()
