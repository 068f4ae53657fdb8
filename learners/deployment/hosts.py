"""Convert learners of this package to classifiers of River or CapyMOA, which are imported only if needed."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from sklearn.base import clone

from ..estimator.online_classifier import OnlineClassifier

if TYPE_CHECKING:
    from .capymoa_classifier import CapyMOAClassifier
    from .river_classifier import RiverClassifier


def to_river(learner: OnlineClassifier, n_classes: int = 2) -> RiverClassifier:
    """Return a learner as a classifier of River, for its pipelines, metrics and drift detectors.

    Features have names, come in any order, and may be new at any time; a feature that a row lacks is 0.
    Labels are numbered in the order in which they first occur, False before True. `OnlineClassifier.learn`
    makes the same predictions on a matrix whose columns are in the order in which the features first occur
    (sorted by name if they first occur in the same row), unless the learner's start depends
    on the number of features, as in `FOGD`.

    Parameters
    ----------
    learner : OnlineClassifier
        A learner of this package. It is copied, never changed. A trained learner's copy continues from its
        model: its features have the column names of the frame that it was trained on if these are strings.
        Otherwise, and after an array, they are named 0, 1, … by position.
    n_classes : int, default=2
        The number of labels of the stream; not used for a trained learner, which knows it. With more than
        two, labels that have not occurred yet count as wrong classes in updates, like those in ``classes``
        of `learn`.

    Returns
    -------
    RiverClassifier
        With ``learn_one``, ``predict_one``, ``learn_many``, ``predict_many``, and probabilities if the scores
        of the learner are log odds (``loss="logistic"``). `save` writes it to a file. It serves one thread at
        a time, even to predict: give each thread a ``copy.deepcopy``, or hold a lock.

    Raises
    ------
    ImportError
        Without River (extra ``river``).
    ValueError
        For learners of other packages, classes of users that override a method that is not called here (such
        as `learn`), invalid parameters, and more classes than the learner takes.

    Examples
    --------
    >>> from river import evaluate, metrics, preprocessing
    >>> from river.datasets import Phishing
    >>> from singlepass.learners import AROW, to_river
    >>> model = preprocessing.StandardScaler() | to_river(AROW(r=1.0))
    >>> evaluate.progressive_val_score(Phishing(), model, metrics.Accuracy())
    Accuracy: 88.40%
    """
    try:
        from .river_classifier import RiverClassifier
    except ModuleNotFoundError as error:
        if error.name != "river":
            raise
        raise ImportError('to_river() needs River: pip install "singlepass[river]"') from None
    if not isinstance(learner, OnlineClassifier):
        raise ValueError(f"to_river() takes a learner of singlepass.learners, got {learner!r}")
    if not learner.__sklearn_is_fitted__():
        return RiverClassifier(clone(learner), n_classes)
    made = RiverClassifier(clone(learner), len(learner.classes_))
    made.resume(copy.deepcopy(learner))
    return made


def to_capymoa(learner: OnlineClassifier, schema: Any) -> CapyMOAClassifier:
    """Return an untrained copy of a learner as a classifier of CapyMOA, for its evaluation and pipelines.

    Parameters
    ----------
    learner : OnlineClassifier
        A learner of this package. It is copied, never changed.
    schema : capymoa.stream.Schema
        The stream's schema, ``stream.get_schema()``. A nominal feature is read as the number of its value.

    Returns
    -------
    CapyMOAClassifier
        With ``train``, ``predict`` and ``predict_proba``.

    Raises
    ------
    ImportError
        Without CapyMOA (extra ``capymoa``) or Java.
    ValueError
        For learners of other packages, invalid parameters, a schema without two classes, and more classes
        than the learner takes.
    """
    try:
        from .capymoa_classifier import CapyMOAClassifier
    except ModuleNotFoundError as error:
        if error.name != "capymoa":
            raise
        raise ImportError('to_capymoa() needs CapyMOA: pip install "singlepass[capymoa]"') from None
    if not isinstance(learner, OnlineClassifier):
        raise ValueError(f"to_capymoa() takes a learner of singlepass.learners, got {learner!r}")
    return CapyMOAClassifier(schema, learner)
