"""Generate tables of docs/learners.md and docs/studies.md: `python -m singlepass.workflows.pages docs`."""

from __future__ import annotations

import sys
from pathlib import Path

from ..learners.table import TABLE
from .report.words.markup import markdown, with_block
from .shipped import find_study, shipped_studies


def learners_table() -> str:
    """Return the table of learners in Markdown."""
    lines = ["| learner | from | parameters | classes | kind |", "|---|---|---|---|---|"]
    lines += [
        f"| `{row.name}` | {row.source} | {row.parameters} | {row.classes} | {row.kind} |" for row in TABLE
    ]
    return "\n".join([*lines, ""])


def studies_table() -> str:
    """Return the table of shipped studies in Markdown."""
    lines = ["| study | title | what it runs |", "|---|---|---|"]
    for name in shipped_studies():
        study, _ = find_study(name)
        lines.append(f"| `{name}` | {markdown(study.title or name)} | {markdown(study.description)} |")
    return "\n".join([*lines, ""])


# For each page of docs/, by its name: the function that makes its table. The marked block of the page that
# contains the table has the same name.
PAGES = {"learners": learners_table, "studies": studies_table}


def written(docs: Path, page: str) -> str:
    """Return the text of a page with its table regenerated."""
    return with_block((docs / f"{page}.md").read_text("utf-8"), page, PAGES[page]())


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    for name in PAGES:
        (folder / f"{name}.md").write_text(written(folder, name), "utf-8")
