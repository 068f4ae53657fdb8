"""Read results in a notebook: as data frames, ranks, significance tests and figures."""

from __future__ import annotations

import html
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from ...pipeline.analysis.study_results import read_results
from ...pipeline.errors import InputError, did_you_mean
from ..report.page.view import StudyView
from ..report.parts.figures import curve_panel, rank_diagram
from ..report.parts.rank_tables import friedman_table, mean_rank_table, pairs_frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plain(value: Any) -> Any:
    """Convert a value to types of a study file: lists, texts, Python numbers, and mappings with text keys."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple | range):
        return [plain(each) for each in value]
    return value


# Maximum number of data sets named by the one-line description of results.
_MOST_NAMED = 8


class Results:
    """Read the results of a study; `run`, `compare` and `load` return this object.

    Attributes
    ----------
    out : str
        Folder or URL of the results.
    cells, curves : DataFrame
        A row per cell (an algorithm on a data set with a noise level and a seed), and the points of the
        learning curves with the ``key`` of their cell.
    study : dict
        The study as it was run, by the keys of its file.
    """

    def __init__(self, out: str) -> None:
        self.out = out
        self._view = StudyView(read_results(out))

    @property
    def study(self) -> dict[str, Any]:
        """Return the study as it was run, by the keys of its file."""
        return self._view.results.study

    @property
    def cells(self) -> pd.DataFrame:
        """Return a table with one row per cell: an algorithm on a data set with a noise level and a seed."""
        return self._view.cells

    @property
    def curves(self) -> pd.DataFrame:
        """Return the points of the learning curves, with the ``key`` of their cell."""
        return self._view.results.curves

    @cached_property
    def failed(self) -> pd.DataFrame:
        """Return the cells that failed, crashed or were stopped, with their errors."""
        columns = ["status", "dataset", "algorithm", "params", "noise", "seed", "error"]
        return self.cells.loc[self.cells["status"] != "ok", columns]

    def ranks(self, metric: str | None = None, noise: Any = None) -> pd.DataFrame | pd.Series[float]:
        """Return the mean ranks over data sets, as in the report; 1 is the best rank.

        Parameters
        ----------
        metric : str or None, default=None
            A metric of docs/metrics.md that the study measured; None: the metric by which its report ranks.
        noise : float, dict or None, default=None
            One noise level of the study, as a study file writes it; None: all of them.

        Returns
        -------
        DataFrame or Series of float
            A row per algorithm and a column per noise level, with "overall" if there are several; for one
            level a series, best first.

        Raises
        ------
        InputError
            There is no such metric or level.
        """
        if noise is not None:
            [comparison] = self._view.comparisons_of(metric, noise)
            return comparison.mean_ranks.rename_axis("algorithm").rename("mean rank")
        table = mean_rank_table(self._view.comparisons_of(metric, None), self._view.design).data
        assert table is not None
        return table.set_index("algorithm").filter(regex="^(?!noise .* (low|high)$)")

    def tests(
        self,
        kind: Literal["pairs", "friedman"] = "pairs",
        metric: str | None = None,
        noise: Any = None,
    ) -> pd.DataFrame:
        """Return significance tests of the differences between algorithms, as in the report.

        Parameters
        ----------
        kind : {"pairs", "friedman"}, default="pairs"
            "pairs": for every pair of algorithms, Wilcoxon's signed-rank test with Holm's correction, the
            Hodges–Lehmann effect with its 95% interval, and the probabilities of the Bayesian signed-rank
            test; "friedman": Friedman's test of all algorithms, Iman and Davenport's F, Nemenyi's critical
            difference.
        metric, noise
            As in `ranks`.

        Returns
        -------
        DataFrame
            One row per pair and noise level, or with "friedman" one per noise level; empty with fewer than
            two data sets (tasks that are made from the same data set count as one).

        Raises
        ------
        InputError
            There is no such test, metric or level.
        """
        comparisons = self._view.comparisons_of(metric, noise)
        if kind == "pairs":
            return pairs_frame(comparisons)
        if kind != "friedman":
            raise InputError(f"tests: unknown kind {kind!r}: {did_you_mean(kind, ['pairs', 'friedman'])}")
        table = friedman_table(comparisons)
        return pd.DataFrame() if table is None or table.data is None else table.data

    def plot_ranks(
        self,
        metric: str | None = None,
        noise: Any = None,
        ax: Axes | None = None,
        width: float | None = None,
    ) -> Axes:
        """Draw the mean ranks at one noise level, with bars over algorithms that do not differ significantly.

        Parameters
        ----------
        metric : str or None, default=None
            As in `ranks`.
        noise : float, dict or None, default=None
            One noise level; None: the lowest.
        ax : matplotlib Axes or None, default=None
            Axes to draw on, whose width the diagram fills; None: axes of a new figure of the right size.
        width : float or None, default=None
            Width of the new figure in inches; None: as in the report.

        Returns
        -------
        matplotlib Axes
            Demšar's critical difference diagram; without bars for a single data set, which allows no test.

        Raises
        ------
        InputError
            There is no such metric or level, or there are fewer than two algorithms to rank.
        """
        comparison = self._view.comparisons_of(metric, noise)[0]
        return rank_diagram(comparison, self._view.styles, ax, width)

    def plot_curves(
        self,
        dataset: str | None = None,
        noise: Any = None,
        column: str = "mistakes_clean",
        ax: Axes | None = None,
        width: float | None = None,
    ) -> Axes:
        """Draw the learning curves of one data set at one noise level: mean and spread over seeds.

        Parameters
        ----------
        dataset : str or None, default=None
            Label of the data set; None: the first.
        noise : float, dict or None, default=None
            One noise level; None: the lowest.
        column : str, default="mistakes_clean"
            A column of `curves`.
        ax : matplotlib Axes or None, default=None
            Axes to draw on; None: axes of a new figure, with the legend below.
        width : float or None, default=None
            Width of the new figure in inches; None: 6.4.

        Returns
        -------
        matplotlib Axes
            The axes drawn on.

        Raises
        ------
        InputError
            There is no such data set, level or column, or it has no curve.
        """
        # `Study` writes the keys of a dictionary of data sets as text.
        dataset = None if dataset is None else str(dataset)
        return curve_panel(self._view, dataset, self._view.levels(noise)[0], column, ax, width)

    def _repr_html_(self) -> str:
        """Return the mean ranks as an HTML table, which notebooks show."""
        head = f"<p>{html.escape(self._opening())}</p>"
        if not any(each.n for each in self._view.comparisons_of(None, None)):
            return f"<div>{head}<p>Nothing can be ranked yet.</p></div>"
        ranks: Any = self.ranks()
        # Labels come from the user, so they are escaped.
        return f"<div>{head}{ranks.to_html(float_format='{:.2f}'.format, na_rep='–', escape=True)}</div>"

    def __repr__(self) -> str:
        """Describe the results in one line."""
        return f"Results in {self.out}: {self._opening()}"

    def _opening(self) -> str:
        view = self._view
        names = view.design.datasets
        shown = ", ".join(names[:_MOST_NAMED]) + (", …" if len(names) > _MOST_NAMED else "")
        text = f"Mean ranks by {view.metric.label} on {shown}; 1 is best. {len(self.cells):,} cells"
        if len(self.failed):
            text += f", {len(self.failed):,} of them not finished (see .failed)"
        if view.coverage.missing:
            text += f", {view.coverage.missing:,} not yet run"
        return f"{text}."


def load(out: str | Path) -> Results:
    """Read the results of a study, finished or not.

    Parameters
    ----------
    out : str or Path
        Folder or fsspec URL that `run`, or ``singlepass run``, wrote to.

    Returns
    -------
    Results
        The results found there.

    Raises
    ------
    InputError
        There are no results, or none but those of tuning.
    """
    results = Results(str(out))
    if not (results.cells["stage"] == "run").any():
        raise InputError(f"{out}: no cell of the study has run yet, except cells of tuning")
    return results
