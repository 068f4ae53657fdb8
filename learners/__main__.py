"""Write the table of learners in a README anew: ``python -m singlepass.learners README.md``."""

import sys
from pathlib import Path

from .table import TABLE

_BEGIN, _END = "<!-- learners -->\n", "<!-- end of learners -->\n"


def readme_table() -> str:
    """Return the table of learners in Markdown."""
    lines = ["| learner | from | parameters | classes | kind |", "|---|---|---|---|---|"]
    lines += [
        f"| `{row.name}` | {row.source} | {row.parameters} | {row.classes} | {row.kind} |" for row in TABLE
    ]
    return "\n".join(lines) + "\n"


def with_table(text: str) -> str:
    """Return the text of a README with the table between its two markers written anew.

    Raises
    ------
    ValueError
        When it has no markers.
    """
    before, begin, rest = text.partition(_BEGIN)
    _, end, after = rest.partition(_END)
    if not (begin and end):
        raise ValueError(f"no place for the table: between the lines {_BEGIN.strip()} and {_END.strip()}")
    return before + begin + readme_table() + end + after


if __name__ == "__main__":
    for path in map(Path, sys.argv[1:]):
        path.write_text(with_table(path.read_text("utf-8")), "utf-8")
