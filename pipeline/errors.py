"""The one error that a user can cause, and the nearest-name hint that goes with it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

# A screen full.
LONGEST = 2000
# Of the names that a hint lists.
_MOST_NAMES = 10


class InputError(Exception):
    """Something the user gave is wrong.

    The message is one line that names the file, line, key or parameter and says what would be right. The
    command line prints it without a traceback and exits with status 2; a notebook shows the line alone. It
    may quote a file: of more than `LONGEST` characters the middle is left out.
    """

    def __init__(self, message: str) -> None:
        if len(message) > LONGEST:
            message = f"{message[: LONGEST - 400]} … {message[-300:]}"
        super().__init__(message)

    def _render_traceback_(self) -> list[str]:
        """Return what IPython shows in place of a traceback."""
        return [f"{type(self).__name__}: {self}"]


def did_you_mean(name: str, options: Iterable[str]) -> str:
    """Return a hint such as ``"did you mean 'AROW'? "`` plus names that exist, ten at most.

    Parameters
    ----------
    name : str
        What the user wrote.
    options : iterable of str
        The names that would have been right.

    Returns
    -------
    str
        A phrase to end an error line with; never empty.

    Examples
    --------
    >>> did_you_mean("AORW", ["AROW", "Perceptron"])
    "did you mean 'AROW'? (known: AROW, Perceptron)"
    """
    known = sorted(set(options))
    # Compared without case: "arow" is as near to "AROW" as a name can be.
    by_lower = {option.lower(): option for option in known}
    near = difflib.get_close_matches(name.lower(), by_lower, n=1, cutoff=0.5)
    # A long list hides the hint: the names most like the given one are enough.
    alike = difflib.get_close_matches(name.lower(), by_lower, n=_MOST_NAMES, cutoff=0.0)
    shown = (
        sorted(by_lower[each] for each in alike) if near and len(known) > _MOST_NAMES else known[:_MOST_NAMES]
    )
    more = f", … ({len(known)} in all)" if len(shown) < len(known) else ""
    listing = f"known: {', '.join(shown)}{more}" if known else "none are known"
    return f"did you mean {by_lower[near[0]]!r}? ({listing})" if near else listing
