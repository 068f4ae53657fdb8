"""Declare each count along a stream once; the store, the metrics and the report derive from it.

A learner may return any counts from `counters()`; only those declared here are stored. The pipeline counts
mistakes itself, from the scores.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Measure:
    """Define a number derived from a count, by which algorithms may be compared; lower is better.

    Attributes
    ----------
    name : str
        Identifier, also the stem of file names.
    label : str
        Its name in prose, in lower case.
    per_example : bool
        Whether the count is divided by the number of examples.
    unit : float
        Divisor of the count, such as 1,000 for kilobytes.
    percent : bool
        Whether it is a share, shown as a percentage.
    decimals : int
        Digits after the point when shown.
    """

    name: str
    label: str
    per_example: bool = False
    unit: float = 1.0
    percent: bool = False
    decimals: int = 1


@dataclass(frozen=True)
class Trace:
    """Define how the report draws a count along the stream.

    Attributes
    ----------
    title, note : str
        Heading of the plots, and an explanation of them.
    log : bool
        Whether both axes are logarithmic.
    steps : bool
        Whether the count keeps its value until it jumps; the axis then need not begin at 0.
    """

    title: str
    note: str
    log: bool = False
    steps: bool = False


@dataclass(frozen=True)
class Count:
    """Define a whole number that is counted along the stream.

    Attributes
    ----------
    name : str
        Its column in the tables of cells and curves, and its name in `counters()`.
    label : str
        Its name on axes.
    attribute : str or None
        The attribute of a guest learner that contains it; None if the pipeline counts it from the scores.
    measures : tuple of Measure
        The numbers derived from it, by which algorithms may be compared.
    trace : Trace or None
        How it is drawn along the stream; None if it has no plot.
    state : bool
        Whether it is the current size of the model, which does not accumulate along the stream.
    """

    name: str
    label: str
    attribute: str | None = None
    measures: tuple[Measure, ...] = ()
    trace: Trace | None = None
    state: bool = False


COUNTS: Mapping[str, Count] = {
    count.name: count
    for count in (
        Count(
            "mistakes",
            "mistakes",
            None,
            (
                Measure("online_error", "online error against the given labels", True, percent=True),
                Measure("mistakes", "online mistakes against the given labels"),
            ),
        ),
        Count(
            "mistakes_clean",
            "mistakes (clean labels)",
            None,
            (
                Measure("clean_error", "online error against the clean labels", True, percent=True),
                Measure("mistakes_clean", "online mistakes against the clean labels"),
            ),
        ),
        # A tie counts as a mistake, as in the papers, although a class is predicted.
        Count("ties", "exact ties (clean labels)"),
        Count(
            "updates",
            "updates",
            "n_updates_",
            (Measure("update_rate", "updates per example", True, percent=True),),
        ),
        Count(
            "support_vectors",
            "support vectors",
            "n_support_",
            (Measure("support_vectors", "support vectors", decimals=0),),
            state=True,
        ),
        Count(
            "kernel_evaluations",
            "kernel evaluations",
            "n_kernel_evaluations_",
            (Measure("evaluation_rate", "kernel evaluations per example", True),),
            Trace(
                "Kernel evaluations along the stream",
                "Those of learning, counted as each learner's documentation says; both axes are logarithmic.",
                log=True,
            ),
        ),
        Count(
            "queried",
            "labels asked for",
            "n_queried_",
            (Measure("query_rate", "labels asked for per example", True, percent=True),),
        ),
        Count(
            "complexity",
            "complexity",
            "complexity_",
            trace=Trace(
                "Complexity in use along the stream",
                "Mean level of the model that predicts, over seeds; switches are where it rises.",
                steps=True,
            ),
            state=True,
        ),
        Count(
            "model_bytes",
            "model, bytes",
            "model_bytes_",
            (Measure("model_kilobytes", "model size, kB", unit=1e3, decimals=0),),
            state=True,
        ),
    )
}

# Columns of curves: error rates over the latest examples and with a fading factor, by given and by clean
# labels.
LATEST_ERRORS = ("window_error", "window_error_clean", "fading_error", "fading_error_clean")
