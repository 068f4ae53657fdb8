"""Write ``learners/__init__.pyi``, which type checkers read: ``python -m singlepass.learners``."""

from pathlib import Path

from .public import MODULES

STUB = Path(__file__).with_name("__init__.pyi")


def stub() -> str:
    """Return the text of ``__init__.pyi``: every public name, imported from its module."""
    lines = ["# Written from the table of learners: python -m singlepass.learners"]
    # Names are sorted as the formatter ruff sorts them: acronyms, other classes, functions; the names of a
    # module regardless of upper and lower case.
    order = {name: (not name.isupper(), name.islower(), name) for name in MODULES}
    named = sorted(
        ((module, name) for name, module in MODULES.items()),
        key=lambda each: (each[0], *order[each[1]][:2], each[1].casefold()),
    )
    lines += [f"from {module} import {name} as {name}" for module, name in named]
    names = sorted(MODULES, key=lambda name: order[name])
    lines += ["", "__all__ = [", *(f'    "{name}",' for name in names), "]"]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    STUB.write_text(stub(), "utf-8")
