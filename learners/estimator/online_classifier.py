"""What all learners share: labels, validation, counters and the scikit-learn interface.

A learner adds its parameters, its state arrays and one loop (see `OnlineClassifier`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from ..numeric.orders import blocks_in_order
from ..numeric.rows import Matrix, Rows, as_rows, count_rows, linear_scores
from .parameters import check_count
from .pieces import Passage, learn_in_pieces
from .rollback import RolledBack
from .validation import (
    FLOATS,
    NotLearntError,
    are_checked_later,
    checked_later,
    finite_rows,
    label_codes,
    refuse_learnt,
    safe_rows,
    sorted_classes,
)

_CSR_CLASSES = (sp.csr_matrix, sp.csr_array)


class OnlineClassifier(ClassifierMixin, BaseEstimator):
    """Base of the single-pass learners: dense or CSR rows, float32 or float64, two classes.

    A learner that also takes more classes derives from `MulticlassClassifier`. A subclass has parameters in
    ``__init__`` (the last one ``epochs=1``) and defines

    - ``_check_parameters()``: raise ValueError for a parameter that makes no sense;
    - ``_allocate(n_features)``: create the state arrays;
    - ``_state``: the names of these;
    - ``_pass(X, codes, scores)``: run the loop over the rows in order, write the score of each row BEFORE
      its update, return ``(mistakes, updates)``; codes are positions in ``classes_``, 0 or 1;
    - ``coef_``, and ``_score(X, scores)`` where the score is not ``coef_ · x``.

    Attributes
    ----------
    classes_ : ndarray of shape (2,) or, from learners of many classes, (K,)
        The labels; of two, a positive score means ``classes_[1]``.
    n_features_in_ : int
    n_examples_ : int
        Rows learnt from.
    n_mistakes_ : int
        Rows whose signed margin was <= 0 before their update (a score of exactly 0 is a mistake, and so is
        one that overflowed to NaN). With K > 2 classes the margin is that of the best wrong class.
    n_updates_ : int
        Rows for which the update rule asked for a step; a row of zeros is one for the Perceptrons, for which
        it is a mistake, and for AdaGradRDA, and none for the others.

    Notes
    -----
    ``coef_`` and ``sigma_`` show the state itself wherever it has their form: copy what later learning must
    not change.
    """

    epochs: int
    classes_: NDArray[Any]
    n_features_in_: int
    n_examples_: int
    n_mistakes_: int
    n_updates_: int

    #: Part of the pipeline's result keys: raised whenever a learner's outcomes change.
    algorithm_version = 1

    #: Whether it decides itself which labels it is given, so that no strategy can be put around it.
    asks_for_labels = False

    _takes_many_classes = False

    #: Whether the loops come to the rows of X by ``row(X, t)`` alone. They then take them as `ordered_rows`
    #: returns them, else those are gathered, block by block; and as `rows_to_check` does.
    _reads_orders = False

    #: The attributes that hold the arrays of the model: `model_bytes_` sums them. One that a setting does
    #: without is None. Without any name, they are all arrays under a name with an underscore first.
    _state: tuple[str, ...] = ()

    #: Whether a NaN or infinite feature makes the row's score one, whatever has been learnt: bad rows are
    #: then found by their scores. Else they are looked for beforehand. Where `_reads_orders`, too, every loop
    #: is a `learning_loop`: labels may come to it that nobody has looked at.
    _scores_tell = False

    if TYPE_CHECKING:

        @property
        def coef_(self) -> NDArray[np.float64]: ...

    def _check_parameters(self) -> None:
        """Raise ValueError for a parameter that makes no sense."""

    def _allocate(self, n_features: int) -> None:
        """Create the state arrays for two classes."""
        raise self._undefined("_allocate")

    def _pass(self, X: Rows, codes: NDArray[np.int32], scores: NDArray[np.float64]) -> tuple[int, int]:
        """Learn rows in order and write their scores into `scores`; return ``(mistakes, updates)``."""
        raise self._undefined("_pass")

    def _score(self, X: Rows, scores: NDArray[np.float64]) -> None:
        """Write the score of every row into `scores`."""
        linear_scores(X, self.coef_[0], scores)

    # The same for more than two classes.

    def _allocate_classes(self, n_features: int, n_classes: int) -> None:
        """Create the state arrays for K > 2 classes."""
        raise self._undefined("_allocate_classes")

    def _pass_classes(
        self, X: Rows, codes: NDArray[np.int32], scores: NDArray[np.float64]
    ) -> tuple[int, int]:
        """Do as `_pass` does, with scores of shape (n, K) and codes 0 … K - 1."""
        raise self._undefined("_pass_classes")

    def _score_classes(self, X: Rows, scores: NDArray[np.float64]) -> None:
        """Write the scores of every row, shape (n, K), into `scores`."""
        raise self._undefined("_score_classes")

    def _undefined(self, method: str) -> NotImplementedError:
        many = " and so takes two classes only" if method.endswith("_classes") else ""
        return NotImplementedError(f"{type(self).__name__} does not define {method}(){many}")

    def learn(self, X: Any, y: ArrayLike, classes: ArrayLike | None = None) -> NDArray[np.float64]:
        """Predict each row, then learn from it, in order.

        How rows are cut into calls never changes the outcome.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Read once, not kept; NaN and infinity are refused. Conforming input (C-contiguous or canonical
            CSR, float32 or float64) is not copied.
        y : array-like of shape (n,)
            Labels.
        classes : array-like of shape (K,), default=None
            All labels that will ever occur. Needed on the first call when `y` does not hold them all; later
            calls may repeat it.

        Returns
        -------
        ndarray of float64, shape (n,) or, with K > 2 classes, (n, K)
            Score of each row BEFORE the update on it; positive means ``classes_[1]``. Of more than two
            classes, the score of each.

        Raises
        ------
        ValueError
            For bad parameters, rows or labels; nothing is learnt then.

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

    def partial_fit(self, X: Any, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Learn from rows in order; `learn` without the scores.

        Parameters
        ----------
        X, y, classes
            As for `learn`.

        Returns
        -------
        self
        """
        self.learn(X, y, classes)
        return self

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Forget everything and pass over the rows `epochs` times.

        Parameters
        ----------
        X, y
            As for `learn`; `y` holds all labels.

        Returns
        -------
        self
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
        """Return the score of each row under the current model, changing nothing.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)

        Returns
        -------
        ndarray of float64, shape (n,) or, with K > 2 classes, (n, K)
            For a row that `learn` would get next, the score that it would return, to the last bit.
        """
        check_is_fitted(self)
        return self.score_rows(finite_rows(self._validate_rows(X)))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the predicted label of each row.

        It is ``classes_[1]`` where the score is > 0, as scikit-learn has it; of more than two classes the one
        with the largest score (ties: the first). `learn` counts a tie as a mistake all the same.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)

        Returns
        -------
        ndarray of shape (n,)
        """
        scores = self.decision_function(X)
        codes = scores.argmax(axis=1) if scores.ndim == 2 else (scores > 0.0).astype(np.intp)
        return self.classes_.take(codes)

    # The pipeline, which has validated a stream once for all learners, calls the next methods directly (see
    # `StreamLearner`).

    @property
    def indifferent_to_absent_features(self) -> bool:
        """Whether nothing changes, to the last bit, when features that never occur are left out.

        The others are then numbered anew, in their order, and `begin` is told how many they are.
        """
        return False

    def check_parameters(self) -> None:
        """Raise ValueError for a parameter that makes no sense, in one line that names it."""
        check_count(self, "epochs")
        self._check_parameters()

    def begin(self, classes: NDArray[Any], n_features: int, n_occurring: int | None = None) -> None:
        """Forget everything and prepare for a stream.

        Parameters
        ----------
        classes : ndarray of shape (K,)
            The labels, sorted and distinct: two, or more where the learner takes more.
        n_features : int
        n_occurring : int, default=None
            How many of the features occur, where only these are numbered in the rows to come, in their order;
            for learners that are `indifferent_to_absent_features`. None: all are numbered.

        Raises
        ------
        ValueError
            For bad parameters, and for a full covariance of more than 4 GiB.
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
        """Do as `learn` does, without validation and after `begin`.

        Parameters
        ----------
        X : ndarray, CSR matrix or tuple
            What `as_rows` takes or `ordered_rows` returns: finite, with column indices below `n_features`.
            Others crash or give nonsense.
        codes : ndarray of integers, shape (n,)
            The labels as positions in ``classes_``: others crash or give nonsense. int32 is not copied.

        Returns
        -------
        ndarray of float64, shape (n,) or, with K > 2 classes, (n, K)
        """
        labels = np.ascontiguousarray(codes, dtype=np.int32)
        scores = self._new_scores(len(labels))
        learn = self._pass if scores.ndim == 1 else self._pass_classes
        for start, stop, rows in self._readable(as_rows(X)):
            mistakes, updates = learn(rows, labels[start:stop], scores[start:stop])
            self.n_examples_ += stop - start
            self.n_mistakes_ += mistakes
            self.n_updates_ += updates
        return scores

    def learn_along(self, X: Matrix, codes: NDArray[np.integer[Any]], stops: NDArray[np.int64]) -> Passage:
        """Do as `learn_rows` does, and note what has been counted after some of the rows.

        Parameters
        ----------
        X, codes
            As for `learn_rows`.
        stops : ndarray of int64, shape (m,)
            Numbers of rows, ascending, n at the most.

        Returns
        -------
        Passage
        """
        return learn_in_pieces(self, as_rows(X), codes, stops)

    def end_of_pass(self, last: bool) -> None:
        """Take note that the stream has been passed over: `fit` and the pipeline say so, `learn` never does.

        Most learners have nothing to do then.

        Parameters
        ----------
        last : bool
            Whether it was the last pass; else the same rows come again, in the same order.
        """

    def counters(self) -> dict[str, int]:
        """Return what the learner has counted so far, by the names of the columns in the store."""
        return {"updates": self.n_updates_, "model_bytes": self.model_bytes_}

    def switches(self) -> list[int] | None:
        """Return the numbers of the rows at which it became a more complex model, None if it never does."""
        return None

    def inner_learners(self) -> list[OnlineClassifier]:
        """Return learners, not begun, whose loops this one runs besides its own."""
        return []

    def score_rows(self, X: Matrix) -> NDArray[np.float64]:
        """Do as `decision_function` does, without validation; `X` as for `learn_rows`."""
        X = as_rows(X)
        scores = self._new_scores(count_rows(X))
        score = self._score if scores.ndim == 1 else self._score_classes
        for start, stop, rows in self._readable(X):
            score(rows, scores[start:stop])
        return scores

    def _readable(self, X: Rows) -> Iterable[tuple[int, int, Rows]]:
        """Return rows as the loops read them: start, stop and rows."""
        return [(0, count_rows(X), X)] if self._reads_orders else blocks_in_order(X)

    def _new_scores(self, n: int) -> NDArray[np.float64]:
        n_classes = len(self.classes_)
        return np.empty(n if n_classes == 2 else (n, n_classes))

    def _validate_first(self, X: Any, y: Any, classes: Any) -> tuple[Any, NDArray[np.int32]]:
        """Start afresh; return a matrix that `safe_rows` takes and label codes."""
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=FLOATS, order="C", ensure_all_finite=False
        )
        if y.dtype.kind not in "biu":  # those are class labels; to be told so costs two sorts of y
            check_classification_targets(y)
        classes = sorted_classes(y, classes, type(self).__name__, self._takes_many_classes)
        codes = label_codes(y, classes)
        self.begin(classes, X.shape[1])
        return X, codes

    def _validate_next(self, X: Any, y: Any, classes: Any) -> tuple[Any, NDArray[Any]]:
        """Return the matrix of a later chunk, as `_validate_first` does, and labels for `label_codes`."""
        if classes is not None and not np.array_equal(np.unique(classes), self.classes_):
            raise ValueError(
                f"classes {list(classes)} are not those of the first call, {self.classes_.tolist()}"
            )
        X = self._validate_rows(X)
        if not (type(y) is np.ndarray and y.ndim == 1):
            y = column_or_1d(y, warn=True)
        if len(y) != X.shape[0]:
            sizes = [X.shape[0], len(y)]
            raise ValueError(f"Found input variables with inconsistent numbers of samples: {sizes}")
        return X, y

    def _validate_rows(self, X: Any) -> Any:
        """Return a matrix that `safe_rows` takes, of as many features as the first call's."""
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
        # scikit-learn says what is wrong, or converts; this costs more than learning from a short chunk.
        return validate_data(
            self, X, reset=False, accept_sparse="csr", dtype=FLOATS, order="C", ensure_all_finite=False
        )

    def _small_state(self, X: Any) -> list[NDArray[Any]] | None:
        """Return the state's arrays where to copy them costs less than to look for bad rows beforehand."""
        if not (self._scores_tell and self._state):
            return None
        n_bytes = X.nbytes if isinstance(X, np.ndarray) else X.data.nbytes + X.indices.nbytes
        # Copied bytes are read, written and, mostly, fetched before they are written. A weight a feature is
        # the least that there is: for single rows no more is asked.
        if 3 * 8 * self.n_features_in_ > n_bytes:
            return None
        arrays = [array for name in self._state if (array := getattr(self, name)) is not None]
        return arrays if 3 * sum([array.nbytes for array in arrays]) <= n_bytes else None

    def _learn_once(self, X: Any, y: Any, classes: Any, beforehand: bool) -> NDArray[np.float64]:
        """Do as `learn` does; see `_learn_given`."""
        if not self.__sklearn_is_fitted__():
            # A stream whose first rows are refused has not begun.
            with RolledBack(self):
                X, codes = self._validate_first(X, y, classes)
                return self._learn_given(X, codes, beforehand)[1]
        X, y = self._validate_next(X, y, classes)
        arrays = self._small_state(X)
        if arrays is None:
            codes = label_codes(y, self.classes_)
            return self.learn_rows(finite_rows(X), codes)
        with RolledBack(self, arrays):
            return self._learn_given(X, y, beforehand, coded=False)[1]

    def _fit_once(self, X: Any, y: Any, beforehand: bool) -> tuple[Rows, NDArray[np.int32]]:
        """Make the first pass of `fit`; return the rows and label codes for further ones."""
        # The model is begun afresh in new arrays: the one before stays intact.
        with RolledBack(self):
            X, codes = self._validate_first(X, y, None)
            return self._learn_given(X, codes, beforehand)[0], codes

    def _learn_given(
        self, X: Any, y: NDArray[Any], beforehand: bool, coded: bool = True
    ) -> tuple[Rows, NDArray[np.float64]]:
        """Learn from a matrix and labels, or their codes, refusing bad ones; return rows and their scores.

        Unless all is to be checked `beforehand`, it raises NotLearntError when something may be wrong.
        """
        if beforehand or not self._scores_tell:
            codes = y if coded else label_codes(y, self.classes_)
            rows = finite_rows(X)
            return rows, self.learn_rows(rows, codes)
        rows = checked_later(X) if self._reads_orders else safe_rows(X)
        codes = y if coded else label_codes(y, self.classes_, later=are_checked_later(rows))
        scores = self.learn_rows(rows, codes)
        refuse_learnt(rows, scores)
        return rows, scores

    @property
    def model_bytes_(self) -> int:
        """Bytes of the model's arrays: weights, covariances and what else an update needs."""
        names = self._state or [name for name in vars(self) if name.startswith("_")]
        arrays = [getattr(self, name) for name in names]
        return sum([array.nbytes for array in arrays if isinstance(array, np.ndarray)])

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "classes_")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = self._takes_many_classes
        return tags
