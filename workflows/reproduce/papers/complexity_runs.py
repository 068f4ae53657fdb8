"""Kernels of Levi and Ullman's study, and the runs of OMS-LASVM with them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

from ..evidence import Evidence, NotThere, StudyEvidence
from ..printed import number as printed

NAME, DATASET = "model-complexity", "mnist[3-vs-rest]"
# Algorithms are named after their test.
PRINTED, WELCH = "printed", "Welch"
TESTS = {PRINTED: "the test as printed", WELCH: "Welch's test"}
# Numbers of examples that the paper mentions; the last is all of them.
SIZES, ALL = (1000, 4000), 60_000


def said(place: int) -> float:
    """Return a number that the paper prints."""
    return printed(NAME, f"mc-n{place}")


FIRST_SWITCH = int(said(18))
# The low complexities of Fig. 4 are the best ones at this number of examples; the claim starts there.
FEW = int(said(23))


@dataclass(frozen=True, eq=False)
class Kernel:
    """A kernel and its algorithms in the study.

    `name` is for texts, and `short` begins the labels of its algorithms. `parameter` is its complexity, `low`
    and `high` are the labels of the fixed complexities of Fig. 4. `starts` are the ways to start OMS-LASVM,
    as written in labels. The paper's best complexities, complexities in use and errors of OMS-LASVM and of
    `high` after all examples are in `best`, `reached` and `errors`; the first two by number of examples.
    """

    name: str
    short: str
    parameter: str
    low: str
    high: str
    starts: tuple[str, ...] = ("",)
    best: Mapping[int, float] | None = None
    reached: Mapping[int, float] | None = None
    errors: tuple[float, float] | None = None

    def oms(self, test: str, start: str = "") -> str:
        """Return the label of OMS-LASVM with a test."""
        return f"OMS {self.short}{start}, {test}"

    @property
    def all_oms(self) -> list[str]:
        """The labels of OMS-LASVM with every start and test."""
        return [self.oms(test, start) for start in self.starts for test in TESTS]

    def printed_error(self, label: str, t: int) -> float | None:
        """Return the error that the paper prints for an algorithm after `t` examples, in percent."""
        if self.errors is None or t != ALL:
            return None
        return {self.oms(PRINTED): self.errors[0], self.high: self.errors[1]}.get(label)

    def fixed(self, study: StudyEvidence) -> dict[str, float]:
        """Return the labels of all fixed complexities, each with its complexity, in increasing order."""
        split = {name: name.rpartition(" ") for name in study.design.algorithms}
        found = {name: float(value) for name, (short, _, value) in split.items() if short == self.short}
        return dict(sorted(found.items(), key=lambda each: each[1]))


RBF = Kernel(
    "rbf",
    "rbf",
    "gamma",
    "rbf 0.005",
    "rbf 0.03",
    ("", ", cross-validated"),
    best={1000: said(7), 4000: said(8), ALL: said(9)},
    reached={FIRST_SWITCH: said(17), 4000: said(19), ALL: said(20)},
    errors=(said(29), said(30)),
)
POLY = Kernel(
    "polynomial",
    "poly",
    "degree",
    "poly 1",
    "poly 3",
    best={1000: said(10), ALL: said(11)},
    reached={1000: said(21), ALL: said(22)},
    errors=(said(31), said(32)),
)
# This kernel is ours: x·z of pixels is about 100, so the paper's polynomial is scaled.
POLY_OURS = Kernel("polynomial of 0.01 x·z", "poly 0.01", "degree", "poly 0.01 1", "poly 0.01 3")
KERNELS = (RBF, POLY)


@dataclass(frozen=True)
class Run:
    """OMS-LASVM on the order of the examples that a seed gives.

    Its level rises after the numbers of examples in `switches`. `start` is the gamma of the first level, or
    None if cross-validation chose it; for a polynomial kernel it is degree 1. With `doubles`, a level doubles
    the complexity; otherwise it adds 1.
    """

    order: int
    switches: tuple[int, ...]
    start: float | None
    doubles: bool

    def complexity(self, t: float) -> float:
        """Return gamma or degree in use after `t` examples; with unknown start, the multiple of it."""
        risen = sum(switch <= t for switch in self.switches)
        return (self.start or 1.0) * 2.0**risen if self.doubles else 1.0 + risen


def the_study(evidence: Evidence) -> StudyEvidence:
    """Return the paper's only study, restricted to orders that all algorithms have finished."""
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
