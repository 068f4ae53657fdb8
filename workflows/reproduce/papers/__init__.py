"""The papers, a module or a folder each, by the name that the command knows them under."""

from __future__ import annotations

from collections.abc import Mapping

from ..paper import Paper
from .budget_mira import PAPER as BUDGET_MIRA
from .projectron import PAPER as PROJECTRON

PAPERS: Mapping[str, Paper] = {paper.name: paper for paper in (PROJECTRON, BUDGET_MIRA)}
