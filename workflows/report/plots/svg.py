"""Matplotlib figures as SVG that fits a page: themed, deterministic, safe to put inline side by side.

Figures are drawn in units of CSS pixels (1 point of the figure = 1 px on the page). Colours in the drawing
are stand-ins: inline they become CSS variables, so that one picture serves a light and a dark page; in a file
of its own they become fixed colours on white.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .styles import PALETTE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Width and height of a panel in CSS pixels: as wide as a phone shows without shrinking the lettering; wide
# pages lay several side by side.
PANEL = (360.0, 260.0)

# Stand-ins that no palette contains.
INK = "#010203"
FAINT = "#040506"
_FIXED = {INK: "#1b1f24", FAINT: "#c4c9d0"}
_THEMED = {INK: "currentColor", FAINT: "var(--rule)"}


@contextmanager
def theme() -> Iterator[None]:
    """Set Matplotlib up for one figure, without touching the user's settings."""
    import matplotlib as mpl

    settings: Any = {
        "svg.fonttype": "none",
        "svg.hashsalt": "singlepass",
        # A "$" in a name is a dollar sign.
        "text.parse_math": False,
        "axes.formatter.use_mathtext": False,
        "axes.unicode_minus": True,
        "font.family": "sans-serif",
        "font.sans-serif": ["DejaVu Sans"],
        "font.size": 11,
        "axes.titlesize": 11,
        "axes.labelsize": 11,
        "xtick.labelsize": 10,
        "ytick.labelsize": 10,
        "text.color": INK,
        "axes.edgecolor": INK,
        "axes.labelcolor": INK,
        "axes.titlecolor": INK,
        "xtick.color": INK,
        "ytick.color": INK,
        "grid.color": FAINT,
        "grid.linewidth": 0.6,
        "axes.linewidth": 0.8,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.facecolor": "none",
        "figure.facecolor": "none",
        "savefig.facecolor": "none",
        "legend.frameon": False,
        "lines.linewidth": 1.6,
        "lines.markersize": 5,
    }
    with mpl.rc_context(), warnings.catch_warnings():
        mpl.rcdefaults()
        mpl.rcParams.update(settings)
        # The reader's browser has the glyphs; Matplotlib's own font only measures.
        warnings.filterwarnings("ignore", message=r"Glyph .* missing from font")
        yield


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of the given size in CSS pixels, without pyplot's global state."""
    from matplotlib.figure import Figure

    # The SVG backend draws 72 units to the inch.
    return Figure(figsize=(width / 72, height / 72), dpi=72)


def text_width(text: str, size: float = 11) -> float:
    """Width of a text in CSS pixels, in Matplotlib's own (wide) font."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    width, _, _ = text_to_path.get_text_width_height_descent(
        text, FontProperties(family="DejaVu Sans", size=size), ismath=False
    )
    return float(width)


def shorten(text: str, length: int = 26) -> str:
    """Cut a name that would push the picture off the page; tables print it whole."""
    text = " ".join(text.split())
    return text if len(text) <= length else text[: length - 1] + "…"


def draw(figure: Figure) -> str:
    """Return the figure as an SVG element, without XML prologue, size or date."""
    sink = io.StringIO()
    figure.savefig(sink, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    text = sink.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", text, count=1)
    text = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", text, count=1)
    return text.strip()


def size(svg: str) -> tuple[float, float]:
    """Return width and height of what `draw` returned, in CSS pixels."""
    found = re.search(r'viewBox="0 0 ([0-9.]+) ([0-9.]+)"', svg)
    if found is None:
        raise ValueError("SVG without a viewBox")
    return float(found[1]), float(found[2])


def _recolour(svg: str, colours: dict[str, str]) -> str:
    # Only within style declarations: a name in the picture may look like a colour.
    return re.sub(r"(?<=: )#[0-9a-f]{6}(?=[;\"])", lambda found: colours.get(found[0], found[0]), svg)


def _open(svg: str, attributes: str, title: str) -> str:
    from markupsafe import escape

    return svg.replace("<svg", f"<svg {attributes}", 1).replace(">", f"><title>{escape(title)}</title>", 1)


def _compact(svg: str) -> str:
    """Leave out what a page does not need: unused ids, digits, line breaks, repeated styles."""
    used = set(re.findall(r'(?:url\(|href=")#([^)"]+)', svg))
    svg = re.sub(r' id="([^"]+)"', lambda found: found[0] if found[1] in used else "", svg)

    def numbers(found: re.Match[str]) -> str:
        return " ".join(re.sub(r"\d+\.\d+", lambda number: f"{float(number[0]):.5g}", found[0]).split())

    svg = re.sub(r'(?<= )(d|x|y|transform)="[^"]*"', numbers, svg)
    # Within an element only: a break between words of a name is a blank.
    svg = re.sub(r">\s*\n\s*<", "><", svg)
    # Marks of one kind, one after the other: their style is inherited from a group as well.
    return re.sub(r'<use [^>]*? (style="[^"]*")/>(?:<use [^>]*? \1/>)+', _share_style, svg)


def _share_style(marks: re.Match[str]) -> str:
    style = marks[1]
    return f"<g {style}>{marks[0].replace(f' {style}', '')}</g>"


def inline(svg: str, prefix: str, title: str) -> str:
    """Make an SVG fit to stand in an HTML page: themed colours, its own ids, a title.

    Parameters
    ----------
    svg : str
        The outcome of `draw`.
    prefix : str
        Put before every id; unique on the page.
    title : str
        What the picture shows, for readers who cannot see it.

    Returns
    -------
    str
        The SVG element.
    """
    from markupsafe import escape

    svg = _compact(svg)
    themed = {light: f"var(--s{i})" for i, (light, _) in enumerate(PALETTE)}
    svg = _recolour(svg, {**themed, **_THEMED})
    svg = re.sub(r'\bid="([^"]+)"', rf'id="{prefix}-\1"', svg)
    svg = re.sub(r"url\(#([^)]+)\)", rf"url(#{prefix}-\1)", svg)
    svg = re.sub(r'href="#([^"]+)"', rf'href="#{prefix}-\1"', svg)
    # In HTML the namespace is known, and `xlink:` is out of date.
    svg = re.sub(r' xmlns(:xlink)?="[^"]*"', "", svg).replace("xlink:href", "href")
    width, _ = size(svg)
    # Grown or shrunk only so far that the lettering stays near the text's size; beyond, its box scrolls.
    limits = f"min-width:{0.85 * width:.0f}px;max-width:{1.45 * width:.0f}px"
    attributes = f'role="img" aria-label="{escape(title)}" style="{limits}"'
    return _open(svg, attributes, title)


def standalone(svg: str, title: str) -> str:
    """Make an SVG file: fixed colours on white, since a reader's page may be dark."""
    width, height = size(svg)
    svg = _recolour(svg, _FIXED)
    svg = _open(svg, f'width="{width:g}" height="{height:g}" role="img"', title)
    svg = svg.replace("</title>", '</title><rect width="100%" height="100%" fill="#ffffff"/>', 1)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{svg}\n'
