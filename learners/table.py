"""Read ``table.toml``, which has a row for each learner: a new one needs a file, a row and a test case.

The rows give the public names of `singlepass.learners`, the names that a study can use, the table in
``docs/learners.md`` and the names that type checkers read (``python -m singlepass.workflows.pages docs`` and
``python -m singlepass.learners`` write these). A learner's module is imported when the learner is first used.
"""

import functools
import importlib
import inspect
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

# Parameters of all learners, and of all kernel learners.
_OF_ALL = ("epochs", "kernel", "gamma", "degree", "coef0")


@dataclass(frozen=True)
class Row:
    """A learner's entry in the table, which can be read without importing the learner's module."""

    name: str
    #: The module of the learner's class, relative to this package or absolute.
    module: str
    #: "features" learners are linear in features that approximate a kernel, and have no support set; a
    #: "baseline" reads labels only; "batch" learners are fitted to the whole training part at once and
    #: predict nothing along the stream; a "strategy" wraps another learner.
    kind: Literal["linear", "kernel", "features", "svm", "baseline", "batch", "strategy"]
    classes: Literal["two", "many"]
    #: Origin, for the table in docs/learners.md.
    source: str
    #: What the table says about the parameters if it says more than their names.
    about_parameters: str = ""
    #: The learner's earlier name, if it was renamed after results were stored; stored results keep that name.
    stored_as: str = ""

    @property
    def is_public(self) -> bool:
        """Whether users import the learner from `singlepass.learners`."""
        return self.module.startswith(".")

    @property
    def parameters(self) -> str:
        """The learner's parameters for the docs, without those that all learners of its kind have."""
        if self.about_parameters:
            return self.about_parameters
        names = [name for name in inspect.signature(self.load()).parameters if name not in _OF_ALL]
        return ", ".join(f"`{name}`" for name in names)

    def load(self) -> Any:
        """Import and return the class."""
        return _load(self.module, self.name)


@functools.cache
def _load(module: str, name: str) -> Any:
    # The result is cached, because every run of a study calls this function.
    return getattr(importlib.import_module(module, __package__), name)


#: All learners, in the order of ``docs/learners.md``.
TABLE = tuple(
    Row(**row | {"name": name, "kind": kind})
    for kind, rows in tomllib.loads(Path(__file__).with_name("table.toml").read_text("utf-8")).items()
    for name, row in rows.items()
)

#: The rows of the table by learner name, and the names of all learners that a study can use.
ROWS = {row.name: row for row in TABLE}
NAMES = tuple(row.name for row in TABLE if row.kind != "strategy")
