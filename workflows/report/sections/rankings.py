"""Rankings of some of a study's algorithms among themselves, as the study asks for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from ....pipeline.analysis.averages import Design
from ....pipeline.analysis.comparison import compare
from ....pipeline.analysis.metrics import Metric
from ....pipeline.analysis.subsets import among, tasks_of, within
from ....pipeline.noise import parse_noise
from ..plots.pictures import Picture, diagrams
from ..table import TableBlock
from ..words import wording
from . import rank_tables
from .head_to_head import PictureRow, focus_pictures


@dataclass(frozen=True)
class Ranking:
    """What the report shows of one ranking.

    Attributes
    ----------
    title : str
        As the study gives it.
    algorithms : list of str
        Who takes part.
    leads : str
        Who leads at each noise rate.
    rank_table : TableBlock
        Mean ranks by noise.
    friedman, pairs : TableBlock or None
        Tests; None where nothing could be tested.
    tests : list of (str, str)
        Noise rate and what its tests found, in words.
    diagrams : list of Picture
        Critical difference diagrams.
    focus : list of PictureRow
        One algorithm against the others, task by task; empty unless the study asks for it.
    """

    title: str
    algorithms: list[str]
    leads: str
    rank_table: TableBlock
    friedman: TableBlock | None
    pairs: TableBlock | None
    tests: list[tuple[str, str]]
    diagrams: list[Picture]
    focus: list[PictureRow]

    @property
    def tables(self) -> list[TableBlock]:
        """The tables that there are."""
        return [table for table in (self.rank_table, self.friedman, self.pairs) if table is not None]

    @property
    def pictures(self) -> list[Picture]:
        """The pictures that there are."""
        return [*self.diagrams, *(picture for row in self.focus for picture in row.pictures)]


def rankings(cells: pd.DataFrame, metric: Metric, design: Design, study: Mapping[str, Any]) -> list[Ranking]:
    """Rank the algorithms of every ``[[rankings]]`` table among themselves.

    Parameters
    ----------
    cells : DataFrame
        The store's cells table.
    metric : Metric
        What to compare by.
    design : Design
        The whole study.
    study : mapping
        The validated study; "rankings" may be absent.

    Returns
    -------
    list of Ranking
        In the study's order. Names of tables and files start with ``ranking-1-``, ``ranking-2-``, ….
    """
    found = []
    for place, entry in enumerate(study.get("rankings") or [], 1):
        title, prefix = str(entry["title"]), f"ranking-{place}-"
        part = among(design, entry["algorithms"])
        if entry.get("datasets"):
            part = within(part, tasks_of(part, entry["datasets"]))
        comparisons = [compare(cells, metric, noise, part) for noise in design.noise]
        tested = [c for c in comparisons if c.friedman is not None]

        def own(table: TableBlock, title: str = title, prefix: str = prefix) -> TableBlock:
            return replace(table, name=prefix + table.name, scope=title)

        pairs = rank_tables.pairs_table(comparisons, part)
        found.append(
            Ranking(
                title=title,
                algorithms=part.algorithms,
                leads=wording.leads(comparisons),
                rank_table=own(rank_tables.mean_rank_table(comparisons, part)),
                friedman=own(rank_tables.friedman_table(tested)) if tested else None,
                pairs=own(pairs) if pairs is not None else None,
                tests=[(c.noise.opening, wording.friedman_sentence(c)) for c in comparisons],
                diagrams=diagrams(comparisons, prefix=prefix, scope=title),
                focus=focus_pictures(
                    comparisons,
                    entry.get("focus"),
                    design,
                    noise=[parse_noise(rate) for rate in entry.get("focus_noise") or ()],
                    prefix=prefix,
                    scope=title,
                ),
            )
        )
    return found
