"""Active strategies by the names that the key `query` has for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ... import learners

if TYPE_CHECKING:
    from ...learners import QueryAll


@dataclass(frozen=True)
class Strategy:
    """A strategy that asks for labels.

    Attributes
    ----------
    name : str
        Of its class.
    key : str, default=""
        The key of a study file for its parameter, "" where it has none. It is not one of a learner.
    parameter : str, default=""
        What its class calls that.
    default : int or float, default=0
        Of the parameter.
    """

    name: str
    key: str = ""
    parameter: str = ""
    default: int | float = 0

    @cached_property
    def factory(self) -> type[QueryAll]:
        """Its class: imported when it is asked for, so that reading a study waits for no learner."""
        found: type[QueryAll] = getattr(learners, self.name)
        return found

    @cached_property
    def draws(self) -> bool:
        """Whether it asks by chance."""
        return "random_state" in self.factory._get_param_names()

    def around(
        self, learner: Any, settings: Mapping[str, Any], state: Callable[[], int] | None = None
    ) -> QueryAll:
        """Return the strategy around a learner.

        Parameters
        ----------
        learner : OnlineClassifier
        settings : mapping
            With its key, if it has one.
        state : callable, default=None
            Returns what its draws begin with.
        """
        given = {self.parameter: settings.get(self.key, self.default)} if self.key else {}
        if self.draws and state is not None:
            given["random_state"] = state()
        return self.factory(learner, **given)


STRATEGIES = {
    "all": Strategy("QueryAll"),
    "greedy": Strategy("Greedy", "h", "h", 5),
    "selective": Strategy("SelectiveSampling", "query_b", "b", 1.0),
    "selective-adaptive": Strategy("AdaptiveSelectiveSampling", "query_beta", "beta", 1.0),
    "random": Strategy("RandomQueries", "query_q", "q", 0.5),
}
#: The keys of all of them.
KEYS = tuple(strategy.key for strategy in STRATEGIES.values() if strategy.key)
