"""A learner of this package as a River classifier: a row is a dict, and features and labels have names."""

from __future__ import annotations

import functools
import math
import operator
import struct
from collections.abc import Hashable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray
from pandas.api.types import is_numeric_dtype
from river.base import MiniBatchClassifier
from sklearn.base import clone

from ..estimator.inner_learner import PREDICTING, check_online_learner
from ..estimator.online_classifier import OnlineClassifier, Step
from ..linear.perceptron import Perceptron
from ..numeric.margins import probabilities
from ..numeric.rows import Rows, read_only

Features = dict[Hashable, Any]

# The column number given to features that the learner does not have; they are left out of a row.
_UNKNOWN = -1


class _DictRow:
    """Convert dicts to a CSR row that compiled loops read, and cache the last conversion.

    Most streams have the same features in the same order in every row, so the positions of the last row's
    features are kept. A row that is predicted and then learned is converted only once.
    """

    def __init__(self) -> None:
        self.keys: tuple[Hashable, ...] | None = None
        self.is_complete = False
        self._values: tuple[Any, ...] | None = None

    def arrange(self, keys: tuple[Hashable, ...], places: list[int]) -> None:
        """Prepare for rows with the features `keys` in the columns `places`, without those at `_UNKNOWN`."""
        known = sorted((place, key) for place, key in zip(places, keys, strict=True) if place != _UNKNOWN)
        self.keys, self.is_complete = keys, len(known) == len(keys)
        self._get = _getter([key for _, key in known])
        self._values = None
        self._buffer = np.zeros(len(known))
        self._pack = functools.partial(struct.Struct(f"{len(known)}d").pack_into, self._buffer.data, 0)
        indices = np.array([place for place, _ in known], np.int32)
        ends = np.array([0, len(known)], np.int32)
        self._rows = read_only(self._buffer), read_only(indices), read_only(ends)

    def filled(self, x: Features) -> Rows:
        """Return a dict as a CSR row; its keys must be those of the last call of `arrange`."""
        values = self._get(x)
        if values != self._values:
            self._values = None
            try:
                self._pack(*values)
                finite = math.isfinite(sum(values))
            except (struct.error, TypeError, OverflowError):
                finite = False
            if not finite:
                _check_values(x)
            self._values = values
        return self._rows


def _check_values(x: Features) -> None:
    """Raise ValueError, which names the feature, if a value of a row is not a finite number."""
    for name, value in x.items():
        try:
            is_bad = not math.isfinite(value)
        except TypeError:
            raise ValueError(
                f"feature {name!r} is {value!r}, not a number: encode it first, such as by OneHotEncoder"
            ) from None
        except OverflowError:
            raise ValueError(f"feature {name!r} is too large for a float: scale it down first") from None
        if is_bad:
            raise ValueError(f"feature {name!r} is {value!r}: fill it in first, such as by StatImputer")


def _getter(keys: list[Hashable]) -> Any:
    """Return a function that returns the values of some keys of a dict as a tuple."""
    if len(keys) > 1:
        return operator.itemgetter(*keys)
    return lambda x: tuple([x[key] for key in keys])


class RiverClassifier(MiniBatchClassifier):
    """A learner of singlepass as a classifier of River; `to_river` makes it.

    Parameters
    ----------
    learner : OnlineClassifier
        A learner of this package; it is cloned, never changed.
    n_classes : int, default=2
        The number of labels of the stream.

    Attributes
    ----------
    learner_ : OnlineClassifier
        The learner that ``learn_one`` trains. Its arrays may have room for more features than have occurred.
        Set its parameters before the first row, and ``class_weight`` before `to_river`. ``learn_one`` may
        ignore later changes; a copy made afterwards uses them.
    features_ : list
        The names of the features, in the order of the learner's weights.
    labels_ : list
        The labels that have occurred, in the order of the learner's classes.

    Notes
    -----
    It serves one thread at a time, even to predict: give each thread a ``copy.deepcopy``, or hold a lock.
    """

    def __init__(self, learner: OnlineClassifier, n_classes: int = 2) -> None:
        check_online_learner(learner, "to_river", "learn_rows", "score_rows", *PREDICTING)
        if not (isinstance(n_classes, (int, np.integer)) and n_classes >= 2):
            raise ValueError(f"n_classes must be an integer >= 2, got {n_classes!r}")
        learner.check_parameters()
        if n_classes > 2 and not learner.__sklearn_tags__().classifier_tags.multi_class:
            raise ValueError(f"{type(learner).__name__} takes two classes, got n_classes={n_classes}")
        self.learner = learner
        self.n_classes = int(n_classes)
        self.learner_ = clone(learner)
        self.features_: list[Hashable] = []
        self.labels_: list[Any] = []
        self._prepare()
        # The learner looks up class weights when it begins, before all labels have occurred. So the labels
        # that have a weight get their class codes now.
        for weights in _class_weights(learner):
            self._codes_of(list(weights or ()))

    def _prepare(self) -> None:
        """Create caches and other attributes that copies, pickles and saved files of this object lack."""
        self._row = _DictRow()
        self._places = {name: place for place, name in enumerate(self.features_)}
        self._codes = {label: code for code, label in enumerate(self.labels_)}
        self._code = np.zeros(1, np.int32)
        self._scores = np.zeros(1 if self.n_classes == 2 else (1, self.n_classes))
        self._steps: tuple[Step, Step] | None = None
        self._has_begun = self.learner_.__sklearn_is_fitted__()
        if self._has_begun:
            self._classes = self.learner_.classes_
        else:
            self._classes = np.full(self.n_classes, None, object)
            for code, label in enumerate(self.labels_):
                self._classes[code] = label

    def __getstate__(self) -> dict[str, Any]:
        names = "learner", "n_classes", "learner_", "features_", "labels_"
        return {name: getattr(self, name) for name in names}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._prepare()

    def resume(self, trained: OnlineClassifier) -> None:
        """Continue with a trained learner of `n_classes` classes; it is not copied and will be changed."""
        names: NDArray[Any] = getattr(trained, "feature_names_in_", np.arange(trained.n_features_in_))
        if hasattr(trained, "feature_names_in_"):
            # This class keeps the feature names, and passes rows without names to the learner.
            del trained.feature_names_in_
        self.learner_, self.labels_ = trained, trained.classes_.tolist()
        self.features_ = list(names.tolist())
        self._prepare()

    @property
    def _multiclass(self) -> bool:
        return self.n_classes > 2

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"learner": Perceptron()}

    def learn_one(self, x: Features, y: Hashable) -> None:
        """Learn the features `x` and their label `y`."""
        row, keys = self._row, tuple(x)
        if keys != row.keys or not row.is_complete:
            # Check values and label before either is numbered: an invalid row leaves neither behind.
            _check_values(x)
            self._codes_of([y])
            row.arrange(keys, self._places_of(keys, learning=True))
        rows = row.filled(x)
        code = self._codes.get(y)
        self._code[0] = self._codes_of([y])[0] if code is None else code
        if self._steps is None:
            self._steps = self.learner_.steps(self._code, self._scores)
        mistakes, updates = self._steps[0](rows)
        learner = self.learner_
        learner.n_examples_ += 1
        if mistakes:
            learner.n_mistakes_ += mistakes
        if updates:
            learner.n_updates_ += updates

    def predict_one(self, x: Features, **kwargs: Any) -> Any:
        """Return the predicted label; before the first row False or, with more than two labels, None."""
        if not self._has_begun:
            return None if self._multiclass else (self.labels_ or [False])[0]
        scores = self._scored(x)
        if len(self.labels_) == 2 == self.n_classes:
            return self.labels_[scores.item() > 0.0]
        return self._label_of(scores[0])

    def predict_proba_one(self, x: Features, **kwargs: Any) -> dict[Any, float]:
        """Return the probability of each label that has occurred.

        Raises NotImplementedError for a learner whose scores are not log odds.
        """
        self._check_probabilities()
        if not self._has_begun:
            labels = self.labels_ or ([] if self._multiclass else [False, True])
            return dict.fromkeys(labels, 1.0 / max(len(labels), 1))
        return dict(zip(self.labels_, self._probabilities(self._scored(x))[0].tolist(), strict=True))

    def learn_many(self, X: pd.DataFrame, y: pd.Series) -> None:
        """Learn the rows of a frame and their labels, one after the other."""
        if len(y) != len(X):
            raise ValueError(f"X has {len(X)} rows, but y has {len(y)} labels: pass a label for each row")
        if len(X) == 0:
            return
        values = _checked_values(X)
        codes = np.array(self._codes_of(y.tolist()), np.int32)
        self.learner_.learn_rows(self._matrix(values, X.columns.tolist(), learning=True), codes)
        self._steps = None

    def predict_many(self, X: pd.DataFrame) -> pd.Series:
        """Return the predicted label of each row of a frame."""
        if not self._has_begun:
            return pd.Series([self.predict_one({})] * len(X), X.index, object)
        rows = self._matrix(_checked_values(X), X.columns.tolist(), learning=False)
        scores = self.learner_.score_rows(rows)
        return pd.Series([self._label_of(each) for each in scores], X.index)

    def predict_proba_many(self, X: pd.DataFrame) -> pd.DataFrame:
        """Return the probability of each label for each row of a frame; see `predict_proba_one`."""
        self._check_probabilities()
        if not self._has_begun:
            return pd.DataFrame([self.predict_proba_one({})] * len(X), X.index)
        rows = self._matrix(_checked_values(X), X.columns.tolist(), learning=False)
        scores = self.learner_.score_rows(rows)
        return pd.DataFrame(self._probabilities(scores), X.index, self.labels_)

    def _codes_of(self, labels: list[Any]) -> list[int]:
        """Return the class codes of labels; new labels get the next codes, none of them if one is refused."""
        new = [label for label in dict.fromkeys(labels) if label not in self._codes]
        if new and isinstance(new[0], (bool, np.bool_)) and not self.labels_:
            # If the first label is a bool, False and True get the codes 0 and 1 together, so that a positive
            # score always means True.
            new = list(dict.fromkeys([False, True, *new]))
        for i, label in enumerate(new):
            if pd.isna(label):
                raise ValueError(f"a label is missing ({label!r}): leave out rows without a label")
            if len(self.labels_) + i >= self.n_classes:
                raise ValueError(
                    f"label {label!r} is one too many: the labels so far are {self.labels_ + new[:i]}; "
                    f"to_river() was called with n_classes={self.n_classes}"
                )
        for label in new:
            self._codes[label] = len(self.labels_)
            self._classes[len(self.labels_)] = label
            self.labels_.append(label)
        return [self._codes[label] for label in labels]

    def _label_of(self, scores: Any) -> Any:
        """Return the predicted label, among those that have occurred, from one score or a score per class."""
        if self._multiclass:
            return self.labels_[int(scores[: len(self.labels_)].argmax())]
        return self.labels_[1 if scores > 0.0 and len(self.labels_) == 2 else 0]

    def _check_probabilities(self) -> None:
        if not self.learner_.scores_are_log_odds:
            # Callers may catch this on every row; the text of all parameters would take 0.3 ms.
            name = type(self.learner).__name__
            raise NotImplementedError(f"the scores of this {name} are not log odds; use predict_one")

    def _probabilities(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probabilities of the labels that have occurred, from log odds."""
        if len(self.labels_) == 1:
            return np.ones((len(scores), 1))
        return np.asarray(probabilities(scores[:, : len(self.labels_)] if self._multiclass else scores))

    def _scored(self, x: Features) -> NDArray[np.float64]:
        """Return the score of one row, or its score per class, in an array that the next row overwrites."""
        row, keys = self._row, tuple(x)
        if keys != row.keys or not row.is_complete:
            row.arrange(keys, self._places_of(keys, learning=False))
        if self._steps is None:
            self._steps = self.learner_.steps(self._code, self._scores)
        self._steps[1](row.filled(x))
        return self._scores

    def _places_of(self, names: Sequence[Hashable], learning: bool) -> list[int]:
        """Return the column positions of features, `_UNKNOWN` for those to leave out; add new features."""
        places = self._places
        new = [name for name in names if name not in places]
        # New features have weight 0. To predict, most linear learners can leave them out, but kernel values
        # and lengths of rows depend on them.
        if new and (learning or getattr(self.learner_, "scores_need_whole_rows", True)):
            self._make_room(len(places) + len(new))
            for name in _in_order(new):
                places[name] = len(self.features_)
                self.features_.append(name)
        elif learning:
            self._make_room(1)
        return [places.get(name, _UNKNOWN) for name in names]

    def _make_room(self, n_features: int) -> None:
        """Let the learner begin, or extend its arrays (at least twofold), for `n_features` features."""
        if not self._has_begun:
            self.learner_.begin(self._classes, n_features)
            self._has_begun = True
        elif n_features > self.learner_.n_features_in_:
            self._steps = None
            self.learner_.widen(max(n_features, 2 * self.learner_.n_features_in_))

    def _matrix(self, values: NDArray[np.float64], names: Sequence[Hashable], learning: bool) -> sp.csr_array:
        """Return rows of the features `names` as CSR; zeros are stored, too, as in rows made of dicts."""
        places = np.array(self._places_of(names, learning), np.int32)
        columns = np.argsort(places, kind="stable")[np.count_nonzero(places == _UNKNOWN) :]
        n, width = len(values), len(columns)
        indices = np.tile(places[columns], n)
        parts = values[:, columns].ravel(), indices, np.arange(n + 1, dtype=np.int32) * width
        return sp.csr_array(parts, shape=(n, self.learner_.n_features_in_))


def _checked_values(X: pd.DataFrame) -> NDArray[np.float64]:
    """Return the values of a frame; raise ValueError, which names the column, if they are not numbers."""
    if not X.columns.is_unique:
        name = X.columns[X.columns.duplicated()][0]
        raise ValueError(f"two columns are named {name!r}: rename or drop one of them")
    for name in X.columns[[not is_numeric_dtype(dtype) for dtype in X.dtypes]]:
        if X[name].dtype != object:
            dtype = X[name].dtype
            raise ValueError(
                f"feature {name!r} is of dtype {dtype}: encode it first, such as by OneHotEncoder"
            )
        for value in X[name]:
            _check_values({name: value})
    values = X.to_numpy(np.float64, na_value=np.nan)
    if not np.isfinite(values).all():
        name = X.columns[int(np.flatnonzero(~np.isfinite(values).all(axis=0))[0])]
        raise ValueError(f"feature {name!r} is NaN or infinite in a row: fill it in first")
    return values


def _class_weights(learner: OnlineClassifier) -> Iterator[Any]:
    """Yield the class weights among a learner's parameters, and those in its grid."""
    for name, value in learner.get_params().items():
        if name.endswith("class_weight"):
            yield value
        elif name.endswith("grid"):
            yield from [each for key in value if key.endswith("class_weight") for each in value[key]]


def _in_order(names: list[Hashable]) -> list[Hashable]:
    """Sort feature names, so that their order within a dict does not matter; types may be mixed."""
    try:
        return sorted(names)  # type: ignore[type-var]
    except TypeError:
        return sorted(names, key=repr)
