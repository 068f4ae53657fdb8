"""The papers, a module or a folder each, by the name that the command knows them under."""

from __future__ import annotations

from collections.abc import Mapping

from ..paper import Paper
from . import arow

PAPERS: Mapping[str, Paper] = {arow.PAPER.name: arow.PAPER}
