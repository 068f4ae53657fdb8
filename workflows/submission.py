"""Pack results into an archive for others, and verify such an archive by computing a sample of cells again.

Verifying runs a stranger's code, in a subprocess (`recomputation`) with limits. Its folder gets the study and
the plug-ins but no results, and is deleted afterwards. SECURITY.md says what this does not protect from.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import random
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..learners.guests.given import find_given
from ..pipeline import data
from ..pipeline.analysis.tuning import tuned_grids
from ..pipeline.documents import seal_document
from ..pipeline.errors import InputError
from ..pipeline.store.archive import pack, packable, unpack
from ..pipeline.store.schema import SCHEMAS, as_now
from ..pipeline.store.store import Store
from ..pipeline.store.tables import as_planned, to_parquet
from ..pipeline.study.study import Study
from ..pipeline.study.study_file import parse_study
from .running import recomputation

if TYPE_CHECKING:
    import pandas as pd

# Largest answer of the subprocess that is read, in bytes: a cell takes some kilobytes.
_MOST_ANSWERED = 1 << 26
# Largest number of characters that are shown of a message from the subprocess.
_SHOWN = 500
# Environment variables that the subprocess gets: no account or token of the user is among them.
_PASSED_ON = ("PATH", "LANG", "LC_ALL", "PYTHONPATH", "SINGLEPASS_DATA", "SINGLEPASS_MIRROR", "SYSTEMROOT")


def submit(url: str, to: Path | None) -> tuple[Path, int]:
    """Write the archive of results, and return its path and number of cells.

    The archive contains the cells that were computed for these results, but not those of their bases. It also
    contains the study, versions of packages, and the sources of plug-ins. Raises InputError if there is
    nothing to submit, or a plug-in has changed or cannot be packed.
    """
    store = Store(url)
    if not store.exists():
        raise InputError(f"{url}: no results here: give a folder or URL that `singlepass run` wrote")
    study, plan = store.read_json("study.json"), store.read_json("plan.json")
    if not study:
        raise InputError(f"{url}: study.json is missing: run the study again to write it")
    runs = store.read_json("provenance.json").get("runs", [])
    for entry in study.get("algorithms", []):
        if find_given(entry["name"]) is not None:
            raise InputError(
                f"algorithm {entry['label']!r} is an object of a notebook: put its class into a plug-in"
            )
    planned = store.plan()
    keys = planned["key"].to_pylist()
    cells, curves = (as_now(store.own(within, keys), SCHEMAS[within]) for within in ("cells", "curves"))
    if not len(cells):
        raise InputError(
            f"{url}: all its cells were read from other results (--base): there is nothing to submit"
        )
    to = to or Path(f"{study['name']}.zip")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for name in ("cells", "curves", "plugins"):
            (folder / name).mkdir()
        for path, checksum in plan.get("plugins", {}).items():
            source, name = _read_plugin(path, checksum), f"plugins/{Path(path).name}"
            problem = "another plug-in has this file name" if (folder / name).exists() else ""
            if not packable(name):
                problem = "file names in an archive may have only letters, digits, '.', '_' and '-'"
            if problem:
                raise InputError(f"plugin file {path}: {problem}: rename it and run the study again")
            (folder / name).write_bytes(source)
        (folder / "cells/part-own.parquet").write_bytes(to_parquet(cells))
        (folder / "curves/part-own.parquet").write_bytes(to_parquet(curves))
        (folder / "plan.parquet").write_bytes(to_parquet(planned))
        # Leave out the plug-ins' paths, which mean nothing on other machines.
        plan = {key: value for key, value in plan.items() if key != "plugins"}
        for name, content in (("study", study), ("plan", plan), ("provenance", {"runs": runs})):
            (folder / f"{name}.json").write_bytes(seal_document(content))
        names = [str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()]
        pack(folder, names, to)
    return to, len(cells)


def _read_plugin(path: str, checksum: str) -> bytes:
    """Return the source of a plug-in; raise InputError if it is not the one that the run had."""
    try:
        source = Path(path).read_bytes()
    except OSError as error:
        raise InputError(
            f"plugin file {path}: cannot be read ({error.strerror}): run the study again"
        ) from None
    if hashlib.sha256(source).hexdigest() != checksum:
        raise InputError(f"plugin file {path}: it has changed since the run: run the study again")
    return source


@dataclass(frozen=True)
class Verification:
    """Which cells of an archive were computed again, and how they differ from it."""

    study: str
    # Number of cells in the archive, and the keys of the cells that were computed again.
    cells: int
    sample: list[str]
    # A line for each difference between the archive and the cells computed again; empty without a difference.
    problems: list[str]
    # Number of grids whose winner cannot be checked, because the archive lacks some of their points.
    unjudged: int


def verify(
    archive: Path, *, cells: int, seed: int, seconds: float, memory: float, trusted: bool
) -> Verification:
    """Compute a random sample of an archive's cells again, and compare all results except times and regrets.

    Relative paths of data files start at the current folder.
    `seed` draws the sample of at most `cells` cells. The subprocess may run for `seconds` and take `memory`
    gigabytes. Raises InputError if the archive is damaged, or if its code is not `trusted`.
    """
    if not trusted:
        raise InputError(
            f"{archive}: verifying runs the code in it, with your rights: read its plug-ins (it is a zip "
            "archive) and SECURITY.md, then add --trust"
        )
    with tempfile.TemporaryDirectory(prefix="singlepass-verify-") as scratch:
        folder, work = Path(scratch) / "archive", Path(scratch) / "work"
        unpack(archive, folder)
        store = Store(str(folder))
        study = parse_study(store.read_json("study.json"), f"{archive}: study.json")
        rows = as_planned(store.cells(), store.plan())
        problems, unjudged = _unearned(rows, study)
        finished = rows[rows["status"] == "ok"].drop_duplicates("key").sort_values("key")
        keys = finished["key"].tolist()
        sample = sorted(random.Random(seed).sample(keys, min(cells, len(keys))))
        chosen = finished[finished["key"].isin(sample)]
        task = {
            "base": str(Path.cwd()),
            "study": study.model_dump(mode="json"),
            "cells": chosen[list(recomputation.IDENTIFIED_BY)].to_dict("records"),
        }
        (work / "plugins").mkdir(parents=True)
        for source in (folder / "plugins").glob("*.py"):
            source.rename(work / "plugins" / source.name)
        (work / recomputation.TASK).write_text(json.dumps(task))
        answers = _recomputed(archive, work, seconds, memory)
        curves = store.curves(sample)
        # Results of earlier versions lack columns: only there a missing value is no difference.
        runs = store.read_json("provenance.json").get("runs", [])
        earlier = any(run.get("packages", {}).get("singlepass") != version("singlepass") for run in runs)
        for row in chosen.to_dict("records"):
            curve = curves[curves["key"] == row["key"]]
            problems += _differences({**row}, curve, answers.get(row["key"], {}), earlier)
    return Verification(study.name, len(keys), sample, problems, unjudged)


def _recomputed(archive: Path, work: Path, seconds: float, memory: float) -> dict[str, Any]:
    """Run the subprocess in the folder `work`, and return its answers by the key of the cell."""
    environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    cache = work / "cache"
    cache.mkdir()
    downloads = data.cache_folder() / "data"
    if downloads.is_dir():
        (cache / "data").symlink_to(downloads, target_is_directory=True)
    own = {"HOME": work, "TMPDIR": work, "SINGLEPASS_CACHE": cache}
    messages = work / "messages.txt"
    with messages.open("wb") as told:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", recomputation.__name__, str(seconds), str(memory)],
            cwd=work,
            env=environment | {name: str(path) for name, path in own.items()},
            stdin=subprocess.DEVNULL,
            stdout=told,
            stderr=told,
            start_new_session=True,
        )
    reason = ""
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        reason = f"after {seconds:g} seconds"
    finally:
        # Kill the process group: the archive's code may have started more processes.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    answer = work / recomputation.ANSWER
    if not answer.is_file() or answer.stat().st_size > _MOST_ANSWERED:
        last = messages.read_text("utf-8", "replace")[-_SHOWN:].split("\n")
        last_line = next((line for line in reversed(last) if line.strip()), "no message")
        how = reason or f"with status {process.returncode}"
        raise InputError(
            f"{archive}: the subprocess ended {how} without an answer ({last_line.strip()}): "
            "see --seconds and --memory"
        )
    try:
        content = json.loads(answer.read_bytes())
        if isinstance(content, dict) and isinstance(content.get("cells"), dict):
            return dict(content["cells"])
    except (ValueError, RecursionError):
        content = None
    problem = content.get("error") if isinstance(content, dict) else None
    raise InputError(
        f"{archive}: cannot be computed here: {' '.join(str(problem or 'no valid answer').split())[:_SHOWN]}"
    )


def _named(row: Mapping[Any, Any]) -> str:
    what = f"{row['algorithm']} on {row['dataset']}, noise {row['noise']}, seed {row['seed']}"
    return f"cell {row['key']} ({what})"


def _same(here: Any, there: Any) -> bool:
    """Return whether two results, or lists of results, are equal; floats may differ by rounding."""
    if isinstance(here, list) and isinstance(there, list):
        return len(here) == len(there) and all(map(_same, here, there))
    if isinstance(here, float) and isinstance(there, float):
        return math.isclose(here, there, rel_tol=1e-6, abs_tol=1e-9)
    return bool(here == there)


def _differences(row: Mapping[Any, Any], curve: pd.DataFrame, answer: Any, earlier: bool) -> Iterator[str]:
    """Yield a line for each result of a cell that differs from the answer of the subprocess.

    Values that the archive lacks are not compared if an `earlier` version wrote it.
    """
    found = answer if isinstance(answer, dict) else {}
    if "row" not in found:
        yield f"{_named(row)}: {' '.join(str(found.get('error', 'was not computed')).split())[:_SHOWN]}"
        return
    for name, kind in recomputation.COMPARED["cells"].items():
        here, there = found["row"].get(name), recomputation.plain(row.get(name), kind)
        if not (_same(here, there) or (earlier and there is None)):
            told = ("missing" if value is None else value for value in (there, here))
            yield "{}: {} is {} in the archive, {} here".format(_named(row), name, *told)
    for name, kind in recomputation.COMPARED["curves"].items():
        there = [recomputation.plain(value, kind) for value in curve.sort_values("t")[name]]
        here = found["curve"].get(name, [None] * len(there))
        if not (_same(here, there) or (earlier and all(value is None for value in there))):
            yield f"{_named(row)}: {name} along the learning curve differs from that computed here"
            return


def _unearned(rows: pd.DataFrame, study: Study) -> tuple[list[str], int]:
    """Return a line for each grid whose final cells do not have the parameters that won in the archive.

    Also return the number of grids that have final cells, but not all their points in the archive.
    """
    problems = []
    group = ["dataset", "algorithm", "noise", "tuned"]
    rows = rows.assign(tuned=rows["seed"].where(rows["stage"] == "tune", rows["seed"].map(study.tuning_seed)))
    tried = rows[rows["stage"] == "tune"].groupby(group).size()
    finals = dict(list(rows[rows["stage"] == "run"].groupby(group)))
    unjudged = {key for key, final in finals.items() if final["grid"].notna().any()}
    for grid in tuned_grids(rows, study.winner, study.own_winners):
        key = grid.dataset, grid.algorithm, grid.noise.slug, grid.seed
        if key not in finals or tried[key] < math.prod(map(len, grid.grid.values())):
            continue
        unjudged.discard(key)
        won = (grid.winner or {}).items()
        for params in finals[key]["params"].unique() if grid.winner else ():
            if not won <= json.loads(params).items():
                problems.append(
                    f"{grid.algorithm} on {grid.dataset}, noise {grid.noise.slug}: final cells have "
                    f"{params}, but {json.dumps(grid.winner)} won the grid"
                )
    return problems, len(unjudged)
