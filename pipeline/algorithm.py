"""A study's algorithm as an estimator: a learner by name, with an active strategy around it if asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..learners import Greedy, QueryAll, registry


def make_learner(name: str, params: Mapping[str, Any]) -> Any:
    """Return a fresh learner.

    Parameters
    ----------
    name : str
        As `singlepass.learners.available` lists it.
    params : mapping
        Its parameters; with ``query`` ("all" or "greedy") and ``h`` the strategy that asks for its labels.

    Returns
    -------
    estimator

    Examples
    --------
    >>> make_learner("AROW", {"r": 0.1})
    AROW(r=0.1)
    >>> make_learner("AROW", {"r": 0.1, "query": "greedy", "h": 3})
    Greedy(h=3, learner=AROW(r=0.1))
    """
    own = dict(params)
    query = own.pop("query", None)
    if query is None:
        return registry.available()[name](**own)
    h = own.pop("h", None)
    learner = registry.available()[name](**own)
    return QueryAll(learner) if query == "all" else Greedy(learner, h=h)
