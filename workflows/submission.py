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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd

from ..learners.guests.given import names_given
from ..learners.guests.names import EXTRAS
from ..learners.guests.versions import imports_of, is_here, is_local, needed_by
from ..pipeline import data
from ..pipeline.analysis.design import one_repetition
from ..pipeline.analysis.study_results import check_cells
from ..pipeline.analysis.tuning import Tuned, tuned_grids
from ..pipeline.documents import seal_document
from ..pipeline.errors import InputError
from ..pipeline.store.archive import pack, packable, unpack
from ..pipeline.store.bases import BASES
from ..pipeline.store.schema import SCHEMAS, as_now
from ..pipeline.store.store import Store, existing
from ..pipeline.store.tables import as_planned, to_parquet
from ..pipeline.study.plan import GridUse
from ..pipeline.study.study import Study
from ..pipeline.study.study_file import parse_study
from .running import recomputation

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
    store = existing(url)
    study, plan = store.read_json("study.json"), store.read_json("plan.json")
    if not study:
        raise InputError(f"{url}: study.json is missing: run the study again to write it")
    runs = store.read_json("provenance.json").get("runs", [])
    for entry in study.get("algorithms", []):
        if names_given(entry["name"]):
            raise InputError(
                f"algorithm {entry['label']!r} is an object of a notebook: put its class into a plug-in"
            )
        module, _, own = entry["name"].partition(":")
        top = module.partition(".")[0]
        if own and (is_local(top) or not (is_here(top) or top in EXTRAS)):
            raise InputError(
                f"algorithm {entry['label']!r} is of the module {module}, which is your own or not installed "
                "here, and which the archive cannot contain: install it here, or put its class into a plug-in"
            )
    planned = store.plan()
    keys = planned["key"].to_pylist()
    cells, curves = (as_now(store.own(within, keys), SCHEMAS[within]) for within in ("cells", "curves"))
    if not len(cells):
        reused = sum(each["cells"] for each in store.read_json(BASES).get("bases", []))
        if reused < len({*keys}):
            raise InputError(f"{url}: no cell has run here yet: run the study, then submit it")
        raise InputError(
            f"{url}: all its cells were read from other results (--base): there is nothing to submit"
        )
    if "run" not in cells["stage"].to_pylist():
        raise InputError(f"{url}: no cells but those of tuning have run here: there is nothing to submit")
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
            absent = {each for each in needed_by(source) - EXTRAS.keys() if not is_here(each)}
            if local := sorted(absent.union(filter(is_local, imports_of(source)))):
                raise InputError(
                    f"plugin file {path}: it imports {', '.join(local)}, which the archive cannot contain: "
                    "install it here, or put that code into the plug-in file and run the study again"
                )
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
    # A line for each difference between the archive and the cells computed again, and for what its study does
    # not allow; empty without one.
    problems: list[str]
    # Number of grids whose winner cannot be checked, because the archive lacks some of their points.
    unjudged: int
    # Number of cells of the study, of those that the archive lacks, and of those in it that are not finished.
    planned: int
    missing: int
    unfinished: int


def verify(
    archive: Path, *, cells: int, seed: int, seconds: float, memory: float, trusted: bool
) -> Verification:
    """Compute a random sample of an archive's cells again, and compare all results except times and regrets.

    Relative paths of data files start at the current folder.
    `seed` draws the sample of at most `cells` cells. The subprocess may run for `seconds` and take `memory`
    gigabytes. Raises InputError if the archive is damaged, or if its code is not `trusted`.
    """
    if not archive.exists():
        raise InputError(f"{archive}: no such archive: give one that singlepass submit makes")
    if archive.is_dir():
        raise InputError(f"{archive}: is a folder: give an archive, which singlepass submit makes of it")
    if not trusted:
        raise InputError(
            f"{archive}: verifying runs the code in it, with your rights: read its plug-ins (it is a zip "
            "archive) and SECURITY.md, then add --trust"
        )
    with tempfile.TemporaryDirectory(prefix="singlepass-verify-") as scratch:
        folder, work = Path(scratch) / "archive", Path(scratch) / "work"
        unpack(archive, folder)
        store = Store(str(folder))
        with _naming(archive, folder):
            rows = as_planned(store.cells(), store.plan())
            documents = [store.read_json(f"{name}.json") for name in ("study", "plan", "provenance")]
            if not documents[0]:
                raise InputError("study.json is missing")
        study = parse_study(documents[0], f"{archive}: study.json")
        with _naming(archive, folder):
            check_cells(str(folder), rows)
        finished = rows[rows["status"] == "ok"].drop_duplicates("key").sort_values("key")
        keys = finished["key"].tolist()
        if not keys:
            raise InputError(f"{archive}: no cell of its plan is finished: submit finished results")
        sample = sorted(random.Random(seed).sample(keys, min(cells, len(keys))))
        chosen = finished[finished["key"].isin(sample)]
        with _naming(archive, folder):
            curves = store.curves(sample)
        task = {
            "base": str(Path.cwd()),
            "study": study.model_dump(mode="json"),
            "data": documents[1].get("data", {}),
            "cells": rows[list(recomputation.IDENTIFIED_BY)].to_dict("records"),
            "drawn": chosen.index.tolist(),
        }
        (work / "plugins").mkdir(parents=True)
        for source in (folder / "plugins").glob("*.py"):
            source.rename(work / "plugins" / source.name)
        (work / recomputation.TASK).write_text(json.dumps(task))
        answer = _recomputed(archive, work, seconds, memory)
        unplanned = rows.iloc[answer["unplanned"]]
        rows = rows.drop(index=unplanned.index)
        problems = []
        for row in unplanned[:1].to_dict("records"):
            more = f", nor has it {len(unplanned) - 1:,} more cells" if len(unplanned) > 1 else ""
            problems.append(f"{_named(row)}: the study has no such cell with {row['params']}{more}")
        unearned, unjudged = _unearned(rows, study, answer["grids"])
        problems += [*unearned, *_mismatched(rows, study)]
        # Results of earlier versions lack columns: only there a missing value is no difference.
        runs = documents[2].get("runs", [])
        earlier = any(run.get("packages", {}).get("singlepass") != version("singlepass") for run in runs)
        for row in chosen.to_dict("records"):
            curve = curves[curves["key"] == row["key"]]
            problems += _differences({**row}, curve, answer["cells"].get(row["key"], {}), earlier)
    once = one_repetition(rows, {"seeds": study.seeds})
    present = len(once.drop_duplicates(list(recomputation.IDENTIFIED_BY[1:])))
    return Verification(
        study.name,
        len(keys),
        sample,
        problems,
        unjudged,
        planned=answer["planned"],
        missing=max(0, answer["planned"] - present),
        unfinished=int((rows["status"] != "ok").sum()),
    )


@contextlib.contextmanager
def _naming(archive: Path, folder: Path) -> Iterator[None]:
    """Let an InputError name the archive instead of the folder into which it is unpacked."""
    try:
        yield
    except InputError as error:
        # Leave out the advice, which is for a folder of results.
        reason = str(error).replace(f"{folder}/", "").replace(f"{folder}: ", "")
        reason = reason.partition(": remove it and run")[0].partition(": run the study again")[0]
        raise InputError(f"{archive}: {reason}: ask for another copy of the archive") from None


def _recomputed(archive: Path, work: Path, seconds: float, memory: float) -> dict[str, Any]:
    """Run the subprocess in the folder `work`, and return its answer; see `recomputation.recompute`."""
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
        # The system kills processes (a negative status) that reach a limit.
        hint = ": see --seconds and --memory" if reason or process.returncode < 0 else ""
        raise InputError(
            f"{archive}: the subprocess ended {how} without an answer ({last_line.strip()}){hint}"
        )
    try:
        content = json.loads(answer.read_bytes())
        if isinstance(content, dict) and content.keys() >= {"cells", "unplanned", "planned", "grids"}:
            return content
    except (ValueError, RecursionError):
        content = None
    problem = content.get("error") if isinstance(content, dict) else None
    line = " ".join(str(problem or "no valid answer").replace(f"{work.resolve()}/", "").split())
    raise InputError(f"{archive}: cannot be computed here: {line[:_SHOWN]}")


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


def _unearned(rows: pd.DataFrame, study: Study, grids: Iterable[Sequence[Any]]) -> tuple[list[str], int]:
    """Return a line for each grid whose final cells do not have the parameters that won in the archive.

    `grids` are those of the study's plan (`GridUse`). Also return the number of grids that have final cells,
    but not all their points in the archive.
    """
    problems, unjudged = [], set()
    uses: dict[Any, GridUse] = {(use.dataset, use.algorithm): use for use in map(GridUse._make, grids)}
    # Take the grid from the study: the archive may name another one, or none.
    texts: list[Any] = [
        json.dumps(uses[pair].grid, sort_keys=True) if pair in uses else None
        for pair in zip(rows["dataset"], rows["algorithm"], strict=True)
    ]
    seeds = rows["seed"].where(rows["stage"] == "tune", rows["seed"].map(study.tuning_seed))
    rows = rows.assign(grid=texts, tuned=seeds)
    rows = rows[rows["grid"].notna()]
    group = ["dataset", "algorithm", "noise", "tuned"]
    tried = rows[rows["stage"] == "tune"].groupby(group)["params"].nunique()
    whole: dict[Any, Tuned] = {}
    for grid in tuned_grids(rows, study.winner, study.own_winners):
        key = grid.dataset, grid.algorithm, grid.noise.slug, grid.seed
        if tried[key] >= math.prod(map(len, grid.grid.values())):
            whole[key] = grid
    for (dataset, algorithm, noise, tuned), final in rows[rows["stage"] == "run"].groupby(group):
        use = uses[dataset, algorithm]
        judged = whole.get((dataset, use.model, noise, tuned))
        if judged is None:
            unjudged.add((dataset, use.model, noise, tuned))
            continue
        winner = judged.winner or {}
        won = {name: winner[name] for name in use.names if winner}
        for params in final["params"].unique():
            if not won.items() <= json.loads(params).items():
                problems.append(
                    f"{algorithm} on {dataset}, noise {noise}: final cells have {params}, but "
                    f"{json.dumps(winner)} won the grid"
                )
    return problems, len(unjudged)


def _mismatched(rows: pd.DataFrame, study: Study) -> Iterator[str]:
    """Yield a line for each cell whose parameter is not the support size of the cell that it follows."""
    rows = rows[rows["stage"] == "run"]
    group = ["dataset", "algorithm", "noise", "seed"]
    sizes = rows.dropna(subset=["support_vectors"]).set_index(group)["support_vectors"].to_dict()
    for algorithm in study.algorithms:
        own = rows[rows["algorithm"] == algorithm.label] if algorithm.support_of else rows[:0]
        for row in own.to_dict("records"):
            params = json.loads(row["params"])
            for name, model in algorithm.support_of.items():
                size = sizes.get((row["dataset"], model, row["noise"], row["seed"]))
                if size is not None and params[name] != max(1, int(size)):
                    found = f"{name} is {params[name]}, but {model} has {int(size)} support vectors"
                    yield f"{_named(row)}: {found}"
