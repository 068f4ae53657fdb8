"""Choose the rows that a cell learns from, their order, its test rows and its checkpoints."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...learners import ordered_rows, row_range, take_rows
from .. import data
from ..errors import InputError
from ..randomness import random_state
from ..study.cell import Cell, CellSpec
from ..study.study import TUNING_SEED

# Array types for class codes, for row numbers, and for floats such as scores.
Codes: TypeAlias = NDArray[np.int32]
Rows: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

# Rows that are copied for a learner are copied in blocks of about this many bytes, so that a block stays in
# the processor core's own cache until it is learned.
BLOCK_BYTES = 1 << 18
# Rows that are not copied are passed to a learner this many at a time. Its scores, one per class and row,
# then take little memory however long the stream is.
BLOCK_ROWS = 1 << 16


@dataclass(frozen=True, eq=False)
class Fold:
    """A selection of rows of a matrix, in the order of their numbers in `rows`, with clean class codes."""

    # The whole matrix, dense or CSR.
    X: Any
    rows: Rows
    codes: Codes
    # None, or X (CSR) with only the features that occur in the task's training or test rows, renumbered.
    renumbered: Any = None
    # Number of rows per block when rows are copied for a learner; None: blocks of about `BLOCK_BYTES`.
    given_block_rows: int | None = None

    @property
    def n_occurring(self) -> int | None:
        """Return the number of features that occur in the task's rows; None if they were not renumbered."""
        return None if self.renumbered is None else int(self.renumbered.shape[1])

    @functools.cached_property
    def class_counts(self) -> NDArray[np.intp]:
        """Return the number of rows of each class code; classes after the last that occurs are left out."""
        return np.bincount(self.codes)

    @property
    def n_features(self) -> int:
        """Return the number of columns of X."""
        return int(self.X.shape[1])

    @functools.cached_property
    def in_order(self) -> Any:
        """Return the selected rows, without a copy, in the form that compiled learners take."""
        return ordered_rows(self.X, self.rows)

    @functools.cached_property
    def in_order_renumbered(self) -> Any:
        """Return the selected rows of `renumbered`, not copied, in the form that compiled learners take."""
        return ordered_rows(self.renumbered, self.rows)

    def part(self, start: int, stop: int | None = None) -> Fold:
        """Return a fold of the rows at positions start … stop - 1 of this one; None: up to the end."""
        return replace(self, rows=self.rows[start:stop], codes=self.codes[start:stop])

    def repeated(self, times: int) -> Fold:
        """Return a fold in which the whole sequence of rows is repeated `times` times."""
        return replace(self, rows=np.tile(self.rows, times), codes=np.tile(self.codes, times))

    def block_rows(self) -> int:
        """Return the number of rows that are copied at a time: the given one, or about `BLOCK_BYTES`."""
        if self.given_block_rows is not None:
            return self.given_block_rows
        if isinstance(self.X, np.ndarray):
            row_bytes: int = self.X.shape[1] * self.X.itemsize
        else:
            # Mean bytes of a CSR row, which stores a value and a 4-byte column index for each non-zero.
            row_bytes = self.X.nnz // max(1, self.X.shape[0]) * (self.X.data.itemsize + 4)
        return max(16, min(BLOCK_BYTES // max(1, row_bytes), BLOCK_ROWS))

    def blocks(self) -> Iterator[tuple[int, int, Any]]:
        """Yield (start, stop, rows) for each block of consecutive rows, which are copied."""
        size = self.block_rows()
        for start in range(0, len(self.rows), size):
            stop = min(start + size, len(self.rows))
            yield start, stop, take_rows(self.X, self.rows[start:stop])

    def views(self, *, renumbered: bool) -> Iterator[tuple[int, int, Callable[[int, int], Any]]]:
        """Yield (start, stop, rows) for each `BLOCK_ROWS` rows, without copying them.

        The function ``rows(first, last)`` returns rows first … last - 1 of the fold.
        """
        rows = self.in_order_renumbered if renumbered else self.in_order
        for start in range(0, len(self.rows), BLOCK_ROWS):
            yield start, min(start + BLOCK_ROWS, len(self.rows)), functools.partial(row_range, rows)


@functools.lru_cache(maxsize=256)
def checkpoints(n: int, spec: str | int | tuple[int, ...]) -> Rows:
    """Return the numbers of examples after which a learning curve has a point, for a stream of length n.

    `spec` is "log" (about 12 points per factor of ten, from 10 on), a number of equal steps, or a tuple of
    numbers of examples, to which n is added. The array rises strictly, ends with n and is read-only, because
    cells share it.
    """
    if spec == "log":
        first = min(10, n)
        steps = max(2, int(12 * np.log10(n / first)) + 1)
        points = np.round(np.geomspace(first, n, steps))
    elif isinstance(spec, tuple):
        points = np.array([*spec, n])
    else:
        points = np.round(np.linspace(0, n, int(spec) + 1)[1:])
    found = np.unique(np.clip(points, 1, n)).astype(np.int64)
    found.flags.writeable = False
    return found


def chosen_rows(spec: CellSpec, stream: data.Stream) -> Rows | None:
    """Return the numbers of the rows to use if `max_examples` limits them, ascending; None for all rows.

    Training and test part are split from these rows. All repetitions choose the same rows, because the folds
    of cross-validation must divide one set of rows.
    """
    n = len(stream.y)
    if spec.max_examples is None or spec.max_examples >= n:
        return None
    if spec.course.order == "given":
        return np.arange(spec.max_examples)
    return _chosen(spec.root_seed, spec.dataset.label, n, spec.max_examples)


# Cached, because all noise levels of a task choose the same rows. Few entries suffice, since the cells of a
# task run in succession.
@functools.lru_cache(maxsize=4)
def _chosen(root_seed: int, label: str, n: int, n_chosen: int) -> Rows:
    chosen = np.sort(random_state(root_seed, label, seed=0, purpose="split").permutation(n)[:n_chosen])
    chosen.flags.writeable = False
    return chosen


def split(spec: CellSpec, stream: data.Stream) -> tuple[Fold, Fold | None]:
    """Return a cell's training rows in the order in which they are learned, and its test rows or None.

    The order is random by the seed, or the data set's own. The labels have no noise. A tuning cell's
    validation rows are still among the training rows: they are cut off after noise is added. Raises
    InputError if a class has fewer rows than there are folds, or has rows in the test part only before
    `max_train` cuts the training part.
    """
    given = spec.course.order == "given"
    chosen = chosen_rows(spec, stream)
    train = np.arange(len(stream.y)) if chosen is None else chosen
    test: Fold | None = None
    if spec.protocol == "holdout" and stream.y_test is not None:
        held_out = np.arange(len(stream.y_test))
        if spec.max_test is not None:
            held_out = held_out if given else _permutation(spec, spec.seed, len(held_out))
            held_out = held_out[: spec.max_test]
        rows = held_out if stream.rows_test is None else stream.rows_test[held_out]
        # A task of some classes may have no row in the test part: its cells are then not tested.
        test = Fold(stream.X_test, rows, stream.y_test[held_out]) if len(rows) else None
    elif spec.protocol != "prequential":
        cut = _seeded_split if spec.protocol == "holdout" else _fold
        train, held_out = cut(spec, train, stream)
        if spec.protocol == "crossval" and spec.max_test is not None:
            # Shuffle first, because the rows of a fold are sorted by class.
            held_out = held_out[_permutation(spec, spec.seed, len(held_out))]
        held_out = held_out[: spec.max_test]
        rows = held_out if stream.rows is None else stream.rows[held_out]
        test = Fold(stream.X, rows, stream.y[held_out])
    if not given:
        order = random_state(
            spec.root_seed, spec.dataset.label, seed=spec.seed, purpose="order", noise=spec.noise
        )
        blocks = spec.course.order == "blocks"
        train = in_blocks(np.sort(train), order) if blocks else order.permutation(train)
    train = train[: spec.max_train]
    rows = train if stream.rows is None else stream.rows[train]
    return Fold(stream.X, rows, stream.y[train]), test


# For rows in order 'blocks' (see `in_blocks`): rows per block, and blocks per window. Results depend on both.
_BLOCK, _WINDOW = 4096, 64


def in_blocks(rows: Rows, rng: np.random.RandomState) -> Rows:
    """Return rows in a random order that a file larger than memory can be read in.

    Blocks of 4,096 consecutive rows are put in random order, and rows are shuffled within each window of 64
    blocks. A window of 262,144 rows is thus read from only 64 places of the file.
    """
    blocks = np.split(rows, np.arange(_BLOCK, len(rows), _BLOCK))
    order = rng.permutation(len(blocks))
    windows = [order[start : start + _WINDOW] for start in range(0, len(order), _WINDOW)]
    return np.concatenate([rng.permutation(np.concatenate([blocks[i] for i in each])) for each in windows])


def before_validation(spec: CellSpec, n: int) -> int:
    """Return how many of `n` rows a tuning cell learns; the others, at the end, are validation rows."""
    learned = n - max(1, round(n * spec.validation_fraction))
    if not learned:
        raise InputError(
            f"data set {spec.dataset.label!r}: of the rows for tuning ({n:,}), validation leaves none to "
            "learn; set a smaller validation_fraction, or a larger max_tune, max_train or max_examples"
        )
    return learned


def check_splits(cells: Iterable[Cell]) -> dict[str, tuple[str, str]]:
    """Raise InputError if a class or a tuning cell has no training rows; `cells` has one of every split.

    Returns, by data set, a class that is tested but that a limit of rows keeps from being learned, and the
    keys of the limits that are set.
    """
    folded: set[str] = set()
    refused: list[tuple[int, InputError]] = []
    unlearned: dict[str, tuple[str, str]] = {}
    for cell in cells:
        spec, label = cell.spec, cell.spec.dataset.label
        limited = " or ".join(key for key in ("max_train", "max_examples") if getattr(spec, key))
        # Skip cells that need no check: prequential ones have no split, and all cross-validation folds of a
        # data set were checked with its first cell, except for limits and rows that differ by seed.
        if spec.protocol == "prequential" or (label in folded and not limited):
            continue
        stream = data.open_stream(spec.dataset, root=spec.root_seed, seed=spec.seed, raw=bool(spec.features))
        n = 0
        if spec.protocol == "crossval":
            n = _rarest(stream, chosen_rows(spec, stream))[0]
            # Numbers of drawn rows vary by about their square root: with many more rows of each class than
            # folds, all seeds have enough.
            if not data.differs_by_seed(spec.dataset) or n - 10.0 * n**0.5 > spec.folds:
                folded.add(label)
        elif stream.y_test is not None and not limited:
            continue
        try:
            train, test = split(spec, stream)
        except InputError as error:
            if spec.protocol != "crossval":
                raise
            refused.append((n, error))
            continue
        if spec.stage == "tune" and spec.judge == "validation":
            before_validation(spec, spec.course.prefix(len(train.rows)) or len(train.rows))
        if limited and test is not None and spec.stage != "tune":
            lost = np.setdiff1d(test.codes, train.codes)
            if len(lost):
                unlearned.setdefault(label, (stream.classes[lost[0]], limited))
    if refused:
        # Show the error of the seed with the fewest rows: the number of folds it advises suits all seeds.
        raise min(refused, key=itemgetter(0))[1]
    return unlearned


Halves = tuple[Rows, Rows]


def _seeded_split(spec: CellSpec, rows: Rows, stream: data.Stream) -> Halves:
    """Return the training and test rows of protocol 'holdout' for data without their own test part."""
    n_test = max(1, round(len(rows) * spec.test_fraction))
    if spec.course.order == "given":
        train, test = rows[:-n_test], rows[-n_test:]
        cut = "all of them among the last ones, which are the test part"
    else:
        shuffled = rows[_permutation(spec, spec.seed, len(rows))]
        train, test = shuffled[n_test:], shuffled[:n_test]
        cut = f"and the split of {_whose(spec)} puts all of them into the test part"
    lost = np.setdiff1d(stream.y[test], stream.y[train])
    if len(lost):
        n_rows = np.count_nonzero(stream.y[test] == lost[0])
        raise InputError(
            f"data set {spec.dataset.label!r}: class {stream.classes[lost[0]]!r} has {n_rows:,} of "
            f"{len(rows):,} rows, {cut}; leave the class out, or set a smaller "
            "test_fraction or protocol = 'prequential'"
        )
    return train, test


def _fold(spec: CellSpec, rows: Rows, stream: data.Stream) -> Halves:
    """Return the training and test rows of a cross-validation fold, whose number is `spec.seed`.

    All repetitions use the same partition into folds, because each has another fold as its test rows.
    """
    n, rarest = _rarest(stream, rows)
    if n < spec.folds:
        remedy = f"set folds to {n} or fewer, or " if n > 1 else ""
        drawn = f" of {_whose(spec)}" if data.differs_by_seed(spec.dataset) else ""
        more = f"raise {'n_train' if len(rows) == len(stream.y) else 'max_examples'}"
        raise InputError(
            f"data set {spec.dataset.label!r}: class {stream.classes[rarest]!r} has {n} of "
            f"{len(rows):,} rows{drawn}, too few for {spec.folds} folds, some of which would lack the class; "
            f"{remedy}{more if data.is_drawn(spec.dataset) else 'leave the class out'}"
        )
    # The seed reserved for tuning has its own partition into folds and learns all but fold 0 of it. It is not
    # used with `tune_each`, where each repetition tunes its grids inside its training rows.
    tuning = spec.seed == TUNING_SEED
    shuffled = rows[_permutation(spec, spec.seed if tuning else 0, len(rows))]
    # Stratify: sort the rows by class and give them to the folds in turn, so that all folds have similar
    # shares of each class.
    shuffled = shuffled[np.argsort(stream.y[shuffled], kind="stable")]
    held_out = np.arange(len(shuffled)) % spec.folds == (0 if tuning else spec.seed)
    return shuffled[~held_out], shuffled[held_out]


def _rarest(stream: data.Stream, rows: Rows | None) -> tuple[int, int]:
    """Return the number of rows of the rarest class among `rows` (None: all), and that class's code."""
    counts = np.bincount(stream.y if rows is None else stream.y[rows], minlength=len(stream.classes))
    return int(counts.min()), int(counts.argmin())


def _whose(spec: CellSpec) -> str:
    """Return the cell's seed in words."""
    return "the seed reserved for tuning" if spec.seed == TUNING_SEED else f"repetition {spec.seed}"


def _permutation(spec: CellSpec, seed: int, n: int) -> Rows:
    return random_state(spec.root_seed, spec.dataset.label, seed=seed, purpose="split").permutation(n)
