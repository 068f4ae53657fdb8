"""Provide the streams of the benchmarks: generated ones, and data sets that are on this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
import scipy.sparse as sp

from ...pipeline.data import describe, expand, open_stream
from ...pipeline.errors import InputError
from .runner import Measurement, skipped

# Rows and features of generated streams: dense like MNIST, and sparse like RCV1's training part, with as many
# non-zeros per row.
DENSE, SPARSE, NON_ZEROS = (60_000, 784), (20_000, 47_000), 75
# Share of values that are not 0 in MNIST.
STORED = 0.19
# Rows, features, classes and words per row of a generated stream, like LIBSVM's version of 20 Newsgroups.
TOPIC_ROWS, TOPIC_FEATURES, TOPICS, TOPIC_NON_ZEROS = 16_000, 60_000, 20, 80

T = TypeVar("T")


def is_sparse(X: Any) -> bool:
    """Return whether rows are sparse; unlike SciPy's `issparse`, does not narrow the static type of `X`."""
    return bool(sp.issparse(X))


class NamedStream(NamedTuple):
    """A stream in memory: its name in the table, rows, labels 0, 1, ..., and the test part, if it has one."""

    name: str
    X: Any
    y: Any
    X_test: Any = None
    y_test: Any = None

    @property
    def shape(self) -> str:
        """Return, as text, the numbers of rows and features, and for CSR rows of non-zeros per row."""
        n, d = self.X.shape
        return f"{n:,}×{d:,}{f' CSR, {self.X.nnz / n:.0f} non-zeros a row' if is_sparse(self.X) else ''}"

    def first(self, n: int) -> NamedStream:
        """Return the first `n` rows."""
        return self._replace(X=self.X[:n], y=self.y[:n])


def absent(title: str, name: str) -> Measurement:
    """Return the table line that says how to get a data set that is not on this machine."""
    return skipped(title, f"not on this machine: singlepass data fetch {name}")


def with_data(title: str, name: str, use: Callable[[], list[T]]) -> list[T | Measurement]:
    """Return what `use` returns, which opens a data set, or the table line that says why it cannot be used.

    `use` is not called if the data set is not on this machine, because it would download it.
    """
    if not any(entry.name == name and entry.state.startswith("present") for entry in describe()):
        return [absent(title, name)]
    try:
        return [*use()]
    except InputError as error:
        return [skipped(title, str(error))]


def real_streams(tasks: Mapping[str, tuple[str, str]]) -> Iterator[NamedStream | Measurement]:
    """Yield streams one by one; for a data set that is absent or damaged, yield a line of the table.

    `tasks` has, by the title of each stream, its data set and task.
    """
    for title, (name, task) in tasks.items():
        yield from with_data(title, name, partial(_opened, title, name, task))


def _opened(title: str, name: str, task: str) -> list[NamedStream]:
    stream = open_stream(expand(name=name, task=task)[0])
    # Copy the rows to memory, because those of an opened stream may be mapped from a file.
    return [NamedStream(title, *map(_copied, (stream.X, stream.y, stream.X_test, stream.y_test)))]


def _copied(part: Any) -> Any:
    if part is None:
        return None
    return part.copy() if is_sparse(part) else np.array(part)


def measure_each(
    streams: Iterable[NamedStream | Measurement], measure: Callable[[NamedStream], list[Measurement]]
) -> list[Measurement]:
    """Return the table lines that `measure` returns for each stream; an absent stream has one already."""
    return [line for each in streams for line in ([each] if isinstance(each, Measurement) else measure(each))]


def begun(learner: Any, n_features: int) -> Any:
    """Begin a stream of two classes, and return the learner."""
    learner.begin(np.array([0, 1]), n_features)
    return learner


def gaussian(rng: np.random.RandomState) -> NamedStream:
    """Generate a dense float32 stream: Gaussian features, a linear concept, 5% of the labels flipped."""
    n, d = DENSE
    X = rng.standard_normal(DENSE).astype(np.float32)
    y = (X @ rng.standard_normal(d).astype(np.float32) > 0) ^ (rng.random_sample(n) < 0.05)
    return NamedStream("Gaussian stream", X, y.astype(np.int32))


def thinned(rng: np.random.RandomState, X: Any) -> Any:
    """Set random values of dense rows to 0, as many as in MNIST, and return the rows as CSR."""
    return sp.csr_matrix(X * (rng.random_sample(X.shape) < STORED))


def text(rng: np.random.RandomState) -> NamedStream:
    """Generate a CSR float32 stream: Zipf-like columns as in text, unit rows, 5% of the labels flipped."""
    n, d = SPARSE
    # Cubing uniform numbers makes low columns frequent, like frequent words. Of 88 drawn columns about 75 are
    # distinct.
    columns = (d * rng.random_sample((n, 88)) ** 3).astype(np.int32)
    columns.sort(axis=1)
    first = np.ones(columns.shape, dtype=bool)
    first[:, 1:] = columns[:, 1:] != columns[:, :-1]
    kept = first & (np.cumsum(first, axis=1) <= NON_ZEROS)
    indptr = np.concatenate([[0], np.cumsum(kept.sum(axis=1))]).astype(np.int32)
    X = unit_rows(
        sp.csr_matrix((rng.random_sample(indptr[-1]).astype(np.float32), columns[kept], indptr), SPARSE)
    )
    y = (X @ rng.standard_normal(d) > 0) ^ (rng.random_sample(n) < 0.05)
    return NamedStream("generated text", X, y.astype(np.int32))


def topics(rng: np.random.RandomState) -> NamedStream:
    """Generate a CSR float32 stream: frequent uninformative words and rarer words of the row's class."""
    n, k = TOPIC_ROWS, TOPIC_NON_ZEROS
    y = rng.randint(0, TOPICS, size=n).astype(np.int32)
    # Cubing uniform numbers makes low columns frequent, like frequent words. An eighth of a row's words
    # belongs to its class.
    common = (TOPIC_FEATURES * rng.random_sample((n, k * 7 // 8)) ** 3).astype(np.int32)
    topical = rng.randint(0, TOPIC_FEATURES // TOPICS, size=(n, k // 8)).astype(np.int32)
    columns = np.hstack([common, topical * TOPICS + y[:, None]])
    indptr = np.arange(0, columns.size + 1, k, dtype=np.int32)
    X = sp.csr_matrix((np.ones(columns.size, np.float32), columns.ravel(), indptr), (n, TOPIC_FEATURES))
    X.sum_duplicates()
    return NamedStream("generated topics", unit_rows(X), y)


def unit_rows(X: Any) -> Any:
    """Return CSR rows scaled to length 1, in float32."""
    norms = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    scale = np.repeat(1 / np.where(norms > 0, norms, 1), np.diff(X.indptr))
    return sp.csr_matrix(((X.data * scale).astype(np.float32), X.indices, X.indptr), X.shape)
