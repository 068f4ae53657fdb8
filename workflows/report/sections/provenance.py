"""Report where, when and with what the results were produced, and the command to reproduce them."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import Any

from ..page.blocks import Block, Code, Folded, Section
from ..page.table import TableBlock, TableCell
from ..page.view import StudyView


def section(view: StudyView) -> Section:
    """Print the command, the versions and the study."""
    study, provenance = view.results.study, view.results.provenance
    blocks: list[Block] = [Code(_command(study, provenance))]
    if provenance:
        blocks.append(_provenance_table({key: each for key, each in provenance.items() if key != "command"}))
    whole = json.dumps(study, indent=2, ensure_ascii=False)
    blocks.append(Folded("The study as it was run", [Code(whole)], page_only=True))
    return Section("provenance", "Provenance and how to reproduce", blocks)


def _command(study: Mapping[str, Any], provenance: Mapping[str, Any]) -> str:
    """Return the command line of the latest run, or a comment if it was run in Python."""
    command = provenance.get("command")
    if isinstance(command, str) and command.strip():
        return command.strip()
    name = shlex.quote(str(study.get("name", "STUDY")))
    return (
        f"# {name} was run in Python: singlepass.workflows.run(study, out=FOLDER)\nsinglepass report FOLDER"
    )


def _provenance_table(provenance: Mapping[str, Any]) -> TableBlock:
    """Tabulate where, when and with what the results were produced; nested entries get dotted names."""
    rows: list[list[TableCell]] = []

    def add(prefix: str, value: Any) -> None:
        if isinstance(value, Mapping):
            for key, inner in value.items():
                add(f"{prefix}.{key}" if prefix else str(key), inner)
        elif isinstance(value, list | tuple):
            rows.append([TableCell(prefix), TableCell(", ".join(str(item) for item in value))])
        else:
            rows.append([TableCell(prefix), TableCell("–" if value is None else str(value))])

    add("", provenance)
    title = "Versions, machine, times"
    return TableBlock("", title, header=["", ""], rows=rows, labels=2, show="folded", wrap=True)
