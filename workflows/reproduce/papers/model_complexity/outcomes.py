"""What the study came to: errors by complexity and number of examples, and levels along the stream."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from .....pipeline.analysis.curves import Curve
from ....report.page.blocks import Block, Legend
from ....report.parts.stream_curves import CurvePanel, curve_panels
from ....report.plots.curve_plots import Axis
from ....report.plots.legends import swatch
from ....report.plots.styles import styles_of
from ...evidence import Evidence, NotThere, StudyEvidence
from ...figures import curves_frame, numbers_file

PAPER = "model-complexity"
DATASET = "mnist[3-vs-rest]"
# How algorithms are called after the test that they decide by.
PRINTED, WELCH = "printed", "Welch"
# Numbers of examples that the paper speaks of; the last is all of them.
_SIZES, ALL = (1000, 4000), 60_000


@dataclass(frozen=True)
class Kernel:
    """A kernel, and its algorithms in the study.

    Attributes
    ----------
    name, short : str
        What texts call it, and how its algorithms' labels begin.
    parameter : str
        That its complexity is.
    low, high : str
        The fixed complexities of Fig. 4.
    starts : tuple of str
        How OMS-LASVM is started, as its labels have it.
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
        """Return the labels of all fixed complexities, with these, rising."""
        split = {name: name.rpartition(" ") for name in study.design.algorithms}
        found = {name: float(value) for name, (short, _, value) in split.items() if short == self.short}
        return dict(sorted(found.items(), key=lambda each: each[1]))

    def text(self, value: float) -> str:
        """Return a complexity as texts have it."""
        return f"{self.parameter} {value:g}"


RBF = Kernel("rbf", "rbf", "gamma", "rbf 0.005", "rbf 0.03", ("", ", cross-validated"))
POLY = Kernel("polynomial", "poly", "degree", "poly 1", "poly 3")
# Not the paper's: x·z of pixels is about 100.
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
        How many examples there had been when the level rose.
    start : float or None
        gamma of the first level, None where cross-validation chose it; of a polynomial kernel 1, a degree.
    doubles : bool
        Whether a level doubles the complexity, or adds 1.
    """

    order: int
    switches: tuple[int, ...]
    start: float | None
    doubles: bool

    def risen(self, t: float) -> int:
        """Return how often the level has risen when there have been so many examples."""
        return sum(switch <= t for switch in self.switches)

    def complexity(self, t: float) -> float:
        """Return gamma or degree in use after so many examples; of an unknown start, how often it is that."""
        risen = self.risen(t)
        return (self.start or 1.0) * 2.0**risen if self.doubles else 1.0 + risen

    def text(self, t: float) -> str:
        """Return the same as tables have it."""
        return f"{self.complexity(t):g}" + (" × start" if self.start is None else "")


def the_study(evidence: Evidence) -> StudyEvidence:
    """Return the paper's only study, as far as its orders have been run with all algorithms.

    Raises
    ------
    NotThere
        It has not been run, or no order is complete.
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
    """Return the runs of OMS-LASVM, an order each.

    Raises
    ------
    NotThere
    """
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
    """Return the number of all examples: of a small form of the study there are fewer."""
    return int(study.curve("test_error", RBF.high, DATASET).t[-1])


def sizes(study: StudyEvidence) -> list[int]:
    """Return the paper's numbers of examples, the last being all that there are."""
    last = end(study)
    return [*(size for size in _SIZES if size < last), last]


def error(study: StudyEvidence, label: str, t: float) -> float:
    """Return the mean test error after so many examples, in percent."""
    return study.at("test_error", label, DATASET, t)


def errors(study: StudyEvidence, kernel: Kernel, t: float) -> dict[float, float]:
    """Return mean test errors after so many examples, in percent, by complexity, rising."""
    return {value: error(study, name, t) for name, value in kernel.fixed(study).items()}


def best(study: StudyEvidence, kernel: Kernel, t: float) -> float:
    """Return the fixed complexity with the lowest mean test error after so many examples."""
    found = errors(study, kernel, t)
    return min(found, key=lambda value: found[value])


def order_errors(study: StudyEvidence, label: str) -> list[Curve]:
    """Return test errors along the stream, an order each, by rising seed.

    Raises
    ------
    NotThere
    """
    found = study.view.curves.series(DATASET, study.design.noise[0], label, "test_error", "t")
    if not found:
        raise NotThere(f"{study.name}: no curve of {label}")
    return [Curve(f"order {place}", t, y, 0 * y, 1) for place, (t, y) in enumerate(found, start=1)]


def drawn(name: str, title: str, panels: Sequence[tuple[str, Sequence[Curve]]], axis: Axis) -> list[Block]:
    """Draw panels of curves that are not those of algorithms, with the numbers behind them as a file.

    Parameters
    ----------
    name, title : str
        Stem of the files, and what the figure shows.
    panels : sequence of (heading, curves)
    axis : Axis

    Returns
    -------
    list of Block
    """
    styles = styles_of(list(dict.fromkeys(each.algorithm for _, curves in panels for each in curves)))
    made = [CurvePanel(f"{title}: {head}", head, head, list(curves)) for head, curves in panels]
    return [
        Legend([(each, swatch(style)) for each, style in styles.items()]),
        curve_panels(made, styles, axis, title, f"figures/{name}.svg"),
        numbers_file(f"{name}-numbers", f"{title}: numbers", curves_frame(panels, axis)),
    ]
