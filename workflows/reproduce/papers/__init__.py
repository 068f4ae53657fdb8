"""All papers, and our own studies that make claims, by their names on the command line."""

from __future__ import annotations

from collections.abc import Mapping

from ..paper import Paper
from . import arow, budget_mira, model_complexity, own_studies, projectron, ramp_loss

# Our own studies that make claims; their claims are counted apart from the papers' claims.
OWN: Mapping[str, Paper] = own_studies.OWN
PAPERS: Mapping[str, Paper] = {
    each.PAPER.name: each.PAPER for each in (arow, projectron, budget_mira, model_complexity, ramp_loss)
}
