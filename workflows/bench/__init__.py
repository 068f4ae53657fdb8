"""Run `singlepass bench`: compare our speed with that of other code. `BENCHMARKS` has all benchmarks."""

from __future__ import annotations

import importlib
from typing import NamedTuple

from ...pipeline.errors import InputError


class Benchmark(NamedTuple):
    """One benchmark of `singlepass bench`: its help text, and the functions that measure it."""

    # What the benchmark measures; `singlepass bench --help` shows it.
    help: str
    # The functions that the benchmark calls, as MODULE.FUNCTION of this package; each returns the lines of a
    # table.
    tables: tuple[str, ...]
    # Whether the functions have an argument `gigabytes`, the size of the data that they generate.
    sized: bool = False
    # Whether the functions have an argument `cells`, the number of cells to run.
    counted: bool = False


BENCHMARKS = {
    "linear": Benchmark(
        "a pass of the linear learners, compared with scikit-learn and with reading the memory once; and the "
        "overhead of the pipeline.",
        ("linear.linear", "cells.overhead"),
    ),
    "multiclass": Benchmark(
        "a pass of the learners of many classes, compared with scikit-learn.", ("linear.multiclass",)
    ),
    "full": Benchmark(
        "an update of AROW with full covariance, compared with SciPy's symmetric product of that size.",
        ("linear.full",),
    ),
    "grid": Benchmark(
        "grids of linear and kernel learners whose points share one pass over the rows, compared with a pass "
        "for each point; grids tuned along the stream, compared with such a shared pass; kernel learners on "
        "the first rows of a9a, USPS and MNIST if they are on this machine.",
        ("linear.grid", "linear.kernel_grid"),
    ),
    "kernel": Benchmark(
        "inner products of rows with support vectors, compared with NumPy; kernel learners on whole streams, "
        "compared with a plain loop.",
        ("kernel.kernel",),
    ),
    "svm": Benchmark(
        "LASVM, compared with scikit-learn's SVC on a9a and MNIST if they are on this machine; takes some "
        "minutes.",
        ("svm.svm",),
    ),
    "cell": Benchmark(
        "whole cells of small tasks, compared with the bare passes of their learners; on USPS, MNIST and the "
        "Amazon reviews if they are on this machine.",
        ("cells.cell",),
    ),
    "metrics": Benchmark(
        "cells that measure metrics, compared with cells that do not; on generated rows, and on a9a if it is "
        "on this machine.",
        ("cells.metrics",),
    ),
    "peers": Benchmark(
        "the linear learners, compared with scikit-learn, River and Vowpal Wabbit if they are installed; "
        "Vowpal Wabbit reads its cached file, the others rows in memory; and, with equal update rules, log "
        "loss and speed.",
        ("libraries.peers", "libraries.equal_updates"),
    ),
    "guests": Benchmark(
        "the time that a cell adds to the calls of a third-party learner, compared with 10 µs a row.",
        ("cells.guests",),
    ),
    "overhead": Benchmark(
        "what a cell costs in addition to learning, and how much faster a study runs with a second thread.",
        ("cells.overhead",),
    ),
    "cluster": Benchmark(
        "the time that a Dask cluster on this machine adds to a cell, how it scales, and how long studies "
        "with very many cells take to start, and to find that they are finished.",
        ("cluster.cluster",),
        counted=True,
    ),
    "roofline": Benchmark(
        "passes of PA-I, OGD, FTRL and AROW over hashed rows, compared with loops that only read the rows, "
        "or read and write the weights; on up to 10^8 rows, if they fit into --size.",
        ("roofline.roofline",),
        sized=True,
    ),
    "ingestion": Benchmark(
        "reading svmlight text, compared with scikit-learn's loader; CSV and Parquet; memory of conversion.",
        ("ingestion.ingestion",),
        sized=True,
    ),
}


def run_bench(what: str, out: str | None, *, gigabytes: float | None, cells: int | None) -> None:
    """Run a benchmark of `BENCHMARKS`, print its tables, and append them to the Markdown file `out`.

    Raises InputError, before anything is measured, if `out` is a URL or cannot be written.
    """
    from ...pipeline.store.folder import local_folder
    from .runner import show

    file = None if out is None else local_folder(out)
    if file is not None:
        try:
            file.open("a").close()
        except OSError as error:
            raise InputError(
                f"--out {out}: cannot be written ({error.strerror}): name a file in an existing folder"
            ) from None
    given = {"gigabytes": gigabytes, "cells": cells}
    options = {name: value for name, value in given.items() if value is not None}
    for table in BENCHMARKS[what].tables:
        module, name = table.split(".")
        measure = getattr(importlib.import_module(f".{module}", __name__), name)
        show(f"singlepass bench: {name}", measure(**options), file)
