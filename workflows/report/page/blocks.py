"""What a report is made of: sections with a heading and blocks, which templates print one after the other.

A `TableBlock` is a block too. Blocks know nothing of HTML or Markdown; how one of each kind is printed is a
macro of that name in the templates.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from ..plots.svg import size, standalone
from .table import TableBlock


@dataclass(frozen=True)
class Text:
    """A paragraph; its role says how loud it is."""

    kind: ClassVar[str] = "text"
    text: str
    role: Literal["plain", "lead", "soft", "note"] = "plain"


@dataclass(frozen=True)
class Heading:
    """A heading within a section."""

    kind: ClassVar[str] = "heading"
    text: str


@dataclass(frozen=True)
class Listing:
    """A list of sentences, each with its opening words in bold (or none); `warning` sets it apart."""

    kind: ClassVar[str] = "listing"
    items: Sequence[tuple[str, str]]
    warning: bool = False


@dataclass(frozen=True)
class Facts:
    """Names with their values, as tiles."""

    kind: ClassVar[str] = "facts"
    items: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Picture:
    """One drawing.

    Attributes
    ----------
    title : str
        What it shows, for readers who cannot see it.
    heading : str
        Printed above it.
    svg : str
        As `plots.svg.draw` returns it.
    file : str
        Relative name of its file; empty when it is shown in the page only.
    sheet : str
        SVG of the file where it differs, such as by a legend that the page has beside the drawing.
    """

    kind: ClassVar[str] = "picture"
    title: str
    heading: str
    svg: str
    file: str = ""
    sheet: str = ""

    @property
    def width(self) -> float:
        """Width in CSS pixels."""
        return size(self.svg)[0]

    @property
    def content(self) -> str:
        """The text of its file."""
        return standalone(self.sheet or self.svg, self.title)


@dataclass(frozen=True)
class Panels:
    """Drawings side by side, as many to a row as there is room for.

    Attributes
    ----------
    pictures : sequence of Picture
        In reading order.
    sheet : Picture or None
        All of them in one file, which Markdown shows in their place; None: each has a file of its own.
    roomy : bool
        Whether they are rather grown than shrunk to fill a row.
    """

    kind: ClassVar[str] = "panels"
    pictures: Sequence[Picture]
    sheet: Picture | None = None
    roomy: bool = False

    @property
    def least_width(self) -> int:
        """The least width of a panel in CSS pixels: a phone's, or what keeps its lettering readable."""
        widest = max(picture.width for picture in self.pictures)
        return round(max(320.0, widest * (1.1 if self.roomy else 0.88)))


@dataclass(frozen=True)
class Legend:
    """Names with the mark (SVG) of each; only a page needs it, drawings in files have their own."""

    kind: ClassVar[str] = "legend"
    entries: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Column:
    """Blocks below each other in `Columns`; a wide one takes the room that the others leave."""

    blocks: Sequence[Block]
    wide: bool = False


@dataclass(frozen=True)
class Columns:
    """Blocks side by side where there is room."""

    kind: ClassVar[str] = "columns"
    columns: Sequence[Column]


@dataclass(frozen=True)
class Folded:
    """Blocks that the page shows on demand; those of `page_only` are too long for Markdown."""

    kind: ClassVar[str] = "folded"
    summary: str
    blocks: Sequence[Block]
    page_only: bool = False


@dataclass(frozen=True)
class Code:
    """Text as it was typed or printed."""

    kind: ClassVar[str] = "code"
    text: str


Block: TypeAlias = (
    Text | Heading | Listing | Facts | TableBlock | Picture | Panels | Legend | Columns | Folded | Code
)


@dataclass(frozen=True)
class Section:
    """A part of the report under a heading.

    Attributes
    ----------
    id : str
        Where the page's contents lead to.
    heading : str
    blocks : sequence of Block
        In reading order.
    """

    id: str
    heading: str
    blocks: Sequence[Block]


def walk(blocks: Iterable[Block]) -> Iterator[Block]:
    """Yield blocks and all those inside them, in reading order.

    Parameters
    ----------
    blocks : iterable of Block

    Yields
    ------
    Block
    """
    for block in blocks:
        yield block
        if isinstance(block, Columns):
            for column in block.columns:
                yield from walk(column.blocks)
        elif isinstance(block, Folded):
            yield from walk(block.blocks)
        elif isinstance(block, Panels):
            yield from [*block.pictures, *([block.sheet] if block.sheet else [])]


def files(blocks: Iterable[Block]) -> Iterator[tuple[str, str]]:
    """Yield relative name and text of every file that tables and drawings have.

    Parameters
    ----------
    blocks : iterable of Block
        Those of all sections, or of some.

    Yields
    ------
    tuple of str
        Name, below the report's folder, and text.
    """
    for block in walk(blocks):
        if isinstance(block, Picture) and block.file:
            yield block.file, block.content
        elif isinstance(block, TableBlock) and block.name:
            yield f"tables/{block.name}.csv", block.to_csv()
            if block.typeset:
                yield f"tables/{block.name}.tex", block.to_latex()
