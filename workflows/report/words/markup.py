"""Escape text for LaTeX and Markdown, and replace generated parts of Markdown files. (Jinja escapes HTML.)"""

from __future__ import annotations

import re

_LATEX = {
    **{character: rf"\{character}" for character in "&%$#_{}"},
    **dict.fromkeys("\n\r\t", " "),
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    # The default encoding of fonts, OT1, lacks straight quotes.
    '"': "''",
    # LaTeX would read a "[" at the start of a row as the optional length of the preceding line break.
    "[": "{[}",
    "]": "{]}",
    "±": r"$\pm$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "×": r"$\times$",
    "·": r"$\cdot$",
    "√": r"$\surd$",
    "∞": r"$\infty$",
    "α": r"$\alpha$",
    "η": r"$\eta$",
    "κ": r"$\kappa$",
    "λ": r"$\lambda$",
    "φ": r"$\varphi$",
    "χ": r"$\chi$",
    "²": r"$^2$",
    "−": "$-$",
    "–": "--",
    "…": r"\ldots{}",
}
# Characters to escape in Markdown. GitHub reads "$" as the start of a formula and "~" as that of a deletion.
# "(" and "!" need no escape, because they mean nothing once "[" is escaped.
_MARKDOWN = re.compile(r"([\\`*_\[\]<>|~$&])")


def latex(text: str) -> str:
    """Escape text for LaTeX; line breaks become spaces."""
    # LaTeX would join successive hyphens to a dash.
    parts = re.split("(?<=[-–])(?=[-–])", text)
    escaped = "{}".join("".join(_LATEX.get(character, character) for character in part) for part in parts)
    # LaTeX would read a "*" at the start of a row as part of the preceding line break.
    return re.sub(r"^( *)\*", r"\1{*}", escaped)


def markdown(text: str) -> str:
    """Escape text for Markdown, including table cells; line breaks become spaces."""
    return _MARKDOWN.sub(r"\\\1", " ".join(text.split()))


def slug(text: str) -> str:
    """Turn a name into a part of a file name, of at most 80 characters: "a[3] & b" into "a-3-b"."""
    # File systems limit a name to 255 bytes, and labels of data sets may contain long names of classes.
    return re.sub(r"[^A-Za-z0-9]+", "-", text).strip("-")[:80].rstrip("-") or "x"


def fence(text: str) -> str:
    """Put text into a Markdown code block whose fence is longer than any run of backticks in the text."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    marks = "`" * max(3, longest + 1)
    return f"{marks}sh\n{text}\n{marks}"


def with_block(text: str, name: str, content: str) -> str:
    """Replace the part of a Markdown text between the lines ``<!-- NAME -->`` and ``<!-- end of NAME -->``.

    Raises ValueError if the text lacks these lines.
    """
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
    before, found, rest = text.partition(begin)
    _, ended, after = rest.partition(end)
    if not (found and ended):
        raise ValueError(f"no place for the table: add the lines {begin.strip()} and {end.strip()}")
    return before + begin + content + end + after
