"""Learners that are not there: of a package that is missing, or classes of plug-in files that are none."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence

from ...learners import registry
from ...learners.guests.given import find_given
from ..errors import InputError
from .learner_factory import ResolvedLearner, resolve_learner
from .study import Study


def known_learners(study: Study) -> dict[str, ResolvedLearner]:
    """Return the learners of a study's algorithms by their labels, but for names that are unknown."""
    found = {}
    for each in study.algorithms:
        with contextlib.suppress(InputError):
            found[each.label] = resolve_learner(each.name)
    return found


def missing_learners(learners: Mapping[str, ResolvedLearner]) -> list[str]:
    """Say of which algorithms no cell can be computed, a line each: the others go on without them.

    Parameters
    ----------
    learners : mapping of str to ResolvedLearner
        By label.

    Returns
    -------
    list of str
    """
    return [
        f"algorithm {label!r}: {learner.problem}; its cells are marked failed"
        for label, learner in learners.items()
        if learner.problem
    ]


def left_out(plugins: Sequence[str]) -> list[str]:
    """Say which classes of plug-in files (loaded ones) are no learners although they predict or learn."""
    return [
        f"plugin file {path}: left out: {reason}"
        for path in plugins
        for reason in registry.left_out(path).values()
    ]


def refuse_left_out(study: Study, plugins: Sequence[str]) -> None:
    """Refuse an algorithm that is a class of a plug-in file and no learner.

    Parameters
    ----------
    study : Study
    plugins : sequence of str
        Files that have been loaded.

    Raises
    ------
    InputError
    """
    for plugin in plugins:
        reasons = registry.left_out(plugin)
        for algorithm in study.algorithms:
            if algorithm.name in reasons:
                reason = reasons[algorithm.name]
                raise InputError(f"algorithm {algorithm.label!r}: plugin file {plugin}: {reason}")


def refuse_changed(study: Study) -> None:
    """Refuse an object or class of a notebook whose code has changed since the study was made."""
    for algorithm in study.algorithms:
        given = find_given(algorithm.name)
        if given is not None and given.changed:
            raise InputError(
                f"algorithm {algorithm.label!r}: code or values that it uses have changed since the study "
                "was made: make the Study again"
            )
