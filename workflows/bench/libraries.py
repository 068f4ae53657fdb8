"""Wrap the linear learners of other libraries, with the learner here that is nearest to each.

Both get the rows in the same way: in chunks, row by row, or as a whole stream in one call. Row by row only
the first rows are learned. Our `learn` scores every row before learning it, and River is asked to as well
(`predict_one`); the others are not.
"""

from __future__ import annotations

import importlib
import importlib.util
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file
from sklearn.linear_model import Perceptron as TheirPerceptron
from sklearn.linear_model import SGDClassifier

from ...learners import ALMA, AdaGradRDA, OnlineGradientDescent, PassiveAggressive, Perceptron

# Rows per chunk: large enough that scikit-learn's checks per call cost little in comparison.
CHUNK = 1000
# Limits on non-zeros and rows learned row by row: River takes up to a second for them.
SINGLY_NON_ZEROS, SINGLY_ROWS = 200_000, 2000
# Rows written as text for Vowpal Wabbit.
WRITTEN = 20_000

Work = Callable[[], object]


class NamedStream(NamedTuple):
    """Hold rows with labels 0 and 1, and their name in the table."""

    name: str
    X: Any
    y: Any


class Pair(NamedTuple):
    """Pair an algorithm of another library with our nearest learner.

    Attributes
    ----------
    name, ours : str
        Names of the other algorithm and of our learner.
    way : str
        How both get the rows.
    peer, work : callable
        One pass over the rows by the other algorithm, and by our learner.
    rows : int
        Number of rows in a pass.
    """

    name: str
    ours: str
    way: str
    peer: Work
    work: Work
    rows: int


def entries(X: Any) -> int:
    """Return how many numbers a matrix stores."""
    return int(X.size if isinstance(X, np.ndarray) else X.nnz)


def first_rows(stream: NamedStream) -> NamedStream:
    """Return the first rows of a stream, which are learned row by row."""
    each = max(1, entries(stream.X) // len(stream.y))
    n = min(len(stream.y), SINGLY_ROWS, max(1, SINGLY_NON_ZEROS // each))
    return NamedStream(stream.name, stream.X[:n], stream.y[:n])


def pieces(stream: NamedStream, size: int) -> list[tuple[Any, Any]]:
    """Cut a stream into pieces of `size` rows."""
    return [
        (stream.X[start : start + size], stream.y[start : start + size])
        for start in range(0, len(stream.y), size)
    ]


def pass_here(make: Callable[[], Any], parts: list[tuple[Any, Any]]) -> Work:
    """Return a pass of one of our learners, which scores each row and then learns it."""

    def work() -> None:
        learner = make()
        classes: list[int] | None = [0, 1]
        for X, y in parts:
            learner.learn(X, y, classes)
            classes = None  # given only in the first call

    return work


# scikit-learn.


def _hinge(**settings: Any) -> Any:
    return SGDClassifier(loss="hinge", penalty=None, eta0=1.0, fit_intercept=False, **settings)


SCIKIT_LEARN: dict[str, tuple[Callable[[], Any], type[Any]]] = {
    "SGDClassifier PA-I": (partial(_hinge, learning_rate="pa1"), PassiveAggressive),
    "SGDClassifier hinge": (partial(_hinge, learning_rate="constant"), OnlineGradientDescent),
    "Perceptron": (partial(TheirPerceptron, fit_intercept=False), Perceptron),
}


def _partial_fit(make: Callable[[], Any], parts: list[tuple[Any, Any]]) -> Work:
    def work() -> None:
        learner = make()
        classes: list[int] | None = [0, 1]
        for X, y in parts:
            learner.partial_fit(X, y, classes=classes)
            classes = None

    return work


@contextmanager
def scikit_learn(stream: NamedStream) -> Iterator[list[Pair]]:
    """Yield the pairs for scikit-learn's learners, in chunks and row by row."""
    few = first_rows(stream)
    yield [
        Pair(name, ours.__name__, way, _partial_fit(make, parts), pass_here(ours, parts), rows)
        for way, parts, rows in (
            (f"chunks of {CHUNK:,}", pieces(stream, CHUNK), len(stream.y)),
            ("row by row", pieces(few, 1), len(few.y)),
        )
        for name, (make, ours) in SCIKIT_LEARN.items()
    ]


# River.

RIVER: dict[str, tuple[dict[str, Any], type[Any]]] = {
    "PAClassifier": ({"C": 1.0, "mode": 1, "learn_intercept": False}, PassiveAggressive),
    "Perceptron": ({}, Perceptron),
    "ALMAClassifier": ({}, ALMA),
    "LogisticRegression": ({"intercept_lr": 0.0}, OnlineGradientDescent),
}


def as_dicts(X: Any) -> list[dict[int, float]]:
    """Convert rows to River's format: dicts from feature to value, without zeros."""
    X = sp.csr_matrix(X)
    return [
        dict(zip(X.indices[start:stop].tolist(), X.data[start:stop].astype(float).tolist(), strict=True))
        for start, stop in zip(X.indptr[:-1], X.indptr[1:], strict=True)
    ]


def _predict_then_learn(make: Callable[[], Any], rows: list[dict[int, float]], labels: list[bool]) -> Work:
    def work() -> None:
        learner = make()
        for x, y in zip(rows, labels, strict=True):
            learner.predict_one(x)
            learner.learn_one(x, y)

    return work


@contextmanager
def river(stream: NamedStream) -> Iterator[list[Pair]]:
    """Yield the pairs for River's linear classifiers, row by row."""
    models = importlib.import_module("river.linear_model")
    few = first_rows(stream)
    rows, labels, parts = as_dicts(few.X), (few.y == 1).tolist(), pieces(few, 1)
    yield [
        Pair(
            name,
            ours.__name__,
            "row by row",
            _predict_then_learn(partial(getattr(models, name), **settings), rows, labels),
            pass_here(ours, parts),
            len(few.y),
        )
        for name, (settings, ours) in RIVER.items()
    ]


# Vowpal Wabbit.

VOWPAL_WABBIT: dict[str, tuple[list[str], type[Any]]] = {
    "adaptive steps": ([], AdaGradRDA),
    "--sgd": (["--sgd"], OnlineGradientDescent),
}


def run_vw(arguments: list[str]) -> None:
    """Run Vowpal Wabbit through its Python package or, without it, as a program."""
    if importlib.util.find_spec("vowpalwabbit") is None:
        subprocess.run(["vw", *arguments], check=True)
    else:
        # The workspace learns the data file among the arguments at once.
        importlib.import_module("vowpalwabbit").Workspace(arg_list=arguments).finish()


def write_text(stream: NamedStream, path: Path) -> None:
    """Write rows in Vowpal Wabbit's format: svmlight with a bar after the label, and labels -1 and 1."""
    dump_svmlight_file(stream.X, 2 * stream.y - 1, str(path))
    lines = path.read_text(encoding="ascii").splitlines()
    path.write_text("".join(line.replace(" ", " | ", 1) + "\n" for line in lines), encoding="ascii")


@contextmanager
def vowpal_wabbit(stream: NamedStream) -> Iterator[list[Pair]]:
    """Yield the pairs for Vowpal Wabbit's linear learner, from its own cached file."""
    part = NamedStream(stream.name, stream.X[:WRITTEN], stream.y[:WRITTEN])
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder, "rows.vw")
        write_text(part, text)
        arguments = ["--quiet", "--loss_function", "hinge", "--noconstant", "-d", str(text)]
        arguments += ["--cache_file", str(Path(folder, "rows.cache"))]
        run_vw([*arguments, "--kill_cache"])
        yield [
            Pair(
                name,
                ours.__name__,
                "whole stream, theirs from a cached file",
                partial(run_vw, [*arguments, *settings]),
                pass_here(ours, [(part.X, part.y)]),
                len(part.y),
            )
            for name, (settings, ours) in VOWPAL_WABBIT.items()
        ]


class Library(NamedTuple):
    """Describe a library that may be installed.

    Attributes
    ----------
    module : str
        Module to import.
    package : str
        Package for pip.
    program : str or None
        Program on the PATH that can replace the module.
    pairs : callable
        ``pairs(stream)`` is a context manager that yields a list of `Pair`.
    """

    name: str
    module: str
    package: str
    program: str | None
    pairs: Callable[[NamedStream], Any]

    @property
    def is_installed(self) -> bool:
        """Return whether the module or the program is installed."""
        on_path = self.program is not None and shutil.which(self.program) is not None
        return on_path or importlib.util.find_spec(self.module) is not None


LIBRARIES = (
    Library("scikit-learn", "sklearn", "scikit-learn", None, scikit_learn),
    Library("River", "river", "river", None, river),
    Library("Vowpal Wabbit", "vowpalwabbit", "vowpalwabbit", "vw", vowpal_wabbit),
)
