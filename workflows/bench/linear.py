"""Time passes of linear learners: of two classes, of many classes, and with full covariance.

The speed of a pass depends on how many rows cause updates: about half of them in a generated stream, few in a
real one. scikit-learn trains one binary model per class, so it reads the rows once per class; our learners
score all classes in one read of a row. AROW, which stores a variance per weight, is also compared with PA-I.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from scipy.linalg.blas import dsymv
from sklearn.linear_model import SGDClassifier
from threadpoolctl import threadpool_limits

from ...learners import (
    AROW,
    FOBOS,
    RDA,
    AdaGradRDA,
    ConfidenceWeighted,
    ExponentialWeights,
    FollowTheLeader,
    KernelPassiveAggressive,
    KernelPerceptron,
    OnlineGradientDescent,
    PassiveAggressive,
    Perceptron,
    Projectron,
    TruncatedGradient,
    learn_together,
)
from ...learners.numeric.compiled import compiled
from ...learners.numeric.rows import as_rows, n_rows, row, squared_norm
from . import runner
from .runner import Contest, Measurement, Work, microseconds, milliseconds
from .streams import (
    NamedStream,
    begun,
    gaussian,
    is_sparse,
    measure_each,
    real_streams,
    text,
    thinned,
    topics,
    unit_rows,
)

_PEER, _READ = "scikit-learn PA-I", "reading X once"
# Settings with which scikit-learn's SGDClassifier is PA-I and makes one pass over the rows in order.
_PA_I = {"loss": "hinge", "penalty": None, "learning_rate": "pa1", "eta0": 1.0, "fit_intercept": False}
_scikit_learn = partial(SGDClassifier, **_PA_I, shuffle=False, max_iter=1, tol=None)
TWO_CLASSES = {"PA-I": PassiveAggressive, "AROW": AROW}
# Learners whose weights all shrink with every row. With its default l1, RDA's weights would all stay 0.
SHRINKING: dict[str, Any] = {
    "truncated gradient": TruncatedGradient,
    "FOBOS": FOBOS,
    "RDA": partial(RDA, l1=1e-5),
}
MANY_CLASSES: dict[str, Any] = {
    "PA-I": PassiveAggressive,
    "Perceptron": Perceptron,
    "AROW top-1": AROW,
    "AROW all": partial(AROW, constraints="all"),
    "AdaGrad-RDA": AdaGradRDA,
}
_POWERS = [10.0**k for k in range(-4, 4)]
# A parameter grid: a learner, the parameter that varies, and its values.
Grid: TypeAlias = tuple[Any, str, list[float]]
GRIDS: dict[str, Grid] = {
    "PA-I": (PassiveAggressive, "C", _POWERS),
    "AROW": (AROW, "r", _POWERS),
    "CW": (ConfidenceWeighted, "eta", [0.51, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999]),
}
MNIST = {"MNIST 3 against the rest": ("mnist", "one-vs-rest:3")}
# Streams for grids of kernel learners, and the γ in the middle of the grids. Only the first `KERNEL_ROWS`
# rows are learned.
KERNEL_STREAMS = {"a9a": ("a9a", "binary"), "USPS 3 against the rest": ("usps", "one-vs-rest:3"), **MNIST}
KERNEL_GAMMAS = {"a9a": 0.04, "USPS 3 against the rest": 0.01, "MNIST 3 against the rest": 0.02}
KERNEL_ROWS = 5000
# Comparisons: what is timed, what it is compared with, and the ratio to reach. A pass over dense rows is also
# compared with the time of only reading them.
DENSE = (("PA-I", _PEER, "≥ 10"), ("PA-I", _READ, "≥ 0.65"), ("AROW", _PEER, ""), ("AROW", _READ, "≥ 0.55"))
SPARSE = (("PA-I", _PEER, "≥ 1.6"), ("AROW", _PEER, ""))

# Data sets with many features but few per row, with all features in all rows, and with many classes.
REAL = {
    "20 Newsgroups": ("news20", "multiclass"),
    "USPS": ("usps", "multiclass"),
    "Letter": ("letter", "multiclass"),
}

# Rows that are generated for AROW with full covariance: the numbers of features (those of a9a, USPS and
# MNIST), and the number of rows.
SIZES, ROWS = (123, 256, 784), 320


@compiled
def _read(X: Any, norms: Any) -> None:
    """Compute the squared norm of every row: a pass that reads the rows and learns nothing."""
    for t in range(n_rows(X)):
        norms[t] = squared_norm(row(X, t))


def passes(learners: dict[str, Any], stream: NamedStream) -> dict[str, Any]:
    """Return functions that run one pass over the rows, one per learner."""
    return {name: lambda make=make: make().fit(stream.X, stream.y) for name, make in learners.items()}


def updated(make: Any, stream: NamedStream) -> str:
    """Return the share of the rows that cause an update, as text for the table."""
    return f"{make().fit(stream.X, stream.y).n_updates_ / len(stream.y):.0%} of the rows update"


def measure_dense(stream: NamedStream) -> list[Measurement]:
    """Compare passes over dense rows with scikit-learn's pass and with only reading the rows."""
    rows, norms = as_rows(stream.X), np.empty(len(stream.y))
    learners = {**TWO_CLASSES, _PEER: _scikit_learn}
    works = {**passes(learners, stream), _READ: lambda: _read(rows, norms)}
    shares = {name: updated(make, stream) for name, make in TWO_CLASSES.items()}

    def speed(seconds: float) -> str:
        return f"{milliseconds(seconds)} ({stream.X.nbytes / seconds / 1e9:.1f} GB/s)"

    return runner.contend(
        works,
        [
            Contest(
                f"{ours}, {stream.name}, {stream.shape} {stream.X.dtype}, {shares[ours]}: "
                f"{'share of memory-read speed' if peer == _READ else 'one pass'}",
                ours,
                peer,
                aim,
                peer_unit=speed if peer == _READ else milliseconds,
            )
            for ours, peer, aim in DENSE
        ],
    )


def measure_checks(stream: NamedStream) -> list[Measurement]:
    """Compare learners' public `learn`, which checks its rows, with `learn_rows`, which does not."""
    works, contests = dict[str, Work](), []
    rows, y = as_rows(stream.X), stream.y.astype(np.int32)
    for name, make in TWO_CLASSES.items():
        # Begin before timing, so that each timed call only continues a stream that has begun.
        checked, unchecked = (begun(make(), stream.X.shape[1]) for _ in range(2))
        ours, peer = f"{name} learn", f"{name} learn_rows"
        works[ours] = partial(checked.learn, stream.X, stream.y)
        works[peer] = partial(unchecked.learn_rows, rows, y)
        what = f"{name}, {stream.name}, {stream.shape}, {stream.X.dtype}: rows checked"
        contests.append(Contest(what, ours, peer, "≥ 0.9", named="learn", peer_named="learn_rows"))
    return runner.contend(works, contests)


def measure_sparse(stream: NamedStream) -> list[Measurement]:
    """Compare passes over CSR rows with scikit-learn."""
    works = passes({**TWO_CLASSES, _PEER: _scikit_learn}, stream)
    contests = [
        Contest(f"{ours}, one pass, {stream.shape}", ours, peer, aim, _each(stream, 2), milliseconds)
        for ours, peer, aim in SPARSE
    ]
    return runner.contend(works, contests, repeats=15)


def measure_shrinkage(stream: NamedStream) -> list[Measurement]:
    """Compare the processor time of learners that shrink all weights with that of gradient descent."""
    peer, shown = "gradient descent", f"{stream.name}, {stream.shape}"
    works = passes({peer: OnlineGradientDescent, **SHRINKING}, stream)
    contests = [
        Contest(f"{name}, {shown}: compared with {peer}", name, peer, "≤ 1.3", ratio=runner.cost)
        for name in SHRINKING
    ]
    return runner.contend(works, contests, repeats=15, timed=runner.processor_time)


def _each(stream: NamedStream, digits: int) -> Any:
    """Return a function that formats a time as milliseconds and as nanoseconds per stored value of X."""
    n, kind = (stream.X.nnz, "non-zero") if is_sparse(stream.X) else (stream.X.size, "feature")
    return lambda seconds: f"{milliseconds(seconds)}, {seconds / n * 1e9:.{digits}f} ns a {kind}"


def linear() -> list[Measurement]:
    """Compare two-class learners with scikit-learn and with reading rows, and `learn` with `learn_rows`."""
    rng = np.random.RandomState(0)
    dense = gaussian(rng)
    real = list(real_streams(MNIST))
    lines = measure_dense(dense) + measure_checks(dense) + measure_each(real, measure_dense)
    sparse = text(rng)
    lines += measure_checks(NamedStream("Gaussian stream, thinned", thinned(rng, dense.X), dense.y))
    for stream in real:
        if not isinstance(stream, Measurement):
            lines += measure_checks(stream._replace(X=sp.csr_matrix(stream.X)))
    return lines + measure_sparse(sparse) + measure_shrinkage(sparse)


def _price(n_points: int, ours: float, peer: float) -> float:
    return n_points * ours / peer


def _aim_of_grid(name: str, parameter: str, stream: NamedStream) -> str:
    """Return the aim: how many times as long as one pass a shared pass of eight points may take."""
    if name not in GRIDS:
        return "≤ 3.5" if parameter == "gamma" else "≤ 2.5"
    return "≤ 2.3" if name == "PA-I" or is_sparse(stream.X) else "≤ 4"


def _begun_points(grid: Grid, stream: NamedStream) -> list[Any]:
    make, parameter, values = grid
    return [begun(make(**{parameter: value}), stream.X.shape[1]) for value in values]


def _learn_together(grid: Grid, stream: NamedStream, rows: Any) -> None:
    learn_together(_begun_points(grid, stream), rows, stream.y)


def measure_grid(stream: NamedStream, grids: Mapping[str, Grid]) -> list[Measurement]:
    """Compare a shared pass, in which a grid's eight points learn together, with a pass for each point."""
    rows, works, contests = as_rows(stream.X), dict[str, Work](), []

    def alone(grid: Grid) -> None:
        for learner in _begun_points(grid, stream):
            learner.learn_rows(rows, stream.y)

    for name, grid in grids.items():
        _, parameter, values = grid
        works[name] = partial(_learn_together, grid, stream, rows)
        works[f"{name} alone"] = partial(alone, grid)
        contests.append(
            Contest(
                f"{name}, {len(values)} points, {stream.name}, {stream.shape}: one shared pass, in passes",
                name,
                f"{name} alone",
                _aim_of_grid(name, parameter, stream),
                peer_named=f"{len(values)} passes",
                ratio=partial(_price, len(values)),
            )
        )
    return runner.contend(works, contests, timed=runner.processor_time)


def grid() -> list[Measurement]:
    """Compare one pass in which all points of a grid learn with a pass for each, and with online tuning."""
    rng = np.random.RandomState(0)
    narrow = rng.standard_normal((100_000, 16))
    y = (narrow @ rng.standard_normal(16) + rng.standard_normal(100_000) > 0).astype(np.int32)
    real = real_streams({"a9a": ("a9a", "binary"), **MNIST})
    streams = [NamedStream("Gaussian stream", narrow, y), text(rng), *real]
    tuned = [line for each in streams if isinstance(each, NamedStream) for line in measure_tuned(each)]
    return measure_each(streams, partial(measure_grid, grids=GRIDS)) + tuned


def measure_tuned(stream: NamedStream) -> list[Measurement]:
    """Compare learners that tune a grid while they learn with one pass in which all its points learn."""
    rows, (make, parameter, values) = as_rows(stream.X), GRIDS["PA-I"]

    def tuned(kind: Any) -> None:
        begun(kind(make(), {parameter: values}), stream.X.shape[1]).learn_rows(rows, stream.y)

    kinds = {"FollowTheLeader": FollowTheLeader, "ExponentialWeights": ExponentialWeights}
    works: dict[str, Work] = {
        "reading": partial(_learn_together, GRIDS["PA-I"], stream, rows),
        **{name: partial(tuned, kind) for name, kind in kinds.items()},
    }
    shown = f"{len(values)} points of PA-I, {stream.name}, {stream.shape}: against a shared pass"
    contests = [
        Contest(f"{name}, {shown}", name, "reading", "≤ 1.1", ratio=runner.cost, peer_named="shared pass")
        for name in kinds
    ]
    return runner.contend(works, contests, repeats=15, timed=runner.processor_time)


def _kernel_grids(gamma: float) -> dict[str, Grid]:
    """Return grids whose eight points have the same kernel, and grids whose points differ in its γ."""
    powers = [2.0**k for k in range(-4, 4)]
    widths = [gamma * power for power in powers]
    thresholds = [0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8]
    return {
        "kernel Perceptron, margin": (
            partial(KernelPerceptron, gamma=gamma),
            "margin",
            [0.0, *thresholds[1:]],
        ),
        "kernel PA-I, C": (partial(KernelPassiveAggressive, gamma=gamma), "C", powers),
        "Projectron, eta": (partial(Projectron, gamma=gamma), "eta", thresholds),
        "kernel Perceptron, gamma": (KernelPerceptron, "gamma", widths),
        "kernel PA-I, gamma": (KernelPassiveAggressive, "gamma", widths),
        "Projectron, gamma": (partial(Projectron, 0.3), "gamma", widths),
    }


def kernel_grid() -> list[Measurement]:
    """Compare grids of kernel learners, whose points share kernel values, with a pass for each point."""
    return measure_each(
        real_streams(KERNEL_STREAMS),
        lambda stream: measure_grid(stream.first(KERNEL_ROWS), _kernel_grids(KERNEL_GAMMAS[stream.name])),
    )


def measure_classes(stream: NamedStream) -> list[Measurement]:
    """Compare passes over a stream of several classes with scikit-learn."""
    name = f"{stream.name}, {len(np.unique(stream.y))} classes"
    kind = "" if is_sparse(stream.X) else " dense"
    contests = [
        Contest(
            f"{ours}, {name}, {stream.shape}{kind}, {updated(make, stream)}: one pass",
            ours,
            _PEER,
            unit=_each(stream, 1),
            peer_unit=milliseconds,
            peer_named=f"{_PEER}, one against the rest,",
        )
        for ours, make in MANY_CLASSES.items()
    ]
    contests.append(Contest(f"AROW top-1, {name}: compared with PA-I", "AROW top-1", "PA-I", "≥ 0.5"))
    works = passes({**MANY_CLASSES, _PEER: _scikit_learn}, stream)
    return runner.contend(works, contests, repeats=3)


def multiclass() -> list[Measurement]:
    """Compare learners on tasks of many classes with scikit-learn, on text-like and on dense rows."""

    def measure(stream: NamedStream) -> list[Measurement]:
        X = unit_rows(stream.X) if is_sparse(stream.X) else stream.X
        return measure_classes(stream._replace(X=X))

    return measure_classes(topics(np.random.RandomState(0))) + measure_each(real_streams(REAL), measure)


def random_rows(d: int) -> tuple[Any, Any]:
    """Generate rows of about unit length with random labels."""
    rng = np.random.RandomState(0)
    return rng.standard_normal((ROWS, d)) / np.sqrt(d), rng.randint(0, 2, ROWS).astype(np.int32)


def full_learner(d: int) -> Any:
    """Return AROW with a large r, so that its steps are short and every row causes an update."""
    return begun(AROW(r=1e6, covariance="full"), d)


def full() -> list[Measurement]:
    """Compare an update of AROW with full covariance with the symmetric matrix-vector product of its size.

    An update computes at least Σx (Σ is the covariance, x the row), for which it reads half of Σ, as SciPy's
    `dsymv` does. The time of `dsymv` includes the call from Python, which is a third of it at 123 features.
    """
    lines = []
    for d in SIZES:
        X, y = random_rows(d)
        A, x = np.asfortranarray(X.T @ X), X[0].copy()

        def products(A: Any = A, x: Any = x) -> None:
            for _ in range(ROWS):
                dsymv(1.0, A, x, lower=1)

        works: dict[str, Work] = {
            "dsymv": products,
            "AROW": partial(full_learner(d).learn_rows, X, y),
        }
        contest = Contest(
            f"AROW, full covariance, dense rows, {d} features: an update",
            "AROW",
            "dsymv",
            # At most 1.7 times the time of `dsymv`.
            "≥ 0.59",
            microseconds(ROWS),
            peer_named="SciPy's dsymv, one thread,",
        )
        with threadpool_limits(1):
            lines += runner.contend(works, [contest], repeats=30)
    return lines
