"""Predicates that decide whether a paper's claim holds in a frame of results, and questions that use them.

A frame has one row per case of a claim, such as a data set, and one column per thing that is compared, such
as an algorithm or a noise rate. A value that does not exist is NaN. If a claim has a single case, its row has
the name "". Names of columns that stand for noise rates end in "%", as in "10%".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Concatenate, ParamSpec, TypeAlias

import numpy as np
import pandas as pd

from ..report.words.wording import enumerate_names, percent
from .evidence import Evidence, NotThere
from .verdicts import Verdict, holds_for

# A function that takes a frame and returns, by the name of each case, whether the claim holds in it.
Predicate: TypeAlias = Callable[[pd.DataFrame], dict[str, bool]]
Measure: TypeAlias = Callable[[Evidence], pd.DataFrame]
Names: TypeAlias = str | Sequence[str]
# The rows of a frame of results, each by its name and with its values by column.
Rows: TypeAlias = Mapping[str, "pd.Series[float] | Mapping[Any, float]"]
P = ParamSpec("P")
# Differences are rounded to this many digits before they are compared with a limit: 91.9 − 90.9, for example,
# is slightly more than 1 in floating point.
_DIGITS = 9


def measure(rows: Callable[Concatenate[Evidence, P], Rows]) -> Callable[P, Measure]:
    """Decorate a function that computes named rows from evidence and options.

    The decorated function takes the options alone and returns a `Measure`, a function that takes evidence and
    returns the rows as a frame. A column whose name is a number, a noise rate, is renamed in percent ("10%").
    The measure raises `NotThere` if one of the values is NaN or infinite, such as the end of an interval of
    too few data sets, or a percentage of 0 mistakes. A column that a row does not name is NaN in it.
    """

    def given(*args: P.args, **options: P.kwargs) -> Measure:
        def frame(evidence: Evidence) -> pd.DataFrame:
            found = rows(evidence, *args, **options)
            made = [
                {name if isinstance(name, str) else percent(name): value for name, value in dict(row).items()}
                for row in found.values()
            ]
            for name, row in zip(found, made, strict=True):
                for column, value in row.items():
                    if not np.isfinite(value):
                        what = " at ".join(filter(None, (name, column)))
                        raise NotThere(f"cannot be computed: {what} is {value:g}")
            return pd.DataFrame(made, list(found))

        return frame

    return given


def plain(value: float, digits: int = 1) -> str:
    """Return a number as text for a sentence, with a typographic minus sign, and "0.0" in place of "-0.0".

    Examples
    --------
    >>> plain(-1234.56), plain(-0.01)
    ('−1,234.6', '0.0')
    """
    # Round as Python does: NumPy multiplies first and so rounds 1.485 to 1.48, where tables have 1.49.
    return f"{round(float(value), digits) + 0.0:,.{digits}f}".replace("-", "−")


def listed(values: Iterable[float], digits: int = 1) -> str:
    """Return numbers as a text, separated by commas.

    Examples
    --------
    >>> listed([1.451, -1.2], 2)
    '1.45, −1.20'
    """
    return ", ".join(plain(value, digits) for value in values)


def named(values: pd.Series[float] | Mapping[str, float], digits: int = 1) -> str:
    """Return numbers as a text, each after its name, separated by commas.

    Examples
    --------
    >>> named({"PA": 1.25, "CW": 3.0})
    'PA 1.2, CW 3.0'
    """
    return ", ".join(f"{name} {plain(value, digits)}" for name, value in dict(values).items())


# --- predicates


def ahead_on(
    first: Names, others: Names = (), *, lower: bool = False, at_least: float | None = None
) -> Predicate:
    """Return a predicate: in a row, every column of `first` is above every column of `others`.

    With `lower`, it must be below. Without `others`, `first` is compared with all other columns. The
    difference must be at least `at_least`, or just above 0 if that is None.

    Examples
    --------
    >>> frame = pd.DataFrame({"PA": [1.0, 4.0], "CW": [2.0, 3.0]}, ["usps", "gauss"])
    >>> ahead_on("PA", "CW", lower=True)(frame)
    {'usps': True, 'gauss': False}
    """

    def ask(frame: pd.DataFrame) -> dict[str, bool]:
        values = -frame if lower else frame
        against = _list(others) or [str(name) for name in frame if name not in _list(first)]
        lead = values[_list(first)].min(axis=1) - values[against].max(axis=1)
        return _by_row(frame, lead > 0 if at_least is None else lead.round(_DIGITS) >= at_least)

    return ask


def ahead_in(
    pairs: Iterable[tuple[Names, Names]], *, lower: bool = False, at_least: float | None = None
) -> Predicate:
    """Return a predicate that applies `ahead_on` to each pair (first, others), as separate cases."""
    asked = [(f"{_joined(first)} against {_joined(others)}", first, others) for first, others in pairs]

    def ask(frame: pd.DataFrame) -> dict[str, bool]:
        return {
            f"{label}, {name}" if name else label: held
            for label, first, others in asked
            for name, held in ahead_on(first, others, lower=lower, at_least=at_least)(frame).items()
        }

    return ask


def level_within(limit: float, first: Names, other: Names) -> Predicate:
    """Return a predicate: in a row, the columns `first` and `other` differ by `limit` at most.

    If `first` or `other` names several columns, each row must have a value in exactly one of them and NaN in
    the rest; this value is compared.
    """

    def ask(frame: pd.DataFrame) -> dict[str, bool]:
        apart = frame[_list(first)].max(axis=1) - frame[_list(other)].max(axis=1)
        return _by_row(frame, apart.abs().round(_DIGITS) <= limit)

    return ask


def rises_with(*, slack: float = 0.0, falls: bool = False) -> Predicate:
    """Return a predicate: a row's values rise from column to column, or with `falls` they fall.

    With `slack`, a value may step back by up to `slack`, but the last must still be beyond the first.

    Examples
    --------
    >>> rises_with()(pd.DataFrame({0.0: [1, 1], 0.1: [2, 1]}, ["PA", "CW"]))
    {'PA': True, 'CW': False}
    """
    sign = -1.0 if falls else 1.0

    def ask(frame: pd.DataFrame) -> dict[str, bool]:
        cases = {}
        for name, values in _rows(frame):
            steps = [sign * (later - earlier) for earlier, later in pairwise(values)]
            further = sign * (values[-1] - values[0]) > 0
            cases[name] = further and all(step >= -slack if slack else step > 0 for step in steps)
        return cases

    return ask


def leads_and_gains(frame: pd.DataFrame) -> dict[str, bool]:
    """Return, for each row, whether all its values are positive and the last is above the first."""
    return {name: min(values) > 0 and values[-1] > values[0] for name, values in _rows(frame)}


def changes_sign(frame: pd.DataFrame) -> dict[str, bool]:
    """Return, for each row, whether its first value is negative and its last value positive."""
    return {name: values[0] < 0 < values[-1] for name, values in _rows(frame)}


def above(limit: float, *, skip: Names = ()) -> Predicate:
    """Return a predicate: a value is above `limit`; each value outside the columns `skip` is a case."""
    return _of_entries(lambda value: value > limit, lambda column: column not in _list(skip))


def at_most(limit: float, columns: Names) -> Predicate:
    """Return a predicate: a row's values in all of `columns` are at most `limit`."""
    return lambda frame: _by_row(frame, frame[_list(columns)].max(axis=1).round(_DIGITS) <= limit)


def below(limit: float) -> Predicate:
    """Return a predicate: a value is below `limit`; each value of the frame is a case."""
    return _of_entries(lambda value: value < limit, lambda column: True)


def as_printed(low: float, high: float) -> Predicate:
    """Return a predicate: a value is from `low` to `high`, the range that we count as the paper's number."""
    return _of_entries(lambda value: low <= value <= high, lambda column: True)


def together(*predicates: Predicate) -> Predicate:
    """Return a predicate that combines others: a case holds if each predicate that has this case says so.

    Examples
    --------
    >>> together(above(0), above(2))(pd.DataFrame({"gain": [1, 3]}, ["usps", "gauss"]))
    {'usps': False, 'gauss': True}
    """

    def ask(frame: pd.DataFrame) -> dict[str, bool]:
        cases: dict[str, bool] = {}
        for predicate in predicates:
            for name, held in predicate(frame).items():
                cases[name] = cases.get(name, True) and held
        return cases

    return ask


def _of_entries(test: Callable[[float], bool], asked: Callable[[str], bool]) -> Predicate:
    def ask(frame: pd.DataFrame) -> dict[str, bool]:
        return {
            str(name) if len(frame.columns) == 1 else f"{name} at {column}": test(float(value))
            for name, row in frame.iterrows()
            for column, value in row.dropna().items()
            if asked(str(column))
        }

    return ask


def _by_row(frame: pd.DataFrame, held: pd.Series[bool]) -> dict[str, bool]:
    return dict(zip(map(str, frame.index), held.tolist(), strict=True))


def _joined(names: Names) -> str:
    return enumerate_names(_list(names))


def _list(names: Names) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def _rows(frame: pd.DataFrame) -> Iterable[tuple[str, list[float]]]:
    return zip(map(str, frame.index), frame.to_numpy("float64").tolist(), strict=True)


# --- questions: claims as predicates on measured results


@dataclass(frozen=True, eq=False)
class Question:
    """A claim in a form that the results can answer; calling it with the results returns the verdict."""

    # Computes from the results the frame that `predicate` is applied to; raises `NotThere` if it cannot.
    measure: Measure
    predicate: Predicate
    # The start of the verdict's text; it says what the numbers after it are. If the columns are noise rates,
    # the rates are appended to it. If there are several other columns, each number follows its column's name.
    said: str
    # Digits after the point of the numbers in the verdict's text.
    digits: int = 1
    # Computes a second frame, whose numbers are added to the verdict's text but do not affect the verdict.
    also: Measure | None = None

    def answer(self, evidence: Evidence) -> tuple[dict[str, bool], str]:
        """Return, by case, whether `predicate` holds in it, and a text with the numbers that decide."""
        frame = self.measure(evidence)
        shown = [frame] if self.also is None else [frame, self.also(evidence)]
        rates = [str(name) for name in frame if str(name).endswith("%")]
        texts = [
            f"{name} {write(row.dropna(), self.digits)}".strip()
            for each in shown
            for write in [listed if rates or len(each.columns) == 1 else named]
            for name, row in each.iterrows()
        ]
        said = f"{self.said} at {', '.join(rates)}" if rates else self.said
        return self.predicate(frame), f"{said}: {'; '.join(texts)}"

    def __call__(self, evidence: Evidence) -> Verdict:
        """Return the verdict on the claim; raise `NotThere` if the results lack numbers for it."""
        return holds_for(*self.answer(evidence))


def jointly(*questions: Question) -> Callable[[Evidence], Verdict]:
    """Return a function that judges a claim by several questions; the verdict counts all their cases."""

    def check(evidence: Evidence) -> Verdict:
        answers = [question.answer(evidence) for question in questions]
        cases = {name: held for found, _ in answers for name, held in found.items()}
        return holds_for(cases, "; ".join(figures for _, figures in answers))

    return check
