"""List the functions that make the sections of a report from a `StudyView` (a study's results).

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

# The functions in the order of their sections in the report. A section is left out if its function returns
# None.
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
