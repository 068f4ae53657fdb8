"""What a paper is: the studies that repeat its experiments, its exhibits, and its claims as predicates."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ..report.page.blocks import Block
from .evidence import Evidence
from .verdicts import Check

# Blocks of a table or figure; it may raise `NotThere`.
Show: TypeAlias = Callable[[Evidence], Sequence[Block]]


@dataclass(frozen=True)
class PaperStudy:
    """A shipped study, and the one that stands for it where there are minutes.

    Attributes
    ----------
    full : str
    small : str or None
        None: there is none, and what needs it cannot be tested then.
    """

    full: str
    small: str | None = None


@dataclass(frozen=True)
class Exhibit:
    """A table or figure of the paper.

    Attributes
    ----------
    id : str
        Letters, digits and hyphens, such as "table-1".
    heading : str
        Such as "Table I: test accuracy and support vectors".
    show : callable
        Returns its blocks, in the paper's own layout, ours beside what is printed.
    """

    id: str
    heading: str
    show: Show


@dataclass(frozen=True)
class Paper:
    """A paper.

    Attributes
    ----------
    name : str
        Of the command's argument, and of the folder of what it prints.
    title : str
        Authors, title, year.
    studies : mapping of str to PaperStudy
        By what exhibits and checks call them: ``evidence["binary"]``.
    exhibits : sequence of Exhibit
        Every table and figure of its experiments, in its order.
    checks : mapping of str to callable
        By the id of each claim.
    remarks : sequence of (str, str)
        What a reader must know of the way it is repeated: opening words and a sentence each.
    """

    name: str
    title: str
    studies: Mapping[str, PaperStudy]
    exhibits: Sequence[Exhibit]
    checks: Mapping[str, Check]
    remarks: Sequence[tuple[str, str]] = ()
