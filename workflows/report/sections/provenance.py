"""Report the run itself: cells without a result, how the results were produced, and how to reproduce them."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd
import tomli_w

from ....pipeline.analysis.failures import failures
from ..page.blocks import Block, Code, Folded, Section
from ..page.table import tabulate
from ..page.view import StudyView

_TRACEBACKS = 5


def failed(view: StudyView) -> Section | None:
    """List cells that failed or were stopped, with the reason; return None if there are none."""
    bad = view.cells[view.cells["status"] != "ok"]
    if bad.empty:
        return None
    rows = [
        (each.algorithm, each.status, f"{each.cells:,}", each.where, each.error) for each in failures(bad)
    ]
    header = ["algorithm", "status", "cells", "data sets", "error of the first"]
    title = "Cells that failed or were stopped at their time limit"
    table = tabulate(pd.DataFrame(rows, columns=header), "failed", title, labels=5, wrap=True)
    raised = bad[(bad["status"] == "failed") & bad["traceback"].notna()].drop_duplicates("traceback")
    tracebacks = [
        Folded(
            f"Traceback: {row['dataset']}, {row['algorithm']}", [Code(str(row["traceback"]))], page_only=True
        )
        for row in raised.head(_TRACEBACKS).to_dict("records")
    ]
    return Section("failed", "Failed and stopped cells", [table, *tracebacks])


def section(view: StudyView) -> Section:
    """Print the commands that were run, the versions and machine, and the study."""
    study, provenance = view.results.study, view.results.provenance
    blocks: list[Block] = [Code(_commands(study, provenance))]
    if provenance:
        shown = {key: each for key, each in provenance.items() if key not in ("command", "commands")}
        rows = list(_flat("", shown))
        frame = pd.DataFrame(rows, columns=["", ""])
        blocks.append(tabulate(frame, "", "Versions, machine, times", labels=2, show="folded", wrap=True))
    blocks.append(Folded("The study as it was run, to copy", [Code(as_toml(study))], page_only=True))
    return Section("provenance", "Provenance and how to reproduce", blocks)


def as_toml(study: Mapping[str, Any]) -> str:
    """Return a study as the text of a study file, without keys that are not set."""

    def given(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {
                key: given(each) for key, each in value.items() if each is not None and each not in ([], {})
            }
        # TOML has no null, which a list of values in Python may contain: show it as text.
        return (
            [given(each) for each in value] if isinstance(value, list) else "None" if value is None else value
        )

    return tomli_w.dumps(given(study))


def _commands(study: Mapping[str, Any], provenance: Mapping[str, Any]) -> str:
    """Return the command lines of all runs, in the order of the store; a run in Python is a comment."""
    name = shlex.quote(str(study.get("name", "STUDY")))
    python = (
        f"# {name} was run in Python: singlepass.workflows.run(study, out=FOLDER)\nsinglepass report FOLDER"
    )
    found = provenance.get("commands") or [provenance.get("command")]
    texts = [each.strip() if isinstance(each, str) else "" for each in found]
    return "\n".join(dict.fromkeys(text or python for text in texts))


def _flat(prefix: str, value: Any) -> Iterator[tuple[str, str | None]]:
    """Yield the name and the text of each value in a nested mapping, with names such as "outer.inner"."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _flat(f"{prefix}.{key}" if prefix else str(key), inner)
    elif isinstance(value, list | tuple):
        yield prefix, ", ".join(map(str, value))
    else:
        yield prefix, None if value is None else str(value)
