"""Gaussian learners: an update moves the mean μ along Σx and shrinks the covariance Σ, by steps of a rule.

A rule is a named tuple of parameters with a method ``step(m, v, weight)``. Given a row's margin m, variance
``v = xᵀΣx`` (0 < v < ∞) and class weight, it returns ``(is_update, α, β, γ)``. An update is ``μ += α y Σx``
with ``Σ -= β Σx xᵀΣ`` or, for a diagonal with projection "precision", with ``Σ⁻¹ += γ x xᵀ``. The last field
of a rule can be ``margin_limit``, with a default value that is compiled in: only rows of smaller margin cause
updates, so the variances of other rows need not be computed. A rule does not branch on m, v or its
parameters, so that it also compiles for vectors with the margins and variances of several models; see
`numeric.lanes`.

With more than two classes ``Δf = f(x, y) - f(x, ỹ)`` takes the place of y x, where f(x, z) is x in the block
of class z and ỹ the best wrong class.

Code for rules that are defined outside this package is not cached on disk; each process compiles it.
"""

import numpy as np

from ..numeric.compiled import INLINE
from ..numeric.loops import learning_loop
from ..numeric.margins import best_wrong, signed
from ..numeric.rows import by_types, method, n_rows, row
from .linear_classifier import CovarianceClassifier, MulticlassClassifier
from .parts.classes import score_classes, weight_of, weights_by_code
from .parts.covariance import (
    NOTHING_WAITS,
    Projection,
    finish_update,
    is_usable,
    pair_variance,
    update,
    update_and_score,
    update_pair,
    variance_at_hand,
)

step = method("step")


@by_types(**INLINE)
def margin_limit(rule):
    """Return the margin below which a row can cause an update: the rule's ``margin_limit``, or infinity."""
    limit = rule.instance_class._field_defaults.get("margin_limit", np.inf)
    return lambda rule: limit


@learning_loop
def _learn(X, codes, scores, mu, sigma, s, rule, precision, weights):
    mistakes = updates = 0
    waiting = NOTHING_WAITS
    # Without a `margin_limit` every row needs its variance, which is then computed together with its score.
    all_variances = margin_limit(rule) == np.inf
    for t in range(n_rows(X)):
        x, y = row(X, t), signed(codes[t])
        scores[t], v, waiting = update_and_score(mu, sigma, s, waiting, x, all_variances)
        m = y * scores[t]
        mistakes += not m > 0.0
        if m < margin_limit(rule):
            v = variance_at_hand(v, sigma, x, s, all_variances)
            if is_usable(v):
                is_update, alpha, beta, gamma = step(rule, m, v, weight_of(weights, codes[t]))
                if is_update:
                    waiting = update(mu, sigma, x, s, alpha * y, beta, gamma, precision)
                    updates += 1
    finish_update(mu, sigma, s, waiting)
    return mistakes, updates


@learning_loop
def _learn_classes(X, codes, scores, mu, sigma, s, rule, precision, weights):
    mistakes = updates = 0
    sums = np.empty(mu.shape[1])
    for t in range(n_rows(X)):
        x, y, f = row(X, t), codes[t], scores[t]
        score_classes(mu, x, sums, f)
        z = best_wrong(f, y)
        m = f[y] - f[z]
        mistakes += not m > 0.0
        if m < margin_limit(rule):
            v = pair_variance(sigma, x, y, z, s)
            if is_usable(v):
                is_update, alpha, beta, gamma = step(rule, m, v, weight_of(weights, y))
                if is_update:
                    update_pair(mu, sigma, x, y, z, s, alpha, beta, gamma, precision)
                    updates += 1
    return mistakes, updates


class GaussianClassifier(CovarianceClassifier, MulticlassClassifier):
    """Base of learners with a mean and a covariance of the weights; a subclass defines ``_rule()``."""

    projection: Projection

    # Version 2 adds the terms of products with a full Σ in another order than version 1, so it rounds
    # differently.
    algorithm_version = 2

    def _loop(self):
        return _learn, self._arguments()

    def _loop_of_classes(self):
        return _learn_classes, self._arguments()

    def _arguments(self):
        arrays = self._weights, self._sigma, self._buffer
        return *arrays, self._rule(), self.projection == "precision", weights_by_code(self)
