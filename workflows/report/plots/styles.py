"""Colour, mark and dash of every algorithm: the same in all pictures of a report."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

# (on white, on the dark page): chosen by search so that any two stay apart by at least 0.12 in OKLab for
# normal, deuteranopic and protanopic sight, with a contrast of at least 3:1 to the page and kindred hues in
# both modes.
PALETTE = (
    ("#268bfc", "#c0e8fd"),
    ("#b01003", "#e56f17"),
    ("#1b2874", "#557ea8"),
    ("#d8662a", "#feb354"),
    ("#226873", "#30c0f8"),
    ("#65001c", "#d5305f"),
    ("#5941c2", "#8e6ffb"),
    ("#878c99", "#b4a3a2"),
)
MARKERS = "os^Dv<>pPXh*"
DASHES: tuple[str, ...] = ("-", "--", "-.", ":")

_VARIANT = re.compile(r"(?P<family>.*\S)[\s_-]+\(?(?P<variant>full|diag|diagonal)\)?")


class Style(NamedTuple):
    """How one algorithm is drawn."""

    colour: str
    marker: str
    dash: str


# Of all algorithms of a study, in its order: made once a report and given to every plot.
Styles: TypeAlias = Mapping[str, Style]


def _family(name: str) -> tuple[str, bool]:
    """Split the label of a full or diagonal version into its family's name and whether it is the full one."""
    found = _VARIANT.fullmatch(name)
    return (name, False) if found is None else (found["family"], found["variant"] == "full")


def styles_of(algorithms: Sequence[str]) -> Styles:
    """Return the style of every algorithm of a study.

    Parameters
    ----------
    algorithms : sequence of str
        All labels, in the study's order.

    Returns
    -------
    Styles
        In the same order. Labels that end in "full" and "diagonal" (or "diag") and are equal otherwise share
        colour and mark; the full version is dashed. All others differ in colour as long as colours last, and
        always in mark or dash.

    Examples
    --------
    >>> full, diagonal, other = styles_of(["AROW full", "AROW diagonal", "PA"]).values()
    >>> full.colour == diagonal.colour != other.colour, full.dash, diagonal.dash
    (True, '--', '-')
    """
    split = [_family(name) for name in algorithms]
    versions = {family: {full for other, full in split if other == family} for family, _ in split}
    paired = {family for family, found in versions.items() if len(found) == 2}
    keys = [family if family in paired else name for name, (family, _) in zip(algorithms, split, strict=True)]
    places = {key: place for place, key in enumerate(dict.fromkeys(keys))}
    styles = {}
    for name, key, (_, full) in zip(algorithms, keys, split, strict=True):
        place = places[key]
        cycle = place // len(PALETTE)
        # Where versions are told apart by dashes, a second round of colours takes the next two.
        dash = 2 * cycle + (full and key in paired) if paired else cycle
        colour = PALETTE[place % len(PALETTE)][0]
        styles[name] = Style(colour, MARKERS[place % len(MARKERS)], DASHES[dash % len(DASHES)])
    return styles
