"""The papers, one module or folder each, and our own studies, by the name that the command uses."""

from __future__ import annotations

from collections.abc import Mapping

from ..paper import Paper
from . import arow, budget_mira, model_complexity, own_studies, projectron, ramp_loss

# Pages of our own studies, whose claims are not counted among those of papers.
OWN: Mapping[str, Paper] = own_studies.OWN
PAPERS: Mapping[str, Paper] = {
    each.PAPER.name: each.PAPER for each in (arow, projectron, budget_mira, model_complexity, ramp_loss)
}
