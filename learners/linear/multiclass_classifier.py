"""What the learners of any number of classes share."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Tags

from ..estimator.parameters import check_weights
from ..numeric.rows import Rows
from .linear_classifier import LinearClassifier
from .parts.classes import by_class, class_scores


class MulticlassClassifier(LinearClassifier):
    """Base of the learners of two classes or more: with two the binary loop, else one block a class.

    A subclass defines, besides what `LinearClassifier` asks for,

    - ``_allocate_classes(n_features, n_classes)``: create the state arrays for K > 2 classes;
    - ``_loop_of_classes()``: as ``_loop``, for scores of shape (n, K) and codes 0 … K - 1;
    - ``_weights``: of shape (d,) for two classes, an array from `new_class_state` for more; or ``coef_`` and
      ``_score_classes(X, scores)`` instead.

    With ``s_z`` the score of class z and ỹ the wrong class of largest score (ties: the lowest), the margin of
    a row is ``m = s_y - s_ỹ``; ``m <= 0`` is a mistake, and so is NaN.

    See Also
    --------
    OnlineClassifier : Methods and the other attributes.
    """

    _takes_many_classes = True
    _weights: NDArray[np.float64]

    def _score_classes(self, X: Rows, scores: NDArray[np.float64]) -> None:
        class_scores(X, self._weights, scores)

    @property
    def coef_(self) -> NDArray[np.float64]:
        return as_coef(self._weights, len(self.classes_))


class WeightedClassifier(MulticlassClassifier):
    """Base of those for which an error on a row of each class may cost another amount.

    A subclass has a parameter ``class_weight``, and its loops take `weights_by_code` of it.
    """

    class_weight: Mapping[Any, float] | None

    def check_parameters(self) -> None:
        super().check_parameters()
        check_weights(self, "class_weight")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        # scikit-learn's check of class_weight requires one class to be predicted for 87% of rows around the
        # origin. Without an intercept a class gets half of them, for any class weight.
        tags.classifier_tags.poor_score = True
        return tags


def as_coef(weights: NDArray[np.float64], n_classes: int) -> NDArray[np.float64]:
    """Return weights as scikit-learn shows them.

    Parameters
    ----------
    weights : ndarray of shape (d,) or (d, width)
        Of two classes, or of each class as `new_class_state` keeps them.
    n_classes : int

    Returns
    -------
    ndarray of shape (1, d) or (n_classes, d)
        A view.

    Examples
    --------
    >>> import numpy as np
    >>> as_coef(np.arange(3.0), 2).shape
    (1, 3)
    """
    return weights.reshape(1, -1) if weights.ndim == 1 else by_class(weights, n_classes)
