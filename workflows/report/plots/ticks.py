"""Numbers of axes: counts written out, round ones on logarithmic axes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
# From here on numbers are written as powers of ten.
_LARGE = 1e6
# Ticks of a logarithmic axis, as multiples of powers of ten, the finest first, and how many there may be.
_MULTIPLES = (np.arange(20, 200) / 20, np.arange(2, 20) / 2, np.arange(1, 10), (1, 2, 5), (1,))
_MOST_TICKS = 8


def written(value: float, large: bool) -> str:
    """Write a tick in plain characters: Matplotlib's powers are in its markup, which is turned off.

    Examples
    --------
    >>> written(20_000, large=False), written(2e6, large=True)
    ('20,000', '2·10⁶')
    """
    if not large:
        return f"{value:,g}"
    exponent = int(np.floor(np.log10(value * 1.000001)))
    power = "10" + str(exponent).translate(_RAISED)
    multiple = f"{value / 10.0**exponent:g}"
    return power if multiple == "1" else f"{multiple}·{power}"


def logarithmic_ticks(first: float, last: float) -> list[float]:
    """Return round numbers between two positive ones: the finest scale that gives no more than eight.

    Examples
    --------
    >>> logarithmic_ticks(10, 60_000), logarithmic_ticks(24, 43)
    ([10.0, 100.0, 1000.0, 10000.0], [25.0, 30.0, 35.0, 40.0])
    """
    exponents = range(int(np.floor(np.log10(first))), int(np.ceil(np.log10(last))) + 1)
    ticks: list[float] = []
    for multiples in _MULTIPLES:
        values = [float(f"{m * 10.0**e:.6g}") for e in exponents for m in multiples]
        ticks = [value for value in values if first <= value <= last]
        if len(ticks) <= _MOST_TICKS:
            return ticks
    return ticks[:: -(-len(ticks) // _MOST_TICKS)]


def number_logarithmically(axis: Axis, first: float, last: float) -> None:
    """Give a logarithmic axis from `first` to `last` round numbers."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    axis.set_major_locator(FixedLocator(logarithmic_ticks(first, last)))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: written(value, last > _LARGE)))


def number_plainly(axes: Axes, whole: bool) -> None:
    """Write numbers out; those of y are counts, if `whole`."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    # Five steps of "20,000" fit a phone; round ones end where streams end.
    axes.xaxis.set_major_locator(MaxNLocator(5, integer=True, steps=[1, 2, 5, 10]))
    axes.yaxis.set_major_locator(MaxNLocator(6, integer=whole))
    for axis in (axes.xaxis, axes.yaxis) if whole else (axes.xaxis,):
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))


def draw_grid(axes: Axes, which: str = "y") -> None:
    """Draw lines at the numbers of one axis or "both", behind what is drawn."""
    axes.grid(True, axis=which)  # type: ignore[arg-type]
    axes.set_axisbelow(True)
