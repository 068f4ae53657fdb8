"""Define the error for wrong input from the user, and the hint that suggests the nearest known name."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

# Maximum length of an error message in characters: about one screen of text.
LONGEST = 2000
# A hint lists at most this many names.
_MOST_NAMES = 10
_NOT_IN_XML = r"\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff"
# Characters that XML (so figures) cannot contain.
NOT_IN_XML = re.compile(f"[{_NOT_IN_XML}]")
# Also those that terminals may take for commands. Tabs and line breaks are left out.
UNPRINTABLE = re.compile(f"[{_NOT_IN_XML}\\x7f-\\x9f]")


def printable(text: str) -> str:
    """Return a text in which carriage returns and what `UNPRINTABLE` matches are escaped."""
    return UNPRINTABLE.sub(lambda found: repr(found[0])[1:-1], text).replace("\r", "\\r")


class InputError(Exception):
    """Report wrong input from the user.

    The message is one line that names the file, line, key or parameter and says what to change. The command
    line prints it without a traceback and exits with status 2; a notebook shows the line alone. Unprintable
    characters are escaped. If a message exceeds `LONGEST` characters, because it quotes a file, its middle is
    cut out.
    """

    def __init__(self, message: str) -> None:
        message = printable(message)
        if len(message) > LONGEST:
            message = f"{message[: LONGEST - 400]} … {message[-300:]}"
        super().__init__(message)

    def _render_traceback_(self) -> list[str]:
        """Return the line that IPython shows instead of a traceback."""
        return [f"{type(self).__name__}: {self}"]


def utf8_path(path: str) -> str:
    """Return a path; raise InputError if it is not UTF-8 text, as tables of results can store no other."""
    try:
        path.encode()
    except UnicodeEncodeError:
        raise InputError(f"{path}: this path is not UTF-8 text: rename the file or folder") from None
    return path


def did_you_mean(name: object, options: Iterable[str], others: Iterable[str] = ()) -> str:
    """Return a hint that names the nearest option and lists up to ten options; never empty.

    `others` are names of something else that are not listed. One of them is suggested only if it is much like
    `name` and no option is more so. `name` may be any value, as from a notebook.
    """
    name = str(name)
    known = sorted(set(options))
    further = {*others} - {*known, name}
    # Papers abbreviate names by their capitals: "PA-I" is a PassiveAggressive, "SCW" SoftConfidenceWeighted.
    short = name.partition("-")[0].upper()
    can_be = len(short) > 1 and name.lower() not in map(str.lower, known)
    meant = [each.lower() for each in known if can_be and short == "".join(filter(str.isupper, each))]
    near = difflib.get_close_matches(name.lower(), [*map(str.lower, known), *further], n=1, cutoff=0.7)
    if near and near[0] in further and not meant:
        return f"did you mean {near[0]!r}?"
    # Compare names without regard to case, so that "arow" finds "AROW".
    by_lower = {option.lower(): option for option in known}
    near = meant or difflib.get_close_matches(name.lower(), by_lower, n=1, cutoff=0.5)
    # If there are many names, list only the most similar ones.
    alike = difflib.get_close_matches(name.lower(), by_lower, n=_MOST_NAMES, cutoff=0.0)
    shown = (
        sorted(by_lower[each] for each in alike) if near and len(known) > _MOST_NAMES else known[:_MOST_NAMES]
    )
    more = f", … ({len(known)} in all)" if len(shown) < len(known) else ""
    listing = f"known: {', '.join(shown)}{more}" if known else "none are known"
    return f"did you mean {by_lower[near[0]]!r}? ({listing})" if near else listing
