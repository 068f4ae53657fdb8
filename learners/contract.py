"""The interface between the pipeline and a learner: any class with these methods can learn a stream."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .estimator.pieces import Passage
    from .numeric.rows import Matrix


@runtime_checkable
class StreamLearner(Protocol):
    """The methods and attributes that the pipeline needs of a learner.

    The pipeline validates rows first, and passes labels as codes: positions 0 … K - 1 in the sorted classes.
    Every `OnlineClassifier` is such a learner. The order of calls is ``begin``, then for each pass
    ``learn_along`` or ``learn_rows`` for one piece of the stream after the other, and ``end_of_pass``;
    ``counters`` and ``switches`` at any time after ``begin``. The test part is scored by ``score_rows``, or
    by ``predict`` for learners of other libraries.

    Attributes
    ----------
    epochs : int
        Passes over the stream that the learner needs, 1 or more.
    indifferent_to_absent_features : bool
        Whether the outcome stays the same if features that never occur are left out and the features that
        occur are renumbered in their order.
    """

    epochs: int

    @property
    def indifferent_to_absent_features(self) -> bool:
        """Whether the outcome stays the same if features that never occur are left out."""

    def begin(self, classes: NDArray[Any], n_features: int, n_occurring: int | None = None) -> None:
        """Reset the learner and prepare it for a stream.

        Parameters
        ----------
        classes : ndarray of shape (K,)
            The labels, sorted and distinct; K >= 2.
        n_features : int
        n_occurring : int, default=None
            Number of features that occur in the stream, if the columns of the rows are only these features,
            in their order; only for learners that are `indifferent_to_absent_features`. None: the rows have
            all `n_features` columns.
        """

    def learn_rows(self, X: Matrix, codes: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
        """Predict each row, then learn from it, in order.

        Parameters
        ----------
        X : ndarray of shape (n, d), CSR matrix, or what `ordered_rows` returns
            float32 or float64, finite, C-contiguous or canonical CSR: what `as_rows` takes or returns.
        codes : ndarray of integers, shape (n,)
            The labels as positions in `classes`; int32 is not copied.

        Returns
        -------
        ndarray of float64, shape (n,) or, with K > 2 classes, (n, K)
            Score of each row before the update on it; a positive score of two classes means the second class.
        """

    def learn_along(self, X: Matrix, codes: NDArray[np.integer[Any]], stops: NDArray[np.int64]) -> Passage:
        """Learn like `learn_rows`, and return a `Passage`: the scores, and counts at checkpoints.

        Parameters
        ----------
        X, codes
            As for `learn_rows`.
        stops : ndarray of int64, shape (m,)
            The checkpoints: ascending counts of rows learned in this call, at most n.
        """

    def score_rows(self, X: Matrix) -> NDArray[np.float64]:
        """Return the score that `learn_rows` would return for each row if it came next, without learning.

        The pipeline calls it along the stream if labels are delayed.
        """

    def end_of_pass(self, last: bool) -> None:
        """End a pass over the stream.

        Unless it was the `last` pass, the same rows follow again in the same order.
        """

    def counters(self) -> dict[str, int]:
        """Return the learner's counts so far, by their column in the table of results.

        The columns are ``updates``, ``support_vectors``, ``kernel_evaluations``, ``queried``,
        ``complexity``, ``nonzeros`` and ``model_bytes``; a learner leaves out those that it does not count.
        """

    def switches(self) -> list[int] | None:
        """Return the row numbers at which the model became more complex or another one took over.

        None if neither can happen.
        """
