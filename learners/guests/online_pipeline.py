"""scikit-learn pipelines that learn along a stream."""

from __future__ import annotations

from typing import Any

from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from .guest import signature_of
from .kinds import lacking


class OnlinePipeline(Pipeline):
    """A pipeline with ``partial_fit``: each transformer learns and transforms rows for the next step.

    The last step learns the transformed rows. A transformer without ``partial_fit`` must need no fitting,
    such as `Normalizer`.

    Examples
    --------
    >>> from sklearn.linear_model import SGDClassifier
    >>> from sklearn.preprocessing import StandardScaler
    >>> pipeline = OnlinePipeline([("scale", StandardScaler()), ("learn", SGDClassifier())])
    >>> pipeline.partial_fit([[0.0], [1.0]], [0, 1], classes=[0, 1]).predict([[-5.0]]).tolist()
    [0]
    """

    def check_steps(self) -> None:
        """Raise ValueError if a step cannot learn along a stream."""
        for name, step in self._transformers():
            if not hasattr(step, "partial_fit") and _needs_fit(step):
                raise ValueError(
                    f"step {name!r} ({type(step).__name__}) has no partial_fit and can only be fitted to all "
                    "rows at once: take a transformer with partial_fit, such as StandardScaler or "
                    "IncrementalPCA, or one that needs no fitting, such as Normalizer"
                )
        name, last = self.steps[-1]
        if problem := lacking(last if isinstance(last, type) else type(last)):
            raise ValueError(f"step {name!r}: {problem}")

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> OnlinePipeline:
        """Let the transformers learn and transform rows, then the last step learn them."""
        for _, step in self._transformers():
            if hasattr(step, "partial_fit"):
                step.partial_fit(X, y)
            X = step.transform(X)
        learn = self.steps[-1][1].partial_fit
        if classes is not None and "classes" in signature_of(learn).parameters:
            learn(X, y, classes=classes)
        else:
            learn(X, y)
        self.begun_ = True
        return self

    def _transformers(self) -> list[tuple[str, Any]]:
        return [(name, step) for name, step in self.steps[:-1] if step not in (None, "passthrough")]

    def __sklearn_is_fitted__(self) -> bool:
        """Return whether rows have been learned; scikit-learn would ask the last step, which may not know."""
        return hasattr(self, "begun_")

    @property
    def scores_are_log_odds(self) -> bool:
        """Whether the scores of the last step are log odds."""
        return bool(getattr(self.steps[-1][1], "scores_are_log_odds", False))


def _needs_fit(step: Any) -> bool:
    if not hasattr(step, "__sklearn_tags__"):
        return hasattr(step, "fit")
    return bool(get_tags(step).requires_fit)
