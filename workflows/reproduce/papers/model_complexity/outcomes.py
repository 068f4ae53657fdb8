"""Results of the study: errors by complexity and number of examples, and levels along the stream."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from .....pipeline.analysis.curves import Curve
from ....report.page.blocks import Block, Legend
from ....report.parts.figures import CurvePanel, curve_panels
from ....report.plots.curve_plots import Axis
from ....report.plots.svg import styles_of, swatch
from ...evidence import Evidence, NotThere, StudyEvidence
from ...figures import curves_frame, numbers_file

PAPER = "model-complexity"
DATASET = "mnist[3-vs-rest]"
# Algorithms are named after their test.
PRINTED, WELCH = "printed", "Welch"
# Numbers of examples that the paper mentions; the last is all of them.
_SIZES, ALL = (1000, 4000), 60_000


@dataclass(frozen=True)
class Kernel:
    """A kernel, and its algorithms in the study.

    Attributes
    ----------
    name, short : str
        Its name in texts, and the beginning of its algorithms' labels.
    parameter : str
        The parameter that is its complexity.
    low, high : str
        Labels of the fixed complexities of Fig. 4.
    starts : tuple of str
        The ways to start OMS-LASVM, as written in labels.
    """

    name: str
    short: str
    parameter: str
    low: str
    high: str
    starts: tuple[str, ...] = ("",)

    def oms(self, test: str, start: str = "") -> str:
        """Return the label of OMS-LASVM with a test."""
        return f"OMS {self.short}{start}, {test}"

    def fixed(self, study: StudyEvidence) -> dict[str, float]:
        """Return the labels of all fixed complexities, each with its complexity, in increasing order."""
        split = {name: name.rpartition(" ") for name in study.design.algorithms}
        found = {name: float(value) for name, (short, _, value) in split.items() if short == self.short}
        return dict(sorted(found.items(), key=lambda each: each[1]))

    def text(self, value: float) -> str:
        """Return a complexity as text."""
        return f"{self.parameter} {value:g}"


RBF = Kernel("rbf", "rbf", "gamma", "rbf 0.005", "rbf 0.03", ("", ", cross-validated"))
POLY = Kernel("polynomial", "poly", "degree", "poly 1", "poly 3")
# This kernel is ours: x·z of pixels is about 100, so the paper's polynomial is scaled.
POLY_OURS = Kernel("polynomial of 0.01 x·z", "poly 0.01", "degree", "poly 0.01 1", "poly 0.01 3")
KERNELS = (RBF, POLY)


@dataclass(frozen=True)
class Run:
    """OMS-LASVM on one order of the examples.

    Attributes
    ----------
    order : int
        Seed of the order.
    switches : tuple of int
        Numbers of examples after which the level rose.
    start : float or None
        gamma of the first level, or None if cross-validation chose it; 1 (a degree) for a polynomial kernel.
    doubles : bool
        Whether a level doubles the complexity; otherwise it adds 1.
    """

    order: int
    switches: tuple[int, ...]
    start: float | None
    doubles: bool

    def risen(self, t: float) -> int:
        """Return how often the level has risen within the first `t` examples."""
        return sum(switch <= t for switch in self.switches)

    def complexity(self, t: float) -> float:
        """Return gamma or degree in use after `t` examples; with unknown start, the multiple of it."""
        risen = self.risen(t)
        return (self.start or 1.0) * 2.0**risen if self.doubles else 1.0 + risen

    def text(self, t: float) -> str:
        """Return the complexity after `t` examples as text for tables."""
        return f"{self.complexity(t):g}" + (" × start" if self.start is None else "")


def the_study(evidence: Evidence) -> StudyEvidence:
    """Return the paper's only study, restricted to orders that all algorithms have finished.

    Raise `NotThere` if it has not been run or no order is complete.
    """
    study = evidence["mnist"]
    orders = study.cells.groupby("seed")["algorithm"].nunique()
    complete = orders.index[orders == study.cells["algorithm"].nunique()]
    if not len(complete):
        raise NotThere(f"{study.name}: no order has been run with all algorithms")
    if len(complete) == len(orders):
        return study
    results = study.view.results
    return StudyEvidence(study.name, replace(results, cells=study.cells[study.cells["seed"].isin(complete)]))


def runs(study: StudyEvidence, label: str) -> list[Run]:
    """Return the runs of OMS-LASVM with a label, one per order; raise `NotThere` if there are none."""
    cells = study.cells[study.cells["algorithm"] == label].sort_values("seed")
    if cells.empty:
        raise NotThere(f"{study.name}: {label} is not there")
    found = []
    for seed, switches, text in zip(cells["seed"], cells["switches"], cells["params"], strict=True):
        params = json.loads(text)
        doubles = params["kernel"] == "rbf"
        start = params.get("gamma_init") if doubles else 1.0
        known = None if isinstance(start, str) else start
        found.append(Run(int(seed), tuple(int(each) for each in switches), known, doubles))
    return found


def end(study: StudyEvidence) -> int:
    """Return the length of the stream, which is shorter in a small form of the study."""
    return int(study.curve("test_error", RBF.high, DATASET).t[-1])


def sizes(study: StudyEvidence) -> list[int]:
    """Return the numbers of examples that the paper mentions, up to the length of the stream."""
    last = end(study)
    return [*(size for size in _SIZES if size < last), last]


def error(study: StudyEvidence, label: str, t: float) -> float:
    """Return the mean test error after `t` examples, in percent."""
    return study.at("test_error", label, DATASET, t)


def errors(study: StudyEvidence, kernel: Kernel, t: float) -> dict[float, float]:
    """Return mean test errors after `t` examples, in percent, by complexity in increasing order."""
    return {value: error(study, name, t) for name, value in kernel.fixed(study).items()}


def best(study: StudyEvidence, kernel: Kernel, t: float) -> float:
    """Return the fixed complexity with the lowest mean test error after `t` examples."""
    found = errors(study, kernel, t)
    return min(found, key=lambda value: found[value])


def order_errors(study: StudyEvidence, label: str) -> list[Curve]:
    """Return test errors along the stream, one curve per order; raise `NotThere` if there are none."""
    found = study.view.curves.series(DATASET, study.design.noise[0], label, "test_error", "t")
    if not found:
        raise NotThere(f"{study.name}: no curve of {label}")
    return [Curve(f"order {place}", t, y, 0 * y, 1) for place, (t, y) in enumerate(found, start=1)]


def drawn(name: str, title: str, panels: Sequence[tuple[str, Sequence[Curve]]], axis: Axis) -> list[Block]:
    """Draw panels of curves that are not named after algorithms, and write their numbers to a file.

    `panels` are pairs of a heading and curves; `name` is the stem of the files.
    """
    styles = styles_of(list(dict.fromkeys(each.algorithm for _, curves in panels for each in curves)))
    made = [CurvePanel(f"{title}: {head}", head, head, list(curves)) for head, curves in panels]
    return [
        Legend([(each, swatch(style)) for each, style in styles.items()]),
        curve_panels(made, styles, axis, title, f"figures/{name}.svg"),
        numbers_file(f"{name}-numbers", f"{title}: numbers", curves_frame(panels, axis)),
    ]
