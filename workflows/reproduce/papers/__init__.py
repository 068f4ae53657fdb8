"""The papers, one module or folder each, by the name that the command uses."""

from __future__ import annotations

from collections.abc import Mapping

from ..paper import Paper
from . import arow, budget_mira, model_complexity, projectron, ramp_loss

PAPERS: Mapping[str, Paper] = {
    each.PAPER.name: each.PAPER for each in (arow, projectron, budget_mira, model_complexity, ramp_loss)
}
