"""Turn Matplotlib figures into SVG, for files and for pages, which contain several drawings inline.

Figures are drawn in units of CSS pixels (1 point of the figure = 1 px on the page). Colors in a drawing are
placeholders: in a page they become CSS variables, so that one picture fits a light and a dark page; in a file
they become fixed colors on white. Each algorithm has the same color, mark and dash in all pictures of a
report.
"""

from __future__ import annotations

import io
import itertools
import json
import math
import re
import warnings
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias
from xml.sax.saxutils import quoteattr

import numpy as np

from ....pipeline.errors import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
# If an axis ends above this value, its tick labels are written with powers of ten, such as "2·10⁶".
_LARGE = 1e6
# Candidate ticks of a logarithmic axis, as multiples of powers of ten. The first candidates are the finest;
# the first with at most _MOST_TICKS ticks are used.
_MULTIPLES = (np.arange(20, 200) / 20, np.arange(2, 20) / 2, np.arange(1, 10), (1, 2, 5), (1,))
_MOST_TICKS = 8


def written(value: float, large: bool) -> str:
    """Write the label of a tick as "20,000", or if `large` as "2·10⁶", without Matplotlib's math markup."""
    if not large:
        return f"{value:,g}"
    exponent = int(np.floor(np.log10(value * 1.000001)))
    power = "10" + str(exponent).translate(_RAISED)
    multiple = f"{value / 10.0**exponent:g}"
    return power if multiple == "1" else f"{multiple}·{power}"


def logarithmic_ticks(first: float, last: float) -> list[float]:
    """Return at most eight round numbers between two positive ones, in the finest possible steps."""
    exponents = range(int(np.floor(np.log10(first))), int(np.ceil(np.log10(last))) + 1)
    ticks: list[float] = []
    for multiples in _MULTIPLES:
        values = [float(f"{m * 10.0**e:.6g}") for e in exponents for m in multiples]
        ticks = [value for value in values if first <= value <= last]
        if len(ticks) <= _MOST_TICKS:
            return ticks
    return ticks[:: -(-len(ticks) // _MOST_TICKS)]


def number_logarithmically(axis: Axis, first: float, last: float) -> None:
    """Put ticks with round numbers on a logarithmic axis that extends from `first` to `last`."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    axis.set_major_locator(FixedLocator(logarithmic_ticks(first, last)))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: written(value, last > _LARGE)))


def number_plainly(axes: Axes, whole: bool) -> None:
    """Write tick labels without exponents; with `whole`, y values are integers."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    # Five labels such as "20,000" fit on a phone. With round steps, a stream of round length ends at a tick.
    axes.xaxis.set_major_locator(MaxNLocator(5, integer=True, steps=[1, 2, 5, 10]))
    axes.yaxis.set_major_locator(MaxNLocator(6, integer=whole))
    for axis in (axes.xaxis, axes.yaxis) if whole else (axes.xaxis,):
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))


def draw_grid(axes: Axes, which: str = "y") -> None:
    """Draw grid lines behind the plot for one axis or "both"."""
    axes.grid(True, axis=which)  # type: ignore[arg-type]
    axes.set_axisbelow(True)


# Colors (on white, on the dark page), found by a search: any two differ by at least 0.12 in OKLab for normal,
# deuteranopic and protanopic sight, each contrasts at least 3:1 with the page, and both modes have related
# hues.
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


# Prefix of the ids of an algorithm's elements in a drawing, by which a page finds them.
_ALGORITHM = "algorithm-"


class Style(NamedTuple):
    """The color, marker and dash pattern with which one algorithm is drawn."""

    colour: str
    marker: str
    dash: str


# Styles of all algorithms of a study in its order, created once per report and passed to every plot.
Styles: TypeAlias = Mapping[str, Style]


def _family(name: str) -> tuple[str, bool]:
    """Return a label without an ending such as "full" or "diagonal", and whether the ending is "full"."""
    found = _VARIANT.fullmatch(name)
    return (name, False) if found is None else (found["family"], found["variant"] == "full")


def styles_of(algorithms: Sequence[str]) -> Styles:
    """Return the style of every algorithm of a study, in the study's order.

    Labels that differ only in ending in "full" or "diagonal" (or "diag") share color and mark; the full
    version is dashed. All others differ in color as long as colors last. Styles repeat from the 385th
    algorithm on, or, if there are such labels, from the 193rd on, counting a full and a diagonal one once.
    """
    split = [_family(name) for name in algorithms]
    paired = {family for family, full in split if (family, not full) in split}
    keys = [family if family in paired else name for name, (family, _) in zip(algorithms, split, strict=True)]
    places = {key: place for place, key in enumerate(dict.fromkeys(keys))}
    # After this many places color, mark and dash repeat together, so the marks are shifted by one.
    period = math.lcm(len(PALETTE) * len(DASHES) // (2 if paired else 1), len(MARKERS))
    styles = {}
    for name, key, (_, full) in zip(algorithms, keys, split, strict=True):
        place = places[key]
        cycle = place // len(PALETTE)
        # An algorithm that must reuse a color gets another dash. If dashes distinguish full from diagonal
        # versions, each use of a color takes two dashes.
        dash = 2 * cycle + (full and key in paired) if paired else cycle
        colour, mark = PALETTE[place % len(PALETTE)][0], MARKERS[(place + place // period) % len(MARKERS)]
        styles[name] = Style(colour, mark, DASHES[dash % len(DASHES)])
    return styles


def tag(styles: Styles, name: str) -> str:
    """Return the id of an algorithm's elements in a drawing, by which pages hide and highlight them."""
    return f"{_ALGORITHM}{list(styles).index(name)}"


# Width and height of a panel in CSS pixels: as wide as a phone shows without shrinking the lettering. Wide
# pages show several side by side.
PANEL = (360.0, 260.0)

# Placeholder colors of text and grids, which are replaced when a drawing is written; PALETTE lacks them.
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
    """Configure Matplotlib for one figure, without changing the user's settings.

    `faint` is the color of grids: the placeholder `FAINT`, which pages and files replace, or a real color for
    a figure that is shown as drawn. `lettering` is the text size in points; tick labels are 1/11 smaller.
    """
    import matplotlib as mpl

    settings: Any = {
        "svg.fonttype": "none",
        "svg.hashsalt": "singlepass",
        # Draw titles at a fixed height; Matplotlib would otherwise search for free space.
        "axes.titley": 1.0,
        # Print a "$" in a name as a dollar sign; Matplotlib would otherwise read it as the start of a
        # formula.
        "text.parse_math": False,
        "axes.formatter.use_mathtext": False,
        "axes.unicode_minus": True,
        "font.family": "sans-serif",
        "font.sans-serif": ["DejaVu Sans"],
        **dict.fromkeys(("font.size", "axes.titlesize", "axes.labelsize"), lettering),
        **dict.fromkeys(("xtick.labelsize", "ytick.labelsize"), 10 / 11 * lettering),
        **dict.fromkeys(("text.color", "xtick.color", "ytick.color"), INK),
        **dict.fromkeys(("axes.edgecolor", "axes.labelcolor", "axes.titlecolor"), INK),
        "grid.color": faint,
        "grid.linewidth": 0.6,
        "axes.linewidth": 0.8,
        **dict.fromkeys(("axes.spines.top", "axes.spines.right"), False),
        **dict.fromkeys(("axes.facecolor", "figure.facecolor", "savefig.facecolor"), "none"),
        "legend.frameon": False,
        "lines.linewidth": 1.6,
        "lines.markersize": 5,
    }
    with mpl.rc_context(), warnings.catch_warnings():
        mpl.rcdefaults()
        mpl.rcParams.update(settings)
        # Ignore letters that Matplotlib's font lacks: it only measures text, which the browser then draws.
        warnings.filterwarnings("ignore", message=r"Glyph .* missing from font")
        yield


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of the given size in CSS pixels, without pyplot's global state."""
    from matplotlib.figure import Figure

    # The SVG backend draws 72 units per inch.
    return Figure(figsize=(width / 72, height / 72), dpi=72)


@cache
def text_width(text: str, size: float = 11) -> float:
    """Return the width of a text in CSS pixels, measured in Matplotlib's own (wide) font."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    width, _, _ = text_to_path.get_text_width_height_descent(
        text, FontProperties(family="DejaVu Sans", size=size), ismath=False
    )
    return float(width)


def shorten(text: str, length: int = 26) -> str:
    """Shorten a name of more than `length` letters for a figure; tables print it in full."""
    # Replace control characters by spaces, because XML does not allow them.
    text = " ".join("".join(each if each.isprintable() else " " for each in text).split())
    return text if len(text) <= length else text[: length - 1] + "…"


def draw(figure: Figure) -> str:
    """Return the figure as an SVG element without XML prologue and date."""
    sink = io.StringIO()
    figure.savefig(sink, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    text = sink.getvalue()
    start = text.index("<svg")
    scale = _scale(figure)
    attribute = f" data-axes={quoteattr(scale)}" if scale else ""
    return f"<svg{attribute}{text[start + 4 :]}".strip()


def _scale(figure: Figure) -> str:
    """Return, as JSON, how a page converts pixels of a figure to values; "" unless one axes is visible.

    For x and y it is [first px, last px, first value, last value, whether logarithmic, label, names of
    values]. Pixels are those of the SVG, whose y axis points down.
    """
    from matplotlib.ticker import FixedLocator

    shown = [axes for axes in figure.axes if axes.get_visible()]
    if len(shown) != 1 or not shown[0].axison:
        return ""
    [axes] = shown
    height = figure.bbox.height
    spans = ((axes.bbox.x0, axes.bbox.x1), (height - axes.bbox.y0, height - axes.bbox.y1))
    found = []
    for axis, limits, span in zip(
        (axes.xaxis, axes.yaxis), (axes.get_xlim(), axes.get_ylim()), spans, strict=True
    ):
        log = axis.get_scale() == "log"
        # Ticks of a linear axis are fixed only to name values, such as noise levels or algorithms.
        named = isinstance(axis.get_major_locator(), FixedLocator) and not log
        ticks = axis.get_ticklocs().tolist() if named else []
        names = [*zip(ticks, axis.get_major_formatter().format_ticks(ticks), strict=True)]
        numbers = [float(f"{each:.6g}") for each in (*span, *limits)]
        found.append([*numbers, log, axis.get_label_text(), names])
    return json.dumps(found, ensure_ascii=False, separators=(",", ":"))


def parse(svg: str) -> ET.Element:
    """Parse the output of `draw` into a tree whose names have no namespaces."""
    root = ET.fromstring(svg)
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        if (target := element.attrib.pop(f"{{{_XLINK}}}href", None)) is not None:
            element.set("xlink:href", target)
    return root


def write(root: ET.Element) -> str:
    """Return the SVG text of a tree that `parse` made; `parse` accepts the text again."""
    root.attrib |= {"xmlns": _SVG, "xmlns:xlink": _XLINK}
    return ET.tostring(root, encoding="unicode")


def size(svg: str) -> tuple[float, float]:
    """Return width and height of the output of `draw`, in CSS pixels."""
    _, root = next(ET.iterparse(io.StringIO(svg), events=("start",)))
    return _size(root)


def _size(root: ET.Element) -> tuple[float, float]:
    _, _, width, height = root.attrib["viewBox"].split()
    return float(width), float(height)


def _bare(svg: str, title: str) -> ET.Element:
    """Parse an SVG, remove size and metadata, and add a title for readers who cannot see the picture."""
    root = parse(svg)
    for name in ("width", "height", "version"):
        root.attrib.pop(name, None)
    for metadata in root.findall("metadata"):
        root.remove(metadata)
    root.set("role", "img")
    # Earlier results may have names with characters that XML does not allow.
    ET.SubElement(root, "title").text = printable(title)
    root[:] = [root[-1], *root[:-1]]
    return root


# A color that is a whole value in a `style` attribute.
_COLOR = re.compile(r"(?<=: )#[0-9a-f]{6}(?=;|$)")


def _recolour(root: ET.Element, colours: Mapping[str, str]) -> None:
    # Replace colors only in `style` attributes, because a name in the picture may look like a color.
    for element in root.iter():
        if style := element.get("style"):
            element.set("style", _COLOR.sub(lambda found: colours.get(found[0], found[0]), style))


def shortened(numbers: str, form: str = ".5g") -> str:
    """Round the numbers of a path or transformation to fewer digits."""
    found = re.sub(r"\d+\.\d+", lambda number: format(float(number[0]), form), numbers)
    return " ".join(found.split())


def _target(value: str) -> str:
    """Return the id that an attribute's value refers to, as "#id" or as "url(#id)" within it."""
    return value[1:] if value.startswith("#") else value.partition("url(#")[2].partition(")")[0]


def _compact(root: ET.Element) -> None:
    """Shorten the SVG of a page: round numbers, remove line breaks, write repeated styles once."""
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
    """Return a key that is equal for marks (<use> elements) of one style; other elements are their own."""
    return (element.get("style") or element) if element.tag == "use" else element


def _share_style(marks: list[ET.Element]) -> list[ET.Element]:
    """Move consecutive marks of one style into a group whose style they inherit."""
    group = ET.Element("g", {"style": marks[0].attrib["style"]})
    for mark in marks:
        del mark.attrib["style"]
    group.extend(marks)
    return [group]


def _rename(root: ET.Element, prefix: str) -> None:
    """Add a prefix to every id that is referred to, and remove the other ids."""
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
        elif own and own.startswith(_ALGORITHM):
            element.set("data-a", own.removeprefix(_ALGORITHM))
    for element, name, target in references:
        value = element.attrib.pop(name)
        # Write `xlink:href` as `href`, because HTML deprecates the prefix.
        element.set(name.removeprefix("xlink:"), value.replace(f"#{target}", f"#{prefix}-{target}"))


def inline(svg: str, prefix: str, title: str, class_of: Callable[[str], str]) -> str:
    """Prepare an SVG for an HTML page: themed colors, ids with `prefix`, a title, no namespaces.

    `svg` is the output of `draw`. `prefix` must be unique on the page. `title` describes the picture for
    readers who cannot see it. `class_of` returns the CSS class for style declarations, because the page's
    security policy forbids style attributes.
    """
    root = _bare(svg, title)
    for definitions in root.iter("defs"):
        for sheet in definitions.findall("style"):
            # Remove the style sheet, which is the same in all drawings: the page contains it once.
            definitions.remove(sheet)
    _rename(root, prefix)
    _recolour(root, _THEMED)
    _compact(root)
    width, _ = _size(root)
    root.set("aria-label", title)
    # Limit scaling, so that lettering stays about as large as the page's text. Narrow pages scroll instead.
    root.set("style", f"min-width:{0.85 * width:.0f}px;max-width:{1.45 * width:.0f}px")
    for element in root.iter():
        if style := element.attrib.pop("style", None):
            element.set("class", class_of(style))
    return ET.tostring(root, encoding="unicode")


def standalone(svg: str, title: str) -> str:
    """Make an SVG file with fixed colors on white, which stays readable on a dark page."""
    root = _bare(svg, title)
    root.attrib.pop("data-axes", None)
    for element in root.iter():
        # Remove the id that all elements of an algorithm share, because ids in a file must be unique.
        if element.get("id", "").startswith(_ALGORITHM):
            del element.attrib["id"]
    _recolour(root, _FIXED)
    width, height = _size(root)
    root.attrib |= {"width": f"{width:g}", "height": f"{height:g}"}
    root.insert(1, ET.Element("rect", {"width": "100%", "height": "100%", "fill": "#ffffff"}))
    return f'<?xml version="1.0" encoding="utf-8"?>\n{write(root)}\n'


def handles(styles: Styles, names: Sequence[str], length: int = 26) -> list[Line2D]:
    """Return a legend line with its mark for each of the named algorithms."""
    from matplotlib.lines import Line2D

    found = []
    for name in names:
        colour, marker, dash = styles[name]
        # Put an invisible letter before a label that begins with "_": Matplotlib leaves it out of legends.
        label = ("\u200b" if name.startswith("_") else "") + shorten(name, length)
        found.append(Line2D([], [], color=colour, marker=marker, ls=dash, label=label))
    return found


def swatch(style: Style) -> str:
    """Draw the line and mark of one algorithm, for a legend in the page."""
    colour, marker, dash = style
    with theme():
        figure = new_figure(34, 12)
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set_axis_off()
        axes.set_xlim(0, 34)
        axes.set_ylim(0, 12)
        axes.plot([1, 33], [6, 6], color=colour, ls=dash)
        axes.plot([17], [6], color=colour, marker=marker)
        return draw(figure)
