"""Learners of many classes: one pass over sparse text-like rows beside scikit-learn's.

scikit-learn trains one binary model a class, so a pass of its is K passes over the rows; a pass here scores
all classes in one read of the row.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from ...learners import AROW, AdaGradRDA, PassiveAggressive, Perceptron
from ...pipeline.data import describe, expand, open_stream
from .linear import scikit_learn_pass
from .timing import Measurement, best_times, milliseconds

# The shape of 20 Newsgroups as LIBSVM has it.
ROWS, FEATURES, CLASSES, NON_ZEROS = 16_000, 60_000, 20, 80

LEARNERS: dict[str, Callable[[], Any]] = {
    "PA-I": PassiveAggressive,
    "Perceptron": Perceptron,
    "AROW top-1": AROW,
    "AROW all": lambda: AROW(constraints="all"),
    "AdaGrad-RDA": AdaGradRDA,
}


def topic_stream(rng: np.random.RandomState) -> tuple[Any, Any]:
    """Generate a CSR float32 stream: frequent words that say nothing and rarer ones of the row's class."""
    y = rng.randint(0, CLASSES, size=ROWS).astype(np.int32)
    # u^3 crowds the low columns as frequent words do; an eighth of the words belongs to the class.
    common = (FEATURES * rng.random_sample((ROWS, NON_ZEROS * 7 // 8)) ** 3).astype(np.int32)
    topical = rng.randint(0, FEATURES // CLASSES, size=(ROWS, NON_ZEROS // 8)).astype(np.int32)
    columns = np.hstack([common, topical * CLASSES + y[:, None]])
    indptr = np.arange(0, columns.size + 1, NON_ZEROS, dtype=np.int32)
    X = sp.csr_matrix((np.ones(columns.size, np.float32), columns.ravel(), indptr), (ROWS, FEATURES))
    X.sum_duplicates()
    return unit_rows(X), y


def unit_rows(X: Any) -> Any:
    """Return CSR rows scaled to length 1, in float32."""
    norms = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    scale = np.repeat(1 / np.where(norms > 0, norms, 1), np.diff(X.indptr))
    return sp.csr_matrix(((X.data * scale).astype(np.float32), X.indices, X.indptr), X.shape)


def newsgroups_stream() -> tuple[Any, Any] | None:
    """Return 20 Newsgroups, rows of unit length; None when it is not on this machine."""
    if not any(entry.name == "news20" and entry.state.startswith("present") for entry in describe()):
        return None
    stream = open_stream(expand(name="news20", task="multiclass")[0])
    # In memory: the stream's own rows may be mapped from a file.
    return unit_rows(stream.X), np.array(stream.y)


def one_pass(make: Callable[[], Any], X: Any, y: Any) -> Callable[[], object]:
    """Return one pass of a new learner."""
    return lambda: make().fit(X, y)


def measure_stream(name: str, X: Any, y: Any) -> list[Measurement]:
    """Measure one pass of every learner over a stream."""
    works = {label: one_pass(make, X, y) for label, make in LEARNERS.items()}
    times = best_times(works | {"scikit-learn": scikit_learn_pass(X, y)}, repeats=3)
    peer = times["scikit-learn"]
    n_classes = len(np.unique(y))
    shape = f"{X.shape[0]:,}×{X.shape[1]:,} CSR, {X.nnz / X.shape[0]:.0f} non-zeros a row"
    measurements = []
    for label, make in LEARNERS.items():
        updated = make().fit(X, y).n_updates_ / len(y)
        measurements.append(
            Measurement(
                f"{label}, {name}, {n_classes} classes, {shape}, {updated:.0%} of the rows update: one pass",
                f"{milliseconds(times[label])}, {times[label] / X.nnz * 1e9:.1f} ns a non-zero",
                f"scikit-learn PA-I, one against the rest, {milliseconds(peer)}",
                peer / times[label],
            )
        )
    return measurements


def measure() -> list[Measurement]:
    """Run the benchmark."""
    measurements = measure_stream("generated topics", *topic_stream(np.random.RandomState(0)))
    news20 = newsgroups_stream()
    if news20 is None:
        reason = "not on this machine: singlepass data fetch news20"
        return [*measurements, Measurement("20 Newsgroups", "skipped", reason, float("nan"))]
    return measurements + measure_stream("20 Newsgroups", *news20)
