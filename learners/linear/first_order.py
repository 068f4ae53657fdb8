"""First-order learners with updates ``w += α y x``: a rule decides which rows cause an update, and its α.

A rule is a named tuple of parameters with a method ``step(y, m, squares, weight)``. Given a row's label y
(±1), margin m, ``‖x‖²`` and class weight, it returns ``(is_update, α)``. It does not branch on m, squares or
the rule's parameters, so that it also compiles for vectors with the margins of several models; see
`numeric.lanes`. The last field of a rule can be one of these, with a default value that is compiled in:

- ``margin_limit``: `squares` is ‖x‖² only for rows of smaller margin, otherwise it is not computed, but 0.
  Without this field it is 0 for all rows;
- ``skips_zero_rows``: rows of zeros cause no updates.

With more than two classes ``Δf = f(x, y) - f(x, ỹ)`` takes the place of y x, where f(x, z) is x in the block
of class z and ỹ the best wrong class: ``‖Δf‖² = 2‖x‖²``, and y is 1.

Code for rules that are defined outside this package is not cached on disk; each process compiles it.
"""

import numpy as np

from ..numeric.compiled import INLINE
from ..numeric.lanes import holds_anywhere
from ..numeric.loops import learning_loop
from ..numeric.margins import best_wrong, signed
from ..numeric.rows import add_scaled, by_types, dot, method, n_rows, row, squared_norm
from .linear_classifier import LinearClassifier
from .parts.classes import add_to_pair, score_classes, weight_of, weights_by_code
from .parts.losses import has_entries

step = method("step")


@by_types(**INLINE)
def squares_at(rule, m, x):
    """Return ‖x‖² if the rule has a ``margin_limit`` and m is below it, else 0."""
    limit = rule.instance_class._field_defaults.get("margin_limit")
    if limit is None:
        return lambda rule, m, x: 0.0
    return lambda rule, m, x: squared_norm(x) if holds_anywhere(m < limit) else 0.0


@by_types(**INLINE)
def is_moved_by(rule, m, x):
    """Return whether the row can cause an update: a row of zeros cannot if the rule ``skips_zero_rows``."""
    if "skips_zero_rows" in rule.instance_class._field_defaults:
        return lambda rule, m, x: (m != 0.0) | has_entries(x)
    return lambda rule, m, x: True


@learning_loop
def _learn(X, codes, scores, w, rule, weights):
    mistakes = updates = 0
    for t in range(n_rows(X)):
        x, y = row(X, t), signed(codes[t])
        scores[t] = dot(w, x)
        m = y * scores[t]
        is_update, alpha = step(rule, y, m, squares_at(rule, m, x), weight_of(weights, codes[t]))
        if is_update and is_moved_by(rule, m, x):
            add_scaled(w, alpha * y, x)
            updates += 1
        # Mistakes are counted after the update: counting before it makes a row of 20 features a fifth slower.
        mistakes += not m > 0.0
    return mistakes, updates


@learning_loop
def _learn_classes(X, codes, scores, W, rule, weights):
    mistakes = updates = 0
    sums = np.empty(W.shape[1])
    for t in range(n_rows(X)):
        x, y, f = row(X, t), codes[t], scores[t]
        score_classes(W, x, sums, f)
        z = best_wrong(f, y)
        m = f[y] - f[z]
        mistakes += not m > 0.0
        squares = 2.0 * squares_at(rule, m, x)
        is_update, alpha = step(rule, 1.0, m, squares, weight_of(weights, y))
        if is_update and is_moved_by(rule, m, x):
            add_to_pair(W, alpha, x, y, z)
            updates += 1
    return mistakes, updates


class FirstOrderClassifier(LinearClassifier):
    """Base of the learners with updates ``w += α y x``; a subclass defines ``_rule()``, which chooses α."""

    def _loop(self):
        return _learn, (self._weights, self._rule(), self._weights_by_code())

    def _loop_of_classes(self):
        return _learn_classes, (self._weights, self._rule(), self._weights_by_code())

    def _weights_by_code(self):
        return weights_by_code(self)
