"""Claims of Sec. 5.2 and of Fig. 7: mistakes along streams, and test errors after them."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from ...evidence import Evidence, StudyEvidence
from ...verdicts import Check, Verdict, holds_for, holds_if
from .parts import PAS, listed
from .streams import NOISE, READINGS, SYNTHETIC, fewer, study_errors

_FORMS = ("full", "diagonal")
# What "about 75%" means, in percent; the limits are ours.
_ABOUT_75 = (65.0, 85.0)


def _mistakes(study: StudyEvidence, t: float = 5000) -> dict[str, float]:
    return {name: study.at("mistakes_clean", name, SYNTHETIC, t, NOISE) for name in study.design.algorithms}


def _named(values: Mapping[str, float], digits: int = 1) -> str:
    return ", ".join(f"{name} {value:,.{digits}f}" for name, value in values.items())


def _wider_gap(evidence: Evidence) -> Verdict:
    study = evidence["mnist"]
    clean, noisy = (study.table("mistakes_clean", q).iloc[0] for q in (0.0, 0.1))
    cases, said = {}, []
    for other in ("CW", *PAS, "SOP"):
        gaps = [float(each[other] - each["AROW"]) for each in (clean, noisy)]
        cases[other] = gaps[1] > gaps[0]
        said.append(f"{other} {listed(gaps, 1)}")
    return holds_for(cases, f"more mistakes than AROW without noise and with 10%: {'; '.join(said)}")


def _noise_costs_all(evidence: Evidence) -> Verdict:
    study = evidence["mnist"]
    clean, noisy = (study.table("mistakes_clean", q).iloc[0] for q in (0.0, 0.1))
    said = "; ".join(f"{name} {listed([clean[name], noisy[name]], 1)}" for name in clean.index)
    return holds_for(
        {str(name): bool(noisy[name] > clean[name]) for name in clean.index},
        f"mistakes without noise and with 10%: {said}",
    )


def _all_keep_erring(evidence: Evidence) -> Verdict:
    study = evidence["synthetic"]
    before, after = _mistakes(study, 4000), _mistakes(study)
    late = {name: after[name] - before[name] for name in after}
    return holds_for(
        {name: more > 0 for name, more in late.items()},
        f"mistakes on the last 1,000 examples: {_named(late)}",
    )


def _ahead_of_older(evidence: Evidence) -> Verdict:
    found = _mistakes(evidence["synthetic"])
    older = ["Perceptron", *PAS, *(f"SOP {form}" for form in _FORMS)]
    cases = {f"CW {form} and {name}": found[f"CW {form}"] < found[name] for form in _FORMS for name in older}
    return holds_for(cases, _named(found))


def _full_arow_is_best(evidence: Evidence) -> Verdict:
    found = _mistakes(evidence["synthetic"])
    return holds_if(min(found, key=found.__getitem__) == "AROW full", _named(found))


def _next_best(study: StudyEvidence, t: float) -> str:
    """Return which algorithm other than AROW has made the fewest mistakes after `t` examples."""
    others = {name: value for name, value in _mistakes(study, t).items() if not name.startswith("AROW")}
    return min(others, key=others.__getitem__)


def _three_quarters_fewer(evidence: Evidence) -> Verdict:
    study = evidence["synthetic"]
    following = _next_best(study, 5000)
    less = fewer(study, following, 5000)
    low, high = _ABOUT_75
    return holds_if(
        low <= less <= high and following.startswith("CW"),
        f"{less:.1f}% fewer than {following}, the next best but for diagonal AROW (than that "
        f"{fewer(study, 'AROW diagonal', 5000):.1f}% fewer); printed 75",
        in_part=low <= less <= high or following.startswith("CW"),
    )


def _early_too(evidence: Evidence) -> Verdict:
    study = evidence["synthetic"]
    following = _next_best(study, 500)
    less = fewer(study, following, 500)
    low, high = _ABOUT_75
    cw = {f"CW {form}": fewer(study, f"CW {form}", 500) for form in _FORMS}
    return holds_if(
        low <= less <= high,
        f"after 500 examples {less:.1f}% fewer than {following}, the next best but for diagonal AROW "
        f"({low:.0f} to {high:.0f} counts as about 75); in percent fewer than {_named(cw)}",
    )


def _full_against_diagonal(evidence: Evidence) -> Verdict:
    found = _mistakes(evidence["synthetic"])
    pair = {name: found[name] for name in ("AROW full", "AROW diagonal")}
    return holds_if(pair["AROW full"] < pair["AROW diagonal"], _named(pair))


def _full_cw_is_worse(evidence: Evidence) -> Verdict:
    found = _mistakes(evidence["synthetic"])
    pair = {name: found[name] for name in ("CW full", "CW diagonal")}
    return holds_if(pair["CW full"] > pair["CW diagonal"], _named(pair))


def _test_errors(evidence: Evidence) -> dict[str, pd.DataFrame]:
    """Return test errors over runs by the reading of Fig. 6, shape (runs, algorithms) each."""
    return {reading: study_errors(evidence[key]) for reading, key in READINGS.items()}


def _cw_tests_worse_than_arow(evidence: Evidence) -> Verdict:
    names = [f"{name} {form}" for name in ("AROW", "CW") for form in _FORMS]
    cases: dict[str, bool] = {}
    said = []
    for reading, errors in _test_errors(evidence).items():
        means = _column(errors.mean())
        cases |= {f"{form}, {reading}": means[f"CW {form}"] > means[f"AROW {form}"] for form in _FORMS}
        said.append(f"{reading} {_named({name: means[name] for name in names})}")
    return holds_for(cases, f"test errors in percent: {'; '.join(said)}")


def _cw_tests_worse_than_first_order(evidence: Evidence) -> Verdict:
    others = ["Perceptron", *PAS]
    cases: dict[str, bool] = {}
    said = []
    for reading, errors in _test_errors(evidence).items():
        means = _column(errors.mean())
        # Worse than both, as the claim says.
        cases |= {
            f"CW {form} with {pa} ({reading})": means[f"CW {form}"] > max(means["Perceptron"], means[pa])
            for form in _FORMS
            for pa in PAS
        }
        shown = [*(f"CW {form}" for form in _FORMS), *others]
        said.append(f"{reading} {_named({name: means[name] for name in shown})}")
    return holds_for(cases, f"test errors in percent: {'; '.join(said)}")


def _arow_varies_least(evidence: Evidence) -> Verdict:
    cases: dict[str, bool] = {}
    said = []
    for reading, errors in _test_errors(evidence).items():
        spread = _column(errors.std(ddof=1))
        least = min(value for name, value in spread.items() if not name.startswith("AROW"))
        cases |= {f"AROW {form}, {reading}": spread[f"AROW {form}"] < least for form in _FORMS}
        said.append(f"{reading} {_named(spread, 2)}")
    return holds_for(cases, f"standard deviations of the test error in points: {'; '.join(said)}")


def _column(values: pd.Series[float]) -> dict[str, float]:
    return {str(name): float(value) for name, value in values.items()}


CHECKS: Mapping[str, Check] = {
    "arow-11": _wider_gap,
    "arow-12": _noise_costs_all,
    "arow-13": _all_keep_erring,
    "arow-14": _ahead_of_older,
    "arow-15": _full_arow_is_best,
    "arow-16": _three_quarters_fewer,
    "arow-17": _early_too,
    "arow-18": _full_against_diagonal,
    "arow-19": _full_cw_is_worse,
    "arow-20": _cw_tests_worse_than_arow,
    "arow-21": _cw_tests_worse_than_first_order,
    "arow-22": _arow_varies_least,
}
