"""List the sections of a report; each is a function from a study's view to a section.

To add a section, write such a function and add it to `SECTIONS`.
"""

from __future__ import annotations

from collections.abc import Callable

from ..page.blocks import Section
from ..page.view import StudyView
from . import (
    cost,
    curves,
    data,
    one_stream,
    provenance,
    rankings,
    ranks,
    resets,
    scores,
    solutions,
    support_sets,
    tuning,
)

# In reading order. A section that returns None is left out.
SECTIONS: tuple[Callable[[StudyView], Section | None], ...] = (
    ranks.section,
    ranks.significance,
    one_stream.section,
    rankings.section,
    rankings.groups,
    scores.metrics,
    scores.accuracy,
    scores.mistakes,
    curves.learning_curves,
    curves.latest_errors,
    curves.along_stream,
    resets.section,
    support_sets.section,
    cost.within_seconds,
    solutions.section,
    cost.section,
    data.section,
    tuning.section,
    provenance.failed,
    provenance.section,
)
