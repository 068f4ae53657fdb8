"""First-order learners: an update is ``w += α y x``, and a rule says which rows are updates, and their α.

A rule is a named tuple of numbers with a method ``step(y, m, squares, weight)``. For a row of label y (±1),
margin m, ``‖x‖²`` and class weight, it returns ``(is_update, α)``. Two last fields are optional; their
defaults are compiled in:

- ``margin_limit``: the rule reads ‖x‖² of rows of smaller margin; without it, or beyond it, `squares` is 0;
- ``skips_zero_rows``: rows of zeros are no updates.

With more than two classes ``Δf = f(x, y) - f(x, ỹ)`` takes the place of y x, where f(x, z) is x in the block
of class z and ỹ the best wrong class: ``‖Δf‖² = 2‖x‖²``, and y is 1.
"""

from typing import Any

import numpy as np

from ..numeric.arrays import is_sparse_row
from ..numeric.compiled import INLINE
from ..numeric.loops import learning_loop
from ..numeric.margins import best_wrong, signed
from ..numeric.rows import add_scaled, by_types, dot, n_rows, row, squared_norm
from ..numeric.vector import lane_pass
from .linear_classifier import LinearClassifier
from .parts.classes import add_to_pair, score_classes, weight_of, weights_by_code
from .parts.losses import has_entries

# A postponed update is (True, a), of ``w += a·last``.
_NOTHING_WAITS = (False, 0.0)


def _copy_and_score(ir, w, last, x):
    return [None, x], [ir.fmul(w, x), ir.fmul(x, x)]


def _add_copy_and_score(ir, w, last, x, a):
    w = ir.fadd(w, ir.fmul(a, last))
    return [w, x], [ir.fmul(w, x), ir.fmul(x, x)]


_score_dense = lane_pass(2, _copy_and_score)
_update_and_score_dense = lane_pass(2, _add_copy_and_score)


def _reads_norms(rule):
    return "margin_limit" in rule.instance_class._field_defaults


@by_types(**INLINE)
def step(self, y, m, squares, weight):
    """Return ``(is_update, α)``."""
    return self.instance_class.step


@by_types(**INLINE)
def margin_for(rule, m, x):
    """Return the margin that the rule gets: infinite for a row of zeros that it skips, else m."""
    if "skips_zero_rows" in rule.instance_class._field_defaults:
        return lambda rule, m, x: m if m != 0.0 or has_entries(x) else np.inf
    return lambda rule, m, x: m


@by_types(**INLINE)
def _update_and_score(rule, w, last, waiting, x):
    """Make the update that waits; return ``(w·x, ‖x‖², _NOTHING_WAITS)``.

    If the rule reads norms, an update with a dense row waits in `last` until the next row is read: both take
    one pass over `w`, and memory is read during the update. With CSR rows nothing waits, and norms are left
    to `_squares_at_hand`.
    """
    if is_sparse_row(x) or not _reads_norms(rule):
        return lambda rule, w, last, waiting, x: (dot(w, x), 0.0, _NOTHING_WAITS)

    def dense(rule, w, last, waiting, x):
        waits, a = waiting
        if waits:
            s, squares = _update_and_score_dense((w, last), x, (a,))
        else:
            s, squares = _score_dense((w, last), x, ())
        return s, squares, _NOTHING_WAITS

    return dense


@by_types(**INLINE)
def _squares_at_hand(rule, m, squares, x):
    """Return ``‖x‖²`` if the rule reads it, given the result of `_update_and_score` for the row."""
    if is_sparse_row(x) and _reads_norms(rule):
        return lambda rule, m, squares, x: _squares(rule, m, x)
    return lambda rule, m, squares, x: squares


@by_types(**INLINE)
def _squares(rule, m, x):
    """Return ``‖x‖²`` if the rule reads it, else 0."""
    if not _reads_norms(rule):
        return lambda rule, m, x: 0.0
    limit = rule.instance_class._field_defaults["margin_limit"]
    return lambda rule, m, x: squared_norm(x) if m < limit else 0.0


@by_types(**INLINE)
def _update(rule, w, a, x):
    """Make the update ``w += a x`` of the row scored last, or return that it waits."""
    if is_sparse_row(x) or not _reads_norms(rule):

        def at_once(rule, w, a, x):
            add_scaled(w, a, x)
            return _NOTHING_WAITS

        return at_once
    return lambda rule, w, a, x: (True, a)


@by_types(**INLINE)
def _finish_update(rule, w, last, waiting):
    """Make the update that waits after the last row."""
    if not _reads_norms(rule):
        return lambda rule, w, last, waiting: None

    def finish(rule, w, last, waiting):
        waits, a = waiting
        if waits:
            add_scaled(w, a, last)

    return finish


@learning_loop
def _learn(X, codes, scores, w, last, rule, weights):
    mistakes = updates = 0
    waiting = _NOTHING_WAITS
    for t in range(n_rows(X)):
        x, y = row(X, t), signed(codes[t])
        scores[t], squares, waiting = _update_and_score(rule, w, last, waiting, x)
        m = y * scores[t]
        mistakes += not m > 0.0
        squares = _squares_at_hand(rule, m, squares, x)
        is_update, alpha = step(rule, y, margin_for(rule, m, x), squares, weight_of(weights, codes[t]))
        if is_update:
            waiting = _update(rule, w, alpha * y, x)
            updates += 1
    _finish_update(rule, w, last, waiting)
    return mistakes, updates


@learning_loop
def _learn_classes(X, codes, scores, W, last, rule, weights):
    mistakes = updates = 0
    sums = np.empty(W.shape[1])
    for t in range(n_rows(X)):
        x, y, f = row(X, t), codes[t], scores[t]
        score_classes(W, x, sums, f)
        z = best_wrong(f, y)
        m = f[y] - f[z]
        mistakes += not m > 0.0
        squares = 2.0 * _squares(rule, m, x)
        is_update, alpha = step(rule, 1.0, margin_for(rule, m, x), squares, weight_of(weights, y))
        if is_update:
            add_to_pair(W, alpha, x, y, z)
            updates += 1
    return mistakes, updates


class FirstOrderClassifier(LinearClassifier):
    """Base of the learners of this family: a subclass defines ``_rule()``.

    If the rule reads norms, the subclass also keeps `_buffer`, an array for the row whose update waits.
    """

    _buffer = None

    def _rule(self) -> Any:
        """Return the rule with its numbers."""
        raise self._undefined("_rule")

    def _loop(self):
        return _learn, self._arguments()

    def _loop_of_classes(self):
        return _learn_classes, self._arguments()

    def _arguments(self):
        return self._weights, self._buffer, self._rule(), self._weights_by_code()

    def _weights_by_code(self):
        return weights_by_code(self)
