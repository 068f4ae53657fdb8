"""The SVM with the ramp loss in one batch (CCCP), and the online learner that trains it anew for each row."""

import itertools
import math

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from ..estimator.parameters import check_between, check_nonnegative
from ..estimator.validation import FLOATS, safe_rows
from ..kernel.kernel_classifier import KernelClassifier, check_kernel
from ..kernel.support.block_view import scores_of_block
from ..numeric.compiled import compiled
from ..numeric.rows import count_rows, row_range
from .ramp_svm import ALL, REMEMBER, RampSVM, learn
from .solvers.ramp import (
    MOST_ROUNDS,
    MOST_STEPS,
    ExampleRows,
    begin_anew,
    check_rules,
    form_active_set,
    rules_of,
    take_steps,
)


@compiled
def _optimise(S, n, rules):
    return take_steps(S, n, rules, -1, 0.0, 1, MOST_STEPS)


class OfflineRampSVM(ClassifierMixin, BaseEstimator):
    """The SVM with the ramp loss of a whole data set, by the concave-convex procedure (CCCP).

    A hinge-loss SVM without bias is trained on the active set V; then V becomes the rows with
    ``y f(x) >= -1``, and so on until it stays or the objective (eq. 7) no longer falls, which up to the
    tolerance it does from round to round. Each training goes on from the coefficients before, with the
    coordinate steps of `OnlineRampSVM`. The objective is not convex: the end depends on the first V.

    It is a batch estimator, what the online learners are compared with: it has `fit`, but not `learn`.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the loss and bound of the coefficients, > 0.
    initial : float, default=0.1
        The first V is this share of the rows, the first ones; 0 excluded. 1.0 begins with the SVM of all
        rows. The rows should be in random order.
    tol : float, default=1e-3
        Tolerance of the KKT conditions, >= 0.
    min_gain : float, default=0.0
        Steps that gain less in the dual objective are not taken, >= 0.
    kernel, gamma, degree, coef0 : default="rbf", 1.0, 3, 1.0
        The kernel, as for `KernelPerceptron`.
    cache_mb : float, default=200.0
        Limit of the rows of kernel values that are kept, in MiB, >= 0; it changes no outcome.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels; a positive score means ``classes_[1]``.
    n_features_in_ : int
    n_support_ : int
    support_ : ndarray of int64, shape (n_support_,)
        The support vectors' row numbers, ascending.
    support_vectors_ : ndarray or csr_matrix of shape (n_support_, d)
    dual_coef_ : ndarray of float64, shape (1, n_support_)
        y α.
    objectives_ : ndarray of float64, shape (rounds,)
        ``½ ‖w‖² + C Σ R(y f(x))`` over all rows (eq. 7), R being the ramp loss, after each training.
    objective_ : float
        The last of them.
    n_kernel_evaluations_ : int
        One a row with itself, and with every row for each change of a coefficient.

    Notes
    -----
    Eq. 11 of the paper holds α = 0 outside V: the ramp loss is at most the hinge loss in V and 2 elsewhere,
    with equality for the model that V was formed by, so the objective cannot rise but by the tolerance.

    A row whose squared norm, or kernel value with itself, overflows is not learnt.

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

    algorithm_version = 2

    def __init__(
        self,
        C=1.0,
        initial=0.1,
        tol=1e-3,
        min_gain=0.0,
        kernel="rbf",
        gamma=1.0,
        degree=3,
        coef0=1.0,
        cache_mb=200.0,
    ):
        self.C = C
        self.initial = initial
        self.tol = tol
        self.min_gain = min_gain
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.cache_mb = cache_mb

    def check_parameters(self):
        """Raise ValueError for a parameter that makes no sense."""
        check_kernel(self)
        check_rules(self)
        check_nonnegative(self, "cache_mb")
        check_between(self, "initial", 0.0, 1.0, include_high=True)

    def fit(self, X, y):
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
            For bad parameters, rows or labels.
        """
        self.check_parameters()
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=FLOATS, order="C")
        check_classification_targets(y)
        classes, codes = np.unique(y, return_inverse=True)
        if len(classes) != 2:
            binary = "Only binary classification is supported. The type of the target is multiclass. "
            raise ValueError(
                (binary if len(classes) > 2 else "")
                + f"{type(self).__name__} needs two classes, but the labels hold {len(classes)} class"
                + ("es" if len(classes) > 2 else "")
            )
        self.classes_ = classes
        self._train(safe_rows(X), codes.astype(np.int32))
        return self

    def _train(self, X, codes):
        rules, sparse = rules_of(self), isinstance(X, tuple)
        function = self.kernel, float(self.gamma), float(self.coef0), int(self.degree)
        dtype = (X[0] if sparse else X).dtype
        store = ExampleRows(function, self.n_features_in_, dtype, sparse, float(self.cache_mb))
        for start, stop in _blocks(len(codes)):
            _, kept = store.meet(row_range(X, start, stop), stop - start, start)
            part, scores = codes[start:stop], np.empty(stop - start)
            examples = store.examples(kept)
            n = learn(examples, store.size, part, scores, rules, ALL, False, REMEMBER, False)[0]
            store.settle(None, kept, n)
        n, changes, objectives = store.size, 0, []
        examples = store.examples(store.again())
        walk = examples.kept.walk
        begin_anew(walk.alpha, walk.extra, examples.active, n, math.ceil(self.initial * n))
        for _ in range(MOST_ROUNDS):
            changes += _optimise(examples, n, rules)
            objectives.append(store.objective(rules.C))
            if len(objectives) > 1 and not objectives[-1] < objectives[-2]:
                break
            if not form_active_set(walk.extra, examples.active, n):
                break
        self._support = store.of_prediction()
        slots = np.flatnonzero(store.alpha)
        self.support_, self.support_vectors_ = store.born[slots], store.matrix(slots)
        self.dual_coef_ = store.alpha[slots].reshape(1, -1)
        self.n_support_ = len(slots)
        self.objectives_ = np.array(objectives)
        self.objective_ = objectives[-1]
        self.n_kernel_evaluations_ = n * (1 + changes)

    def decision_function(self, X):
        """Return the score of each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)

        Returns
        -------
        ndarray of float64, shape (n,)
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=FLOATS, order="C")
        rows = safe_rows(X)
        scores = np.empty(count_rows(rows))
        for start, stop in _blocks(len(scores)):
            values = self._support.values(row_range(rows, start, stop), stop - start)
            coefficients, size = self._support.coefficients, self._support.size
            scores_of_block(values, stop - start, coefficients, size, scores[start:stop])
        return scores

    def predict(self, X):
        """Return the predicted label of each row: ``classes_[1]`` where the score is >= 0.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)

        Returns
        -------
        ndarray of shape (n,)
        """
        scores = self.decision_function(X)
        return self.classes_[(scores >= 0.0).astype(np.intp)]

    def counters(self) -> dict[str, int]:
        """Return what was counted in training, by the store's column."""
        return {"support_vectors": self.n_support_, "kernel_evaluations": self.n_kernel_evaluations_}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = False
        return tags


class RetrainedRampSVM(RampSVM):
    """The naive online SVM with the ramp loss: the CCCP from scratch, on all rows so far, after each row.

    It is what `OnlineRampSVM` saves, for short streams: each row costs as much as `OfflineRampSVM`. Every row
    is an update.

    Kernel evaluations are those that each training needs by itself, one a row with itself and with every row
    for each change of a coefficient, and one with each support vector to predict: what one training has
    computed is not there for the next, so the number is that of the paper's Fig. 4a, not of what is computed
    here.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the loss and bound of the coefficients, > 0.
    initial : float, default=0.1
        The first active set of each training is this share of the rows so far, the first ones; 0 excluded.
    tol, min_gain : default=1e-3, 1e-5
        When optimisation stops, as for `OnlineRampSVM`.
    kernel, gamma, degree, coef0 : default="rbf", 1.0, 3, 1.0
        The kernel, as for `KernelPerceptron`.
    cache_mb : float, default=200.0
        Limit of the rows of kernel values that are kept, in MiB, >= 0; it changes no outcome.
    epochs : int, default=1
        Passes that `fit` makes. A row that is remembered is not learnt again.

    Attributes
    ----------
    n_stored_, n_active_, objective_
        As for `OnlineRampSVM`.

    See Also
    --------
    OfflineRampSVM : One training.
    KernelClassifier : More attributes; `OnlineClassifier` has the methods.

    References
    ----------
    Wang, Vucetic (2010), "Fast online training of ramp loss support vector machines", ICDM, section V.B and
    Fig. 4a.

    Examples
    --------
    >>> learner = RetrainedRampSVM().fit([[0.0], [10.0], [0.1], [0.0]], [0, 1, 0, 1])
    >>> learner.n_updates_, learner.predict([[0.2], [9.0]]).tolist()
    (4, [0, 1])
    """

    def __init__(
        self,
        C=1.0,
        initial=0.1,
        tol=1e-3,
        min_gain=1e-5,
        kernel="rbf",
        gamma=1.0,
        degree=3,
        coef0=1.0,
        cache_mb=200.0,
        epochs=1,
    ):
        self.C = C
        self.initial = initial
        self.tol = tol
        self.min_gain = min_gain
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.cache_mb = cache_mb
        self.epochs = epochs

    def _check_own_parameters(self):
        super()._check_own_parameters()
        check_between(self, "initial", 0.0, 1.0, include_high=True)

    def _learn_block(self, examples, n, codes, scores):
        initial = float(self.initial)
        return learn(examples, n, codes, scores, self._rules, ALL, False, initial, self._is_again)[:4]


def _blocks(n):
    """Return the ranges in which `n` rows are taken."""
    edges = [*range(0, n, KernelClassifier._block_rows), n]
    return itertools.pairwise(edges)
