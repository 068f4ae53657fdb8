"""Learn several models of one learner together, in one pass over the rows ("a reading"), for two classes.

The models are weights, or weights with a diagonal Σ, and differ in the parameters of their rules. Each model
equals the one learned alone, to the last bit. Learning them together is faster, because a row is read once.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numba.core.errors import TypingError
from numpy.typing import NDArray

from ..estimator.inner_learner import own_method
from ..estimator.pieces import Passage, Reading
from ..numeric.compiled import INLINE, compiled, plain_name, register_jitable, tell_apart
from ..numeric.lanes import (
    LANES,
    holds_anywhere,
    invert,
    numbers_of,
    read_lanes,
    rules_together,
    where,
    write_column,
    write_lanes,
)
from ..numeric.loops import LOOPS_HAVE_A_CLOCK, seconds_now
from ..numeric.margins import signed
from ..numeric.models import model_sums, model_update, prefetch_models
from ..numeric.rows import Rows, count_rows, in_any_order, n_rows, new_state, row
from . import first_order, gaussian, passive_aggressive
from .first_order import is_moved_by, squares_at, step
from .linear_classifier import LinearClassifier
from .parts.classes import weight_of
from .parts.covariance import is_usable, update_covariance

# With fewer models or rows than this, each model is learned alone. Learning several models together takes as
# long as two to three passes of one model. Preparing it takes 60 µs, while calling the loops of eight models
# one by one takes only 40 µs.
_FEWEST_MODELS, _FEWEST_ROWS = 3, 32

# Models learn dense rows together only if their state has at most this many bytes and so fits into a core's
# L1 cache (512 features, 256 with variances). With a larger state this takes as long as learning eight models
# one by one, since the code for one model is vectorized over features.
_LARGEST_DENSE = 1 << 15

# Rows of at least this many bytes in total do not stay in the caches: every pass loads them from memory.
# Models without variances are then learned together even if their state exceeds _LARGEST_DENSE. With the
# 188 MB of MNIST, learning eight models together takes as long as 4 passes, not 8.
_LARGE_ROWS = 1 << 27

# To learn together, the state of the models is copied into common arrays and then back. If sparse rows have
# fewer non-zeros per feature than this, summed over all passes, copying takes longer than learning.
_LEAST_ENTRIES = 4

_NO_STOPS = np.empty(0, np.int64), np.empty((0, LANES)), np.empty(0)

# With at least this many features (1 MiB of weights, half of a core's L2 cache), the state that the next
# sparse row needs is prefetched.
_LARGE = 1 << 14


@compiled
def _interleave(arrays, together):
    """Copy the arrays of LANES models into the columns of `together`."""
    for j in range(together.shape[0]):
        for g in range(LANES):
            together[j, g] = arrays[g][j]


@compiled
def _separate(together, arrays):
    """Copy the columns of `together` back into the arrays of the models."""
    for j in range(together.shape[0]):
        for g in range(LANES):
            arrays[g][j] = together[j, g]


@register_jitable(**INLINE)
def _prefetch_next(X, t, state):
    """Prefetch the state at the features of row t + 1, if the state has at least `_LARGE` features."""
    if state[0].shape[0] >= _LARGE and t + 1 < n_rows(X):
        prefetch_models(state, row(X, t + 1))


@register_jitable(**INLINE)
def _count(counts, place, condition):
    """Add 1 to the counts of the models for which a condition holds."""
    write_lanes(counts, place, read_lanes(counts, place) + where(condition, 1.0, 0.0))


_dots = model_sums(1, lambda w, x: [w * x])
_dots_and_variances = model_sums(2, lambda mu, sigma, x: [mu * x, sigma * x * x])
_add_scaled = model_update(lambda w, x, a: [w + a * x])
_update_gaussian = model_update(update_covariance)


def _loop_of_models(function: Callable[..., Any]) -> Any:
    """Compile a loop that learns LANES models; one call records updates and seconds at several checkpoints.

    ``function(steps, X, codes, scores, counts, *state)`` learns the rows whose numbers are in the range
    `steps`. `scores` has shape (LANES, n), `counts` has a row for the mistakes and one for the updates.

    The result is ``loop(X, codes, scores, counts, stops, updates, seconds, *state)``. It learns all rows.
    After each of `stops` (int64, ascending numbers of rows) it writes the updates so far into a row of
    `updates`, and the seconds since the call into `seconds`.
    """
    learn = register_jitable(function)

    def loop(X, codes, scores, counts, stops, updates, seconds, *state):
        began, start = seconds_now(), 0
        for i in range(stops.shape[0] + 1):
            stop = stops[i] if i < stops.shape[0] else n_rows(X)
            learn(range(start, stop), X, codes, scores, counts, *state)
            start = stop
            if i < stops.shape[0]:
                write_lanes(updates, i, read_lanes(counts, 1))
                seconds[i] = seconds_now() - began

    # The name under which the compiled code is cached.
    loop.__qualname__ = function.__qualname__
    return compiled(loop)


@_loop_of_models
def _learn_first_order(steps, X, codes, scores, counts, state, rule, numbers, weights):
    """Learn rows with LANES first-order models, each as `first_order` does."""
    rules = rules_together(rule, numbers)
    for t in steps:
        x, y = row(X, t), signed(codes[t])
        _prefetch_next(X, t, state)
        s = _dots(state, x)
        write_column(scores, t, s)
        m = y * s
        is_update, alpha = step(rules, y, m, squares_at(rule, m, x), weight_of(weights, codes[t]))
        _count(counts, 0, invert(m > 0.0))
        if holds_anywhere(is_update):
            moved = is_update & is_moved_by(rule, m, x)
            _add_scaled(state, x, (alpha * y,), moved)
            _count(counts, 1, moved)


@_loop_of_models
def _learn_gaussian(steps, X, codes, scores, counts, state, rule, numbers, weights):
    """Learn rows with LANES Gaussian models with a diagonal Σ, each as `gaussian` does."""
    rules = rules_together(rule, numbers)
    for t in steps:
        x, y = row(X, t), signed(codes[t])
        _prefetch_next(X, t, state)
        s, v = _dots_and_variances(state, x)
        write_column(scores, t, s)
        m = y * s
        _count(counts, 0, invert(m > 0.0))
        usable = (m < gaussian.margin_limit(rule)) & is_usable(v)
        if holds_anywhere(usable):
            is_update, alpha, beta, _ = gaussian.step(rules, m, v, weight_of(weights, codes[t]))
            updated = is_update & usable
            _update_gaussian(state, x, (alpha * y, beta), updated)
            _count(counts, 1, updated)


@compiled
def _score(X, scores, state):
    """Write the scores of n rows by all models into `scores`, shape (LANES, n), without learning."""
    for t in range(n_rows(X)):
        write_column(scores, t, _dots(state, row(X, t)))


# For each loop that learns one model: the loop that learns LANES models together, and the names of the
# attributes with the arrays of a model.
_READINGS = {
    first_order._learn: (_learn_first_order, ("_weights",)),
    passive_aggressive._learn: (_learn_first_order, ("_weights",)),
    gaussian._learn: (_learn_gaussian, ("_weights", "_sigma")),
}


class LinearReading(Reading):
    """At most LANES linear models of one learner that learn the same rows together, in one pass.

    The models' counts of rows, mistakes and updates are always up to date, their weights only after
    `write_back`.
    """

    def __init__(self, learners: Sequence[Any]) -> None:
        super().__init__(learners)
        loop, arguments = learners[0]._loop()
        self._loop, self._names = _READINGS[loop]
        self._class_weights = arguments[-1]
        # Compiled code learns exactly LANES models. If there are fewer, copies of the last one are added.
        models = [*learners, *[learners[-1]] * (LANES - len(learners))]
        self._rules = [tell_apart(each._rule()) for each in learners]
        self._numbers = numbers_of(self._rules)
        arrays = [tuple([getattr(each, name) for each in models]) for name in self._names]
        self._state = tuple(
            [new_state(len(some[0]) * LANES, place=k).reshape(-1, LANES) for k, some in enumerate(arrays)]
        )
        # Weights of untrained models of this package are not copied: they are 0 like the new arrays.
        own = own_method(learners[0], "begin", "_allocate", "_begin_with")
        has_weights = own or any(each.n_examples_ for each in learners)
        for name, some, together in zip(self._names, arrays, self._state, strict=True):
            if name != "_weights" or has_weights:
                _interleave(some, together)

    def _run(self, X: Rows, codes: NDArray[np.int32], *noted: NDArray[Any]) -> NDArray[np.float64]:
        counts = np.zeros((2, LANES))
        scores = np.empty((LANES, count_rows(X)))
        arguments = self._state, self._rules[0], self._numbers, self._class_weights
        try:
            self._loop(in_any_order(X), codes, scores, counts, *noted, *arguments)
        except TypingError as error:
            rule = plain_name(type(self._rules[0]))
            raise TypeError(
                f"{rule}.step does not compile for several models at once: instead of branches, `and` and "
                "`max` use `where` of singlepass.learners.numeric.lanes; of functions, only abs, min and "
                "math.sqrt work"
            ) from error
        for g, each in enumerate(self.learners):
            each.n_examples_ += len(codes)
            each.n_mistakes_ += int(counts[0, g])
            each.n_updates_ += int(counts[1, g])
        return scores[: len(self.learners)]

    def learn_rows(self, X: Rows, codes: NDArray[np.int32]) -> NDArray[np.float64]:
        return self._run(X, codes, *_NO_STOPS)

    def learn_along(self, X: Rows, codes: NDArray[np.int32], stops: NDArray[np.int64]) -> list[Passage]:
        if not (LOOPS_HAVE_A_CLOCK and self.learners[0].loop_counts_all):
            return super().learn_along(X, codes, stops)
        changed, seconds = np.empty((len(stops), LANES)), np.empty(len(stops))
        before = [each.n_updates_ for each in self.learners]
        scores = self._run(X, codes, stops, changed, seconds)
        seconds /= len(self.learners)
        updates = changed.astype(np.int64).T
        return [
            Passage(some, seconds, each.counts_at(made + earlier))
            for each, some, made, earlier in zip(self.learners, scores, updates, before, strict=False)
        ]

    def score_rows(self, X: Rows) -> list[NDArray[np.float64]]:
        scores = np.empty((LANES, count_rows(X)))
        _score(in_any_order(X), scores, self._state[:1])
        return [*scores[: len(self.learners)]]

    def write_back(self) -> None:
        models = [*self.learners, *[self.learners[-1]] * (LANES - len(self.learners))]
        for name, together in zip(self._names, self._state, strict=True):
            _separate(together, tuple([getattr(each, name) for each in models]))


def _options(learner: Any) -> list[Any]:
    """Return the parameters that choose a learner's loop or its arguments other than the rule."""
    names = "average", "class_weight", "covariance", "output", "projection", "rho"
    return [getattr(learner, name, None) for name in names]


def can_interleave(learners: Sequence[Any], X: Rows, passes: int = 1) -> bool:
    """Return whether these models can learn together in one pass, and do so faster than one by one.

    The learners are of one class. The first one must have begun (``begin``). A class of a user that overrides
    how rows are learned or scored is refused, because a reading does not call its methods.
    """
    first = learners[0]
    if (
        len(learners) < _FEWEST_MODELS
        or count_rows(X) < _FEWEST_ROWS
        or not isinstance(first, LinearClassifier)
        or len(first.classes_) > 2
        or own_method(first, "learn_rows", "_readable", "_pass", "_run", "score_rows")
        or not first._scores_by_weights()
        or first._loop()[0] not in _READINGS
        or any(_options(each) != _options(first) for each in learners)
    ):
        return False
    # The models share compiled code, which depends on the fields of a rule that are not floats. So these must
    # be equal in all rules, and none may be an array, because each model has its own arrays.
    options = [[value for value in each._rule() if not isinstance(value, float)] for each in learners]
    if any(option != options[0] for option in options) or not all(
        isinstance(each, int) for each in options[0]
    ):
        return False
    n_features = len(first._weights)
    if isinstance(X, tuple) and len(X) > 2:
        n_entries = passes * count_rows(X) * len(X[0])
        enough = n_entries >= _LEAST_ENTRIES * n_features * (len(X[2]) - 1)
    else:
        n_arrays = 2 if hasattr(first, "_sigma") else 1
        values = X[0] if isinstance(X, tuple) else X
        is_large = n_arrays == 1 and count_rows(X) * n_features * values.itemsize >= _LARGE_ROWS
        enough = is_large or 8 * LANES * n_features * n_arrays <= _LARGEST_DENSE
    diagonal = not hasattr(first, "_sigma") or first._sigma.ndim == 1
    return enough and diagonal and getattr(first, "projection", "covariance") == "covariance"
