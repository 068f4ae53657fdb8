"""Run `singlepass bench`: speed as ratios to peers in the same run. `BENCHMARKS` lists all benchmarks."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import NamedTuple


class Benchmark(NamedTuple):
    """Describe a kind of benchmark.

    Attributes
    ----------
    help : str
        What it measures, for the command line.
    modules : tuple of str
        Modules of this package whose ``measure`` it calls.
    sized : bool
        Whether ``measure`` takes the size in gigabytes of the files that it generates.
    counted : bool
        Whether ``measure`` takes the number of cells.
    """

    help: str
    modules: tuple[str, ...]
    sized: bool = False
    counted: bool = False


BENCHMARKS = {
    "linear": Benchmark(
        "one pass of the linear learners beside scikit-learn and beside reading the memory once; and what "
        "the pipeline adds to them.",
        ("linear", "overhead"),
    ),
    "multiclass": Benchmark(
        "one pass of the learners of many classes beside scikit-learn's.", ("multiclass",)
    ),
    "full": Benchmark(
        "an update of AROW with full covariance beside SciPy's symmetric product of that size.", ("full",)
    ),
    "kernel": Benchmark(
        "the tile of kernel values beside NumPy, whole streams beside plain loops.", ("kernel",)
    ),
    "svm": Benchmark(
        "LASVM beside scikit-learn's SVC on a9a and MNIST, where these are present; some minutes.", ("svm",)
    ),
    "cell": Benchmark(
        "whole cells of small tasks beside the bare pass of their learners; USPS, MNIST and the Amazon "
        "reviews, where these are present.",
        ("cell",),
    ),
    "metrics": Benchmark(
        "cells that keep counts by class for metrics beside cells that do not; a9a, where it is present, and "
        "generated rows.",
        ("metrics",),
    ),
    "peers": Benchmark(
        "the linear learners beside what is installed of scikit-learn, River and Vowpal Wabbit; the same "
        "updates with equal settings, where these have them.",
        ("peers", "equal_updates"),
    ),
    "guests": Benchmark(
        "what a cell adds to the calls of somebody else's learner, in microseconds a row.",
        ("guests",),
    ),
    "overhead": Benchmark("what a cell costs beside its learning, and how two threads scale.", ("overhead",)),
    "cluster": Benchmark(
        "what a Dask cluster of this machine's adds to a cell, how it scales, and how long studies of very "
        "many cells take to begin, and to find that they are finished.",
        ("cluster",),
        counted=True,
    ),
    "ingestion": Benchmark(
        "svmlight text beside scikit-learn's loader, and the memory that reading and streaming take.",
        ("ingestion",),
        sized=True,
    ),
}


def run_bench(
    what: str, out: Path | None = None, *, gigabytes: float | None = None, cells: int | None = None
) -> None:
    """Run the benchmark `what`, a name in `BENCHMARKS`, and print its tables.

    `out` is a Markdown file to append the tables to. `gigabytes` is the size of generated files and `cells`
    the number of cells of a study; None means the default of each module.
    """
    from .timing import show

    benchmark = BENCHMARKS[what]
    for name in benchmark.modules:
        module = importlib.import_module(f".{name}", __name__)
        # Omit missing options, so that the module's defaults apply.
        given = {"gigabytes": gigabytes, "cells": cells}
        options = {key: value for key, value in given.items() if value is not None}
        show(f"singlepass bench: {name}", module.measure(**options), out)
