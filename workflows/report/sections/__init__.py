"""List the sections of a report; each is a function from a study's view to a section.

To add a section, write a module with such a function and add it to `SECTIONS`.
"""

from __future__ import annotations

from collections.abc import Callable

from ..page.blocks import Section
from ..page.view import StudyView
from . import (
    accuracy,
    along_stream,
    cost,
    failed,
    groups,
    latest_errors,
    learning_curves,
    metrics,
    provenance,
    rankings,
    ranks,
    significance,
    solutions,
    support_sets,
    tuning,
)

# In reading order.
SECTIONS: tuple[Callable[[StudyView], Section | None], ...] = (
    ranks.section,
    significance.section,
    rankings.section,
    groups.section,
    metrics.section,
    accuracy.section,
    accuracy.mistakes,
    learning_curves.section,
    latest_errors.section,
    along_stream.section,
    support_sets.section,
    cost.within_seconds,
    solutions.section,
    cost.section,
    tuning.section,
    failed.section,
    provenance.section,
)
