"""Matplotlib figures as SVG that fits a page: themed, deterministic, safe to put inline side by side.

Figures are drawn in units of CSS pixels (1 point of the figure = 1 px on the page). Colours in the drawing
are stand-ins: inline they become CSS variables, so that one picture serves a light and a dark page; in a file
of its own they become fixed colours on white.
"""

from __future__ import annotations

import io
import itertools
import re
import warnings
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
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
FAINT_ON_WHITE = "#c4c9d0"
_FIXED = {INK: "#1b1f24", FAINT: FAINT_ON_WHITE}
_THEMED = {INK: "currentColor", FAINT: "var(--rule)"} | {
    light: f"var(--s{i})" for i, (light, _) in enumerate(PALETTE)
}
_SVG, _XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"


@contextmanager
def theme(*, faint: str = FAINT, lettering: float = 11) -> Iterator[None]:
    """Set Matplotlib up for one figure, without touching the user's settings.

    Parameters
    ----------
    faint : str, default=FAINT
        Colour of grids: a stand-in, or that of a figure that is shown as it is drawn.
    lettering : float, default=11
        Size of text in points; numbers on axes are a tenth smaller.
    """
    import matplotlib as mpl

    settings: Any = {
        "svg.fonttype": "none",
        "svg.hashsalt": "singlepass",
        # Titles stay where they are put; room for them is not looked for.
        "axes.titley": 1.0,
        # A "$" in a name is a dollar sign.
        "text.parse_math": False,
        "axes.formatter.use_mathtext": False,
        "axes.unicode_minus": True,
        "font.family": "sans-serif",
        "font.sans-serif": ["DejaVu Sans"],
        "font.size": lettering,
        "axes.titlesize": lettering,
        "axes.labelsize": lettering,
        "xtick.labelsize": 10 / 11 * lettering,
        "ytick.labelsize": 10 / 11 * lettering,
        "text.color": INK,
        "axes.edgecolor": INK,
        "axes.labelcolor": INK,
        "axes.titlecolor": INK,
        "xtick.color": INK,
        "ytick.color": INK,
        "grid.color": faint,
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


def resize(figure: Figure, width: float, height: float) -> None:
    """Give a figure another size in CSS pixels."""
    figure.set_size_inches(width / 72, height / 72)


@cache
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
    # XML has no place for control characters.
    text = " ".join("".join(each if each.isprintable() else " " for each in text).split())
    return text if len(text) <= length else text[: length - 1] + "…"


def draw(figure: Figure) -> str:
    """Return the figure as an SVG element, without XML prologue and date."""
    sink = io.StringIO()
    figure.savefig(sink, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    text = sink.getvalue()
    return text[text.index("<svg") :].strip()


def parse(svg: str) -> ET.Element:
    """Return the tree of what `draw` returned, its names without namespaces."""
    root = ET.fromstring(svg)
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        if (target := element.attrib.pop(f"{{{_XLINK}}}href", None)) is not None:
            element.set("xlink:href", target)
    return root


def write(root: ET.Element) -> str:
    """Return a tree as text that `parse` takes."""
    root.attrib |= {"xmlns": _SVG, "xmlns:xlink": _XLINK}
    return ET.tostring(root, encoding="unicode")


def size(svg: str) -> tuple[float, float]:
    """Return width and height of what `draw` returned, in CSS pixels."""
    _, root = next(ET.iterparse(io.StringIO(svg), events=("start",)))
    return _size(root)


def _size(root: ET.Element) -> tuple[float, float]:
    _, _, width, height = root.attrib["viewBox"].split()
    return float(width), float(height)


def _bare(svg: str, title: str) -> ET.Element:
    """Return the tree without size and metadata, with a title for readers who cannot see the picture."""
    root = parse(svg)
    for name in ("width", "height", "version"):
        root.attrib.pop(name, None)
    for metadata in root.findall("metadata"):
        root.remove(metadata)
    root.set("role", "img")
    ET.SubElement(root, "title").text = title
    root[:] = [root[-1], *root[:-1]]
    return root


def _recolour(root: ET.Element, colours: Mapping[str, str]) -> None:
    # Only within style declarations: a name in the picture may look like a colour.
    for element in root.iter():
        if style := element.get("style"):
            pairs = (each.partition(":") for each in style.split(";"))
            declared = [(name.strip(), value.strip()) for name, _, value in pairs if value]
            element.set(
                "style", "; ".join(f"{name}: {colours.get(value, value)}" for name, value in declared)
            )


def shortened(numbers: str, form: str = ".5g") -> str:
    """Write the numbers of a path or of a transformation in fewer digits.

    Examples
    --------
    >>> shortened("M 1.234567 20.0 \\nL 3 4.5")
    'M 1.2346 20 L 3 4.5'
    """
    found = re.sub(r"\d+\.\d+", lambda number: format(float(number[0]), form), numbers)
    return " ".join(found.split())


def _target(value: str) -> str:
    """Return the id that an attribute's value refers to, as "#id" or within it as "url(#id)"."""
    return value[1:] if value.startswith("#") else value.partition("url(#")[2].partition(")")[0]


def _compact(root: ET.Element) -> None:
    """Leave out what a page does not need: digits, line breaks, repeated styles."""
    for element in list(root.iter()):
        for name in ("d", "x", "y", "transform"):
            if name in element.attrib:
                element.set(name, shortened(element.attrib[name]))
        if element.tag != "text":
            for part in (element, *element):
                part.tail = part.tail if (part.tail or "").strip() else None
            element.text = element.text if (element.text or "").strip() else None
        runs = [list(run) for _, run in itertools.groupby(element, _mark_style)]
        element[:] = [each for run in runs for each in (_share_style(run) if len(run) > 1 else run)]


def _mark_style(element: ET.Element) -> object:
    """Return the style of a mark; of another element itself, which equals no other."""
    return (element.get("style") or element) if element.tag == "use" else element


def _share_style(marks: list[ET.Element]) -> list[ET.Element]:
    """Put marks of one kind, one after the other, into a group whose style they inherit."""
    group = ET.Element("g", {"style": marks[0].attrib["style"]})
    for mark in marks:
        del mark.attrib["style"]
    group.extend(marks)
    return [group]


def _rename(root: ET.Element, prefix: str) -> None:
    """Put a prefix before every id that is referred to, and take away the others."""
    references = [
        (element, name, _target(value))
        for element in root.iter()
        for name, value in element.items()
        if name == "xlink:href" or "url(#" in value
    ]
    used = {target for _, _, target in references}
    for element in root.iter():
        if (own := element.attrib.pop("id", None)) in used:
            element.set("id", f"{prefix}-{own}")
    for element, name, target in references:
        value = element.attrib.pop(name)
        # In HTML `xlink:` is out of date.
        element.set(name.removeprefix("xlink:"), value.replace(f"#{target}", f"#{prefix}-{target}"))


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
        The SVG element, without namespaces: in HTML they are known.
    """
    root = _bare(svg, title)
    _rename(root, prefix)
    _recolour(root, _THEMED)
    _compact(root)
    width, _ = _size(root)
    root.set("aria-label", title)
    # Grown or shrunk only so far that the lettering stays near the text's size; beyond, its box scrolls.
    root.set("style", f"min-width:{0.85 * width:.0f}px;max-width:{1.45 * width:.0f}px")
    return ET.tostring(root, encoding="unicode")


def standalone(svg: str, title: str) -> str:
    """Make an SVG file: fixed colours on white, since a reader's page may be dark."""
    root = _bare(svg, title)
    _recolour(root, _FIXED)
    width, height = _size(root)
    root.attrib |= {"width": f"{width:g}", "height": f"{height:g}"}
    root.insert(1, ET.Element("rect", {"width": "100%", "height": "100%", "fill": "#ffffff"}))
    return f'<?xml version="1.0" encoding="utf-8"?>\n{write(root)}\n'
