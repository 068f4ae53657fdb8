"""What a pipeline asks of a learner: any class with these methods can be streamed through."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .estimator.pieces import Passage
    from .numeric.rows import Matrix


@runtime_checkable
class StreamLearner(Protocol):
    """A learner as the pipeline sees it: rows come validated, labels as codes.

    Every `OnlineClassifier` is one. The order of calls is ``begin``, then for each pass ``learn_along`` or
    ``learn_rows`` over its pieces and ``end_of_pass``; ``counters`` and ``switches`` at any time after
    ``begin``. The test part is scored by ``score_rows``, or by ``predict`` for learners of other libraries.

    Attributes
    ----------
    epochs : int
        Passes over the stream that it asks for, 1 or more.
    indifferent_to_absent_features : bool
        Whether its outcome does not change if features that never occur are left out and the others
        renumbered in their order.
    """

    epochs: int

    @property
    def indifferent_to_absent_features(self) -> bool:
        """See above."""

    def begin(self, classes: NDArray[Any], n_features: int, n_occurring: int | None = None) -> None:
        """Forget everything and prepare for a stream.

        Parameters
        ----------
        classes : ndarray of shape (K,)
            The labels, sorted and distinct; K >= 2.
        n_features : int
        n_occurring : int, default=None
            How many of the features occur, where only these are numbered in the rows to come, in their order:
            told a learner that says it is `indifferent_to_absent_features`. None: all are numbered.
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
            Score of each row before the update on it; of two classes positive means the second.
        """

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

    def score_rows(self, X: Matrix) -> NDArray[np.float64]:
        """Return the score of each row as `learn_rows` would if it came next, learning nothing.

        Asked where labels come late.
        """

    def end_of_pass(self, last: bool) -> None:
        """Take note that the stream has been passed over.

        Parameters
        ----------
        last : bool
            Whether it was the last pass; else the same rows come again, in the same order.
        """

    def counters(self) -> dict[str, int]:
        """Return what the learner has counted so far, by the names of the columns in the store.

        Among ``updates``, ``support_vectors``, ``kernel_evaluations``, ``queried``, ``complexity`` and
        ``model_bytes``; a learner leaves out what it does not count.
        """

    def switches(self) -> list[int] | None:
        """Return the numbers of the rows at which it became a more complex model, None if it never does."""
