"""Write what is made from the table of learners anew: ``python -m singlepass.learners README.md``.

That is the table in the README, and what type checkers read of this package.
"""

import sys
from pathlib import Path

from .table import MODULES, TABLE

STUB = Path(__file__).with_name("__init__.pyi")

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

    Parameters
    ----------
    text : str

    Returns
    -------
    str

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


def stub() -> str:
    """Return the text of ``__init__.pyi``: every public name, imported from where it is."""
    lines = ["# Written from the table of learners: python -m singlepass.learners README.md"]
    named = sorted((module, name) for name, module in MODULES.items())
    lines += [f"from {module} import {name} as {name}" for module, name in named]
    # In ruff's order: acronyms, other classes, functions.
    names = sorted(MODULES, key=lambda name: (not name.isupper(), name.islower(), name))
    lines += ["", "__all__ = [", *(f'    "{name}",' for name in names), "]"]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    for path in map(Path, sys.argv[1:]):
        path.write_text(with_table(path.read_text("utf-8")), "utf-8")
    STUB.write_text(stub(), "utf-8")
