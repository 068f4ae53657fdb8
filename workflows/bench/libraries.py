"""Compare linear learners with those of other installed libraries: speed, and log loss with equal rules.

Both learners get the rows in the same way: in chunks, row by row, or as a whole stream in one call. If they
get them row by row, only the first rows of a stream are used. Our `learn` scores every row before learning
it. River does the same here (`predict_one`), the other libraries do not.

Vowpal Wabbit's ``--l1`` with ``--sgd`` is not compared, because no learner here has that rule. Vowpal
Wabbit truncates every weight by the sum of all thresholds since the first row; `FOBOS` and
`TruncatedGradient` truncate it by the thresholds since the weight was last 0. With ``--ftrl`` the rules are
equal.
"""

from __future__ import annotations

import importlib
import importlib.util
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.datasets import dump_svmlight_file
from sklearn.linear_model import Perceptron as TheirPerceptron
from sklearn.linear_model import SGDClassifier

from ...learners import (
    ALMA,
    AdaGradRDA,
    FTRLProximal,
    OnlineGradientDescent,
    PassiveAggressive,
    Perceptron,
    SketchedOnlineNewton,
)
from . import runner
from .runner import Contest, Measurement, Work, microseconds, skipped
from .streams import NamedStream, gaussian, is_sparse, measure_each, real_streams, text

# Rows per chunk: large enough that scikit-learn's checks per call cost little in comparison.
CHUNK = 1000
# Maximum numbers of non-zeros and of rows in comparisons row by row: River takes up to a second for them.
SINGLY_NON_ZEROS, SINGLY_ROWS = 200_000, 2000
# Maximum number of rows of a stream that are written as text for Vowpal Wabbit.
WRITTEN = 20_000

_A_ROW = " a row"

# Real streams to compare speed on (`peers`), and to compare equal update rules on (`equal_updates`).
REAL = {"mnist": ("mnist", "one-vs-rest:3"), "a9a": ("a9a", "binary")}
EQUAL_REAL = {"a9a": ("a9a", "binary"), "20newsgroups": ("20newsgroups", "one-vs-rest:sci.space")}
LOSS_AIM, SPEED_AIM = "≤ 1.01", "≥ 1"

_hinge = partial(SGDClassifier, loss="hinge", penalty=None, eta0=1.0, fit_intercept=False, shuffle=False)

# Algorithms of a library: how to create each, and the learner of this package that is most like it.
Algorithms: TypeAlias = Mapping[str, tuple[Any, Callable[[], Any]]]
SCIKIT_LEARN: Algorithms = {
    "SGDClassifier PA-I": (partial(_hinge, learning_rate="pa1"), PassiveAggressive),
    "SGDClassifier hinge": (
        partial(_hinge, learning_rate="constant"),
        partial(OnlineGradientDescent, rate="constant"),
    ),
    "Perceptron": (partial(TheirPerceptron, fit_intercept=False, shuffle=False), Perceptron),
}
RIVER: Algorithms = {
    "PAClassifier": ({"C": 1.0, "mode": 1, "learn_intercept": False}, PassiveAggressive),
    "Perceptron": ({}, Perceptron),
    "ALMAClassifier": ({}, ALMA),
    "LogisticRegression": (
        {"intercept_lr": 0.0},
        # River's step.
        partial(OnlineGradientDescent, eta=0.01, loss="logistic", rate="constant"),
    ),
}
VOWPAL_WABBIT: Algorithms = {"adaptive steps": ([], AdaGradRDA), "--sgd": (["--sgd"], OnlineGradientDescent)}


class Round(NamedTuple):
    """Describe one comparison: how our learners and those of a library get the rows of a stream."""

    way: str
    # The rows and labels, cut into the parts that our learners get.
    parts: list[tuple[Any, Any]]
    # Takes an algorithm's name and how to create it; returns a function that runs one pass of the algorithm.
    peer: Callable[[str, Any], Work]


def first_rows(stream: NamedStream) -> NamedStream:
    """Return the first rows of a stream, which are learned row by row."""
    stored = stream.X.nnz if is_sparse(stream.X) else stream.X.size
    each = max(1, stored // len(stream.y))
    return stream.first(min(len(stream.y), SINGLY_ROWS, max(1, SINGLY_NON_ZEROS // each)))


def pieces(stream: NamedStream, size: int) -> list[tuple[Any, Any]]:
    """Cut a stream into pieces of `size` rows."""
    starts = range(0, len(stream.y), size)
    return [(stream.X[start : start + size], stream.y[start : start + size]) for start in starts]


def pass_in_parts(make: Callable[[], Any], parts: list[tuple[Any, Any]], method: str = "learn") -> Work:
    """Return a function that creates a learner and passes the parts of a stream to `method`, one by one."""

    def work() -> None:
        learn = getattr(make(), method)
        for place, (X, y) in enumerate(parts):
            # Name the classes only in the first call.
            learn(X, y, None if place else [0, 1])

    return work


def _scikit_learn_pass(parts: list[tuple[Any, Any]], _name: str, make: Callable[[], Any]) -> Work:
    return pass_in_parts(make, parts, "partial_fit")


def scikit_learn(stream: NamedStream) -> Iterator[Round]:
    """Yield two comparisons with scikit-learn: rows in chunks, and row by row."""
    for way, part, size in ((f"chunks of {CHUNK:,}", stream, CHUNK), ("row by row", first_rows(stream), 1)):
        parts = pieces(part, size)
        yield Round(way, parts, partial(_scikit_learn_pass, parts))


def as_dicts(X: Any) -> list[dict[int, float]]:
    """Convert rows to River's format: dicts from feature to value, without zeros."""
    X = sp.csr_matrix(X)
    return [
        dict(zip(X.indices[start:stop].tolist(), X.data[start:stop].astype(float).tolist(), strict=True))
        for start, stop in zip(X.indptr[:-1], X.indptr[1:], strict=True)
    ]


def _predict_then_learn(make: Callable[[], Any], rows: list[dict[int, float]], labels: list[bool]) -> None:
    learner = make()
    for x, y in zip(rows, labels, strict=True):
        learner.predict_one(x)
        learner.learn_one(x, y)


def river(stream: NamedStream) -> Iterator[Round]:
    """Yield one comparison with River: row by row."""
    models = importlib.import_module("river.linear_model")
    few = first_rows(stream)
    rows, labels = as_dicts(few.X), (few.y == 1).tolist()

    def peer(name: str, settings: Any) -> Work:
        return partial(_predict_then_learn, partial(getattr(models, name), **settings), rows, labels)

    yield Round("row by row", pieces(few, 1), peer)


def run_vw(arguments: list[str]) -> None:
    """Run Vowpal Wabbit through its Python package or, without it, as a program."""
    if importlib.util.find_spec("vowpalwabbit") is None:
        subprocess.run(["vw", *arguments], check=True)
    else:
        # Creating the workspace already learns the data file that the arguments name.
        importlib.import_module("vowpalwabbit").Workspace(arg_list=arguments).finish()


def write_text(stream: NamedStream, path: Path) -> None:
    """Write rows in Vowpal Wabbit's format: svmlight with a bar after the label, and labels -1 and 1."""
    dump_svmlight_file(stream.X, 2 * stream.y - 1, str(path))
    lines = path.read_text(encoding="ascii").splitlines()
    path.write_text("".join(line.replace(" ", " | ", 1) + "\n" for line in lines), encoding="ascii")


@contextmanager
def written(stream: NamedStream, loss: str) -> Iterator[list[str]]:
    """Write a stream for Vowpal Wabbit, and yield the arguments to read it from its cached file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.vw")
        write_text(stream, path)
        arguments = ["--quiet", "--loss_function", loss, "--noconstant", "-d", str(path)]
        arguments += ["--cache_file", str(Path(folder, "rows.cache"))]
        run_vw([*arguments, "--kill_cache"])
        yield arguments


def vowpal_wabbit(stream: NamedStream) -> Iterator[Round]:
    """Yield one comparison with Vowpal Wabbit, which reads its own cached file."""
    part = stream.first(WRITTEN)
    way = "whole stream, theirs from a cached file"
    # Yield within the context, so that the file exists until the caller has measured this comparison.
    with written(part, "hinge") as arguments:
        yield Round(way, [(part.X, part.y)], lambda _, more: partial(run_vw, [*arguments, *more]))


class Library(NamedTuple):
    """Another library to compare with, which may or may not be installed."""

    name: str
    # Module to import, package to install with pip, and a program on the PATH that can replace the module.
    module: str
    package: str
    program: str | None
    algorithms: Algorithms
    rounds: Callable[[NamedStream], Iterator[Round]]

    @property
    def is_installed(self) -> bool:
        """Return whether the module or the program is installed."""
        on_path = self.program is not None and shutil.which(self.program) is not None
        return on_path or importlib.util.find_spec(self.module) is not None

    def skipped(self, stream: str = "") -> Measurement:
        """Return the table line that says how to install the library."""
        return skipped(f"{stream}{self.name}", f"not installed: pip install {self.package}")


WABBIT = Library("Vowpal Wabbit", "vowpalwabbit", "vowpalwabbit", "vw", VOWPAL_WABBIT, vowpal_wabbit)
LIBRARIES = (
    Library("scikit-learn", "sklearn", "scikit-learn", None, SCIKIT_LEARN, scikit_learn),
    Library("River", "river", "river", None, RIVER, river),
    WABBIT,
)


def measure_library(library: Library, stream: NamedStream) -> list[Measurement]:
    """Compare all algorithms of a library with ours on a stream."""
    n, d = stream.X.shape
    kind = f"CSR, {stream.X.nnz / n:.0f} non-zeros a row" if is_sparse(stream.X) else "dense"
    lines = []
    for way, parts, peer in library.rounds(stream):
        rows = sum(len(y) for _, y in parts)
        what = f"{stream.name}, {d:,} features {kind}: {rows:,} rows, {way}"
        unit = microseconds(rows, _A_ROW)
        for name, (settings, ours) in library.algorithms.items():
            theirs = f"{library.name} {name}"
            contest = Contest(what, "ours", "peer", unit=unit, named=type(ours()).__name__, peer_named=theirs)
            works = {"ours": pass_in_parts(ours, parts), "peer": peer(name, settings)}
            lines += runner.contend(works, [contest], 3)
    return lines


def streams() -> Iterator[NamedStream | Measurement]:
    """Yield the streams one by one; for a data set that is not on this machine, yield a line of the table."""
    rng = np.random.RandomState(0)
    yield gaussian(rng)
    yield text(rng)
    yield from real_streams(REAL)


def peers() -> list[Measurement]:
    """Compare linear learners with those of the installed other libraries, on the same streams."""

    def measure(stream: NamedStream) -> list[Measurement]:
        installed = [library for library in LIBRARIES if library.is_installed]
        return [line for library in installed for line in measure_library(library, stream)]

    missing = [library.skipped() for library in LIBRARIES if not library.is_installed]
    return measure_each(streams(), measure) + missing


class Update(NamedTuple):
    """Describe an update rule with equal settings in each library; not all libraries have every rule.

    The settings keep scores below 50, where Vowpal Wabbit clips its predictions; with larger steps AdaGrad's
    scores exceed 50 on word counts.
    """

    name: str
    ours: Callable[[], Any]
    wabbit: list[str]
    scikit_learn: Callable[[], Any] | None = None
    # Our learner gets the rows multiplied by this factor, so that its rule equals the library's.
    scale: float = 1.0
    # The update is compared only on streams with at most this many features.
    n_features: float = np.inf

    def rows(self, stream: NamedStream) -> Any:
        """Return a stream's rows as our learner gets them, multiplied by `scale`."""
        return stream.X if self.scale == 1.0 else stream.X.astype(np.float64) * self.scale


class _UnitDirections(SketchedOnlineNewton):
    """Begin the sketch with m unit vectors (features 1 to m), like Vowpal Wabbit's `--random_init false`."""

    def _begin_with(self, zeros):  # type: ignore[no-untyped-def]
        super()._begin_with(zeros)  # type: ignore[no-untyped-call]
        self._sketch[:, : self.m] = np.eye(len(zeros), self.m, -1)


_sgd = partial(SGDClassifier, loss="log_loss", penalty=None, fit_intercept=False, shuffle=False)

UPDATES = (
    Update(
        "logistic gradient descent, η = 0.1",
        partial(OnlineGradientDescent, eta=0.1, loss="logistic", rate="constant"),
        ["--sgd", "--power_t", "0", "-l", "0.1"],
        partial(_sgd, learning_rate="constant", eta0=0.1),
    ),
    Update(
        "AdaGrad, η = 0.01",
        partial(OnlineGradientDescent, eta=0.01, loss="logistic", rate="adagrad"),
        ["--adaptive", "--power_t", "0.5", "-l", "0.01"],
    ),
    Update(
        "FTRL, α = 0.1, β = l1 = l2 = 1",
        partial(FTRLProximal, alpha=0.1, beta=1.0, l1=1.0, l2=1.0),
        ["--ftrl", "--ftrl_alpha", "0.1", "--ftrl_beta", "1", "--l1", "1", "--l2", "1"],
    ),
    # Vowpal Wabbit's step follows half of each gradient, and it adds a quarter of the gradient to the sketch;
    # our eta = 1/8 and scale = √½ do the same. A row of d features takes m² d operations, so `n_features`
    # limits d.
    Update(
        "sketched Newton (Oja), m = 10, α = 10",
        partial(_UnitDirections, alpha=10.0, eta=0.125, C=None, sketch="oja", kappa=2.0),
        ["--OjaNewton", "--normalize", "false", "--random_init", "false", "--alpha", "10"],
        scale=0.5**0.5,
        n_features=1000,
    ),
)


def log_loss(scores: NDArray[np.floating], y: NDArray[np.integer]) -> float:
    """Return the mean logistic loss of scores for labels 0 and 1."""
    return float(np.mean(np.logaddexp(0.0, (1 - 2 * y) * scores)))


def shuffled(stream: NamedStream) -> NamedStream:
    """Shuffle a stream with a fixed seed, because some files are sorted by class."""
    order = np.random.RandomState(0).permutation(len(stream.y))
    return stream._replace(X=stream.X[order], y=stream.y[order])


def compared(
    update: Update, stream: NamedStream, peer: str, scores: NDArray[np.floating], work: Work, way: str = ""
) -> list[Measurement]:
    """Return one line with the log loss on the first rows, and one with the time of a whole pass.

    `scores` are the peer's scores of the first rows, each before the row is learned; `work` runs a whole pass
    of the peer.
    """
    few, n = stream.first(len(scores)), len(stream.y)
    ours = log_loss(update.ours().learn(update.rows(few), few.y, [0, 1]), few.y)
    theirs = log_loss(scores, few.y)
    what = f"{stream.name}, {update.name}: "
    loss = Measurement(
        f"{what}log loss along {len(few.y):,} rows",
        f"{ours:.6f}",
        f"{peer} {theirs:.6f}",
        # Divide the larger loss by the smaller one, so that the aim limits differences in both directions.
        max(ours / theirs, theirs / ours),
        LOSS_AIM,
    )
    unit = microseconds(n, _A_ROW)
    contest = Contest(f"{what}a pass over {n:,} rows{way}", "ours", peer, SPEED_AIM, unit)
    works = {"ours": pass_in_parts(update.ours, [(update.rows(stream), stream.y)]), peer: work}
    return [loss, *runner.contend(works, [contest], repeats=5)]


def compared_with_scikit_learn(update: Update, stream: NamedStream) -> list[Measurement]:
    """Return the comparison of an update rule with scikit-learn's, or [] if scikit-learn lacks the rule.

    When time is measured, scikit-learn learns all rows in one call, which is its fastest way. To get the
    score of each row before it is learned, it learns the first rows one by one.
    """
    make = update.scikit_learn
    if make is None:
        return []
    few = first_rows(stream)
    learner, scores = make(), np.zeros(len(few.y))
    for t, (x, y) in enumerate(pieces(few, 1)):
        # scikit-learn has no weights before the first row; ours are 0 then.
        scores[t] = learner.decision_function(x)[0] if t else 0.0
        learner.partial_fit(x, y, classes=[0, 1])
    work = pass_in_parts(make, [(stream.X, stream.y)], "partial_fit")
    return compared(update, stream, "scikit-learn", scores, work)


def compared_with_wabbit(update: Update, stream: NamedStream, arguments: list[str]) -> list[Measurement]:
    """Return the comparison of an update rule with Vowpal Wabbit's; each of its passes is a complete run."""
    with tempfile.TemporaryDirectory() as folder:
        said = Path(folder, "scores.txt")
        run_vw([*arguments, *update.wabbit, "-p", str(said)])
        scores = np.loadtxt(said, ndmin=1)
    work = partial(run_vw, [*arguments, *update.wabbit])
    return compared(update, stream, WABBIT.name, scores, work, ", theirs from a cached file")


def measure_updates(stream: NamedStream) -> list[Measurement]:
    """Compare all update rules on a stream with the libraries that have them."""
    updates = [each for each in UPDATES if stream.X.shape[1] <= each.n_features]
    lines = [line for update in updates for line in compared_with_scikit_learn(update, stream)]
    if not WABBIT.is_installed:
        return [*lines, WABBIT.skipped(f"{stream.name}, ")]
    with written(stream, "logistic") as arguments:
        return lines + [line for each in updates for line in compared_with_wabbit(each, stream, arguments)]


def equal_updates() -> list[Measurement]:
    """Compare equal update rules with equal settings: log loss and speed."""
    return measure_each(real_streams(EQUAL_REAL), lambda stream: measure_updates(shuffled(stream)))
