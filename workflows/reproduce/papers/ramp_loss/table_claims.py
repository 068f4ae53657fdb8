"""The claims that the ramp-loss paper reads off its Table I."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ...evidence import Evidence, NotThere
from ...verdicts import Check, Outcome, Verdict, holds_for, holds_if
from .outcomes import ACTIVE, IDSVM, LEARNERS, LIBSVM, PA, RAMP, Row, our_rows, printed_rows
from .table_one import STUDY


def _as_often(what: Callable[[Row], bool], learners: Sequence[str] = LEARNERS) -> Check:
    """Return the check of "on so many sets": as often as on what is printed for the sets that are there."""

    def check(evidence: Evidence) -> Verdict:
        ours = our_rows(evidence[STUDY], learners)
        printed = {name: printed_rows()[name] for name in ours}
        found = [name for name, row in ours.items() if what(row)]
        wanted = sum(what(row) for row in printed.values())
        if not wanted:
            raise NotThere(f"none of the {len(ours)} sets that are there is one that it speaks of")
        figures = f"on {len(found)} of {len(ours)} sets{_names(found)}, on {wanted} of these as printed"
        return holds_if(len(found) >= wanted, figures, in_part=2 * len(found) >= wanted)

    return check


def _names(names: Sequence[str]) -> str:
    return f" ({', '.join(names)})" if names else ""


def _largest_gains(evidence: Evidence) -> Verdict:
    rows = our_rows(evidence[STUDY], (LIBSVM, RAMP))
    gains = {name: row[RAMP].accuracy - row[LIBSVM].accuracy for name, row in rows.items()}
    if not {"NCheckerboard", "Cover"} <= gains.keys() or len(gains) < 4:
        raise NotThere("needs NCheckerboard, Cover and two further sets")
    order = sorted(gains, key=lambda name: -gains[name])
    figures = "gains over LibSVM in points: " + ", ".join(f"{name} {gains[name]:+.1f}" for name in order)
    # "Up to two points" is printed as 2.1 and 2.0.
    sizes = all(1.0 <= gains[name] <= 3.0 for name in ("NCheckerboard", "Cover"))
    both = set(order[:2]) == {"NCheckerboard", "Cover"}
    return holds_if(both and sizes, figures, in_part=both or order[0] in ("NCheckerboard", "Cover"))


def _active_keeps_up(evidence: Evidence) -> Verdict:
    rows = our_rows(evidence[STUDY], (LIBSVM, IDSVM, RAMP, ACTIVE))
    behind = {
        name: max(row[each].accuracy for each in (LIBSVM, IDSVM, RAMP)) - row[ACTIVE].accuracy
        for name, row in rows.items()
    }
    near = [name for name, points in behind.items() if round(points, 1) <= 1.0]
    figures = f"within a point of the best of the three on {len(near)} of {len(behind)} sets; " + ", ".join(
        f"{name} {points:.1f}" for name, points in behind.items()
    )
    return holds_if(2 * len(near) > len(behind), figures, in_part=bool(near))


def _pa_is_last(evidence: Evidence) -> Verdict:
    rows = our_rows(evidence[STUDY])
    others = [each for each in LEARNERS if each != PA]
    last = [n for n, row in rows.items() if all(row[PA].accuracy < row[each].accuracy for each in others)]
    clearly = [n for n in last if all(rows[n][each].clearly_above(rows[n][PA]) for each in others)]
    printed = printed_rows()
    wanted = sum(
        all(printed[name][PA].accuracy < printed[name][each].accuracy for each in others) for name in rows
    )
    figures = (
        f"lowest on {len(last)} of {len(rows)} sets{_names(last)}, clearly on {len(clearly)}; lowest on "
        f"{wanted} of these as printed"
    )
    return holds_if(len(clearly) >= wanted, figures, in_part=2 * len(last) >= wanted)


def _is_sparsest(learner: str) -> Callable[[Row], bool]:
    return lambda row: row[learner].size == min(row[each].size for each in LEARNERS)


def _full_is_sparse(evidence: Evidence) -> Verdict:
    often = _as_often(_is_sparsest(RAMP))(evidence)
    rows = our_rows(evidence[STUDY])
    ratios = {name: row[RAMP].size / max(1.0, row[ACTIVE].size) for name, row in rows.items()}
    # What "as sparse" may mean: the threshold is ours, and met on six sets of nine as printed.
    like = [name for name, ratio in ratios.items() if ratio <= 1.15]
    figures = (
        f"sparsest {often.figures}; no more than 1.15 times the active one's on {len(like)}{_names(like)}"
    )
    matches = 2 * len(like) > len(rows)
    return holds_if(
        matches and often.outcome is Outcome.HOLDS, figures, in_part=matches or "(" in often.figures
    )


def _ramp_is_sparser(evidence: Evidence) -> Verdict:
    rows = our_rows(evidence[STUDY])
    cases = {
        name: max(row[RAMP].size, row[ACTIVE].size) < min(row[each].size for each in (LIBSVM, IDSVM, PA))
        for name, row in rows.items()
    }
    figures = "the larger of both against the smallest of the three: " + ", ".join(
        f"{name} {max(row[RAMP].size, row[ACTIVE].size):,.0f} and "
        f"{min(row[each].size for each in (LIBSVM, IDSVM, PA)):,.0f}"
        for name, row in rows.items()
    )
    return holds_for(cases, figures)


def _ten_times(evidence: Evidence) -> Verdict:
    row = our_rows(evidence[STUDY], (LIBSVM, RAMP, ACTIVE)).get("Gauss")
    if row is None:
        raise NotThere("Gauss is not complete")
    ratios = {each: row[LIBSVM].size / max(1.0, row[each].size) for each in (RAMP, ACTIVE)}
    # "About ten" is printed as 9.0 and 13.8: within a factor of two.
    return holds_for(
        {name: 5 <= ratio <= 20 for name, ratio in ratios.items()},
        ", ".join(f"{name} {ratio:.1f} times" for name, ratio in ratios.items()),
    )


def _pa_is_densest(evidence: Evidence) -> Verdict:
    rows = our_rows(evidence[STUDY])
    cases = {name: row[PA].size == max(one.size for one in row.values()) for name, row in rows.items()}
    figures = f"densest on {sum(cases.values())} of {len(cases)} sets"
    if "Cover" in rows:
        one = rows["Cover"][PA]
        cases["all examples of Cover"] = round(one.size) >= round(one.seen)
        figures += f"; keeps {one.size:,.0f} of {one.seen:,.0f} examples of Cover"
    return holds_for(cases, figures)


def _overall(evidence: Evidence) -> Verdict:
    rows = our_rows(evidence[STUDY], (IDSVM, RAMP))
    better = {
        "accuracy": [name for name, row in rows.items() if row[RAMP].accuracy > row[IDSVM].accuracy],
        "size": [name for name, row in rows.items() if row[RAMP].size < row[IDSVM].size],
        # Of a run that was stopped the time it had is a lower bound.
        "seconds": [name for name, row in rows.items() if row[RAMP].seconds < row[IDSVM].seconds],
    }
    figures = f"of {len(rows)} sets ahead in " + "; ".join(
        f"{what} on {len(names)}{_names(names)}" for what, names in better.items()
    )
    most = {what: 2 * len(names) > len(rows) for what, names in better.items()}
    return holds_for(most, figures)


def _active_is_faster(evidence: Evidence) -> Verdict:
    rows = our_rows(evidence[STUDY], (RAMP, ACTIVE))
    return holds_for(
        {name: row[ACTIVE].seconds < row[RAMP].seconds for name, row in rows.items()},
        "seconds at best: "
        + ", ".join(
            f"{name} {row[ACTIVE].seconds:.1f} and {row[RAMP].seconds:.1f}" for name, row in rows.items()
        ),
    )


CHECKS: Mapping[str, Check] = {
    "ramp-1": _as_often(lambda row: row[RAMP].clearly_above(row[LIBSVM]), (RAMP, LIBSVM)),
    "ramp-2": _as_often(lambda row: row[RAMP].clearly_above(row[IDSVM]), (RAMP, IDSVM)),
    "ramp-3": _largest_gains,
    "ramp-4": _active_keeps_up,
    "ramp-5": _pa_is_last,
    "ramp-6": _as_often(_is_sparsest(ACTIVE)),
    "ramp-7": _full_is_sparse,
    "ramp-8": _ramp_is_sparser,
    "ramp-9": _ten_times,
    "ramp-10": _pa_is_densest,
    "ramp-22": _active_is_faster,
    "ramp-28": _overall,
}
