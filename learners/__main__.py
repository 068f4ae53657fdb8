"""Write ``learners/__init__.pyi``, which type checkers read: ``python -m singlepass.learners``."""

from pathlib import Path

from .table import MODULES

STUB = Path(__file__).with_name("__init__.pyi")


def stub() -> str:
    """Return the text of ``__init__.pyi``: every public name, imported from its module."""
    lines = ["# Written from the table of learners: python -m singlepass.learners"]
    named = sorted((module, name) for name, module in MODULES.items())
    lines += [f"from {module} import {name} as {name}" for module, name in named]
    # In ruff's order: acronyms, other classes, functions.
    names = sorted(MODULES, key=lambda name: (not name.isupper(), name.islower(), name))
    lines += ["", "__all__ = [", *(f'    "{name}",' for name in names), "]"]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    STUB.write_text(stub(), "utf-8")
