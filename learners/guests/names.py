"""Find learners outside this package by name: ``module:Class``, or ``vw`` for Vowpal Wabbit."""

from __future__ import annotations

import difflib
import importlib
import importlib.util
from typing import Any, NamedTuple

from .capymoa import as_named, is_classifier, leave_signals_to_python
from .kinds import lacking
from .returned import why_not_imported
from .versions import version_of
from .vowpal_wabbit import VowpalWabbit

VOWPAL_WABBIT = "vw"

# Optional packages by module, and the extra of singlepass that installs each.
EXTRAS = {"capymoa": "capymoa", "river": "river", "vowpalwabbit": "vw"}


class FoundGuest(NamedTuple):
    """A class found by its name, with its package.

    `cls` is None if its package is optional (`EXTRAS`) and not installed. `package` is the package's name
    and version (see `version_of`), since two versions may learn differently. `problem` says why the class
    cannot be used, or is "".
    """

    cls: type[Any] | None
    package: str
    problem: str = ""


def names_guest(name: str) -> bool:
    """Return whether a name is that of a class outside this package."""
    return name == VOWPAL_WABBIT or ":" in name


def find_guest(name: str, *, again: bool = False) -> FoundGuest:
    """Find a learner by its name: ``vw``, or ``module:Class``, as ``sklearn.linear_model:SGDClassifier``.

    The class is that of the module as last imported or reloaded. With `again`, files of a local module are
    read again. Raise ValueError, with one line, if there is no such package, module or class, if the class
    cannot learn along a stream, or if a file has changed since it was imported.
    """
    module_name, _, class_name = name.partition(":")
    if name == VOWPAL_WABBIT:
        module_name = "vowpalwabbit"
    top = module_name.partition(".")[0]
    if not all(part.isidentifier() for part in module_name.split(".")):
        raise ValueError(f"{name!r} names no class: write 'module:Class'")
    if importlib.util.find_spec(top) is None:
        if top not in EXTRAS:
            raise ValueError(f"module {top!r} is not installed")
        problem = f"{top} is not installed: pip install 'singlepass[{EXTRAS[top]}]'"
        return FoundGuest(None, f"{top} missing", problem)
    if name == VOWPAL_WABBIT:
        importlib.import_module(top)
        return FoundGuest(VowpalWabbit, version_of({top}, again=again))
    # A module of the user's may import CapyMOA, too.
    leave_signals_to_python()
    try:
        module = importlib.import_module(module_name)
    except (Exception, SystemExit) as error:
        # Any error is possible: CapyMOA, for example, looks for Java when it is imported. Only the first line
        # of its message is used.
        raise ValueError(f"module {module_name!r} cannot be imported: {why_not_imported(error)}") from None
    found: Any = module
    for part in class_name.split("."):
        found = getattr(found, part, None)
    if not isinstance(found, type):
        classes = [name for name, each in vars(module).items() if isinstance(each, type)]
        near = difflib.get_close_matches(class_name, classes, n=1)
        hint = f": did you mean {near[0]!r}?" if near else ""
        raise ValueError(f"module {module_name!r} has no class {class_name!r}{hint}")
    if top == "capymoa":
        if not is_classifier(found):
            raise ValueError(
                f"{class_name} is no classifier of CapyMOA: name one, as in 'capymoa.classifier:NaiveBayes'"
            )
        found = as_named(found)
    if problem := lacking(found):
        raise ValueError(problem)
    return FoundGuest(found, version_of({top}, again=again))
