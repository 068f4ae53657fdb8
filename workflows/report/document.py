"""Write a report as an HTML page, the same in Markdown, and one file for each table and drawing."""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import os
import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markupsafe import Markup

from ...pipeline.errors import InputError
from .page.blocks import Block, Section, files
from .plots.svg import PALETTE, inline
from .words.markup import fence, markdown

_TEMPLATES = Path(__file__).parent / "templates"
SCRIPT = Path(__file__).parent / "script"
# JavaScript modules that are joined into the page's script in this order; each imports only earlier ones.
_MODULES = ("elements", "statistics", "tables", "figures", "explore", "start")

# Each report lists its files in this manifest, so that the next report can remove those that it does not
# write again. Only tables and figures are removed (names that match `_OWN`), in case a user edits the
# manifest.
_MANIFEST = "report-files.txt"
_OWN = re.compile(r"(tables/[^/\\\0]+\.(csv|tex)|figures/[^/\\\0]+\.svg)")


@dataclass(frozen=True)
class Page:
    """Describe a page: its title, the blocks above the table of contents, and its sections."""

    title: str
    opening: Sequence[Block]
    sections: Sequence[Section]
    # Numbers from which the page's script draws and recomputes (see `parts.embedded`). Without them the page
    # only sorts and filters tables.
    numbers: Mapping[str, Any] | None = None
    # Name of the page's files without suffix.
    stem: str = "report"

    def write(self, out: Path, further: Mapping[str, str] | None = None) -> list[Path]:
        """Write the page into folder `out`, remove files of an earlier report, and return the paths written.

        The HTML file comes first. `further` maps names of more files, relative to `out`, to their texts. The
        folder is created if needed. Raises InputError if it cannot be written to, if its folder of tables or
        figures is a link, which may lead out of it, or if a file of the earlier report cannot be removed.
        """
        texts = {**dict(self._files()), **(further or {})}
        texts[_MANIFEST] = "".join(f"{name}\n" for name in texts)
        written = [out / name for name in texts]
        try:
            for name in ("tables", "figures"):
                if (out / name).is_symlink():
                    raise InputError(
                        f"report {out}: {name} in it is a link: remove it, or choose another folder"
                    )
            for path in written:
                path.parent.mkdir(parents=True, exist_ok=True)
            contents = [text.encode() for text in texts.values()]
            left_over = [out / name for name in _earlier_files(out) - texts.keys()]
            write_whole(dict(zip(written, contents, strict=True)), left_over)
        except OSError as error:
            raise InputError(
                f"report {out}: cannot be written ({error.strerror or error}): choose another folder"
            ) from None
        return written

    def _files(self) -> Iterator[tuple[str, str]]:
        content = {"title": self.title, "opening": self.opening, "sections": self.sections}
        yield f"{self.stem}.html", _html(content, self.numbers)
        yield f"{self.stem}.md", _markdown(content)
        for section in self.sections:
            yield from files(section.blocks)


def write_whole(contents: Mapping[Path, bytes], left_over: Sequence[Path] = ()) -> None:
    """Write files, all or none if the disk is full, and remove those `left_over`; a link is replaced.

    Raises InputError, after writing all files and removing all others, if some of those cannot be removed.
    """
    scratch = {path: path.with_name(f"{uuid.uuid4().hex}.tmp") for path in contents}
    try:
        for path, content in contents.items():
            scratch[path].write_bytes(content)
        # Some file systems ignore case: remove a file before a new one gets its name in another case. Remove
        # all others last, because one that cannot be removed must not keep the new files from their names.
        new = {str(path).casefold() for path in contents}
        first = {path for path in left_over if str(path).casefold() in new}
        for path in first:
            path.unlink(missing_ok=True)
        for path, written in scratch.items():
            os.replace(written, path)
    finally:
        for written in scratch.values():
            written.unlink(missing_ok=True)
    kept = []
    for path in sorted({*left_over} - first):
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            kept.append(f"{path} ({error.strerror or error})")
    if kept:
        raise InputError(
            f"the report is written, but files of an earlier report cannot be removed: {', '.join(kept)}; "
            "remove them"
        )


def _earlier_files(out: Path) -> set[str]:
    """Return the names of tables and figures of an earlier report in folder `out`."""
    try:
        names = (out / _MANIFEST).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        # There is no earlier report, or its list of files cannot be read: remove nothing.
        return set()
    return {name for name in names if _OWN.fullmatch(name)}


def _environment(*, escape: bool) -> Any:
    import jinja2

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


def _html(content: Mapping[str, Any], numbers: Mapping[str, Any] | None) -> str:
    serials = itertools.count(1)
    classes: dict[str, str] = {}

    def css(declarations: str) -> str:
        return classes.setdefault(declarations, f"c{len(classes)}")

    def svg(drawing: str, title: str) -> Markup:
        return Markup(inline(drawing, f"f{next(serials)}", title, css))

    environment = _environment(escape=True)
    body = environment.get_template("report.html.j2").render(
        content, svg=svg, css=css, explores=numbers is not None
    )
    style = _environment(escape=False).get_template("report.css").render(palette=PALETTE)
    style += "".join(f".{name} {{ {declarations} }}\n" for declarations, name in classes.items())
    script = _script()
    # Replace "<" in the data by its JSON escape: inside a <script> element, "<" could begin the end tag.
    data = "" if numbers is None else json.dumps(numbers, separators=(",", ":")).replace("<", "\\u003c")
    page = environment.get_template("page.html.j2").render(
        title=content["title"],
        style=Markup(style),
        style_hash=_hash(style),
        body=Markup(body),
        script=Markup(script),
        script_hash=_hash(script),
        numbers=Markup(data),
    )
    return str(page)


def _script() -> str:
    """Join the JavaScript modules of the page, without imports, exports, comments and indentation."""
    texts = [(SCRIPT / f"{name}.js").read_text(encoding="utf-8") for name in _MODULES]
    return re.sub(r"^(?:import .*\n|export | *//.*\n| +)", "", "".join(texts), flags=re.MULTILINE)


def _hash(text: str) -> str:
    """Return the hash by which a Content-Security-Policy allows an inline script or style sheet."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _markdown(content: Mapping[str, Any]) -> str:
    text = _environment(escape=False).get_template("report.md.j2").render(content)
    # Parts of the report that print nothing in Markdown leave several blank lines: keep one of them.
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"
