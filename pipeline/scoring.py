"""Define the metrics that a study can request by name, and the store columns that they need.

Most metrics have three variants: along the stream against the clean labels, under the plain name; along the
stream against the given labels (``given_…``); and on the test part (``test_…``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from .counts import COUNTS

Direction: TypeAlias = Literal["lower", "higher"]
# Data that a cell stores for metrics: counts by class, losses and ranking scores, or the regret of its
# learner.
Kept: TypeAlias = Literal["classes", "regret", "scores"]
Side: TypeAlias = Literal["clean", "given", "test"]

# Columns of cells and curves. Counts by class are a list with one number per class, in class order: how often
# the class was predicted and, for given and for clean labels, how often it occurred and how often it was
# predicted rightly.
BY_CLASS: Final = ("predicted", "right_given", "occurred_given", "right_clean", "occurred_clean")
# Right predictions of two references that ignore features: the most frequent class so far, and the previous
# label.
REFERENCES: Final = ("majority_given", "majority_clean", "before_given", "before_clean")
#: The learners that are these references, with their labels in a study that sets `baselines`.
BASELINES: Final[Mapping[str, str]] = {"MajorityClass": "majority class", "NoChange": "no change"}
LOSSES: Final = ("hinge_loss_given", "hinge_loss_clean", "log_loss_given", "log_loss_clean")
AREAS: Final = ("auc_given", "auc_clean")
# Columns of cells only: one such number takes as long as a point of a curve would.
PRECISIONS: Final = ("average_precision_given", "average_precision_clean")
# Columns of cells only: regret compares with the best weights for the whole stream.
REGRETS: Final = ("regret_given", "regret_clean")
# Columns of curves: the same for the latest examples if the study sets a window, and with its fading factor.
OF_LATEST: Final = (*BY_CLASS, *REFERENCES, *LOSSES, *AREAS, *PRECISIONS)
BY_WINDOW: Final[Mapping[str, str]] = {f"window_{name}": name for name in OF_LATEST}
BY_FADING: Final[Mapping[str, str]] = {f"fading_{name}": name for name in OF_LATEST}
# Columns of cells: the same for the test part, which has one kind of labels.
TEST_BY_CLASS: Final = ("test_predicted", "test_right", "test_occurred")
TEST_SCORES: Final = ("test_hinge_loss", "test_log_loss", "test_auc", "test_average_precision")


@dataclass(frozen=True)
class Scoring:
    """Define a metric that a cell measures only if the study requests it.

    Attributes
    ----------
    name : str
        Its name in a study, also the stem of file names.
    measure : str
        The quantity: the name of the variant along the stream against the clean labels.
    side : {"clean", "given", "test"}
        Along the stream against clean or given labels, or on the test part.
    label : str
        Its name in prose, in lower case.
    sentence : str
        Its definition, for the report.
    direction : {"lower", "higher"}
        Which values are better.
    percent : bool
        Whether it is a share, shown as a percentage.
    decimals : int
        Digits after the point when shown.
    needs : {"classes", "regret", "scores"}
        What a cell must store for it.
    two_classes : bool
        Whether it is defined for tasks of two classes only.
    """

    name: str
    measure: str
    side: Side
    label: str
    sentence: str
    direction: Direction
    percent: bool
    decimals: int
    needs: Kept
    two_classes: bool


@dataclass(frozen=True)
class _Family:
    measure: str
    label: str
    sentence: str
    direction: Direction = "higher"
    percent: bool = True
    decimals: int = 1
    needs: Kept = "classes"
    two_classes: bool = False
    sides: tuple[Side, ...] = ("clean", "given", "test")

    def scorings(self) -> Iterable[Scoring]:
        """Yield the metric's variant for each of its sides."""
        for side in self.sides:
            label = f"test {self.label}" if side == "test" else f"online {self.label}"
            yield Scoring(
                name=self.measure if side == "clean" else f"{side}_{self.measure}",
                measure=self.measure,
                side=side,
                label=f"{label} against the given labels" if side == "given" else label,
                sentence=self.sentence,
                direction=self.direction,
                percent=self.percent,
                decimals=self.decimals,
                needs=self.needs,
                two_classes=self.two_classes,
            )


_STREAM: tuple[Side, ...] = ("clean", "given")
_POSITIVE = "the positive class, which is the second in order"
_FAMILIES = (
    # These use the predicted class: an exact tie counts as a prediction here, but as a mistake in the counts.
    _Family("error", "prediction error", "The share of wrong predictions.", "lower"),
    # `test_accuracy` is always measured, so it needs no entry here.
    _Family("accuracy", "accuracy", "The share of right predictions.", sides=_STREAM),
    _Family(
        "balanced_accuracy",
        "balanced accuracy",
        "The mean, over the classes that occurred, of the share of a class's rows that were predicted as it: "
        "rare classes count as much as frequent ones, and a constant prediction gets one class in K.",
    ),
    _Family(
        "macro_f1",
        "macro-F1",
        "The mean F1 of the classes that occurred or were predicted; F1 is the harmonic mean of a class's "
        "precision and recall.",
    ),
    _Family(
        "precision",
        "precision",
        f"Of the rows predicted as {_POSITIVE}, the share that are; 0 where none was.",
        two_classes=True,
    ),
    _Family(
        "recall",
        "recall",
        f"Of the rows of {_POSITIVE}, the share that were predicted as it.",
        two_classes=True,
    ),
    _Family(
        "f1",
        "F1",
        f"The harmonic mean of precision and recall of {_POSITIVE}; 0 where none was found.",
        two_classes=True,
    ),
    _Family(
        "g_mean",
        "G-mean",
        "The geometric mean of the recalls of both classes: 0 for whoever never finds one of them.",
        two_classes=True,
    ),
    _Family(
        "mcc",
        "Matthews' φ",
        "Matthews' correlation of prediction and label, from -1 to 1; 0 for a constant prediction.",
        percent=False,
        decimals=3,
    ),
    _Family(
        "kappa",
        "Cohen's κ",
        "Cohen's κ: agreement of prediction and label beyond what their frequencies alone bring about; 1 is "
        "best, 0 no better than chance.",
        percent=False,
        decimals=3,
    ),
    _Family(
        "kappa_m",
        "κ-M",
        "κ-M: accuracy compared with that of the most frequent class so far; 1 is best, below 0 that "
        "reference, which sees no features, is better.",
        percent=False,
        decimals=3,
        sides=_STREAM,
    ),
    _Family(
        "kappa_temporal",
        "κ-temporal",
        "κ-temporal: accuracy compared with that of repeating the label before; 1 is best, below 0 that "
        "reference, which sees no features, is better.",
        percent=False,
        decimals=3,
        sides=_STREAM,
    ),
    _Family(
        "auc",
        "AUC",
        "The area under the ROC curve of the scores: the share of pairs of a positive and a negative row of "
        "which the positive one has the larger score, ties counting half. Along the stream a score is that "
        "before the update on its row.",
        percent=False,
        decimals=3,
        needs="scores",
        two_classes=True,
    ),
    _Family(
        "average_precision",
        "average precision",
        "Precision averaged over the recall that each further score adds, largest scores first.",
        percent=False,
        decimals=3,
        needs="scores",
        two_classes=True,
    ),
    _Family(
        "hinge_loss",
        "hinge loss",
        "The mean of max(0, 1 - margin); scores of learners that differ in scale differ in it too.",
        "lower",
        percent=False,
        decimals=3,
        needs="scores",
    ),
    _Family(
        "log_loss",
        "log loss",
        "The mean negative logarithm of the probability given to the label; learners without probabilities "
        "have none.",
        "lower",
        percent=False,
        decimals=3,
        needs="scores",
    ),
    _Family(
        "regret",
        "regret",
        "The sum of max(0, 1 - margin) along the stream, less that of the best weights in hindsight, of a "
        "norm no larger than that of the learner's at the end: each learner is compared with weights of its "
        "own norm, so that the figures of two learners do not compare, and learning nothing has regret 0.",
        "lower",
        percent=False,
        needs="regret",
        two_classes=True,
        sides=_STREAM,
    ),
)

#: Metrics that a cell measures only if a study requests them, by name.
SCORINGS: Mapping[str, Scoring] = {
    scoring.name: scoring for family in _FAMILIES for scoring in family.scorings()
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
    """Return what cells must store for these metrics, in alphabetical order.

    Examples
    --------
    >>> kept_for(["auc", "f1", "recall"]), kept_for(["test_accuracy"])
    (('classes', 'scores'), ())
    """
    kept: set[Kept] = {SCORINGS[name].needs for name in names if name in SCORINGS}
    # Regret is a difference of losses, so it needs the scores too.
    return tuple(sorted(kept | {"scores"} if "regret" in kept else kept))


def can_rank(name: str) -> bool:
    """Return whether a metric can rank; regret cannot, because each learner has its own reference."""
    return name not in SCORINGS or SCORINGS[name].needs != "regret"


def is_of_test_part(name: str) -> bool:
    """Return whether a metric, one of `METRIC_NAMES`, is measured on the test part."""
    return name == "test_accuracy" or (name in SCORINGS and SCORINGS[name].side == "test")
