"""Numbers and names as a sentence says them."""

from __future__ import annotations

from collections.abc import Sequence

from ....pipeline.analysis.progress import Shortfall
from ....pipeline.noise import Noise


def percent(rate: float) -> str:
    """Write a rate as a percentage.

    Examples
    --------
    >>> percent(0.1), percent(0.025)
    ('10%', '2.5%')
    """
    return f"{100 * rate:.6g}%"


def enumerate_names(names: Sequence[str], join: str = "and") -> str:
    """Join names as a sentence does.

    Examples
    --------
    >>> enumerate_names(["A", "B", "C"])
    'A, B and C'
    """
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} {join} {names[-1]}"


def count(number: int, noun: str, plural: str = "") -> str:
    """Write a number with its noun.

    Examples
    --------
    >>> count(1, "data set"), count(1200, "cell")
    ('1 data set', '1,200 cells')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def p_value(p: float) -> str:
    """Write a p-value to three digits.

    Examples
    --------
    >>> p_value(0.0421), p_value(0.00004)
    ('0.042', '<0.001')
    """
    return "<0.001" if p < 0.0005 else f"{p:.3f}"


def equation(p: float) -> str:
    """Write a p-value as an equation or inequality.

    Examples
    --------
    >>> equation(0.0421), equation(0.00004)
    ('p = 0.042', 'p < 0.001')
    """
    text = p_value(p)
    return f"p {text[0]} {text[1:]}" if text.startswith("<") else f"p = {text}"


def noise_levels(noise: Sequence[Noise]) -> str:
    """Name several levels of noise, with the words that they end with said once.

    Parameters
    ----------
    noise : sequence of Noise
        At least two, each another.

    Returns
    -------
    str

    Examples
    --------
    >>> noise_levels([Noise(0.1), Noise(0.2), Noise(0.3)])
    '10%, 20% and 30% label noise'
    """
    endings = {each.label.removeprefix(each.short) for each in noise}
    if len(endings) > 1:
        return enumerate_names([each.label for each in noise])
    return enumerate_names([each.short for each in noise]) + endings.pop()


def how_far(lack: Shortfall) -> str:
    """Say how far the cells of an algorithm came that did not finish.

    Examples
    --------
    >>> how_far(Shortfall(3, stopped=3, reached=(10, 10), examples=569))
    'stopped at 10 of 569'
    >>> how_far(Shortfall(5, stopped=1, failed=2, waiting=1, reached=(10, 10), examples=569))
    '1 of 5 stopped at 10 of 569, 2 of 5 failed, 1 of 5 not run'
    """
    reached = " to ".join(f"{n:,}" for n in sorted(set(lack.reached)))
    at = f"stopped at {reached} of {lack.examples:,}" if lack.examples else f"stopped at {reached}"
    if lack.examples and max(lack.reached, default=0) >= lack.examples:
        at = "stopped in a later pass"
    parts = [(lack.stopped, at), (lack.failed, "failed"), (lack.waiting, "not run")]
    return ", ".join(
        text if n == lack.planned else f"{n:,} of {lack.planned:,} {text}" for n, text in parts if n
    )
