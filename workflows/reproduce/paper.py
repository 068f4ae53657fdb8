"""What a paper is: the studies that repeat its experiments, its exhibits, and its claims as predicates."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ..report.page.blocks import Block
from .evidence import Evidence
from .verdicts import Check

# Returns the blocks of a table or figure; may raise `NotThere`.
Show: TypeAlias = Callable[[Evidence], Sequence[Block]]


@dataclass(frozen=True)
class PaperStudy:
    """A shipped study and its small form, which runs in minutes; None if there is no small form."""

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
        Returns its blocks, in the paper's own layout, with our numbers next to the printed ones.
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
        The argument of the command, and the folder of its printed numbers.
    title : str
        Authors, title, year.
    studies : mapping of str to PaperStudy
        By the name that exhibits and checks use: ``evidence["binary"]``.
    exhibits : sequence of Exhibit
        Every table and figure of its experiments, in the paper's order.
    checks : mapping of str to callable
        By the id of each claim.
    remarks : sequence of (str, str)
        What a reader must know about the repetition: opening words and a sentence each.
    """

    name: str
    title: str
    studies: Mapping[str, PaperStudy]
    exhibits: Sequence[Exhibit]
    checks: Mapping[str, Check]
    remarks: Sequence[tuple[str, str]] = ()
