"""Compare reading data files with scikit-learn's loader and pyarrow, and measure the memory that it takes.

Every step runs in its own process, so that its peak memory is measured separately. Times include the imports
of a step and leave out compilation. The folder for temporary files needs disk space of about four times the
file size.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ...pipeline.data import expand, open_stream, sparse_tokens, svmlight_scan, watched
from .runner import Contest, Measurement

FEATURES, NON_ZEROS = 1_000_000, 100
# Number of generated rows, which are written repeatedly until the file is large enough. It is not a multiple
# of any block size of a reader, so that blocks differ.
PIECE_ROWS = 25_013
# Number of rows and columns of the CSV and Parquet files.
ROWS, COLUMNS = 500_000, 30
# How often each step runs; the shortest time counts.
_TURNS = 3
MB = 1e6
# Limit of the peak memory of a conversion, in MB.
CONVERT_MB = 500
# Formats of numbers: rounded as in most files, and with all digits that keep a float64 exact.
FORMATS = {"4 digits": "{:.4f}", "17 digits": "{:.17g}"}


def ingestion(gigabytes: float = 0.2) -> list[Measurement]:
    """Run the benchmark on generated files; svmlight files have the given size at least."""
    # Import here, because the steps run in processes that import this module and are measured.
    from pyarrow import csv, parquet

    lines = []
    for name, number in FORMATS.items():
        with tempfile.TemporaryDirectory(prefix="singlepass-bench-") as folder:
            path = Path(folder, "generated.svmlight")
            write_svmlight(path, int(gigabytes * 1e9), number)
            lines += _measure_file(path, f"svmlight, {path.stat().st_size / 1e9:.2f} GB, {name}")
    for suffix, write in (("csv", csv.write_csv), ("parquet", parquet.write_table)):
        with tempfile.TemporaryDirectory(prefix="singlepass-bench-") as folder:
            path = Path(folder, f"generated.{suffix}")
            write(_columns(), path)
            lines.append(_measure_columns(path))
    return lines


def _measure_columns(path: Path) -> Measurement:
    # Run once before timing, because the first run compiles code.
    _in_process("convert", path)
    times = {work: _best(work, path)["seconds"] for work in ("convert", "read_and_write")}
    contest = Contest(
        f"{path.suffix[1:]}, {ROWS:,} rows of {COLUMNS} numbers: convert",
        "convert",
        "read_and_write",
        "≥ 0.5",
        unit="{:.2f} s".format,
        peer_named="pyarrow and one write",
    )
    return contest.line(times)


def _measure_file(path: Path, shown: str) -> list[Measurement]:
    _in_process("convert", path)
    found = {work: _best(work, path) for work in WORKS}
    ours, theirs = found["convert"], found["load_and_compare"]
    seconds = {work: each["seconds"] for work, each in found.items()}
    # macOS does not let a process choose its cores.
    alone = ("read", "convert", "load") if hasattr(os, "sched_setaffinity") else ()
    for work in alone:
        seconds[f"{work} on one core"] = _best(work, path, cores=1)["seconds"]
    one = Contest("", "", "load on one core", "≥ 5", "{:.2f} s".format, peer_named="scikit-learn's loader")
    both = []
    for work in alone[:2]:
        what, subject = f"{shown}: {work}", f"{work} on one core"
        both.append(one._replace(what=f"{what}, one core", subject=subject))
        two = one._replace(what=f"{what}, {os.cpu_count()} cores", subject=work, peer=subject, aim="≥ 1.7")
        both.append(two._replace(peer_named="one core"))
    return [
        *(each.line(seconds) for each in both),
        Measurement(
            f"{shown}: labels and non-zeros equal to scikit-learn's",
            f"{theirs['equal']:,}",
            f"{theirs['entries']:,}",
            theirs["equal"] / theirs["entries"],
            "1",
        ),
        Measurement(
            f"{shown}: convert ({ours['seconds']:.1f} s), peak memory",
            f"{ours['peak_mb']:.0f} MB, of which {ours['imports_mb']:.0f} MB imports",
            f"limit {CONVERT_MB} MB",
            CONVERT_MB / ours["peak_mb"],
            "≥ 1",
        ),
    ]


def write_svmlight(path: Path, size: int, number: str) -> None:
    """Write the same `PIECE_ROWS` rows until the file has `size` bytes; `number` is the format of values."""
    rng = np.random.RandomState(0)
    # Draw columns with repetition and sort them; adding each one's position makes them distinct.
    columns = np.sort(rng.randint(1, FEATURES - NON_ZEROS, (PIECE_ROWS, NON_ZEROS)), axis=1)
    columns += np.arange(NON_ZEROS)
    values = rng.random_sample(columns.shape) + 0.01
    write = number.format
    lines = []
    for row, (indices, numbers) in enumerate(zip(columns.tolist(), values.tolist(), strict=True)):
        fields = [f"{index}:{write(value)}" for index, value in zip(indices, numbers, strict=True)]
        lines.append(f"{'+1' if row % 3 else '-1'} {' '.join(fields)}\n")
    piece = "".join(lines).encode()
    with path.open("wb") as file:
        file.write(piece)
        while file.tell() < size:
            file.write(piece)


def _columns() -> Any:
    """Return a table of labels and of numbers with at most eight digits, as in most CSV files."""
    import pyarrow as pa

    rng = np.random.RandomState(0)
    names = [f"f{k}" for k in range(COLUMNS)]
    columns = [pa.array(rng.standard_normal(ROWS).round(7)) for _ in names]
    return pa.table([*columns, pa.array(rng.randint(0, 2, ROWS))], [*names, "label"])


def _convert(path: Path) -> dict[str, float]:
    reports: list[int] = []
    with watched(lambda name, done, total: reports.append(done)):
        expand(path=path)
    if reports[-1] != path.stat().st_size:
        raise RuntimeError(f"progress ended at {reports[-1]} of {path.stat().st_size} bytes")
    return {}


def _read_and_write(path: Path) -> dict[str, float]:
    """Read a file with pyarrow, and write its numbers, as rows of float64, to another file."""
    from pyarrow import csv, parquet

    table = csv.read_csv(path) if path.suffix == ".csv" else parquet.read_table(path)
    rows = np.empty((table.num_rows, COLUMNS))
    for k in range(COLUMNS):
        rows[:, k] = table.column(k).to_numpy()
    np.save(path.parent / "rows.npy", rows)
    return {}


def _read(path: Path) -> dict[str, float]:
    """Parse the text and keep nothing."""
    return {"rows": sum(len(tokens.labels) for tokens in sparse_tokens(path, svmlight_scan()))}


def _load(path: Path) -> dict[str, float]:
    from sklearn.datasets import load_svmlight_file

    load_svmlight_file(str(path), zero_based=False)
    return {}


def _load_and_compare(path: Path) -> dict[str, float]:
    from sklearn.datasets import load_svmlight_file

    X, y = load_svmlight_file(str(path), zero_based=False)
    stream = open_stream(expand(path=path)[0])
    ours: Any = stream.X
    pairs = ((X.indptr, ours.indptr), (X.indices, ours.indices), (X.data, ours.data), (y == 1, stream.y))
    equal = entries = 0
    for theirs, mine in pairs:
        entries += len(theirs)
        if len(theirs) == len(mine):
            step = 1 << 22
            equal += sum(
                int(np.count_nonzero(theirs[start : start + step] == mine[start : start + step]))
                for start in range(0, len(theirs), step)
            )
    return {"equal": equal, "entries": entries}


# The steps that are measured on svmlight files, in the order in which they run.
WORKS: dict[str, Callable[[Path], dict[str, float]]] = {
    "read": _read,
    "convert": _convert,
    "load_and_compare": _load_and_compare,
}
OTHERS = {"load": _load, "read_and_write": _read_and_write}


def _best(work: str, path: Path, cores: int = 0) -> dict[str, Any]:
    """Run a step several times, and return what `_in_process` returns for the fastest one."""
    turns = [_in_process(work, path, cores) for _ in range(_TURNS)]
    return min(turns, key=lambda turn: turn["seconds"])


def _in_process(work: str, path: Path, cores: int = 0) -> dict[str, Any]:
    """Run a step in a new process; return its results, its seconds and its memory in MB."""
    code = f"from {__name__} import run_work; run_work({work!r}, {str(path)!r}, {cores})"
    cache = path.parent / "cache"
    if work == "convert":
        for made in ("streams", "checksums"):
            shutil.rmtree(cache / made, ignore_errors=True)
    environment = {**os.environ, "SINGLEPASS_CACHE": str(cache)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def run_work(work: str, path: str, cores: int = 0) -> None:
    """Run a step in this process on `cores` cores (0: all), and print its results as JSON."""
    if cores:
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
    imports = peak_memory()
    began = time.perf_counter()
    found = (WORKS | OTHERS)[work](Path(path))
    seconds = time.perf_counter() - began
    memory = {"imports_mb": imports / MB, "peak_mb": peak_memory() / MB}
    print(json.dumps({"seconds": seconds, **memory, **found}))


def peak_memory() -> int:
    """Return the peak resident memory of this process in bytes."""
    status = Path("/proc/self/status")
    if status.exists():
        # Not `getrusage`: it would include memory that the parent process had before exec.
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    # Import here, because this module does not exist on Windows.
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
