"""Record how results were made: package versions, machine, commit, fingerprints of the data."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from ...pipeline import data
from ...pipeline.study.plan import Plan
from ...pipeline.workers.environment import Environment


def provenance(
    environments: Mapping[str, Environment],
    plan: Plan,
    command: str | None,
    began: datetime,
) -> dict[str, Any]:
    """Return how and where the results of a run were made, as plain values for JSON.

    `environments` has the environment of each worker by its address; the address of this process is "". If
    environments differ, the recorded versions, platform and processor are those that most workers have, and
    each different environment is listed with its workers.
    """
    alike: dict[str, list[str]] = {}
    for address, machine in environments.items():
        alike.setdefault(repr(_of(machine)), []).append(address)
    kinds = [(_of(environments[each[0]]), each) for each in sorted(alike.values(), key=len, reverse=True)]
    found = {"command": command, "started": began.isoformat(timespec="seconds")} | kinds[0][0]
    found["git"] = _git_commit()
    if "" not in environments:
        found["workers"] = len(environments)
    if len(kinds) > 1:
        found["environments"] = [kind | {"workers": sorted(addresses)} for kind, addresses in kinds]
    return found | _of_plan(plan)


def with_reuse(runs: Sequence[Mapping[str, Any]], plan: Plan, command: str | None) -> list[Mapping[str, Any]]:
    """Return the list of a store's runs after a new run that found all its cells in the store.

    `runs` is the list before the new run. If its last entry has the same data and the same versions of
    learners, the list does not change. Otherwise the new run gets an entry with its command, fingerprints,
    versions of learners and notes. The new run computed nothing, so its entry copies packages, machine and
    start from an earlier run: the latest one that used all data of the new run or, if there is none, the last
    one. Without an earlier run, the entry lacks these, because nothing is known of cells that were copied.
    """
    now = _of_plan(plan)
    if runs and all(runs[-1].get(name, {}) == now.get(name, {}) for name in ("fingerprints", "guests")):
        return [*runs]
    wanted = now["fingerprints"].items()
    alike = (run for run in reversed(runs) if wanted <= run.get("fingerprints", {}).items())
    made = next(alike, runs[-1] if runs else {})
    kept = {name: value for name, value in made.items() if name not in ("guests", "features", "scales")}
    return [*runs, kept | {"command": command} | now]


def _of_plan(plan: Plan) -> dict[str, Any]:
    """Return what a plan determines of a run's provenance: data fingerprints, learners' versions, notes.

    Key "guests" has the versions of all learners but the built-in ones, "features" notes on each data set's
    features, "scales" warnings of features whose scales differ.
    """
    named: dict[str, Mapping[str, Any]] = {
        "guests": {label: plan.versions[label] for label, each in plan.learners.items() if not each.built_in},
        "features": {task.label: list(data.notes(task)) for task in plan.here},
        "scales": data.scales_apart(plan.here),
    }
    told = {name: {label: each for label, each in some.items() if each} for name, some in named.items()}
    return {"fingerprints": dict(plan.fingerprints)} | {name: some for name, some in told.items() if some}


def _of(machine: Environment) -> dict[str, Any]:
    packages = dict(machine.versions)
    python = packages.pop("python")
    return {
        "python": python,
        "packages": packages,
        "code": machine.code[:16],
        "platform": machine.platform,
        "cpu": machine.cpu,
    }


def _git_commit() -> str | None:
    """Return the commit of the checkout that runs this code, or None if there is no checkout."""
    checkout = Path(__file__).resolve().parents[2]
    if not (checkout / ".git").exists():
        return None
    try:
        found = subprocess.run(
            ["git", "-C", str(checkout), "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"],
            capture_output=True,
            text=True,
            timeout=5,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return found.stdout.strip()
