"""Define the metrics that a study can request by name, and the columns of stored results that they need.

Most metrics have three variants: along the stream against the clean labels, under the plain name; along the
stream against the given labels (``given_…``); and on the test part (``test_…``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, Literal, TypeAlias

from .counts import COUNTS

Direction: TypeAlias = Literal["lower", "higher"]
# What a cell stores only if a metric needs it: "classes" are counts by class, "regret" is the learner's
# regret, "scores" are measures of the scores (losses, AUC, average precision).
Kept: TypeAlias = Literal["classes", "regret", "scores"]
Side: TypeAlias = Literal["clean", "given", "test"]

# Columns of results and learning curves with counts by class: lists with one number per class, in class
# order. They say how often the class was predicted, how often it occurred, and how often it was predicted
# correctly, the last two for given and for clean labels.
BY_CLASS: Final = ("predicted", "right_given", "occurred_given", "right_clean", "occurred_clean")
# Columns with the numbers of correct predictions of two baselines that ignore features: one predicts the most
# frequent class so far, the other the previous label.
REFERENCES: Final = ("majority_given", "majority_clean", "before_given", "before_clean")
#: The learners that predict like the baselines in `REFERENCES`, with the labels that they get in a study with
#: key `baselines`.
BASELINES: Final[Mapping[str, str]] = {"MajorityClass": "majority class", "NoChange": "no change"}
LOSSES: Final = ("hinge_loss_given", "hinge_loss_clean", "log_loss_given", "log_loss_clean")
AREAS: Final = ("auc_given", "auc_clean")
# Columns of results, not of learning curves: each point of a curve would have to sort all scores before it.
PRECISIONS: Final = ("average_precision_given", "average_precision_clean")
# Columns of results, not of learning curves: regret compares with the best weights for the whole stream.
REGRETS: Final = ("regret_given", "regret_clean")
# Measures that learning curves also have over a window of the latest examples, or with fading weights, if the
# study asks for that; and the columns of these variants, with the measure of each.
OF_LATEST: Final = (*BY_CLASS, *REFERENCES, *LOSSES, *AREAS, *PRECISIONS)
BY_WINDOW: Final[Mapping[str, str]] = {f"window_{name}": name for name in OF_LATEST}
BY_FADING: Final[Mapping[str, str]] = {f"fading_{name}": name for name in OF_LATEST}
# Columns of results with counts and measures on the test rows, whose labels are always clean.
TEST_BY_CLASS: Final = ("test_predicted", "test_right", "test_occurred")
TEST_SCORES: Final = ("test_hinge_loss", "test_log_loss", "test_auc", "test_average_precision")


@dataclass(frozen=True)
class Scoring:
    """Define a metric that a cell measures only if the study requests it, against one kind of labels."""

    # The metric's identifier; its name in texts, in lower case; and its definition for the report.
    measure: str
    label: str
    sentence: str
    # Whether higher or lower values are better.
    direction: Direction = "higher"
    # Whether the metric is shown as a percentage, and how many digits after the point are shown.
    percent: bool = True
    decimals: int = 1
    # Which data a cell must store for the metric.
    needs: Kept = "classes"
    # Whether the metric is defined for tasks of two classes only.
    two_classes: bool = False
    # On which labels the metric can be measured: along the stream against clean or given labels, and on the
    # test part; and which of these this object stands for.
    sides: tuple[Side, ...] = ("clean", "given", "test")
    side: Side = "clean"

    @property
    def name(self) -> str:
        """Return the metric's name, which studies and file names use."""
        return self.measure if self.side == "clean" else f"{self.side}_{self.measure}"

    def variants(self) -> Iterable[Scoring]:
        """Yield the metric for each kind of labels in `sides`, which is also named in its label."""
        for side in self.sides:
            label = f"{'test' if side == 'test' else 'online'} {self.label}"
            label += " against the given labels" if side == "given" else ""
            yield replace(self, side=side, label=label)


_STREAM: tuple[Side, ...] = ("clean", "given")
_POSITIVE = "the positive class, which is the second in order"
# Define a metric that is shown as a number with three digits after the point, not as a percentage.
_number = partial(Scoring, percent=False, decimals=3)
_METRICS = (
    # In an exact tie of scores, metrics from counts by class count the predicted class, which may be right;
    # `mistakes` counts every tie as a mistake.
    Scoring("error", "prediction error", "The share of wrong predictions.", "lower"),
    # Without its variant for the test part: `test_accuracy` is always measured, not only if requested.
    Scoring("accuracy", "accuracy", "The share of right predictions.", sides=_STREAM),
    Scoring(
        "balanced_accuracy",
        "balanced accuracy",
        "The mean, over the classes that occurred, of the share of a class's rows that were predicted as it: "
        "rare classes count as much as frequent ones, and a constant prediction gets one class in K.",
    ),
    Scoring(
        "macro_f1",
        "macro-F1",
        "The mean F1 of the classes that occurred or were predicted; F1 is the harmonic mean of a class's "
        "precision and recall.",
    ),
    Scoring(
        "precision",
        "precision",
        f"The share of correct predictions among rows predicted as {_POSITIVE}; 0 if no row was "
        "predicted so, undefined if that class has no row.",
        two_classes=True,
    ),
    Scoring(
        "recall",
        "recall",
        f"The share of correct predictions among rows of {_POSITIVE}.",
        two_classes=True,
    ),
    Scoring(
        "f1",
        "F1",
        f"The harmonic mean of precision and recall of {_POSITIVE}; 0 if none of its rows was "
        "found, undefined if it has no row.",
        two_classes=True,
    ),
    Scoring(
        "g_mean",
        "G-mean",
        "The geometric mean of the recalls of both classes: 0 if one of them is never found, undefined if "
        "one never occurs.",
        two_classes=True,
    ),
    _number(
        "mcc",
        "Matthews' φ",
        "Matthews' correlation of prediction and label, from -1 to 1; 0 for a constant prediction.",
    ),
    _number(
        "kappa",
        "Cohen's κ",
        "Cohen's κ: agreement of prediction and label beyond the agreement that their frequencies give by "
        "chance; 1 is best, 0 no better than chance.",
    ),
    _number(
        "kappa_m",
        "κ-M",
        "κ-M: accuracy compared with always predicting the most frequent class so far; 1 is best, below 0 "
        "this reference, which sees no features, is better.",
        sides=_STREAM,
    ),
    _number(
        "kappa_temporal",
        "κ-temporal",
        "κ-temporal: accuracy compared with always predicting the previous label; 1 is best, below 0 this "
        "reference, which sees no features, is better.",
        sides=_STREAM,
    ),
    _number(
        "auc",
        "AUC",
        "The area under the ROC curve: among pairs of a positive and a negative row, the share in which the "
        "positive row has the larger score; ties count half. Along the stream, scores are taken before the "
        "update on their row.",
        needs="scores",
        two_classes=True,
    ),
    _number(
        "average_precision",
        "average precision",
        "The mean precision over thresholds at each score, largest first, weighted by the recall each adds.",
        needs="scores",
        two_classes=True,
    ),
    _number(
        "hinge_loss",
        "hinge loss",
        "The mean of max(0, 1 - margin); it depends on the scale of a learner's scores.",
        "lower",
        needs="scores",
    ),
    _number(
        "log_loss",
        "log loss",
        "The mean negative logarithm of the probability given to the label; only for learners with "
        "probabilities.",
        "lower",
        needs="scores",
    ),
    Scoring(
        "regret",
        "regret",
        "The sum of max(0, 1 - margin) along the stream minus the sum for the best weights in hindsight "
        "whose norm is at most that of the learner's final weights. Each learner has its own norm, so "
        "regrets of two learners are not comparable, and learning nothing has regret 0.",
        "lower",
        percent=False,
        needs="regret",
        two_classes=True,
        sides=_STREAM,
    ),
)

#: Metrics that a cell measures only if a study requests them, by name.
SCORINGS: Mapping[str, Scoring] = {
    scoring.name: scoring for metric in _METRICS for scoring in metric.variants()
}
#: Metrics that every cell measures.
ALWAYS: Final = (
    "test_accuracy",
    *(measure.name for count in COUNTS.values() for measure in count.measures),
    "examples_per_second",
    "ram_hours",
)
#: Names that the key `metrics` may contain.
METRIC_NAMES: Final = (*ALWAYS, *SCORINGS)


def kept_for(names: Iterable[str]) -> tuple[Kept, ...]:
    """Return what cells must store for these metrics ("classes", "regret", "scores"), in this order."""
    kept: set[Kept] = {SCORINGS[name].needs for name in names if name in SCORINGS}
    # Regret is a difference of hinge losses, which are computed with "scores".
    return tuple(sorted(kept | {"scores"} if "regret" in kept else kept))


def can_rank(name: str) -> bool:
    """Return whether algorithms can be ranked by a metric.

    Regret cannot rank, because it compares each learner with other weights.
    """
    return name not in SCORINGS or SCORINGS[name].needs != "regret"


def is_of_test_part(name: str) -> bool:
    """Return whether a metric, one of `METRIC_NAMES`, is measured on the test part."""
    return name == "test_accuracy" or (name in SCORINGS and SCORINGS[name].side == "test")
