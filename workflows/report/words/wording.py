"""Write the sentences of a report: who leads, how certain that is, and which cautions apply."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from ....pipeline.analysis.comparison import ALPHA, Comparison
from ....pipeline.analysis.design import Coverage, Design
from ....pipeline.analysis.progress import Shortfall, comparable_rows
from ....pipeline.noise import Noise


def percent(rate: float) -> str:
    """Write a rate as a percentage, such as "2.5%"."""
    return f"{100 * rate:.6g}%"


def setting(name: str, value: Any) -> str:
    """Write a parameter with its value: "r = 0.1"."""
    return f"{name} = {value:g}" if isinstance(value, float) else f"{name} = {value}"


def enumerate_names(names: Sequence[str]) -> str:
    """Join names with commas and a final "and": "A, B and C"."""
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def count(number: int, noun: str) -> str:
    """Write a number with its noun: "1 data set", "1,200 cells"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def p_value(p: float) -> str:
    """Write a p-value to three digits: "0.042", "<0.001"."""
    return "<0.001" if p < 0.0005 else f"{p:.3f}"


def equation(p: float) -> str:
    """Write a p-value as an equation or inequality: "p = 0.042", "p < 0.001"."""
    text = p_value(p)
    return f"p {text[0]} {text[1:]}" if text.startswith("<") else f"p = {text}"


def noise_levels(noise: Sequence[Noise]) -> str:
    """Name several noise levels, and write their common ending once: "10%, 20% and 30% label noise"."""
    endings = {each.label.removeprefix(each.short) for each in noise}
    if len(endings) > 1:
        return enumerate_names([each.label for each in noise])
    return enumerate_names([each.short for each in noise]) + endings.pop()


def how_far(lack: Shortfall) -> str:
    """Describe an algorithm's unfinished cells: "1 of 5 stopped at 10 of 569, 2 of 5 failed"."""
    reached = " to ".join(f"{n:,}" for n in sorted(set(lack.reached)))
    at = f"stopped at {reached} of {lack.examples:,}" if lack.examples else f"stopped at {reached}"
    if lack.examples and max(lack.reached, default=0) >= lack.examples:
        at = "stopped in a later pass"
    parts = [(lack.stopped, at), (lack.failed, "failed"), (lack.waiting, "not run")]
    return ", ".join(
        text if n == lack.planned else f"{n:,} of {lack.planned:,} {text}" for n, text in parts if n
    )


# With fewer base sets, an exact two-sided signed-rank test of a single pair cannot reach a p-value of 0.05.
_FEWEST_FOR_A_PAIR = 6
# A sentence names at most this many algorithms that share the second rank.
_MOST_NAMED = 3


def leaders(comparison: Comparison) -> list[str]:
    """Return the algorithms that share the best mean rank, or an empty list if nothing could be ranked."""
    ranks = comparison.mean_ranks
    return [str(name) for name in ranks.index[ranks == ranks.min()]] if len(ranks) else []


def verdict(comparison: Comparison) -> str:
    """Say in a sentence which algorithm leads at one noise level and whether that is significant."""
    first = leaders(comparison)
    if not first:
        if not comparison.k and not comparison.bound:
            return f"no algorithm has a value of {comparison.metric.label}, so nothing is ranked."
        lacks = [text for each in comparison.dropped for text in each.missing.values()]
        if lacks and all(text.startswith("undefined") for text in lacks):
            label = comparison.metric.label
            return f"{label} is undefined at some seeds of every data set, so nothing is ranked."
        return "no data set has a complete result of every algorithm, so nothing is ranked."
    if comparison.k == 1:
        return f"{first[0]} is the only algorithm ranked, so there is nothing to compare."
    if comparison.all_tied:
        who = "both" if comparison.k == 2 else f"all {comparison.k}"
        return f"{who} algorithms tie on {count(comparison.n, 'data set')}."
    if comparison.n == 1:
        return _single(comparison, first)
    if len(first) > 1:
        names = enumerate_names(first)
        # They need not share the interval of that rank, which the table of mean ranks has.
        rank = f"{comparison.mean_ranks.iloc[0]:.2f}"
        return f"{names} share the best mean rank, {rank}{_against(comparison, first)}."
    runners_up = f"{_runners_up(comparison, first)} ({comparison.mean_ranks.iloc[1]:.2f})"
    return (
        f"{first[0]} has the best mean rank, {_rank(comparison)}, followed by {runners_up}"
        f"{_against(comparison, first)}."
    )


def _runners_up(comparison: Comparison, first: list[str]) -> str:
    """Name the algorithms with the best mean rank after the first, or their number if there are many."""
    ranks = comparison.mean_ranks.drop(first)
    names = [str(name) for name in ranks.index[ranks == ranks.min()]]
    return enumerate_names(names) if len(names) <= _MOST_NAMED else count(len(names), "algorithm")


def _rank(comparison: Comparison) -> str:
    """Write the best mean rank with its 95% interval, if there are enough base sets for one."""
    text = f"{comparison.mean_ranks.iloc[0]:.2f}"
    if (found := comparison.rank_intervals) is None:
        return text
    low, high = found.loc[comparison.mean_ranks.index[0]]
    if low == high:
        return f"{text} (on every base set)"
    return f"{text} (95% interval {low:.2f} to {high:.2f})"


def _single(comparison: Comparison, first: list[str]) -> str:
    metric = comparison.metric
    scores = comparison.scores.iloc[0]
    rest = [str(name) for name in comparison.mean_ranks.index if name not in first]
    digits = metric.digits(scores)
    # One digit more if the two scores that the sentence names would otherwise look equal.
    if rest and metric.show(scores[first[0]], digits=digits) == metric.show(scores[rest[0]], digits=digits):
        digits += 1
    best = metric.show(float(scores[first[0]]), unit=True, digits=digits)
    kind = "best" if metric.direction == "higher" else "lowest"
    lead = (
        f"{enumerate_names(first)} {'has' if len(first) == 1 else 'have'} the {kind} {metric.label} ({best})"
    )
    if rest:
        value = metric.show(float(scores[rest[0]]), unit=True, digits=digits)
        lead += f", followed by {_runners_up(comparison, first)} ({value})"
    if comparison.dropped:
        which = "data set on which all algorithms run"
        if comparison.incomplete:
            which = f"one of {1 + len(comparison.dropped)} data sets with a complete value of every algorithm"
        lead += f", on {comparison.scores.index[0]}, the only {which}"
    return f"{lead}; with one data set no test over data sets is possible."


def _sample(comparison: Comparison) -> str:
    """Say on how many data sets the tests are made, and from how many base sets these are cut."""
    if comparison.n_sources == comparison.n:
        return f"{comparison.n} data sets"
    return f"{comparison.n} data sets from {count(comparison.n_sources, 'base set')}"


def _against(comparison: Comparison, first: list[str]) -> str:
    """Say how certain it is that the algorithms in `first` lead."""
    if not comparison.overall:
        return "; the Friedman test finds no significant differences"
    if len(first) > 1:
        return "" if comparison.friedman is None else "; the Friedman test finds differences"
    if comparison.smallest_p > ALPHA:
        found = "" if comparison.friedman is None else " the Friedman test finds differences, but"
        return f";{found} {_sample(comparison)} are too few to tell any one pair apart"
    rest = [str(name) for name in comparison.mean_ranks.index if name != first[0]]
    beaten = comparison.beaten
    if not beaten:
        return "; tests and ranks do not agree that it is better than any other algorithm"
    if len(beaten) == len(rest) == 1:
        return "; the difference is significant"
    if len(beaten) == len(rest):
        return "; by tests and ranks alike better than all others"
    if len(beaten) <= 3:
        return f"; by tests and ranks alike better than {enumerate_names(beaten)} only"
    spared = [name for name in rest if name not in beaten]
    if len(spared) <= 3:
        return f"; by tests and ranks alike better than all others but {enumerate_names(spared)}"
    return f"; by tests and ranks alike better than {len(beaten)} of the {len(rest)} others"


def headline(comparisons: Sequence[Comparison]) -> str:
    """Say which metric ranks the algorithms, and who leads at each noise level, given their comparisons."""
    return f"Algorithms are judged by {comparisons[0].metric.label}. {leads(comparisons)}"


def leads(comparisons: Sequence[Comparison]) -> str:
    """Say who leads at each noise level, with one sentence for successive levels with the same outcome."""
    runs: list[list[Comparison]] = []
    for comparison in comparisons:
        if runs and _same_story(runs[-1][0], comparison):
            runs[-1].append(comparison)
        else:
            runs.append([comparison])
    parts = [f"{run[0].noise.opening} {verdict(run[0])}" if len(run) == 1 else _story(run) for run in runs]
    return " ".join(parts)


def _same_story(one: Comparison, other: Comparison) -> bool:
    """Return whether two noise levels can share a sentence: they have the same leader, equally certain."""
    first = leaders(one)
    plain = all(c.n > 1 and c.k > 1 and not c.all_tied for c in (one, other))
    if not plain or len(first) > 1 or leaders(other) != first:
        return False
    return _against(one, first) == _against(other, first)


def _story(run: Sequence[Comparison]) -> str:
    first = leaders(run[0])
    ranks = [float(c.mean_ranks.iloc[0]) for c in run]
    low, high = f"{min(ranks):.2f}", f"{max(ranks):.2f}"
    between = low if low == high else f"between {low} and {high}"
    levels = noise_levels([c.noise for c in run])
    return f"At {levels} {first[0]} has the best mean rank ({between}){_against(run[0], first)}."


def why_no_test(design: Design, coverage: Coverage) -> str:
    """Say why a study of one data set has ranks but no tests; return "" for any other study."""
    if len(design.datasets) != 1:
        return ""
    seeds = design.repetitions
    opening = "So far one data set has results" if coverage.missing else "The study has one data set"
    text = (
        f"{opening}, so these are its ranks, not means of ranks, and no significance test is "
        "made over data sets: such tests ask whether algorithms differ from data set to data set."
    )
    if seeds > 1:
        text += (
            f" The {seeds} seeds are repetitions on the same data set, not further data sets; the "
            "standard errors and the spread in the figures below show how much they vary."
        )
    return text


def friedman_sentence(comparison: Comparison) -> str:
    """Say what the tests at one noise level found, and which of them need more data sets."""
    if comparison.n < 2:
        return f"{count(comparison.n, 'complete data set')}: no test is possible; tests need at least two."
    if comparison.n_sources < 2:
        return f"The {comparison.n} data sets are cut from one base set: no test is possible."
    if comparison.k < 2:
        return "One algorithm: there is nothing to test."
    sentences = []
    outcome = comparison.friedman
    if comparison.all_tied:
        return "Every algorithm scores the same on every data set: there is nothing to test."
    if outcome is None:
        sentences.append("Two algorithms: Wilcoxon's signed-rank test alone decides.")
    else:
        finds = "differences" if outcome.p <= ALPHA else "no significant differences"
        if outcome.f == float("inf"):
            sentences.append(
                f"All {outcome.n} base sets rank the algorithms alike: Friedman χ²({outcome.k - 1}) = "
                f"{outcome.chi2:.2f}, {equation(outcome.chi2_p)}; the test finds {finds}."
            )
        else:
            sentences.append(
                f"Friedman χ²({outcome.k - 1}) = {outcome.chi2:.2f}, {equation(outcome.chi2_p)}; "
                f"Iman–Davenport F({outcome.df[0]}, {outcome.df[1]}) = {outcome.f:.2f}, "
                f"{equation(outcome.f_p)}: the test finds {finds}."
            )
    if comparison.smallest_p > ALPHA:
        why = (
            "fewer than six cannot decide even one pair"
            if comparison.n_sources < _FEWEST_FOR_A_PAIR
            else f"with {len(comparison.pairs)} pairs the smallest possible adjusted p-value is "
            f"{p_value(comparison.smallest_p)}"
        )
        sentences.append(f"Wilcoxon–Holm cannot reach significance on {_sample(comparison)}: {why}.")
    return " ".join(sentences)


def averaged(design: Design) -> str:
    """Say what an entry of a score table is: a mean over seeds with a standard error, or a single run."""
    if design.repetitions > 1:
        return "Mean over seeds ± standard error of the paired difference to the best"
    return "One run each"


def averaged_over(finished: pd.DataFrame, design: Design) -> str:
    """Say over which data sets means of the `comparable_rows` of the `finished` cells are taken."""
    found = comparable_rows(finished, design).groupby("noise")["dataset"].nunique()
    numbers = {noise: int(found.get(noise.slug, 0)) for noise in design.noise}
    n, of = max(numbers.values()), len(design.datasets)
    nowhere = [name for name in design.algorithms if name not in set(finished["algorithm"])]
    some = 0 < len(nowhere) < len(design.algorithms)
    every = f"every algorithm except {enumerate_names(nowhere)}" if some else "every algorithm"
    if len(set(numbers.values())) > 1:
        levels = ", ".join(f"{n} at {noise.short}" for noise, n in numbers.items())
        text = f"the data sets on which {every} finished ({levels})"
    elif n < of:
        text = f"the {n} of {of} data sets on which {every} finished"
    else:
        text = count(n, "data set")
    return f"{text}, except those where the algorithm does not run" if design.bound else text


def shaded(design: Design) -> str:
    """Say what a curve is: a mean over seeds with its standard deviation, or a single run."""
    if design.repetitions > 1:
        return "mean over seeds, shaded by one standard deviation"
    return "one run each"


def cautions(
    design: Design, coverage: Coverage, comparisons: Sequence[Comparison], waiting: str = ""
) -> list[str]:
    """Return cautions about the tests; `waiting` describes the cells that have not run yet."""
    found = []
    sources = len(set(design.sources))
    if sources < len(design.datasets):
        found.append(
            f"The {count(len(design.datasets), 'data set')} are tasks cut from {count(sources, 'base set')}. "
            "Tasks of one base set share examples or their origin, so tests and intervals count base sets, "
            "each with the mean score of its tasks."
        )
    left_out = sorted({name for c in comparisons for name in c.left_out}, key=design.algorithms.index)
    if left_out:
        lacks = f"without a value of {comparisons[0].metric.label}"
        found.append(f"Left out of the ranks, {lacks}: {enumerate_names(left_out)}.")
    bound = sorted({name for c in comparisons for name in c.bound}, key=design.algorithms.index)
    if bound:
        found.append(f"Run on some of the data sets only, so not ranked: {enumerate_names(bound)}.")
    if partly := [name for name in design.everywhere if not design.runs_everywhere(name)]:
        found.append(
            f"Run on some of the data sets only: {enumerate_names(partly)}. Fewer than two algorithms run on "
            "all, so only data sets on which all algorithms run are ranked."
        )
    if lacking := [c for c in comparisons if c.incomplete and c.n]:
        of = f"{lacking[0].n + len(lacking[0].incomplete)} {'of these ' if partly else ''}data sets"
        levels = ", ".join(f"{c.n} at {c.noise.short}" for c in lacking)
        found.append(
            f"Not all {of} are ranked ({levels}): on the others some algorithm has no complete value of "
            f"{lacking[0].metric.label}."
        )
    if coverage.lost:
        found.append(
            f"{count(coverage.lost, 'tuning cell')} failed or reached the time limit, so that their points "
            "of the grids cannot win. These cells are listed at the end."
        )
    if coverage.missing:
        found.append(
            f"The study is not finished: {count(coverage.missing, 'cell')} of {coverage.planned:,} not yet "
            f"run.{waiting and f' These are: {waiting}.'} Means and ranks use the first seeds of each data "
            "set and noise level that all algorithms have run."
        )
    return found


def facts(design: Design, coverage: Coverage) -> list[tuple[str, str]]:
    """Return (name, value) pairs that summarize the study, for the head of the report."""
    sources = len(set(design.sources))
    datasets = f"{len(design.datasets)} ({sources})" if sources < len(design.datasets) else str(sources)
    found = [
        ("Data sets" if sources == len(design.datasets) else "Data sets (base sets)", datasets),
        ("Algorithms", str(len(design.algorithms))),
        ("Label noise", _levels(design)),
        ("Seeds", str(design.repetitions)),
        ("Cells finished", f"{coverage.ok:,}"),
    ]
    if coverage.tuning:
        found.append(("Tuning cells", f"{coverage.tuning:,}"))
    found.append(("Cells failed", f"{coverage.failed:,}"))
    if coverage.stopped:
        found.append(("Cells stopped", f"{coverage.stopped:,}"))
    if coverage.missing:
        found.append(("Cells not yet run", f"{coverage.missing:,}"))
    return found


def _levels(design: Design) -> str:
    """Name the noise levels, or count them if several noise models would make a long list."""
    models = {noise.kind for noise in design.noise if noise.rate}
    if len(models) < 2:
        return ", ".join(noise.short for noise in design.noise)
    return f"{count(len(design.noise), 'level')} of {count(len(models), 'model')}"


def boxes_note(design: Design, shown: int) -> str:
    """Explain the box plots and how many noise levels they show."""
    text = (
        f"Each box spans the quartiles of {count(design.repetitions, 'seed')}, the line is the median, "
        "whiskers reach to the last point within 1.5 box lengths."
    )
    levels = shown // max(1, len(design.datasets))
    if levels < len(design.noise):
        text += f" Shown for {levels} of {len(design.noise)} noise levels."
    return text
