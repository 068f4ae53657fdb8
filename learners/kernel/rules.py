"""Kernel learners as rules: which rows are learned, with which coefficient, and how the support set changes.

A rule is a named tuple of numbers with a method ``step(m, own, squares)``. Its arguments are the margin m of
a row x, ``own = k(x, x)`` and ``squares = ‖d‖²``, the squared norm of the step for α = 1: k(x, x) with two
classes. It returns ``(is_update, α, evaluations)``: whether the row is learned, the coefficient without the
sign of the label, and the kernel evaluations besides those of the prediction. With more than two classes, the
right class y gets α and the best wrong class gets -α, so ``‖d‖² = 2 k(x, x)``. A rule that changes more
classes also has a method ``step_of_classes(s, y, z, m, own, a)``: from the scores `s`, the right class y and
the best wrong class z it writes the coefficients of all classes into `a`, and returns
``(is_update, evaluations)``.

The support set is changed by a maintenance: a named tuple of arrays and numbers with a method ``join(view, n,
t, s, a)``. It adds row t, with score `s` and coefficient `a` (arrays for more than two classes), to the `n`
support vectors, and may remove others. It returns the new number of support vectors, ``is_update`` and kernel
evaluations. If the maintenance is None, every update adds a support vector.

Code for rules that are defined outside this package is not cached on disk; each process compiles it.
"""

from typing import Any

import numpy as np
from numba import types

from ..numeric.compiled import INLINE, compiled, tell_apart
from ..numeric.margins import signed
from ..numeric.rows import borrowed, by_types, method
from .kernel_classifier import KernelClassifier, MulticlassKernelClassifier
from .support.block_view import add, add_classes, score_classes, score_of

_step = method("step")


@by_types(**INLINE)
def _step_of_classes(self, s, y, z, m, own, a):
    if hasattr(self.instance_class, "step_of_classes"):
        return self.instance_class.step_of_classes

    def step_of_pair(self, s, y, z, m, own, a):
        is_update, alpha, evaluations = _step(self, m, own, 2.0 * own)
        if is_update:
            a[:] = 0.0
            a[y], a[z] = alpha, -alpha
        return is_update, evaluations

    return step_of_pair


@by_types(**INLINE)
def _join(self, view, n, t, s, a):
    if not isinstance(self, types.NoneType):
        return self.instance_class.join
    grow = add_classes if isinstance(a, types.Array) else add
    return lambda self, view, n, t, s, a: (grow(view, n, t, a), True, 0)


@compiled
def learn(view, n, codes, scores, rule, maintenance):
    """Learn a block of rows by a rule (see this module's docstring).

    Return the number of support vectors and, for this block, of mistakes, updates and kernel evaluations.
    """
    mistakes = updates = evaluations = 0
    view, maintenance = borrowed(view), borrowed(maintenance)
    for t in range(codes.shape[0]):
        y = signed(codes[t])
        scores[t] = score_of(view, n, t)
        m = y * scores[t]
        mistakes += not m > 0.0
        is_update, a, taken = _step(rule, m, view.own[t], view.own[t])
        evaluations += n + taken
        if is_update:
            n, is_update, taken = _join(maintenance, view, n, t, scores[t], a * y)
            evaluations += taken
        updates += is_update
    return n, mistakes, updates, evaluations


@compiled
def learn_classes(view, n, codes, scores, rule, maintenance):
    """Learn a block of rows of more than two classes by a rule; return the same numbers as `learn`."""
    mistakes = updates = evaluations = 0
    view, maintenance = borrowed(view), borrowed(maintenance)
    a = np.empty(scores.shape[1])
    for t in range(codes.shape[0]):
        y, s = codes[t], scores[t]
        z = score_classes(view, n, t, y, s)
        m = s[y] - s[z]
        mistakes += not m > 0.0
        is_update, taken = _step_of_classes(rule, s, y, z, m, view.own[t], a)
        evaluations += n + taken
        if is_update:
            n, is_update, taken = _join(maintenance, view, n, t, s, a)
            evaluations += taken
        updates += is_update
    return n, mistakes, updates, evaluations


class RuleClassifier(KernelClassifier):
    """Base of the kernel learners that use a rule of this module's kind: a subclass defines ``_rule()``."""

    def _rule(self) -> Any:
        """Return the rule: a named tuple of parameters with a method ``step``."""
        raise self._undefined("_rule")

    def _maintenance(self) -> Any:
        """Return the object that adds rows and may remove others, or None if each update only adds a row."""
        return None

    def _learn_block(self, view, n, codes, scores):
        return learn(view, n, codes, scores, *tell_apart((self._rule(), self._maintenance())))


class MulticlassRuleClassifier(RuleClassifier, MulticlassKernelClassifier):
    """Base of the kernel learners whose rule takes two or more classes."""

    def _learn_block_of_classes(self, view, n, codes, scores):
        return learn_classes(view, n, codes, scores, *tell_apart((self._rule(), self._maintenance())))
