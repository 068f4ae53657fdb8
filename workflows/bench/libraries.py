"""What the learners are measured beside: the linear ones of other libraries, and how each is fed.

Each algorithm stands beside the learner here that is nearest to it, fed in the same way: by chunks, row by
row, or a whole stream in one go; row by row only the first rows are learnt. `learn` gives the score of every
row before it learns it, and River is asked for that too (`predict_one`); the others are not.
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

# Rows of a chunk: what scikit-learn's checks cost a call is little beside them.
CHUNK = 1000
# Row by row at most so many non-zeros are learnt, and so many rows: River takes up to a second for them.
SINGLY_NON_ZEROS, SINGLY_ROWS = 200_000, 2000
# Rows of a stream that is written as text for Vowpal Wabbit.
WRITTEN = 20_000

Work = Callable[[], object]


class NamedStream(NamedTuple):
    """Rows with labels 0 and 1, and what they are called in the table."""

    name: str
    X: Any
    y: Any


class Pair(NamedTuple):
    """An algorithm of another library and what it is compared with.

    Attributes
    ----------
    name : str
        Of the other.
    ours : str
        Of the learner here.
    way : str
        How both are fed.
    peer, work : callable
        One pass over the rows: of the other, of the learner here.
    rows : int
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
    """Return as many rows as are learnt one by one."""
    each = max(1, entries(stream.X) // len(stream.y))
    n = min(len(stream.y), SINGLY_ROWS, max(1, SINGLY_NON_ZEROS // each))
    return NamedStream(stream.name, stream.X[:n], stream.y[:n])


def pieces(stream: NamedStream, size: int) -> list[tuple[Any, Any]]:
    """Return the stream cut into pieces, each a matrix of its own."""
    return [
        (stream.X[start : start + size], stream.y[start : start + size])
        for start in range(0, len(stream.y), size)
    ]


def pass_here(make: Callable[[], Any], parts: list[tuple[Any, Any]]) -> Work:
    """Return a pass of a learner of this package: the score of each row, then what it teaches."""

    def work() -> None:
        learner = make()
        classes: list[int] | None = [0, 1]
        for X, y in parts:
            learner.learn(X, y, classes)
            classes = None  # known from here on

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
    """Give scikit-learn's learners, by chunks and row by row."""
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
    """Return rows as River takes them: a value by feature, without zeros."""
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
    """Give River's linear classifiers, row by row."""
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
    """Run Vowpal Wabbit: the Python package, or else the program."""
    if importlib.util.find_spec("vowpalwabbit") is None:
        subprocess.run(["vw", *arguments], check=True)
    else:
        # A data file among the arguments is learnt at once.
        importlib.import_module("vowpalwabbit").Workspace(arg_list=arguments).finish()


def write_text(stream: NamedStream, path: Path) -> None:
    """Write rows in Vowpal Wabbit's format, which is svmlight's but for a bar and labels -1 and 1."""
    dump_svmlight_file(stream.X, 2 * stream.y - 1, str(path))
    lines = path.read_text(encoding="ascii").splitlines()
    path.write_text("".join(line.replace(" ", " | ", 1) + "\n" for line in lines), encoding="ascii")


@contextmanager
def vowpal_wabbit(stream: NamedStream) -> Iterator[list[Pair]]:
    """Give Vowpal Wabbit's linear learner, from its own cached file."""
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
    """A library that may be installed.

    Attributes
    ----------
    name : str
    module : str
        What is imported.
    package : str
        What pip installs.
    program : str or None
        What also does, on the PATH.
    pairs : callable
        ``pairs(stream)`` is a context manager of a list of `Pair`.
    """

    name: str
    module: str
    package: str
    program: str | None
    pairs: Callable[[NamedStream], Any]

    @property
    def is_installed(self) -> bool:
        """Whether there is something to run."""
        on_path = self.program is not None and shutil.which(self.program) is not None
        return on_path or importlib.util.find_spec(self.module) is not None


LIBRARIES = (
    Library("scikit-learn", "sklearn", "scikit-learn", None, scikit_learn),
    Library("River", "river", "river", None, river),
    Library("Vowpal Wabbit", "vowpalwabbit", "vowpalwabbit", "vw", vowpal_wabbit),
)
