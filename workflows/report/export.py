"""Export single tables and figures of results for a paper."""

from __future__ import annotations

import io
import os
import re
import warnings
from pathlib import Path
from typing import Any

import click

from ...pipeline.analysis.study_results import read_results
from ...pipeline.errors import InputError, did_you_mean
from .document import write_whole
from .page.blocks import walk
from .page.table import TableBlock
from .page.view import StudyView
from .parts.figures import curve_panel, rank_diagram
from .sections import SECTIONS

# For each unit of length: how many of it make an inch.
_PER_INCH = {"in": 1.0, "cm": 2.54, "mm": 25.4, "pt": 72.0}
# The name of a figure's file begins with one of these words, which selects what the figure shows.
_FIGURES = ("cd", "curves")
_SUFFIXES = (".pdf", ".svg", ".png")
# Dots per inch of a PNG file: the least that journals ask for line drawings.
_DPI = 600
# Most pixels of a PNG file without --width. Drawing them takes 400 MB.
_MOST_PIXELS = 100_000_000
# How Matplotlib's warning about a letter that its font lacks begins.
_NO_GLYPH = r"Glyph .* missing from"


def table_of(view: StudyView, name: str) -> TableBlock:
    """Return the report's table whose file is called `name`.csv; "ranks" is the first table of mean ranks."""
    sections = [section for make in SECTIONS if (section := make(view)) is not None]
    blocks = [block for section in sections for block in walk(section.blocks)]
    tables = {block.name: block for block in blocks if isinstance(block, TableBlock) and block.name}
    tables["ranks"] = next(table for stem, table in tables.items() if stem.startswith("mean-ranks-"))
    if name not in tables:
        hint = f"{did_you_mean(name, tables)}; the names of all are in the report's folder tables/"
        raise InputError(f"--table {name}: the report has no such table: {hint}")
    return tables[name]


def inches(length: str) -> float:
    """Convert a length such as "3.3in", "84mm" or "8.4cm" to inches."""
    parts = re.fullmatch(r"(\d+(?:\.\d*)?|\.\d+)\s*(in|cm|mm|pt)", length.strip())
    found = float(parts[1]) / _PER_INCH[parts[2]] if parts else 0.0
    if not 0.5 <= found <= 40:
        raise InputError(f"--width {length}: give a length from 0.5in to 40in, such as 3.3in, 84mm or 8.4cm")
    return found


def write_figure(
    view: StudyView,
    file: Path,
    *,
    width: float | None,
    noise: object = None,
    metric: str | None = None,
    dataset: str | None = None,
) -> None:
    """Write a figure as PDF, SVG or PNG.

    A file name that begins with "cd" selects a critical difference diagram, "curves" learning curves. `width`
    is in inches; None means the default width. Without `noise`, `metric` and `dataset`, the figure shows the
    lowest noise level, the ranking metric and the first data set. Raises InputError for an unknown kind or
    format, a missing figure, a PNG file of too many pixels, or an unwritable file.
    """
    kind = next((kind for kind in _FIGURES if file.stem.startswith(kind)), None)
    if kind is None or file.suffix not in _SUFFIXES:
        raise InputError(
            f"--figure {file}: name it cd*.pdf (critical difference diagram) or curves*.pdf (learning "
            f"curves); formats: {', '.join(_SUFFIXES)}"
        )
    import matplotlib
    from matplotlib import pyplot

    matplotlib.use("agg")
    # Write no date, so that the same results give the same file. PDF files get TrueType fonts (type 42),
    # because journals refuse Type 3 fonts.
    dates = {".pdf": {"CreationDate": None}, ".svg": {"Date": None}, ".png": None}
    with (
        matplotlib.rc_context({"pdf.fonttype": 42, "svg.hashsalt": "singlepass", "svg.fonttype": "none"}),
        warnings.catch_warnings(record=True) as caught,
    ):
        warnings.filterwarnings("always", message=_NO_GLYPH)
        if kind == "cd":
            [comparison, *_] = view.comparisons_of(metric, noise)
            axes = rank_diagram(comparison, view.styles, None, width)
        else:
            axes = curve_panel(view, dataset, view.levels(noise)[0], "mistakes_clean", None, width)
        figure = axes.get_figure(root=True)
        assert figure is not None
        try:
            across, down = (round(_DPI * length) for length in figure.get_size_inches())
            if width is None and file.suffix == ".png" and across * down > _MOST_PIXELS:
                raise InputError(
                    f"--figure {file}: would have {across:,} x {down:,} pixels: add --width, or write .pdf "
                    "or .svg"
                )
            image = io.BytesIO()
            figure.savefig(
                image, format=file.suffix[1:], dpi=_DPI, facecolor="white", metadata=dates[file.suffix]
            )
            # Write behind a link that the user made.
            write_whole({Path(os.path.realpath(file)): image.getvalue()})
        except OSError as error:
            raise InputError(f"--figure {file}: cannot be written ({error.strerror or error})") from None
        finally:
            pyplot.close(figure)
    lacks_letters = [each for each in caught if re.match(_NO_GLYPH, str(each.message))]
    for each in caught:
        if each not in lacks_letters:
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
    # The letters of an SVG file are drawn by its viewer, which has other fonts.
    if file.suffix != ".svg" and lacks_letters:
        click.echo(
            f"{file}: boxes replace letters that its font lacks: write .svg, or Latin labels", err=True
        )


def export(
    out: str, tables: tuple[str, ...], figures: tuple[Path, ...], *, width: str | None = None, **choice: Any
) -> str:
    """Read results, write figures of them to the files `figures`, and return the named tables as LaTeX.

    `out` is the folder or fsspec URL of the results. `choice` may contain `noise`, `metric` and `dataset`,
    which select what figures show (see `write_figure`). Raises InputError if there are no results, or no such
    table or figure.
    """
    size = None if width is None else inches(width)
    results = read_results(out)
    if not (results.cells["stage"] == "run").any():
        raise InputError(f"{out}: no cell of the study has run yet, so there is nothing to export")
    view = StudyView(results)
    text = "\n".join(table_of(view, name).to_latex() for name in tables)
    for file in figures:
        write_figure(view, file, width=size, **choice)
    return text
