"""Define the sections of a report and their blocks, such as paragraphs, lists and drawings.

A block contains no HTML or Markdown: the HTML and the Markdown template each have a macro that prints blocks
of its class. Tables are blocks too (`TableBlock` in `table.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ..plots.svg import size, standalone
from .table import TableBlock


@dataclass(frozen=True)
class Text:
    """A paragraph of a report; `role` selects how strongly it is emphasized."""

    text: str
    role: Literal["plain", "lead", "soft", "note"] = "plain"


@dataclass(frozen=True)
class Heading:
    """A heading within a section."""

    text: str


@dataclass(frozen=True)
class Listing:
    """A bulleted list of (words to print in bold or "", sentence); `warning` shows it as a warning box."""

    items: Sequence[tuple[str, str]]
    warning: bool = False


@dataclass(frozen=True)
class Facts:
    """Key figures of a study as pairs (name, value), which the page shows as tiles."""

    items: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Picture:
    """One drawing of a report, with its texts and its file."""

    # Description for readers who cannot see the drawing.
    title: str
    # Text printed above the drawing.
    heading: str
    # The drawing as SVG; its placeholder colors are replaced when it is written (see `plots/svg.py`).
    svg: str
    # Name of the drawing's file, relative to the report's folder; empty if only the page shows the drawing.
    file: str = ""
    # SVG for the file if it differs from `svg`, for example because it includes a legend; otherwise empty.
    sheet: str = ""

    @property
    def width(self) -> float:
        """Return the drawing's width in CSS pixels."""
        return size(self.svg)[0]

    @property
    def content(self) -> str:
        """Return the text of the drawing's SVG file."""
        return standalone(self.sheet or self.svg, self.title)


@dataclass(frozen=True)
class Panels:
    """Drawings to show side by side, as many to a row as fit."""

    pictures: Sequence[Picture]
    # All drawings in one picture, which is written to a file and shown by Markdown; with None each drawing
    # has its own file.
    sheet: Picture | None = None
    # Whether drawings are enlarged rather than shrunk to fill a row.
    roomy: bool = False

    @property
    def least_width(self) -> int:
        """Return a panel's least width in CSS pixels: 320 (a phone), or more if text would be too small."""
        widest = max(picture.width for picture in self.pictures)
        return round(max(320.0, widest * (1.1 if self.roomy else 0.88)))


@dataclass(frozen=True)
class Legend:
    """A legend of pairs (name, mark as SVG) that only HTML shows; drawings in files have their own."""

    entries: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Column:
    """One column of a `Columns` block; its blocks are below each other. `wide`: it takes the space left."""

    blocks: Sequence[Block]
    wide: bool = False


@dataclass(frozen=True)
class Columns:
    """Columns of blocks to show side by side if there is space."""

    columns: Sequence[Column]


@dataclass(frozen=True)
class Folded:
    """Blocks that the page hides until a reader opens `summary`; Markdown omits them if `page_only`."""

    summary: str
    blocks: Sequence[Block]
    page_only: bool = False


@dataclass(frozen=True)
class Code:
    """Text to print verbatim, such as a command or a study file."""

    text: str


Block: TypeAlias = (
    Text | Heading | Listing | Facts | TableBlock | Picture | Panels | Legend | Columns | Folded | Code
)


@dataclass(frozen=True)
class Section:
    """A part of the report under a heading; `id` is the anchor for the table of contents."""

    id: str
    heading: str
    blocks: Sequence[Block]


def walk(blocks: Iterable[Block]) -> Iterator[Block]:
    """Yield the given blocks and all blocks nested in them, in reading order."""
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
    """Yield the name, relative to the report's folder, and the text of every file of tables and drawings."""
    for block in walk(blocks):
        if isinstance(block, Picture) and block.file:
            yield block.file, block.content
        elif isinstance(block, TableBlock) and block.name:
            yield f"tables/{block.name}.csv", block.to_csv()
            if block.typeset:
                yield f"tables/{block.name}.tex", block.to_latex()
