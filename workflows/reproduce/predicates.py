"""Predicates over frames of results, and questions, which judge the claims of papers by these predicates.

A frame has one row per case of a claim, such as a data set, and one column per thing that is compared, such
as an algorithm or a noise rate. A row has NaN in a column without a value for it. The row of a claim with one
case has the name "". Names of columns that are noise rates end in "%".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Concatenate, ParamSpec, TypeAlias

import pandas as pd

from ..report.words.wording import enumerate_names, percent
from .evidence import Evidence
from .verdicts import Verdict, holds_for

# A function that returns, for each case of a frame, whether the claim holds in that case.
Predicate: TypeAlias = Callable[[pd.DataFrame], dict[str, bool]]
Measure: TypeAlias = Callable[[Evidence], pd.DataFrame]
Names: TypeAlias = str | Sequence[str]
# The rows of a frame by name.
Rows: TypeAlias = Mapping[str, "pd.Series[float] | Mapping[Any, float]"]
P = ParamSpec("P")


def measure(rows: Callable[Concatenate[Evidence, P], Rows]) -> Callable[P, Measure]:
    """Decorate a function of evidence and options that returns named rows.

    Calling the decorated function with the options alone returns a `Measure`, which makes a frame of the
    rows. A column whose name is a number is a noise rate; in the frame it is named in percent.
    """

    def given(*args: P.args, **options: P.kwargs) -> Measure:
        def frame(evidence: Evidence) -> pd.DataFrame:
            found = rows(evidence, *args, **options)
            made = pd.DataFrame([dict(row) for row in found.values()], list(found))
            return made.rename(columns=lambda name: name if isinstance(name, str) else percent(name))

        return frame

    return given


def plain(value: float, digits: int = 1) -> str:
    """Return a number for a sentence, with a true minus sign and without a negative zero.

    Examples
    --------
    >>> plain(-1234.56), plain(-0.01)
    ('−1,234.6', '0.0')
    """
    return f"{round(value, digits) + 0.0:,.{digits}f}".replace("-", "−")


def listed(values: Iterable[float], digits: int = 1) -> str:
    """Return numbers separated by commas.

    Examples
    --------
    >>> listed([1.451, -1.2], 2)
    '1.45, −1.20'
    """
    return ", ".join(plain(value, digits) for value in values)


def named(values: pd.Series[float] | Mapping[str, float], digits: int = 1) -> str:
    """Return numbers with their names, separated by commas.

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
    """Ask of each row whether all columns of `first` are above all of `others`, or below with `lower`.

    Without `others`, all further columns count. With `at_least`, the lead must be at least that; otherwise
    any lead counts.

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
        return _by_row(frame, lead > 0 if at_least is None else lead >= at_least)

    return ask


def ahead_in(
    pairs: Iterable[tuple[Names, Names]], *, lower: bool = False, at_least: float | None = None
) -> Predicate:
    """Ask `ahead_on` of each row for several pairs (first, others); each pair is a separate case."""
    asked = [(f"{_joined(first)} against {_joined(others)}", first, others) for first, others in pairs]

    def ask(frame: pd.DataFrame) -> dict[str, bool]:
        return {
            f"{label}, {name}" if name else label: held
            for label, first, others in asked
            for name, held in ahead_on(first, others, lower=lower, at_least=at_least)(frame).items()
        }

    return ask


def level_within(limit: float, first: Names, other: Names) -> Predicate:
    """Ask of each row whether two columns differ by `limit` at most.

    If `first` or `other` names several columns, a row must have a value in exactly one of them, and NaN in
    the rest.
    """

    def ask(frame: pd.DataFrame) -> dict[str, bool]:
        apart = frame[_list(first)].max(axis=1) - frame[_list(other)].max(axis=1)
        return _by_row(frame, apart.abs() <= limit)

    return ask


def rises_with(*, slack: float = 0.0, falls: bool = False) -> Predicate:
    """Ask of each row whether its values rise from column to column, or fall with `falls`.

    With `slack`, a step may go back by that much if the last value is beyond the first.

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
    """Ask of each row whether all values are positive, and the last is above the first."""
    return {name: min(values) > 0 and values[-1] > values[0] for name, values in _rows(frame)}


def changes_sign(frame: pd.DataFrame) -> dict[str, bool]:
    """Ask of each row whether its first value is negative and its last one positive."""
    return {name: values[0] < 0 < values[-1] for name, values in _rows(frame)}


def above(limit: float, *, skip: Names = ()) -> Predicate:
    """Ask of each entry, except in the columns `skip`, whether it is above a limit."""
    return _of_entries(lambda value: value > limit, lambda column: column not in _list(skip))


def at_most(limit: float, columns: Names) -> Predicate:
    """Ask of each row whether its values in all of `columns` are at most `limit`."""
    return lambda frame: _by_row(frame, frame[_list(columns)].max(axis=1) <= limit)


def below(limit: float) -> Predicate:
    """Ask of each entry whether it is below a limit."""
    return _of_entries(lambda value: value < limit, lambda column: True)


def as_printed(low: float, high: float) -> Predicate:
    """Ask of each entry whether it is from `low` to `high`, the range that counts as the printed value."""
    return _of_entries(lambda value: low <= value <= high, lambda column: True)


def together(*predicates: Predicate) -> Predicate:
    """Ask all predicates; a case holds if it holds by every predicate that asks about it.

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


# --- questions


@dataclass(frozen=True, eq=False)
class Question:
    """A claim as a question to the results; calling it judges the claim."""

    # Returns the frame that `predicate` is applied to, or raises `NotThere`.
    measure: Measure
    predicate: Predicate
    # The start of the verdict's text, which describes the printed numbers. Columns that are noise rates are
    # listed after it. If there are several other columns, each number is printed with its column's name.
    said: str
    # Digits of the printed numbers after the point.
    digits: int = 1
    # Returns another frame, whose numbers are printed too but do not affect the verdict.
    also: Measure | None = None

    def answer(self, evidence: Evidence) -> tuple[dict[str, bool], str]:
        """Return whether `predicate` holds in each case, and a text of the numbers."""
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
        """Judge the claim, or raise `NotThere`."""
        return holds_for(*self.answer(evidence))


def jointly(*questions: Question) -> Callable[[Evidence], Verdict]:
    """Return the check of a claim that asks several questions; every case of every question counts."""

    def check(evidence: Evidence) -> Verdict:
        answers = [question.answer(evidence) for question in questions]
        cases = {name: held for found, _ in answers for name, held in found.items()}
        return holds_for(cases, "; ".join(figures for _, figures in answers))

    return check
