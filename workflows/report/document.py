"""Write a page of sections: an HTML file, the same in Markdown, and files of tables and drawings."""

from __future__ import annotations

import gc
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...pipeline.errors import InputError
from .page.blocks import Block, Section, files

_TEMPLATES = Path(__file__).parent / "templates"

# Each report lists its files in this manifest, so that the next report can remove them. Only names that match
# `_OWN` are removed.
_MANIFEST = "report-files.txt"
_OWN = re.compile(r"(tables/[\w.-]+\.(csv|tex)|figures/[\w.-]+\.svg)")
# Allocations between two runs of the cyclic garbage collector while a report is written. At the default of
# 700 an eighth of the time goes into collection; at this value memory grows by less than 5 MB.
_NEW_OBJECTS = 30_000


@dataclass(frozen=True)
class Page:
    """Describe a page: its title, the blocks above the table of contents, and its sections."""

    title: str
    opening: Sequence[Block]
    sections: Sequence[Section]

    def write(self, out: Path, further: Mapping[str, str] | None = None) -> list[Path]:
        """Write the page into folder `out`, remove files of an earlier report, and return the paths written.

        `report.html` comes first. `further` gives additional files: name relative to `out`, and text. The
        folder is created if needed. Raises InputError if it cannot be written to.
        """
        texts = {**dict(self._files()), **(further or {})}
        texts[_MANIFEST] = "".join(f"{name}\n" for name in texts)
        written = []
        try:
            _remove_earlier(out, texts)
            for name, text in texts.items():
                path = out / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8", newline="\n")
                written.append(path)
        except OSError as error:
            raise InputError(
                f"report {out}: cannot be written ({error.strerror or error}): choose another folder"
            ) from None
        return written

    def _files(self) -> Iterator[tuple[str, str]]:
        content = {"title": self.title, "opening": self.opening, "sections": self.sections}
        yield "report.html", _html(content)
        yield "report.md", _markdown(content)
        for section in self.sections:
            yield from files(section.blocks)


@contextmanager
def rare_collections() -> Iterator[None]:
    """Run the cyclic garbage collector rarely inside this context."""
    usual = gc.get_threshold()
    gc.set_threshold(_NEW_OBJECTS, *usual[1:])
    try:
        yield
    finally:
        gc.set_threshold(*usual)


def _remove_earlier(out: Path, files: Mapping[str, str]) -> None:
    """Remove files that only an earlier report wrote, so that they are not taken for a part of this one."""
    try:
        names = (out / _MANIFEST).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        # There was no earlier report, or its manifest was edited: remove nothing.
        return
    for name in names:
        if name not in files and _OWN.fullmatch(name):
            (out / name).unlink(missing_ok=True)


def _environment(*, escape: bool) -> Any:
    import jinja2

    from .words.markup import fence, markdown

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES, encoding="utf-8"),
        autoescape=escape,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["md"] = markdown
    environment.filters["fence"] = fence
    return environment


def _html(content: Mapping[str, Any]) -> str:
    from markupsafe import Markup

    from .plots.svg import PALETTE, inline

    serials = itertools.count(1)

    def svg(drawing: str, title: str) -> Markup:
        return Markup(inline(drawing, f"f{next(serials)}", title))

    style = _environment(escape=False).get_template("report.css").render(palette=PALETTE)
    template = _environment(escape=True).get_template("report.html.j2")
    return str(template.render(content, style=Markup(style), svg=svg))


def _markdown(content: Mapping[str, Any]) -> str:
    text = _environment(escape=False).get_template("report.md.j2").render(content)
    # Blocks that print nothing leave blank lines behind.
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"
