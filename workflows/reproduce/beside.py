"""Entries of tables that have ours beside what is printed."""

from __future__ import annotations

import math

from ..report.page.table import TableCell

ABSENT = "not in the text"


def beside(ours: float, printed: float | None, digits: int = 1, *, sd: float = math.nan) -> TableCell:
    """Return ours, and in brackets the printed number with the deviation from it.

    Parameters
    ----------
    ours : float
        NaN: not there.
    printed : float or None
        None: absent from the paper's text.
    digits : int, default=1
        After the point.
    sd : float, default=NaN
        Our standard deviation.

    Returns
    -------
    TableCell

    Examples
    --------
    >>> beside(81.14, 81.9, sd=0.31).text, beside(1.5, None).text
    ('81.1 ± 0.3 (81.9, −0.8)', '1.5')
    """
    text = number(ours, digits)
    if not math.isnan(sd):
        text += f" ± {number(sd, digits)}"
    if printed is None:
        return TableCell(text)
    if math.isnan(ours):
        return TableCell(f"{text} ({number(printed, digits)})")
    # Of what is shown: the difference of the two numbers before it.
    apart = round(ours, digits) - round(printed, digits)
    sign = "+" if apart > 0 else "−" if apart < 0 else "±"
    return TableCell(f"{text} ({number(printed, digits)}, {sign}{number(abs(apart), digits)})")


def number(value: float, digits: int = 1) -> str:
    """Return a number with so many digits after the point, a dash for NaN.

    Examples
    --------
    >>> number(12345.67, 0), number(float("nan"))
    ('12,346', '–')
    """
    return "–" if math.isnan(value) else f"{value:,.{digits}f}"
