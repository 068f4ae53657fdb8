"""Compare text conversion with scikit-learn's loader, and measure memory of conversion and streaming.

Every step runs in its own process, so that its peak memory is measured separately. The folder for temporary
files needs disk space of about four times the file size.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ...pipeline.data import convert, expand, open_stream, stream_blocks, stream_rows
from .runner import Contest, Measurement

FEATURES, NON_ZEROS = 1_000_000, 100
# Rows written repeatedly until the file is large enough; not a multiple of any block size of a reader.
PIECE_ROWS = 25_013
MB = 1e6
CONVERT_MB, STREAM_MB = 500, 200
# Title, step, and limit in MB of its peak memory.
MEMORY = (
    ("convert", "convert", CONVERT_MB),
    ("stream it converted", "stream_converted", STREAM_MB),
    ("stream it unconverted", "stream_unconverted", STREAM_MB),
)
# Formats of numbers: rounded as in most files, and with all digits that keep a float64 exact.
FORMATS = {"4 digits": "{:.4f}", "17 digits": "{:.17g}"}


def ingestion(gigabytes: float = 0.2) -> list[Measurement]:
    """Run the benchmark on generated files of this size."""
    lines = []
    for name, number in FORMATS.items():
        with tempfile.TemporaryDirectory(prefix="singlepass-bench-") as folder:
            path = Path(folder, "generated.svmlight")
            write_svmlight(path, int(gigabytes * 1e9), number)
            lines += _measure_file(path, f"svmlight, {path.stat().st_size / 1e9:.2f} GB, {name}")
    return lines


def _measure_file(path: Path, shown: str) -> list[Measurement]:
    found = {work: _in_process(work, path) for work in WORKS}
    theirs = found["load_and_compare"]
    for each in (found["stream_converted"], found["stream_unconverted"]):
        if each["non_zeros"] != theirs["non_zeros"]:
            raise RuntimeError(f"{each['non_zeros']} non-zeros streamed, {theirs['non_zeros']} in the file")
    contest = Contest(
        f"{shown}: convert",
        "convert",
        "load_and_compare",
        "≥ 5",
        unit="{:.1f} s".format,
        peer_named="scikit-learn's loader",
    )
    return [
        contest.line({work: each["seconds"] for work, each in found.items()}),
        Measurement(
            f"{shown}: labels and non-zeros equal to scikit-learn's",
            f"{theirs['equal']:,}",
            f"{theirs['entries']:,}",
            theirs["equal"] / theirs["entries"],
            "1",
        ),
        *(
            Measurement(
                f"{shown}: {what} ({found[work]['seconds']:.1f} s), peak memory",
                f"{found[work]['peak_mb']:.0f} MB, of which {found[work]['imports_mb']:.0f} MB imports",
                f"limit {limit} MB",
                limit / found[work]["peak_mb"],
                "≥ 1",
            )
            for what, work, limit in MEMORY
        ),
    ]


def write_svmlight(path: Path, size: int, number: str) -> None:
    """Repeat a generated piece of `PIECE_ROWS` rows until the file has at least `size` bytes."""
    rng = np.random.RandomState(0)
    # Increasing columns: sorted draws, made distinct by adding their position.
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


def _convert(path: Path) -> dict[str, float]:
    reports: list[int] = []
    convert(path=path, progress=lambda name, done, total: reports.append(done))
    if reports[-1] != path.stat().st_size:
        raise RuntimeError(f"progress ended at {reports[-1]} of {path.stat().st_size} bytes")
    return {}


def _load_and_compare(path: Path) -> dict[str, float]:
    # Both timings include the import of scikit-learn.
    began = time.perf_counter()
    from sklearn.datasets import load_svmlight_file

    X, y = load_svmlight_file(str(path), zero_based=False)
    seconds = time.perf_counter() - began
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
    return {"seconds": seconds, "equal": equal, "entries": entries, "non_zeros": X.nnz}


def _stream_converted(path: Path) -> dict[str, float]:
    stream = open_stream(expand(path=path)[0])
    return {"non_zeros": sum(int(np.count_nonzero(X.data)) for X, _ in stream_rows(stream))}


def _stream_unconverted(path: Path) -> dict[str, float]:
    blocks = stream_blocks(path)
    return {"non_zeros": sum(int(np.count_nonzero(block.X.data)) for block in blocks)}


# The steps, in the order in which they run.
WORKS: dict[str, Callable[[Path], dict[str, float]]] = {
    "convert": _convert,
    "load_and_compare": _load_and_compare,
    "stream_converted": _stream_converted,
    "stream_unconverted": _stream_unconverted,
}


def _in_process(work: str, path: Path) -> dict[str, Any]:
    """Run a step in a new process; return its results, its seconds and its memory in MB."""
    code = f"from {__name__} import run_work; run_work({work!r}, {str(path)!r})"
    environment = {**os.environ, "SINGLEPASS_CACHE": str(path.parent / "cache")}
    done = subprocess.run([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def run_work(work: str, path: str) -> None:
    """Run a step in this process and print its results as JSON."""
    imports = peak_memory()
    began = time.perf_counter()
    found = WORKS[work](Path(path))
    seconds = time.perf_counter() - began
    memory = {"imports_mb": imports / MB, "peak_mb": peak_memory() / MB}
    print(json.dumps({"seconds": seconds, **memory, **found}))


def peak_memory() -> int:
    """Return the peak resident memory of this process in bytes."""
    status = Path("/proc/self/status")
    if status.exists():
        # getrusage would include memory of the parent process before exec.
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    # Not available on Windows.
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
