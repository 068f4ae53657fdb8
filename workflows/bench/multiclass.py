"""Compare one pass of multiclass learners with scikit-learn, on text-like and on dense rows.

scikit-learn trains one binary model per class, so its pass reads the rows K times. A pass here scores all
classes in one read of the row. AROW, which stores a variance per weight, is also compared with PA-I.
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

# The shape of LIBSVM's version of 20 Newsgroups.
ROWS, FEATURES, CLASSES, NON_ZEROS = 16_000, 60_000, 20, 80

# Many features with few per row; all features in all rows; few features and many classes.
REAL = {"news20": "20 Newsgroups", "usps": "USPS", "letter": "Letter"}

LEARNERS: dict[str, Callable[[], Any]] = {
    "PA-I": PassiveAggressive,
    "Perceptron": Perceptron,
    "AROW top-1": AROW,
    "AROW all": lambda: AROW(constraints="all"),
    "AdaGrad-RDA": AdaGradRDA,
}


def topic_stream(rng: np.random.RandomState) -> tuple[Any, Any]:
    """Generate a CSR float32 stream: frequent uninformative words and rarer words of the row's class."""
    y = rng.randint(0, CLASSES, size=ROWS).astype(np.int32)
    # u^3 makes low columns frequent, like frequent words; an eighth of the words belongs to the class.
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


def real_stream(name: str) -> tuple[Any, Any] | None:
    """Return a data set, CSR rows scaled to unit length, or None if it is not on this machine."""
    if not any(entry.name == name and entry.state.startswith("present") for entry in describe()):
        return None
    stream = open_stream(expand(name=name, task="multiclass")[0])
    # Copied to memory, because the stream's rows may be mapped from a file.
    return unit_rows(stream.X) if sp.issparse(stream.X) else np.array(stream.X), np.array(stream.y)


def one_pass(make: Callable[[], Any], X: Any, y: Any) -> Callable[[], object]:
    """Return one pass of a new learner."""
    return lambda: make().fit(X, y)


def measure_stream(name: str, X: Any, y: Any) -> list[Measurement]:
    """Measure one pass of every learner over a stream."""
    works = {label: one_pass(make, X, y) for label, make in LEARNERS.items()}
    times = best_times(works | {"scikit-learn": scikit_learn_pass(X, y)}, repeats=3)
    peer = times["scikit-learn"]
    n_classes = len(np.unique(y))
    sparse = sp.issparse(X)
    read = X.nnz if sparse else X.size
    kind = f"CSR, {read / len(y):.0f} non-zeros a row" if sparse else "dense"
    shape, unit = f"{X.shape[0]:,}×{X.shape[1]:,} {kind}", "non-zero" if sparse else "feature"
    measurements = []
    for label, make in LEARNERS.items():
        updated = make().fit(X, y).n_updates_ / len(y)
        measurements.append(
            Measurement(
                f"{label}, {name}, {n_classes} classes, {shape}, {updated:.0%} of the rows update: one pass",
                f"{milliseconds(times[label])}, {times[label] / read * 1e9:.1f} ns a {unit}",
                f"scikit-learn PA-I, one against the rest, {milliseconds(peer)}",
                peer / times[label],
            )
        )
    measurements.append(
        Measurement(
            f"AROW top-1, {name}, {n_classes} classes: beside PA-I",
            milliseconds(times["AROW top-1"]),
            f"PA-I {milliseconds(times['PA-I'])}",
            times["PA-I"] / times["AROW top-1"],
            "≥ 0.5",
        )
    )
    return measurements


def measure() -> list[Measurement]:
    """Run the benchmark."""
    measurements = measure_stream("generated topics", *topic_stream(np.random.RandomState(0)))
    for name, title in REAL.items():
        stream = real_stream(name)
        if stream is None:
            reason = f"not on this machine: singlepass data fetch {name}"
            measurements.append(Measurement(title, "skipped", reason, float("nan")))
        else:
            measurements += measure_stream(title, *stream)
    return measurements
