"""The base class of all learners: labels, validation, counters and the scikit-learn interface."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from ..numeric.margins import probabilities
from ..numeric.orders import blocks_in_order
from ..numeric.rows import Matrix, Rows, as_rows, count_rows, linear_scores
from .parameters import Count, check_fields
from .pieces import Passage, learn_in_pieces
from .rollback import RolledBack, parts_to_widen
from .validation import (
    FLOATS,
    Classes,
    NotLearntError,
    checked_later,
    finite_rows,
    label_codes,
    refuse_learnt,
    refuse_other_classes,
    safe_rows,
    sorted_classes,
)

#: A function that learns or scores one row; see `OnlineClassifier.steps`.
Step: TypeAlias = Callable[..., Any]

_CSR_CLASSES = (sp.csr_matrix, sp.csr_array)


@functools.cache
def _parameter_names(kind: Any) -> list[str]:
    names: list[str] = super(OnlineClassifier, kind)._get_param_names()
    return names


class OnlineClassifier(ClassifierMixin, BaseEstimator):
    """Base of the single-pass learners for two classes; rows are dense or CSR, of float32 or float64.

    A learner for more than two classes derives from `MulticlassClassifier`. A subclass takes its parameters
    in ``__init__`` (the last one is ``epochs=1``) and defines

    - ``_check_parameters()``: raise ValueError for parameters that are invalid together;
    - ``_allocate(n_features)``: create the state arrays;
    - ``_state``: the names of the state arrays;
    - ``_pass(X, codes, scores)``: run the loop over the rows in order, write the score of each row BEFORE its
      update, return ``(mistakes, updates)``; codes are positions in ``classes_``, 0 or 1;
    - ``coef_``, and ``_score(X, scores)`` if the score is not ``coef_ · x``.

    Attributes
    ----------
    classes_ : ndarray of shape (2,) or, for learners of many classes, (K,)
        The labels. With two classes, a positive score means ``classes_[1]``.
    n_features_in_ : int
    n_examples_ : int
        Number of rows learned.
    n_mistakes_ : int
        Number of rows whose signed margin was <= 0 or NaN before their update: a score of exactly 0 is a
        mistake, and so is one that overflowed. With K > 2 classes the margin is the score of the row's class
        minus the best score of another class.
    n_updates_ : int
        Number of rows for which the update rule made a step. Of the linear learners, `Perceptron`,
        `SecondOrderPerceptron` and `AdaGradRDA` count a row of zeros as a step.
    model_bytes_ : int
        Size in bytes of the model's arrays.

    Notes
    -----
    Several threads may predict with a model that no thread trains. If one trains it, hold a lock to learn and
    to predict. ``coef_`` and ``sigma_`` may be views of the state, which learning changes: copy them to keep
    their values.

    After `set_params` on a trained learner, parameters that decide what the model stores or means (such as
    `kernel`, `covariance`, `average`, `scale` and most budgets) wait for the next `fit`. In many learners
    the others, such as step sizes, take effect at once.
    """

    epochs: Count
    classes_: NDArray[Any]
    n_features_in_: int
    n_examples_: int
    n_mistakes_: int
    n_updates_: int

    #: A number in the keys of stored results. Increase it whenever the learner's outcomes change.
    algorithm_version = 1

    #: Whether the learner itself decides which labels to ask for; if so, no query strategy can wrap it.
    asks_for_labels = False

    _takes_many_classes = False

    #: Whether scikit-learn's checks must not require a good score on their data.
    _scores_poorly = False

    #: Whether the loops read the rows of X through ``row(X, t)`` alone. Such loops can read rows in a given
    #: order and check CSR rows on the way. For other loops, rows are checked first, and rows with an order
    #: are copied block by block.
    _reads_orders = False

    #: Names of the attributes with the arrays of the model, whose bytes `model_bytes_` adds up; an unused
    #: array is None. If empty, the model is all arrays whose attribute names start with an underscore.
    _state: tuple[str, ...] = ()

    #: Names of those arrays of `_state` that get more rows while the model learns.
    _growing: tuple[str, ...] = ()

    #: Whether a NaN or infinite feature always makes the score of its row NaN or infinite. If so, `learn`
    #: finds bad rows by their scores afterwards; if not, it checks all rows first.
    _scores_tell = False

    if TYPE_CHECKING:

        @property
        def coef_(self) -> NDArray[np.float64]: ...

    def _check_parameters(self) -> None:
        """Raise ValueError for invalid parameters that `check_fields` does not find, such as combinations."""

    def _allocate(self, n_features: int) -> None:
        """Create the state arrays for two classes."""
        raise self._undefined("_allocate")

    def _pass(self, X: Rows, codes: NDArray[np.int32], scores: NDArray[np.float64]) -> tuple[int, int]:
        """Learn rows in order and write their scores into `scores`; return ``(mistakes, updates)``."""
        raise self._undefined("_pass")

    def _score(self, X: Rows, scores: NDArray[np.float64]) -> None:
        """Write the score of every row into `scores`."""
        linear_scores(X, self.coef_[0], scores)

    # The next three methods replace `_allocate`, `_pass` and `_score` for more than two classes.

    def _allocate_classes(self, n_features: int, n_classes: int) -> None:
        """Create the state arrays for K > 2 classes."""
        raise self._undefined("_allocate_classes")

    def _pass_classes(
        self, X: Rows, codes: NDArray[np.int32], scores: NDArray[np.float64]
    ) -> tuple[int, int]:
        """Learn rows like `_pass`, with scores of shape (n, K) and codes 0 … K - 1."""
        raise self._undefined("_pass_classes")

    def _score_classes(self, X: Rows, scores: NDArray[np.float64]) -> None:
        """Write the scores of every row, shape (n, K), into `scores`."""
        raise self._undefined("_score_classes")

    def _undefined(self, method: str) -> NotImplementedError:
        message = f"{type(self).__name__} does not define {method}()"
        if method.endswith("_classes"):
            message += (
                " and so takes two classes only; learners of more are derived from MulticlassClassifier or, "
                "with kernels, MulticlassRuleClassifier"
            )
        return NotImplementedError(message)

    def learn(self, X: Any, y: ArrayLike, classes: Classes | None = None) -> NDArray[np.float64]:
        """Predict each row, then learn from it, in order.

        Splitting the rows into several calls does not change the outcome. If a call is interrupted (Ctrl-C)
        and was not the first one, model and counts may disagree: load a saved learner, or fit again.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Rows, without NaN and infinity. The learner keeps no reference to them. C-contiguous or
            canonical CSR rows of float32 or float64 are not copied.
        y : array-like of shape (n,)
            Labels.
        classes : array-like of shape (K,) or set, default=None
            All labels of the stream. Required in the first call unless `y` contains all of them;
            later calls may repeat it.

        Returns
        -------
        ndarray of float64, shape (n,) or, with K > 2 classes, (n, K)
            Score of each row BEFORE the update on it. With two classes, a positive score means
            ``classes_[1]``; with more, there is a score per class.

        Raises
        ------
        ValueError
            For invalid parameters, rows or labels; nothing is learned then.

        Examples
        --------
        >>> from singlepass.learners import Perceptron
        >>> learner = Perceptron()
        >>> learner.learn([[1.0, 0.0], [1.0, 1.0]], ["no", "yes"]).tolist()
        [0.0, -1.0]
        >>> learner.n_mistakes_
        2
        """
        self.check_parameters()
        try:
            return self._learn_once(X, y, classes, beforehand=False)
        except NotLearntError:
            return self._learn_once(X, y, classes, beforehand=True)

    def partial_fit(self, X: Any, y: ArrayLike, classes: Classes | None = None) -> Self:
        """Learn from rows in order, with the arguments of `learn`, and return the learner.

        If a call is interrupted (Ctrl-C) and was not the first one, model and counts may disagree: load a
        saved learner, or fit again.
        """
        self.learn(X, y, classes)
        return self

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Reset the learner, pass over the rows `epochs` times and return the learner.

        Parameters
        ----------
        X, y
            See `learn`; `y` must contain every class.
        """
        self.check_parameters()
        try:
            rows, codes = self._fit_once(X, y, beforehand=False)
        except NotLearntError:
            rows, codes = self._fit_once(X, y, beforehand=True)
        self.end_of_pass(self.epochs == 1)
        for left in reversed(range(self.epochs - 1)):
            self.learn_rows(rows, codes)
            self.end_of_pass(left == 0)
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the score of each row under the current model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)

        Returns
        -------
        ndarray of float64, shape (n,) or, with K > 2 classes, (n, K)
            For the next row of a stream this is the score that `learn` returns, to the last bit.
        """
        check_is_fitted(self)
        return self.score_rows(finite_rows(self._validate_rows(X)))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the predicted label of each row of X, (n, d): shape (n,).

        With two classes it is ``classes_[1]`` if the score is > 0, as in scikit-learn; with more it is the
        class with the largest score, the first one on a tie. `learn` counts every tie as a mistake.
        """
        scores = self.decision_function(X)
        codes = scores.argmax(axis=1) if scores.ndim == 2 else (scores > 0.0).astype(np.intp)
        return self.classes_.take(codes)

    @available_if(lambda self: self.scores_are_log_odds)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of each class for each row under the current model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)

        Returns
        -------
        ndarray of float64, shape (n, K)
            Columns have the order of ``classes_``: with two classes ``1 / (1 + exp(-score))`` in the second
            one, with more the softmax of the scores. A row with a NaN score is NaN.

        Raises
        ------
        AttributeError
            Unless `scores_are_log_odds` is true, as with ``loss="logistic"``.

        Examples
        --------
        >>> from singlepass.learners import OnlineGradientDescent
        >>> learner = OnlineGradientDescent(loss="logistic").fit([[1.0], [-1.0]], ["yes", "no"])
        >>> learner.predict_proba([[0.0], [2.0]]).round(2).tolist()
        [[0.5, 0.5], [0.18, 0.82]]
        """
        return np.asarray(probabilities(self.decision_function(X)))

    @property
    def scores_are_log_odds(self) -> bool:
        """Whether scores are log odds of class 1, or for K > 2 classes log probabilities plus a constant."""
        return False

    # The pipeline validates a stream once for all learners and calls the following methods directly (see
    # `StreamLearner`).

    @property
    def indifferent_to_absent_features(self) -> bool:
        """Whether the outcome stays the same, to the last bit, if features that never occur are left out.

        If so, the pipeline renumbers the features that occur, in their order, and passes
        their number to `begin`.
        """
        return False

    def check_parameters(self) -> None:
        """Raise ValueError for an invalid parameter, in one line that names it."""
        check_fields(self)
        self._check_parameters()

    def check_rows(self, X: Rows) -> None:
        """Raise ValueError for valid rows that this learner refuses; nothing is learned.

        A learner around others calls it for all rows of a call before any of these others learns one.
        """

    def begin(self, classes: NDArray[Any], n_features: int, n_occurring: int | None = None) -> None:
        """Reset the learner and prepare it for a stream; see `StreamLearner.begin`.

        Only learners of many classes take more than two classes, and only learners that are
        `indifferent_to_absent_features` take `n_occurring`.

        Raises
        ------
        ValueError
            For invalid parameters, and for a full covariance of more than 4 GiB.
        """
        self.check_parameters()
        numbered = n_features if n_occurring is None else n_occurring
        if len(classes) > 2:
            self._allocate_classes(numbered, len(classes))
        else:
            self._allocate(numbered)
        self.classes_ = classes
        self.n_features_in_ = n_features
        self.n_examples_ = self.n_mistakes_ = self.n_updates_ = 0

    def learn_rows(self, X: Matrix, codes: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
        """Learn like `learn`, without validation; see `StreamLearner.learn_rows`. Call `begin` first.

        Rows with NaN, infinity or column indices that are not below `n_features`, and codes that are not
        positions in ``classes_``, can crash the process or give wrong results.
        """
        labels = np.ascontiguousarray(codes, dtype=np.int32)
        scores = self._new_scores(len(labels))
        learn = self._pass if scores.ndim == 1 else self._pass_classes
        for rows, some, their_scores in self._readable(as_rows(X), labels, scores):
            mistakes, updates = learn(rows, some, their_scores)
            self.n_examples_ += len(some)
            self.n_mistakes_ += mistakes
            self.n_updates_ += updates
        return scores

    def learn_along(self, X: Matrix, codes: NDArray[np.integer[Any]], stops: NDArray[np.int64]) -> Passage:
        """Learn like `learn_rows` and record counts at checkpoints; see `StreamLearner.learn_along`."""
        return learn_in_pieces(self, as_rows(X), codes, stops)

    def end_of_pass(self, last: bool) -> None:
        """End a pass over the stream; `fit` and the pipeline call it, `learn` never does.

        Most learners do nothing. Unless it was the `last` pass, the same rows follow again in the same order.
        """

    def begin_within_pass(self, row: int) -> None:
        """Give the next row the number `row`, not 0, in its pass; `Resetting` calls it after `begin`.

        Only learners that recognize the rows of earlier passes by their numbers do something.
        """

    def counters(self) -> dict[str, int]:
        """Return the learner's counts so far; see `StreamLearner.counters`."""
        return {"updates": self.n_updates_, "model_bytes": self.model_bytes_}

    def evaluations_per_score(self) -> int:
        """Return how many kernel values the score of a row takes under the current model."""
        return int(getattr(self, "n_support_", 0))

    def switches(self) -> list[int] | None:
        """Return the row numbers at which the model became more complex; None if it never does."""
        return None

    def inner_learners(self) -> list[OnlineClassifier]:
        """Return untrained learners whose loops this learner also runs, for compiling the loops early."""
        return []

    def score_rows(self, X: Matrix) -> NDArray[np.float64]:
        """Return the score of each row under the current model; rows must be valid, as in `learn_rows`."""
        X = as_rows(X)
        scores = self._new_scores(count_rows(X))
        score = self._score if scores.ndim == 1 else self._score_classes
        for rows, their_scores in self._readable(X, scores):
            score(rows, their_scores)
        return scores

    def steps(self, codes: NDArray[np.int32], scores: NDArray[np.float64]) -> tuple[Step, Step]:
        """Return two functions, which learn and score one row, for callers that have one row at a time.

        Both take a matrix of one CSR row from `as_rows` and write its score into `scores`. The first one
        reads the label from `codes` and returns ``(mistakes, updates)``, which the caller counts. The
        functions are valid until `begin`, `widen` or another method that learns is called.
        """
        learn, score = self._pass, self._score
        if scores.ndim == 2:
            learn, score = self._pass_classes, self._score_classes
        return lambda rows: learn(rows, codes, scores), lambda rows: score(rows, scores)

    def widen(self, n_features: int) -> None:
        """Take rows of `n_features` features from now on; the new features were 0 in all rows so far.

        The state of the earlier features stays, in the first entries of larger arrays. Attributes that have
        a method ``widen`` are extended by that method. Raise ValueError, and leave the learner unchanged, if
        arrays are too large or a parameter was changed after training to one that does not fit the arrays.
        """
        self.check_state()
        before = vars(self).copy()
        with ExitStack() as undo:
            for part in parts_to_widen(self):
                undo.enter_context(RolledBack(part))
            if len(self.classes_) > 2:
                self._allocate_classes(n_features, len(self.classes_))
            else:
                self._allocate(n_features)
            for name in before.keys() - set(self._get_param_names()):
                setattr(self, name, self._widened(name, before[name], getattr(self, name), n_features))
            self.n_features_in_ = n_features

    def check_state(self) -> None:
        """Raise ValueError if a parameter is invalid or an array of the model has a wrong shape."""
        self.check_parameters()
        if not (self._state and self.__sklearn_is_fitted__()):
            return
        new = clone(self)
        new.begin(self.classes_, self.n_features_in_)
        for name in self._state:
            found, expected = (getattr(getattr(each, name), "shape", None) for each in (self, new))
            if found and expected and name in self._growing:
                expected = (found[0], *expected[1:])
            if found != expected:
                raise ValueError(
                    f"{type(self).__name__}: the array {name} does not fit the parameters; if one was "
                    "changed after training, set it back or fit again"
                )

    def _widened(self, name: str, old: Any, new: Any, n_features: int) -> Any:
        """Return an attribute's value after `widen`: the `old` value, or `new` with `old` copied into it."""
        if isinstance(old, np.ndarray):
            shape = np.shape(new)
            is_larger = shape != old.shape and len(shape) == old.ndim
            # An array that is not larger in a model of more features does not depend on the features, or is
            # created only when the model learns. So the old array stays.
            if not (is_larger and all(map(operator.ge, shape, old.shape))):
                return old
            new[tuple(map(slice, old.shape))] = old
            return new
        for part in old if isinstance(old, (list, tuple)) else [old]:
            if hasattr(part, "widen"):
                part.widen(n_features)
        return old

    def _readable(self, X: Rows, *arrays: NDArray[Any]) -> Iterable[tuple[Any, ...]]:
        """Return the arguments of each call of a compiled loop: rows, and the slices of `arrays` for them.

        A loop that cannot read rows in a given order is called for one copied block after the other.
        """
        if self._reads_orders:
            return [(X, *arrays)]
        return ((rows, *[each[start:stop] for each in arrays]) for start, stop, rows in blocks_in_order(X))

    def _new_scores(self, n: int) -> NDArray[np.float64]:
        return np.empty(n if len(self.classes_) == 2 else (n, len(self.classes_)))

    def _validate_first(self, X: Any, y: Any, classes: Any) -> tuple[Any, NDArray[np.int32]]:
        """Reset the learner for its first rows; return the rows and the class codes of their labels.

        The rows are a matrix whose values are not yet checked for NaN and infinity.
        """
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=FLOATS, order="C", ensure_all_finite=False
        )
        if y.dtype.kind not in "biu":  # bool and integer labels are always valid; the check would sort them
            check_classification_targets(y)
        classes = sorted_classes(y, classes, type(self).__name__, self._takes_many_classes)
        codes = label_codes(y, classes)
        self.begin(classes, X.shape[1])
        return X, codes

    def _validate_next(self, X: Any, y: Any, classes: Any) -> tuple[Any, NDArray[Any]]:
        """Return the rows and labels of a later call; their values are checked elsewhere."""
        if classes is not None:
            refuse_other_classes(classes, self.classes_)
        X = self._validate_rows(X)
        if not (type(y) is np.ndarray and y.ndim == 1):
            y = column_or_1d(y, warn=True)
        if len(y) != X.shape[0]:
            sizes = [X.shape[0], len(y)]
            raise ValueError(f"Found input variables with inconsistent numbers of samples: {sizes}")
        return X, y

    def _validate_rows(self, X: Any) -> Any:
        """Return rows as a matrix, values unchecked; raise an error if the number of features has changed."""
        dense = type(X) in (np.ndarray, np.memmap)
        if dense or isinstance(X, _CSR_CLASSES):
            shape = X.shape
            if (
                len(shape) == 2
                and shape[0] > 0
                and shape[1] == self.n_features_in_
                and X.dtype in FLOATS
                and (not dense or X.flags.c_contiguous)
                and not hasattr(self, "feature_names_in_")
            ):
                return X
        # Any other input is converted or refused by scikit-learn. Valid input skips this, because
        # `validate_data` takes longer than learning a few rows.
        return validate_data(
            self, X, reset=False, accept_sparse="csr", dtype=FLOATS, order="C", ensure_all_finite=False
        )

    def _small_state(self, X: Any) -> list[NDArray[Any]] | None:
        """Return the state arrays to back up before learning unchecked rows; None to check rows first."""
        if not (self._scores_tell and self._state):
            return None
        n_bytes = X.nbytes if isinstance(X, np.ndarray) else X.data.nbytes + X.indices.nbytes
        # The backup must cost less than checking the rows. A copied byte counts three times: it is read, its
        # target is mostly fetched into the cache, and then written. A model has at least 8 bytes per feature,
        # so for a single row checking always costs less.
        if 3 * 8 * self.n_features_in_ > n_bytes:
            return None
        arrays = [array for name in self._state if (array := getattr(self, name)) is not None]
        return arrays if 3 * sum([array.nbytes for array in arrays]) <= n_bytes else None

    def _learn_once(self, X: Any, y: Any, classes: Any, beforehand: bool) -> NDArray[np.float64]:
        """Learn the rows of one call of `learn`, and return their scores; on error, roll the learner back.

        If `beforehand` is true, all rows are checked before they are learned.
        """
        if not self.__sklearn_is_fitted__():
            # If its first rows are refused, the learner is rolled back to being not fitted.
            with RolledBack(self):
                X, codes = self._validate_first(X, y, classes)
                return self._learn_given(X, codes, beforehand)[1]
        X, y = self._validate_next(X, y, classes)
        codes = label_codes(y, self.classes_)
        arrays = self._small_state(X)
        if arrays is None:
            return self.learn_rows(finite_rows(X), codes)
        with RolledBack(self, arrays):
            return self._learn_given(X, codes, beforehand)[1]

    def _fit_once(self, X: Any, y: Any, beforehand: bool) -> tuple[Rows, NDArray[np.int32]]:
        """Make the first pass of `fit`; return the rows and label codes for the further passes."""
        # The first pass writes to new arrays. So after an error the previous model is restored unchanged.
        with RolledBack(self):
            X, codes = self._validate_first(X, y, None)
            return self._learn_given(X, codes, beforehand)[0], codes

    def _learn_given(
        self, X: Any, codes: NDArray[np.int32], beforehand: bool
    ) -> tuple[Rows, NDArray[np.float64]]:
        """Learn the rows of a matrix; return them and their scores.

        If `beforehand`, the rows are checked before they are learned. Otherwise the loop may check them;
        NotLearntError is then raised if a row is not canonical.
        """
        if beforehand or not self._scores_tell:
            rows = finite_rows(X)
            return rows, self.learn_rows(rows, codes)
        rows = checked_later(X) if self._reads_orders else safe_rows(X)
        scores = self.learn_rows(rows, codes)
        refuse_learnt(rows, scores)
        return rows, scores

    @classmethod
    def _get_param_names(cls) -> list[str]:
        # Cached: scikit-learn's `clone` would spend most of its time inspecting the signature of `__init__`.
        kind: Any = cls
        return _parameter_names(kind)

    @property
    def model_bytes_(self) -> int:
        """Size in bytes of the model's arrays: weights, covariances and everything else that updates need."""
        names = self._state or [name for name in vars(self) if name.startswith("_")]
        arrays = [getattr(self, name) for name in names]
        return sum([array.nbytes for array in arrays if isinstance(array, np.ndarray)])

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "classes_")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = self._takes_many_classes
        tags.classifier_tags.poor_score = self._scores_poorly
        return tags
