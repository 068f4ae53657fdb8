"""The papers, a module or a folder each, by the name that the command knows them under."""

from __future__ import annotations

from collections.abc import Mapping

from ..paper import Paper

PAPERS: Mapping[str, Paper] = {}
