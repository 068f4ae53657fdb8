"""Compare the same updates with Vowpal Wabbit and scikit-learn at equal settings: log loss and speed.

Settings keep scores below 50, where Vowpal Wabbit clips its predictions; with larger steps AdaGrad's scores
exceed 50 on word counts. scikit-learn learns a pass in one call, which is its fastest way. For the scores
before each update it learns row by row, on few rows. It has neither AdaGrad nor FTRL. A pass of Vowpal Wabbit
is one run of the program on its own cached file.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import SGDClassifier

from ...learners import FTRLProximal, OnlineGradientDescent
from .libraries import LIBRARIES, NamedStream, Work, first_rows, pass_here, pieces, run_vw, write_text
from .peers import microseconds, present_stream, skipped
from .timing import Measurement, best_times

# Real streams: data set and task.
STREAMS = {"a9a": "binary", "20newsgroups": "one-vs-rest:sci.space"}
LOSS_AIM, SPEED_AIM = "≤ 1.01", "≥ 1"

WABBIT = LIBRARIES[-1]


class Update(NamedTuple):
    """Describe one update rule with equal settings in each library.

    Attributes
    ----------
    ours : callable
        Creates our learner.
    wabbit : list of str
        Vowpal Wabbit's arguments.
    scikit_learn : callable or None
        Creates scikit-learn's learner, if it has the rule.
    """

    name: str
    ours: Callable[[], Any]
    wabbit: list[str]
    scikit_learn: Callable[[], Any] | None = None


UPDATES = (
    Update(
        "logistic gradient descent, η = 0.1",
        partial(OnlineGradientDescent, eta=0.1, loss="logistic", rate="constant"),
        ["--sgd", "--power_t", "0", "-l", "0.1"],
        partial(
            SGDClassifier,
            loss="log_loss",
            learning_rate="constant",
            eta0=0.1,
            penalty=None,
            fit_intercept=False,
            shuffle=False,
        ),
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
)


def log_loss(scores: NDArray[np.floating], y: NDArray[np.integer]) -> float:
    """Return the mean logistic loss of scores for labels 0 and 1."""
    return float(np.mean(np.logaddexp(0.0, (1 - 2 * y) * scores)))


def shuffled(stream: NamedStream) -> NamedStream:
    """Shuffle a stream with a fixed seed, because some files are sorted by class."""
    order = np.random.RandomState(0).permutation(len(stream.y))
    return NamedStream(stream.name, stream.X[order], stream.y[order])


def scores_here(update: Update, stream: NamedStream) -> NDArray[np.float64]:
    """Return the score of each row before our learner learns it."""
    scores: NDArray[np.float64] = update.ours().learn(stream.X, stream.y, [0, 1])
    return scores


def compared(
    update: Update,
    stream: NamedStream,
    peer: str,
    scores: NDArray[np.floating],
    works: dict[str, Work],
    way: str,
) -> Iterator[Measurement]:
    """Yield one line with the log loss on the first rows, and one with the time of a whole pass.

    `scores` are the peer's scores of the first rows. `works` has the passes "ours" and "peer".
    """
    few = NamedStream(stream.name, stream.X[: len(scores)], stream.y[: len(scores)])
    ours, theirs = log_loss(scores_here(update, few), few.y), log_loss(scores, few.y)
    yield Measurement(
        f"{stream.name}, {update.name}: log loss along {len(few.y):,} rows",
        f"{ours:.6f}",
        f"{peer} {theirs:.6f}",
        # The ratio is symmetric, so that the aim bounds both directions.
        max(ours / theirs, theirs / ours),
        LOSS_AIM,
    )
    times, n = best_times(works, repeats=5), len(stream.y)
    yield Measurement(
        f"{stream.name}, {update.name}: a pass over {n:,} rows{way}",
        microseconds(times["ours"] / n),
        f"{peer} {microseconds(times['peer'] / n)}",
        times["peer"] / times["ours"],
        SPEED_AIM,
    )


def beside_scikit_learn(update: Update, stream: NamedStream) -> Iterator[Measurement]:
    """Yield the comparison with scikit-learn's learner, if it has the rule."""
    make = update.scikit_learn
    if make is None:
        return
    few = first_rows(stream)
    learner, scores = make(), np.zeros(len(few.y))
    for t, (x, y) in enumerate(pieces(few, 1)):
        # scikit-learn has no weights before the first row; ours are 0 then.
        scores[t] = learner.decision_function(x)[0] if t else 0.0
        learner.partial_fit(x, y, classes=[0, 1])
    works: dict[str, Work] = {
        "ours": pass_here(update.ours, [(stream.X, stream.y)]),
        "peer": lambda: make().partial_fit(stream.X, stream.y, classes=[0, 1]),
    }
    yield from compared(update, stream, "scikit-learn", scores, works, "")


@contextmanager
def _written(stream: NamedStream) -> Iterator[list[str]]:
    """Write a stream for Vowpal Wabbit, and yield the arguments to read it from its cached file."""
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder, "rows.vw")
        write_text(stream, text)
        arguments = ["--quiet", "--loss_function", "logistic", "--noconstant", "-d", str(text)]
        arguments += ["--cache_file", str(Path(folder, "rows.cache"))]
        run_vw([*arguments, "--kill_cache"])
        yield arguments


def beside_wabbit(update: Update, stream: NamedStream, arguments: list[str]) -> Iterator[Measurement]:
    """Yield the comparison with Vowpal Wabbit."""
    with tempfile.TemporaryDirectory() as folder:
        said = Path(folder, "scores.txt")
        run_vw([*arguments, *update.wabbit, "-p", str(said)])
        scores = np.loadtxt(said, ndmin=1)
    works: dict[str, Work] = {
        "ours": pass_here(update.ours, [(stream.X, stream.y)]),
        "peer": partial(run_vw, [*arguments, *update.wabbit]),
    }
    yield from compared(update, stream, WABBIT.name, scores, works, ", theirs from a cached file")


def measure_stream(stream: NamedStream) -> list[Measurement]:
    """Compare all updates on a stream with the libraries that have them."""
    lines = [line for update in UPDATES for line in beside_scikit_learn(update, stream)]
    if not WABBIT.is_installed:
        return [
            *lines,
            skipped(f"{stream.name}, {WABBIT.name}", f"not installed: pip install {WABBIT.package}"),
        ]
    with _written(stream) as arguments:
        return lines + [line for update in UPDATES for line in beside_wabbit(update, stream, arguments)]


def measure() -> list[Measurement]:
    """Run the benchmark."""
    lines: list[Measurement] = []
    for name, task in STREAMS.items():
        stream = present_stream(name, task)
        if stream is None:
            lines.append(skipped(name, f"not on this machine: singlepass data fetch {name}"))
        else:
            lines += measure_stream(shuffled(stream))
    return lines
