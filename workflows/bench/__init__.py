"""`singlepass bench`: speed as ratios against peers in the same run."""

from __future__ import annotations

from pathlib import Path


def run_bench(what: str, out: Path | None = None, *, gigabytes: float = 0.2) -> None:
    """Run one benchmark and print its table.

    Parameters
    ----------
    what : {"linear", "multiclass", "kernel", "svm", "overhead", "ingestion"}
    out : Path, default=None
        Markdown file to append the table to.
    gigabytes : float, default=0.2
        Size of the files that "ingestion" generates.
    """
    from .timing import show

    if what == "ingestion":
        from . import ingestion

        show("singlepass bench: ingestion", ingestion.measure(gigabytes), out)
        return
    from . import kernel, linear, multiclass, overhead, svm

    # The linear benchmark ends with what the pipeline adds to the learners.
    modules = {
        "linear": (linear, overhead),
        "multiclass": (multiclass,),
        "kernel": (kernel,),
        "svm": (svm,),
        "overhead": (overhead,),
    }[what]
    for module in modules:
        show(f"singlepass bench: {module.__name__.rpartition('.')[2]}", module.measure(), out)
