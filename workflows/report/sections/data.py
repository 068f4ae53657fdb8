"""Describe a study's data sets, and its algorithms: the learner, parameters and grid behind each label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pandas as pd

from ..page.blocks import Block, Section
from ..page.table import tabulate
from ..page.view import StudyView
from ..parts.data_sets import data_sets
from ..words.wording import setting

# Maximum number of a grid's winners that the table names, the most frequent first.
_MOST_WINNERS = 3
# Keys of an ``[[algorithms]]`` entry that are not parameters of its learner.
_NO_PARAMETERS = frozenset({"name", "label", "winner", "tuned_as", "datasets"})


def section(view: StudyView) -> Section:
    """Print a table of the data sets and a table of the algorithms."""
    blocks: list[Block] = [data_sets(view)]
    if rows := list(_algorithms(view)):
        own = any(entry.get("parameters") for entry in view.results.study.get("datasets", []))
        unless = ", unless the data set sets them (table above)" if own else ""
        header = ["algorithm", "learner", "parameters", "grid", "winners (how often)"]
        blocks.append(
            tabulate(
                pd.DataFrame(rows, columns=header),
                "algorithms",
                "What each algorithm is",
                labels=len(header),
                wrap=True,
                note=f"Parameters that are not listed have the learner's defaults{unless}.",
            )
        )
    return Section("data", "Data sets and algorithms", blocks)


def _algorithms(view: StudyView) -> Iterator[tuple[str, str, str, str, str]]:
    """Yield label, learner, fixed parameters, grid and the most frequent winners of every algorithm."""
    for entry in view.results.study.get("algorithms", []):
        label = str(entry.get("label"))
        if label not in view.design.algorithms:
            continue
        values = {
            key: value
            for key, value in entry.items()
            if key not in _NO_PARAMETERS and value is not None and value != {}
        }
        fixed = [f"tuned as {entry['tuned_as']}"] if entry.get("tuned_as") else []
        fixed += [setting(key, value) for key, value in values.items() if not isinstance(value, list)]
        grid = [
            f"{key}: {', '.join(map(str, value))}" for key, value in values.items() if isinstance(value, list)
        ]
        won = Counter(
            ", ".join(setting(name, tuned.winner[name]) for name in tuned.grid)
            for tuned in view.results.tuning
            if tuned.algorithm == label and tuned.winner
        )
        winners = [f"{text} ({n})" for text, n in won.most_common(_MOST_WINNERS)]
        if len(won) > _MOST_WINNERS:
            winners.append(f"{len(won) - _MOST_WINNERS} more")
        yield label, str(entry.get("name")), ", ".join(fixed), "; ".join(grid), "; ".join(winners)
