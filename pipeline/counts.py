"""Declare what is counted along a stream, such as mistakes and updates, with its metrics and plots.

Stored columns, metrics and plots follow from these declarations. A learner may return any counts from
`counters()`, but only those declared here are stored. The pipeline counts mistakes itself, from the scores.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Measure:
    """Define a metric that is derived from a count, such as updates per example; lower is better."""

    # The metric's identifier, also used in file names; and its name in texts, in lower case.
    name: str
    label: str
    # How the metric is computed: the count is divided by the number of examples if `per_example`, and by
    # `unit` (such as 1,000 for kilobytes).
    per_example: bool = False
    unit: float = 1.0
    # Whether the metric is shown as a percentage, and how many digits after the point are shown.
    percent: bool = False
    decimals: int = 1


@dataclass(frozen=True)
class Trace:
    """Define how the report plots a count as a curve along the stream."""

    # Heading of the plots, and a sentence that explains them.
    title: str
    note: str
    # Whether both axes are logarithmic.
    log: bool = False
    # Whether the count changes only in jumps: it is drawn as steps, and its axis need not begin at 0.
    steps: bool = False


@dataclass(frozen=True)
class Count:
    """Define a whole number that is counted along the stream."""

    # Name of the column in stored results, and of the count in a learner's `counters()`.
    name: str
    # Name of the count on the axes of plots.
    label: str
    # The attribute that contains the count in a learner from another package; None if the pipeline computes
    # it from the scores.
    attribute: str | None = None
    # Metrics derived from the count, by which algorithms may be compared.
    measures: tuple[Measure, ...] = ()
    # How the count is drawn along the stream; None if it has no plot.
    trace: Trace | None = None
    # Whether the count is the current size of the model, which does not accumulate along the stream.
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
        # Ties are counted separately: an exact tie of scores is a mistake, as in the learners' papers, even
        # if the predicted class is right.
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
                "Evaluations while learning, counted as each learner documents; both axes are logarithmic.",
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
            "nonzeros",
            "non-zero weights",
            "n_nonzero_",
            (Measure("nonzeros", "non-zero weights", decimals=0),),
            Trace(
                "Non-zero weights along the stream",
                "Only learners that set weights to exactly 0; both axes are logarithmic.",
                log=True,
            ),
            state=True,
        ),
        Count(
            "complexity",
            "complexity",
            "complexity_",
            trace=Trace(
                "Complexity in use along the stream",
                "Complexity of the model that predicts, mean over seeds; it rises where a learner switches.",
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

# Columns of learning curves with error rates of the latest examples: over a window, and with fading weights,
# each against the given and against the clean labels.
LATEST_ERRORS = ("window_error", "window_error_clean", "fading_error", "fading_error_clean")
