"""Base classes of linear learners: for two or for many classes, with class weights, with a covariance."""

import functools
import operator
from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from ..estimator.online_classifier import OnlineClassifier, Step
from ..estimator.parameters import ClassWeight
from ..estimator.pieces import Passage
from ..estimator.validation import FLOATS, Classes, label_codes, refuse_nonfinite
from ..numeric.compiled import entry_point, tell_apart
from ..numeric.loops import LOOPS_HAVE_A_CLOCK
from ..numeric.rows import (
    Matrix,
    Rows,
    as_rows,
    first_nonfinite_row,
    in_any_order,
    linear_scores,
    new_state,
    read_only,
)
from .parts.classes import by_class, class_scores, new_class_state
from .parts.covariance import Shape, covariance_matrix, new_covariance, widen_covariance

_NO_STOPS = np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)

# Values of these types cannot change, so a parameter that is still the same object has the same value.
_UNCHANGING = (float, int, bool, str, type(None))


class _RowEntry(NamedTuple):
    """Compiled code with which a learner learns one dense row, and the objects that it was chosen for.

    The code depends on the learner's classes, first state array and parameters. `watched` reads them from the
    learner's attributes; the code can be used as long as they are the same objects as in `objects`.
    """

    watched: Callable[[dict[str, Any]], tuple[Any, ...]]
    objects: tuple[Any, ...]
    dtype: np.dtype[Any]
    learn: Any
    find_nonfinite: Any

    def fits(self, learner: Any) -> bool:
        """Return whether the learner still has the classes, state and parameters this code was chosen for."""
        return all(map(operator.is_, self.watched(vars(learner)), self.objects))


class LinearClassifier(OnlineClassifier):
    """Base of the learners whose state is arrays indexed by feature, and whose pass is one compiled loop.

    A subclass defines, in place of ``_pass`` and ``_allocate``,

    - ``_loop()``: return its compiled loop, a `learning_loop`, and the loop's arguments after ``scores``;
    - ``_begin_with(zeros)``: create the state arrays, given an array of zeros; by default only `_weights`.

    See Also
    --------
    OnlineClassifier : Methods and the other attributes, and what else a subclass defines.
    """

    _reads_orders = True
    _scores_tell = True

    #: Whether updates make weights exactly 0. If so, the number of other weights is recorded at checkpoints.
    is_sparse = False

    _state: tuple[str, ...] = ("_weights",)
    _weights: NDArray[np.float64]
    _row_entry: _RowEntry | None = None

    def __getstate__(self) -> dict[str, Any]:
        # Compiled code cannot be pickled; the unpickled learner chooses it again.
        return {name: value for name, value in super().__getstate__().items() if name != "_row_entry"}

    @property
    def indifferent_to_absent_features(self) -> bool:
        # With a full covariance, features that never occur matter: they count towards its limit of 4 GiB.
        return getattr(self, "covariance", "diagonal") == "diagonal"

    @property
    def scores_are_linear(self) -> bool:
        """Whether one weight vector scores all rows, perhaps after each feature is divided by a scale."""
        return True

    @property
    def scores_need_whole_rows(self) -> bool:
        """Whether features without a weight change the score, because it depends on the row's length."""
        return not self.scores_are_linear

    @property
    def scores_are_log_odds(self) -> bool:
        """Whether the scores are log odds, so that predictions have probabilities."""
        return getattr(self, "loss", None) == "logistic"

    @property
    def coef_(self) -> NDArray[np.float64]:
        return as_coef(self._weights, len(self.classes_))

    @property
    def row_coef_(self) -> NDArray[np.float64]:
        """Weights for unscaled rows, shape (1, d) or (K, d): ``coef_`` divided by the features' scales."""
        return self.coef_

    @property
    def n_nonzero_(self) -> int:
        """Number of weights that are not 0."""
        return int(np.count_nonzero(self.coef_))

    def counters(self) -> dict[str, int]:
        return super().counters() | ({"nonzeros": self.n_nonzero_} if self.is_sparse else {})

    @property
    def model_bytes_(self) -> int:
        numbered = super().model_bytes_
        return numbered + (self.state_bytes(len(self.classes_), self._n_absent) if self._n_absent else 0)

    def begin(self, classes: NDArray[Any], n_features: int, n_occurring: int | None = None) -> None:
        super().begin(classes, n_features, n_occurring)
        self._row_entry = None
        self._n_absent = 0 if n_occurring is None else n_features - n_occurring

    def state_bytes(self, n_classes: int, n_features: int) -> int:
        """Return the size in bytes of those arrays of a model that grow with the number of features.

        The size is computed without creating a model of this size. It is wrong for a full covariance, which
        has its own size limit.
        """
        kind: Any = type(self)
        parameters = tuple([getattr(self, name) for name in _parameters_of(kind)])
        return n_features * _bytes_a_feature(kind, parameters, n_classes)

    def _allocate(self, n_features: int) -> None:
        self._begin_with(new_state(n_features))

    def _begin_with(self, zeros: NDArray[np.float64]) -> None:
        self._weights = zeros

    def _rule(self) -> Any:
        """Return the update rule that a family's loop takes: a named tuple of this learner's parameters."""
        raise self._undefined("_rule")

    def _loop(self) -> tuple[Any, tuple[Any, ...]]:
        """Return the compiled learning loop for two classes, and its arguments after X, codes and scores."""
        raise self._undefined("_loop")

    def _loop_of_classes(self) -> tuple[Any, tuple[Any, ...]]:
        """Return the compiled loop for more than two classes, and its arguments after X, codes and scores."""
        raise self._undefined("_loop_of_classes")

    def _loop_for(self, scores: NDArray[np.float64]) -> tuple[Any, tuple[Any, ...]]:
        """Return the loop that writes such scores, for two or for more classes, and its other arguments."""
        loop, state = self._loop() if scores.ndim == 1 else self._loop_of_classes()
        return loop, tell_apart(state)

    def _pass(self, X: Rows, codes: NDArray[np.int32], scores: NDArray[np.float64]) -> tuple[int, int]:
        return self._run(X, codes, scores, *_NO_STOPS)

    _pass_classes = _pass

    def learn(self, X: Any, y: ArrayLike, classes: Classes | None = None) -> NDArray[np.float64]:
        entry = self._row_entry
        if (
            entry is not None
            and classes is None
            and type(X) is type(y) is np.ndarray
            and y.shape == (1,)
            and self._is_plain_row(X)
            and X.dtype == entry.dtype
            and entry.fits(self)
        ):
            return self._learn_row(entry, X, y)
        scores = super().learn(X, y, classes)
        if len(scores) == 1 and type(X) is np.ndarray and not (entry is not None and entry.fits(self)):
            self._choose_row_entry(X)
        return scores

    learn.__doc__ = OnlineClassifier.learn.__doc__

    def _is_plain_row(self, X: NDArray[Any]) -> bool:
        flags = X.flags
        return X.shape == (1, self.n_features_in_) and flags.c_contiguous and flags.aligned

    def _learn_row(self, entry: _RowEntry, X: NDArray[Any], y: NDArray[Any]) -> NDArray[np.float64]:
        """Learn one row with the compiled code in `entry`; choosing the code again would double the time."""
        codes, row, scores = label_codes(y, self.classes_), read_only(X), self._new_scores(1)
        if entry.find_nonfinite(row) >= 0:
            refuse_nonfinite(row)
        _loop, state = self._loop() if scores.ndim == 1 else self._loop_of_classes()
        mistakes, updates = entry.learn(in_any_order(row), codes, scores, *_NO_STOPS, state)
        self.n_examples_ += 1
        self.n_mistakes_ += mistakes
        self.n_updates_ += updates
        return scores

    def _choose_row_entry(self, X: NDArray[Any]) -> None:
        """Store compiled code for later dense rows like X, if learning such a row needs only this code."""
        kind: Any = type(self)
        watched = _watched(kind)
        if watched is None or X.dtype not in FLOATS or not self._is_plain_row(X):
            return
        objects = watched(self.__dict__)
        if hasattr(self, "feature_names_in_") or not all(type(value) in _UNCHANGING for value in objects[2:]):
            return
        none, scores = as_rows(X)[:0], self._new_scores(0)
        loop, state = self._loop_for(scores)
        learn = entry_point(loop, (in_any_order(none), np.empty(0, np.int32), scores, *_NO_STOPS), state)
        find = entry_point(first_nonfinite_row, (none,))
        self._row_entry = _RowEntry(watched, objects, X.dtype, learn, find)

    def _run(
        self,
        X: Rows,
        codes: NDArray[np.int32],
        scores: NDArray[np.float64],
        *noted: NDArray[Any],
    ) -> tuple[int, int]:
        loop, state = self._loop_for(scores)
        outcome: tuple[int, int] = loop(in_any_order(X), codes, scores, *noted, *state)
        return outcome

    def _scores_by_weights(self) -> bool:
        """Whether the score of a row, for two classes, is its product with `_weights`."""
        return type(self)._score is OnlineClassifier._score and type(self).coef_ is LinearClassifier.coef_

    def steps(self, codes: NDArray[np.int32], scores: NDArray[np.float64]) -> tuple[Step, Step]:
        learn, score = super().steps(codes, scores)
        none = as_rows(csr_array((0, self.n_features_in_)))
        kind, name = type(self), "_pass" if scores.ndim == 1 else "_pass_classes"
        if kind._run is LinearClassifier._run and getattr(kind, name) is getattr(LinearClassifier, name):
            # A loop changes the arrays of its state in place, so all calls can be given the same arrays.
            loop, state = self._loop_for(scores)
            enter = entry_point(loop, (in_any_order(none), codes[:0], scores[:0], *_NO_STOPS), state)

            def learn(rows: Rows) -> Any:
                return enter(in_any_order(rows), codes, scores, *_NO_STOPS, state)

        if scores.ndim == 1 and self._scores_by_weights():
            weights = self._weights
            multiply = entry_point(linear_scores, (none, weights, scores[:0]))

            def score(rows: Rows) -> Any:
                return multiply(rows, weights, scores)

        return learn, score

    def learn_along(self, X: Matrix, codes: NDArray[np.integer[Any]], stops: NDArray[np.int64]) -> Passage:
        if not (self.loop_counts_all and LOOPS_HAVE_A_CLOCK):
            return super().learn_along(X, codes, stops)
        labels = np.ascontiguousarray(codes, dtype=np.int32)
        scores = self._new_scores(len(labels))
        changed, seconds = np.empty(len(stops), np.int64), np.empty(len(stops))
        before = self.n_updates_
        mistakes, updates = self._run(as_rows(X), labels, scores, stops, changed, seconds)
        self.n_examples_ += len(labels)
        self.n_mistakes_ += mistakes
        self.n_updates_ += updates
        return Passage(scores, seconds, self.counts_at(changed + before))

    @property
    def loop_counts_all(self) -> bool:
        """Whether the compiled loop can record all counts that change: it records the number of updates only.

        Learners with other counts interrupt learning at each checkpoint.
        """
        return not self.is_sparse and type(self).counters is LinearClassifier.counters

    def counts_at(self, updates: NDArray[np.int64]) -> dict[str, NDArray[np.int64]]:
        """Return the counts at checkpoints, given the updates there (int64), if `loop_counts_all`."""
        # These models do not grow while they learn, so their size is the same at all checkpoints.
        return {"updates": updates, "model_bytes": np.full(len(updates), self.model_bytes_)}


@functools.cache
def _watched(kind: Any) -> Callable[[dict[str, Any]], tuple[Any, ...]] | None:
    """Return the field `watched` for a `_RowEntry` of this class, or None if the class overrides learning."""
    base = LinearClassifier
    learning = "begin", "learn_rows", "_readable", "_pass", "_pass_classes", "_run"
    if any(getattr(kind, name) is not getattr(base, name) for name in learning) or not (
        kind._reads_orders and kind._state
    ):
        return None
    watched: Any = operator.itemgetter("classes_", kind._state[0], *kind._get_param_names())
    return watched


@functools.cache
def _parameters_of(kind: Any) -> tuple[str, ...]:
    # `_bytes_a_feature` makes small models, whose classes are 0 … K - 1. Class weights can name other labels;
    # they do not change a model's size and are left out.
    return tuple(name for name in kind._get_param_names() if name != "class_weight")


@functools.lru_cache(maxsize=1024)
def _bytes_a_feature(kind: Any, parameters: tuple[Hashable, ...], n_classes: int) -> int:
    """Return the bytes that one more feature adds: the size for two features minus the size for one."""
    sizes = []
    for n_features in (1, 2):
        small = kind(**dict(zip(_parameters_of(kind), parameters, strict=True)))
        small.begin(np.arange(n_classes), n_features)
        sizes.append(small.model_bytes_)
    return sizes[1] - sizes[0]


class ScaledClassifier(LinearClassifier):
    """Base of the learners that store ``w = scale v``, see `parts.scale`.

    `_weights` is v. `_scalars` begins with the scale; the other numbers are the learner's own.
    """

    _state = ("_weights", "_scalars")

    def _begin_with(self, zeros: NDArray[np.float64]) -> None:
        self._weights = zeros
        self._scalars = np.array([1.0, 0.0])

    def _score(self, X: Rows, scores: NDArray[np.float64]) -> None:
        linear_scores(X, self._weights, scores)
        scores *= self._scalars[0]

    @property
    def coef_(self) -> NDArray[np.float64]:
        return as_coef(self._scalars[0] * self._weights, len(self.classes_))


class MulticlassClassifier(LinearClassifier):
    """Base of the learners of two or more classes: K > 2 classes have a weight vector each, two share one.

    A subclass defines, in addition to the methods that `LinearClassifier` requires,

    - ``_loop_of_classes()``: as ``_loop``, for scores of shape (n, K) and codes 0 … K - 1;
    - ``coef_`` and ``_score_classes(X, scores)``, if `_weights` does not contain the weights themselves.

    For K > 2 classes, ``_begin_with`` is given an array of `new_class_state`. With ``s_z`` the score of
    class z and ỹ the wrong class of largest score (ties: the lowest), the margin of a row is
    ``m = s_y - s_ỹ``; a row with ``m <= 0`` or a NaN margin is a mistake.

    See Also
    --------
    OnlineClassifier : Methods and the other attributes.
    """

    _takes_many_classes = True

    def _allocate_classes(self, n_features: int, n_classes: int) -> None:
        self._begin_with(new_class_state(n_features, n_classes))

    def _score_classes(self, X: Rows, scores: NDArray[np.float64]) -> None:
        class_scores(X, self._weights, scores)


class WeightedClassifier(MulticlassClassifier):
    """Base of the learners in which the cost of an error can depend on the class of the row.

    A subclass has a parameter ``class_weight``, and passes ``weights_by_code(self)`` to its loops.
    """

    class_weight: ClassWeight

    # scikit-learn's check of class_weight requires one class to be predicted for 87% of rows around the
    # origin. Without an intercept, each class is predicted for half of them, for any class weight.
    _scores_poorly = True


class CovarianceClassifier(LinearClassifier):
    """Base of the learners that keep a covariance Σ, full or diagonal according to `covariance`.

    The state is `_weights`, `_sigma` and `_buffer`, see `new_covariance`. Σ starts at ``_scale() · I``.
    """

    covariance: Shape
    _state: tuple[str, ...] = ("_weights", "_sigma", "_buffer")

    def _scale(self) -> float:
        return 1.0

    @property
    def _n_blocks(self) -> int | None:
        """The number of classes if each has its own block of weights, None if two classes share weights."""
        return len(self.classes_) if self._weights.ndim == 2 else None

    def _allocate(self, n_features: int) -> None:
        self._sigma, self._buffer = new_covariance(self.covariance, n_features, self._scale())
        super()._allocate(n_features)

    def _allocate_classes(self, n_features: int, n_classes: int) -> None:
        self._sigma, self._buffer = new_covariance(self.covariance, n_features, self._scale(), n_classes)
        super()._allocate_classes(n_features, n_classes)

    def _widened(self, name: str, old: Any, new: Any, n_features: int) -> Any:
        if name != "_sigma":
            return super()._widened(name, old, new, n_features)
        widen_covariance(old, new, self._n_blocks)
        return new

    @property
    def sigma_(self) -> NDArray[np.float64]:
        return covariance_matrix(self._sigma, self._n_blocks)


def as_coef(weights: NDArray[np.float64], n_classes: int) -> NDArray[np.float64]:
    """Return weights as scikit-learn shows them: a view of shape (1, d) or, for K > 2 classes, (K, d).

    >>> as_coef(np.arange(3.0), 2).shape
    (1, 3)
    """
    return weights.reshape(1, -1) if weights.ndim == 1 else by_class(weights, n_classes)
