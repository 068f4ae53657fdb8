"""Learners that store numbers from which a weight is computed when it is next read.

The numbers change when the weight's feature has a gradient. If all weights change at every row (by shrinkage
or restarts), no loop over all weights is needed: a row takes time proportional to its non-zeros. Except for
rounding, the result is the same as if every weight were changed at every row.

A rule is a named tuple of parameters. It stores `size` numbers for each weight, in `size` arrays that start
at 0; the first number is the weight, or what the weight is computed from. All weights share a clock of two
numbers that start at 0: the number of rows learned, and a number that the rule defines. A rule has the
methods

- ``now(clock)``: return a tuple of float64, which the formulas of the next row need;
- ``weight(*numbers, *now)``, static: the formula of the current weight (see `numeric/formulas.py`);
- ``step(*numbers, w, g, *now)``, static: the formula of the list of new numbers, where w is the current
  weight and g its gradient; g can underflow to 0, and for x = 0 the result is not used;
- ``tick(clock, is_update)``, optional: update the rule's number in the clock after a row has been counted.
"""

import functools

import numpy as np
from numpy.typing import NDArray

from ...numeric.compiled import INLINE, compiled, register_jitable, tell_apart
from ...numeric.formulas import where
from ...numeric.loops import learning_loop
from ...numeric.margins import best_wrong, signed
from ...numeric.rows import borrowed, by_types, copy_into, entry, method, n_entries, n_rows, new_state, row
from ...numeric.vector import class_sums, lane_sums, lane_update, single_update
from ..linear_classifier import MulticlassClassifier, as_coef
from ..parts.losses import LOGISTIC, LOSSES, class_gradient, has_gradient, slope

_now = method("now")
_tick = method("tick", lambda self, clock, is_update: None)


def _term_of(kind):
    """Return the formula of the term ``w_j x_j`` of a score, given the rule's class."""
    size = kind._field_defaults["size"]
    return lambda *given: kind.weight(*given[:size], *given[size + 1 :]) * given[size]


def _step_of(kind):
    """Return the formula of new numbers after the gradient ``factor x_j``, given the rule's class."""
    size = kind._field_defaults["size"]

    def step(*given):
        numbers, (x, factor, *now) = given[:size], given[size:]
        new = kind.step(*numbers, kind.weight(*numbers, *now), factor * x, *now)
        return [where(x != 0.0, after, before) for after, before in zip(new, numbers, strict=True)]

    return step


@functools.cache
def _sum_of(kind):
    return lane_sums(1, lambda *given: [_term_of(kind)(*given)])


@functools.cache
def _sums_of(kind):
    return class_sums(_term_of(kind))


@functools.cache
def _weights_of(kind):
    """Return the code that writes the current weights to the first array of its state.

    The array is also passed as the row, only for its length.
    """
    size = kind._field_defaults["size"]

    def weigh(_, *given):
        return [kind.weight(*given[:size], *given[size + 1 :]), *[None] * size]

    return lane_update(weigh)


@functools.cache
def _update_of(kind):
    return lane_update(_step_of(kind))


@functools.cache
def _single_update_of(kind):
    return single_update(_step_of(kind))


@by_types(**INLINE)
def _score(rule, state, x, now):
    total = _sum_of(rule.instance_class)
    return lambda rule, state, x, now: total(state, x, now)


@by_types(**INLINE)
def _write_weights(rule, state, now, w):
    write = _weights_of(rule.instance_class)
    return lambda rule, state, now, w: write((w, *state), w, now)


@by_types(**INLINE)
def _update(rule, state, x, factor, now):
    update = _update_of(rule.instance_class)
    return lambda rule, state, x, factor, now: update(state, x, (factor, *now))


@by_types(**INLINE)
def _update_one(rule, state, place, x_j, factor, now):
    update = _single_update_of(rule.instance_class)
    return lambda rule, state, place, x_j, factor, now: update(state, place, (x_j, factor, *now))


@by_types(**INLINE)
def _score_classes(rule, state, x, now, sums, scores):
    add_up = _sums_of(rule.instance_class)

    def score(rule, state, x, now, sums, scores):
        add_up(state, x, now, sums)
        copy_into(scores, sums)

    return score


@register_jitable
def _end_row(rule, clock, is_update):
    clock[0] += 1.0
    _tick(rule, clock, is_update)


@learning_loop
def _learn(X, codes, scores, state, clock, rule, loss):
    """Make one pass for two classes, with the gradient ``g = -y c(m) x``."""
    mistakes = updates = 0
    state = borrowed(state)
    for t in range(n_rows(X)):
        x, y = row(X, t), signed(codes[t])
        now = _now(rule, clock)
        s = scores[t] = _score(rule, state, x, now)
        mistakes += not y * s > 0.0
        c = slope(loss, y * s)
        is_update = has_gradient(c, s, x)
        if is_update:
            _update(rule, state, x, -y * c, now)
        updates += is_update
        _end_row(rule, clock, is_update)
    return mistakes, updates


@compiled
def _score_rows(X, state, clock, rule, scores):
    now = _now(rule, clock)
    for t in range(n_rows(X)):
        scores[t] = _score(rule, state, row(X, t), now)


@learning_loop
def _learn_classes(X, codes, scores, state, clock, rule, loss):
    """Make one pass for more than two classes, with the gradients that `class_gradient` returns."""
    mistakes = updates = 0
    K, width = scores.shape[1], np.uintp(state[0].shape[1])
    sums, which, factors = np.empty(width), np.empty(K, np.int64), np.empty(K)
    state = borrowed(state)
    for t in range(n_rows(X)):
        x, y, s = row(X, t), codes[t], scores[t]
        now = _now(rule, clock)
        _score_classes(rule, state, x, now, sums, s)
        mistakes += not s[y] - s[best_wrong(s, y)] > 0.0
        n = class_gradient(loss, loss == LOGISTIC, s, y, x, which, factors)
        for k in range(n_entries(x) if n > 0 else 0):
            j, x_j = entry(x, k)
            if x_j != 0.0:
                for i in range(n):
                    _update_one(rule, state, j * width + np.uintp(which[i]), x_j, factors[i], now)
        updates += n > 0
        _end_row(rule, clock, n > 0)
    return mistakes, updates


@compiled
def _score_rows_of_classes(X, state, clock, rule, scores):
    now, sums = _now(rule, clock), np.empty(state[0].shape[1])
    for t in range(n_rows(X)):
        _score_classes(rule, state, row(X, t), now, sums, scores[t])


@compiled
def _weights(state, clock, rule, w):
    _write_weights(rule, state, _now(rule, clock), w)


class LazyLearner(MulticlassClassifier):
    """Base of the learners that compute weights when needed: subclasses have `loss` and ``_rule()``.

    With more than two classes "logistic" is the softmax, and the hinge takes the margin over the best wrong
    class. `set_params` changes `loss` at once, and other parameters at the next `fit`.
    """

    loss: str

    _state = ("_weights", "_second", "_third", "_clock")

    def _begin_with(self, zeros):
        self._rule_of_stream = self._rule()
        places = range(1, self._rule_of_stream.size)
        more = [new_state(zeros.size, place=place).reshape(zeros.shape) for place in places]
        self._weights = zeros
        self._second, self._third = [*more, None, None][:2]
        self._clock = np.zeros(2)

    def _arrays(self):
        return tuple([each for each in (self._weights, self._second, self._third) if each is not None])

    def _loop(self):
        return _learn, (self._arrays(), self._clock, self._rule_of_stream, LOSSES.index(self.loss))

    def _loop_of_classes(self):
        return _learn_classes, self._loop()[1]

    def _score(self, X, scores):
        _score_rows(X, self._arrays(), self._clock, tell_apart(self._rule_of_stream), scores)

    def _score_classes(self, X, scores):
        _score_rows_of_classes(X, self._arrays(), self._clock, tell_apart(self._rule_of_stream), scores)

    @property
    def coef_(self) -> NDArray[np.float64]:
        w = np.empty_like(self._weights)
        state = tuple([each.reshape(-1) for each in self._arrays()])
        _weights(state, self._clock, tell_apart(self._rule_of_stream), w.reshape(-1))
        return as_coef(w, len(self.classes_))
