"""The SVM with the ramp loss in one batch, by the concave-convex procedure (CCCP)."""

import math
from dataclasses import dataclass
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from ..estimator.parameters import Count, NonNegative, Positive, between, check_fields, one_of
from ..estimator.validation import FLOATS, safe_rows
from ..kernel.kernel_classifier import Offset, block_ranges, kernel_function
from ..kernel.values.functions import KERNELS
from ..numeric.compiled import compiled
from ..numeric.rows import count_rows, row_range
from .ramp_svm import ALL, REMEMBER, learn
from .solvers.ramp import (
    MOST_ROUNDS,
    MOST_STEPS,
    RampSupport,
    form_active_set,
    rules_of,
    start_over,
    take_steps,
)


@compiled
def _optimise(view, n, rules):
    return take_steps(view, n, rules, -1, 0.0, 1, MOST_STEPS)


@dataclass(eq=False, repr=False)
class OfflineRampSVM(ClassifierMixin, BaseEstimator):
    """The SVM with the ramp loss of a whole data set, by the concave-convex procedure (CCCP).

    A hinge-loss SVM without bias is trained on the active set V. Then V becomes the rows with ``y f(x) >=
    -1``, and so on until V does not change or the objective (eq. 7) no longer falls. Each training starts
    from the previous coefficients, with the coordinate steps of `OnlineRampSVM`. The objective is not convex:
    the result depends on the first V.

    It is a batch estimator, with which the online learners are compared: it has `fit`, but not `learn`.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the loss and bound of the coefficients, > 0.
    initial : float, default=0.1
        Share of the rows, the first ones, that form the first V; > 0, <= 1. With 1.0 the first training is
        that of a hinge-loss SVM on all rows. The rows should be in random order.
    tol : float, default=1e-3
        Tolerance of the KKT conditions, >= 0.
    min_gain : float, default=0.0
        Steps that gain less in the dual objective are not taken, >= 0.
    kernel, gamma, degree, coef0 : default="rbf", 1.0, 3, 1.0
        The kernel, as for `KernelPerceptron`.
    cache_mb : float, default=200.0
        Limit in MiB, >= 0, of the cached rows of kernel values. It affects time only.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels; a positive score means ``classes_[1]``.
    n_features_in_ : int
    n_support_ : int
    support_ : ndarray of int64, shape ``(n_support_,)``
        The support vectors' row numbers, ascending.
    support_vectors_ : ndarray or csr_matrix of shape ``(n_support_, d)``
    dual_coef_ : ndarray of float64, shape ``(1, n_support_)``
        y α.
    objectives_ : ndarray of float64, shape (rounds,)
        ``½ ‖w‖² + C Σ R(y f(x))`` over all rows (eq. 7), R being the ramp loss, after each training.
    objective_ : float
        The last element of `objectives_`.
    n_kernel_evaluations_ : int
        One per row with itself, and one with every row for each change of a coefficient.

    Notes
    -----
    Eq. 11 of the paper fixes α = 0 outside V. The ramp loss is at most the hinge loss for rows in V and at
    most 2 for other rows, with equality for the model with which V was formed. So training on V can raise the
    objective only within the tolerance.

    A row whose squared norm, or kernel value with itself, overflows is not learned.

    See Also
    --------
    OnlineRampSVM, RetrainedRampSVM

    References
    ----------
    Collobert, Sinz, Weston, Bottou (2006), "Trading convexity for scalability", ICML; Wang, Vucetic (2010),
    "Fast online training of ramp loss support vector machines", ICDM, eqs. 7 to 11.

    Examples
    --------
    >>> model = OfflineRampSVM(initial=0.75).fit([[0.0], [10.0], [1.0], [0.5]], [0, 1, 0, 1])
    >>> model.support_.tolist(), model.predict([[0.2], [9.0]]).tolist()
    ([0, 1, 2], [0, 1])
    """

    C: Positive = 1.0
    initial: Annotated[float, between(0.0, 1.0, include_high=True)] = 0.1
    tol: NonNegative = 1e-3
    min_gain: NonNegative = 0.0
    kernel: Annotated[str, one_of(KERNELS)] = "rbf"
    gamma: Positive = 1.0
    degree: Count = 3
    coef0: Offset = 1.0
    cache_mb: NonNegative = 200.0

    algorithm_version = 2

    def check_parameters(self) -> None:
        """Raise ValueError for an invalid parameter."""
        check_fields(self)

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Train on all rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            NaN and infinity are refused.
        y : array-like of shape (n,)
            Labels, of two classes.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For invalid parameters, rows or labels.
        """
        self.check_parameters()
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=FLOATS, order="C")
        check_classification_targets(y)
        classes, codes = np.unique(y, return_inverse=True)
        if len(classes) != 2:
            binary = "Only binary classification is supported. The type of the target is multiclass. "
            raise ValueError(
                (binary if len(classes) > 2 else "")
                + f"{type(self).__name__} needs two classes, but the labels contain {len(classes)} class"
                + ("es" if len(classes) > 2 else "")
            )
        self.classes_ = classes
        self._train(safe_rows(X), codes.astype(np.int32))
        return self

    def _train(self, X, codes):
        rules, sparse = rules_of(self), isinstance(X, tuple)
        dtype = (X[0] if sparse else X).dtype
        store = RampSupport(kernel_function(self), self.n_features_in_, dtype, sparse, float(self.cache_mb))
        support = store.support
        for start, stop in block_ranges(len(codes)):
            view = store.open_block(row_range(X, start, stop), stop - start, start)
            part, scores = codes[start:stop], np.empty(stop - start)
            n = learn(view, support.size, part, scores, rules, ALL, False, REMEMBER, False)[0]
            store.commit(n)
        n, changes, objectives = support.size, 0, []
        view = store.open_empty_block()
        g, active = view.cached.gradients, view.active
        start_over(view.cached.block.alpha, g, active, n, math.ceil(float(self.initial) * n))
        for _ in range(MOST_ROUNDS):
            changes += _optimise(view, n, rules)
            objectives.append(store.objective(rules.C))
            if len(objectives) > 1 and not objectives[-1] < objectives[-2]:
                break
            if not form_active_set(g, active, n):
                break
        self._support = store.support_vectors()
        slots = np.flatnonzero(support.alpha)
        self.support_, self.support_vectors_ = support.born[slots], support.matrix(slots)
        self.dual_coef_ = support.alpha[slots].reshape(1, -1)
        self.n_support_ = len(slots)
        self.objectives_ = np.array(objectives)
        self.objective_ = objectives[-1]
        self.n_kernel_evaluations_ = n * (1 + changes)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the score of each row of a matrix of shape (n, d): float64, shape (n,)."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=FLOATS, order="C")
        rows = safe_rows(X)
        scores = np.empty(count_rows(rows))
        for start, stop in block_ranges(len(scores)):
            self._support.scores(row_range(rows, start, stop), stop - start, scores[start:stop])
        return scores

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the predicted label of each row, shape (n,): ``classes_[1]`` if the score is > 0."""
        scores = self.decision_function(X)
        return self.classes_[(scores > 0.0).astype(np.intp)]

    def counters(self) -> dict[str, int]:
        """Return the numbers of support vectors and of kernel evaluations."""
        return {"support_vectors": self.n_support_, "kernel_evaluations": self.n_kernel_evaluations_}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = False
        return tags
