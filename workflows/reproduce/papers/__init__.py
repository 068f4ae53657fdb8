"""The papers, a module or a folder each, by the name that the command knows them under."""

from __future__ import annotations

from collections.abc import Mapping

from ..paper import Paper
from . import model_complexity

PAPERS: Mapping[str, Paper] = {each.name: each for each in (model_complexity.PAPER,)}
