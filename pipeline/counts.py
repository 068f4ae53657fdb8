"""What is counted along a stream: each a declaration, from which the store, metrics and the report are made.

A learner counts what it likes in its `counters()`; what is declared here is kept. Mistakes are counted by the
pipeline, from the scores.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Measure:
    """A number that is made of a count, by which algorithms may be compared: fewer are better.

    Attributes
    ----------
    name : str
        Identifier, also the stem of file names.
    label : str
        How it is called in prose, in lower case.
    per_example : bool
        Whether it is the count divided by the number of examples.
    unit : float
        What the count is divided by, such as 1,000 for kilobytes.
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
    """How the report draws a count along the stream.

    Attributes
    ----------
    title, note : str
        Heading of the pictures, and what to know of them.
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
    """A whole number counted along the stream.

    Attributes
    ----------
    name : str
        Its column in the tables of cells and curves, and its name in `counters()`.
    label : str
        How axes call it.
    attribute : str or None
        Where a learner that is not of this package keeps it; None: the pipeline counts it, from the scores.
    measures : tuple of Measure
        What algorithms may be compared by.
    trace : Trace or None
        How it is drawn along the stream; None: not by itself.
    state : bool
        Whether it says how large the model is, and does not add up along the stream.
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
        # Mistakes by the papers' count, though a class is predicted there.
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

# Columns of curves: shares of mistakes over the latest examples, and with a fading factor, by the given and
# by the clean labels.
LATEST_ERRORS = ("window_error", "window_error_clean", "fading_error", "fading_error_clean")
