"""Compare linear learners with those of the installed other libraries, on the same streams."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from ...pipeline.data import describe, expand, open_stream
from .libraries import LIBRARIES, Library, NamedStream
from .linear import dense_stream, sparse_stream
from .timing import Measurement, best_times

# Real streams: data set and task.
REAL = {"mnist": "one-vs-rest:3", "a9a": "binary"}


def present_stream(name: str, task: str) -> NamedStream | None:
    """Return a data set in memory, or None if it is not on this machine."""
    if not any(entry.name == name and entry.state.startswith("present") for entry in describe()):
        return None
    stream = open_stream(expand(name=name, task=task)[0])
    X = stream.X.copy() if sp.issparse(stream.X) else np.array(stream.X)
    return NamedStream(name, X, (np.asarray(stream.y) > 0).astype(np.int32))


def microseconds(seconds: float) -> str:
    """Format the time per row."""
    return f"{seconds * 1e6:.2f} µs a row"


def measure_library(library: Library, stream: NamedStream) -> list[Measurement]:
    """Measure all algorithms of a library on a stream."""
    n, d = stream.X.shape
    dense = isinstance(stream.X, np.ndarray)
    kind = "dense" if dense else f"CSR, {stream.X.nnz / n:.0f} non-zeros a row"
    measurements = []
    with library.pairs(stream) as pairs:
        for pair in pairs:
            times = best_times({"ours": pair.work, "peer": pair.peer}, repeats=3)
            measurements.append(
                Measurement(
                    f"{stream.name}, {d:,} features {kind}: {pair.rows:,} rows, {pair.way}",
                    f"{pair.ours} {microseconds(times['ours'] / pair.rows)}",
                    f"{library.name} {pair.name} {microseconds(times['peer'] / pair.rows)}",
                    times["peer"] / times["ours"],
                )
            )
    return measurements


def skipped(work: str, reason: str) -> Measurement:
    """Return a line for a comparison that could not be measured."""
    return Measurement(work, "skipped", reason, float("nan"))


def streams() -> Iterator[NamedStream | Measurement]:
    """Yield the streams one by one, and a line for each that is missing."""
    rng = np.random.RandomState(0)
    yield NamedStream("Gaussian stream", *dense_stream(rng))
    yield NamedStream("generated text", *sparse_stream(rng))
    for name, task in REAL.items():
        yield present_stream(name, task) or skipped(
            name, f"not on this machine: singlepass data fetch {name}"
        )


def measure() -> list[Measurement]:
    """Run the benchmark."""
    measurements = []
    for stream in streams():
        if isinstance(stream, Measurement):
            measurements.append(stream)
            continue
        for library in LIBRARIES:
            if library.is_installed:
                measurements += measure_library(library, stream)
    measurements += [
        skipped(library.name, f"not installed: pip install {library.package}")
        for library in LIBRARIES
        if not library.is_installed
    ]
    return measurements
