"""Report which differences of mean ranks are significant."""

from __future__ import annotations

from dataclasses import replace

from ..page.blocks import Block, Listing, Panels, Section, Text
from ..page.view import StudyView
from ..parts.figures import diagrams
from ..parts.rank_tables import friedman_table, pairs_table
from ..words import wording

_DIAGRAMS_NOTE = (
    "Critical difference diagrams: every algorithm hangs at its mean rank, best on the left. A thick bar "
    "spans neighbours of which no two differ significantly (Wilcoxon–Holm at 5%; of three or more algorithms "
    "only where a Friedman test rejects too). The ruler is "
    "Nemenyi's critical difference, for comparison; the bars do not use it."
)


def section(view: StudyView) -> Section | None:
    """Draw and list the tests; return None for a single data set, which allows none."""
    if view.single:
        return None
    comparisons = view.comparisons
    blocks: list[Block] = []
    if drawn := diagrams(comparisons, view.styles):
        blocks += [Text(_DIAGRAMS_NOTE, "soft"), Panels(drawn, roomy=True)]
    blocks.append(Listing([(c.noise.opening, wording.friedman_sentence(c)) for c in comparisons]))
    every = [c for series in (comparisons, *view.other_comparisons) for c in series]
    if tested := [c for c in every if c.friedman is not None]:
        blocks.append(replace(friedman_table(tested), show="folded"))
    if pairs := pairs_table(comparisons, view.design):
        blocks.append(replace(pairs, show="long"))
    return Section("significance", "Significance", blocks)
