"""Build results of studies that never ran, as the store returns them, with a known best algorithm."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from cachetools import LRUCache, cached

from singlepass.pipeline.analysis.study_results import StudyResults
from singlepass.pipeline.analysis.tuning import Tuned
from singlepass.pipeline.noise import parse_noise
from singlepass.pipeline.store.schema import CELLS, CURVES

T = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]
DATASETS = (*(f"digits[{digit}-vs-rest]" for digit in range(8)), "breast-cancer", "gauss", "checkerboard")
ALGORITHMS = ("Perceptron", "PA", "PA-I", "SOP", "CW", "AROW", "AROW-H")
SIZES = {"Projectron 0.1": 300, "Projectron 0.5": 40, "Forgetron": 100}
LEARNERS = {name: name.partition(" ")[0] for name in SIZES}


def make_results(**options: Any) -> StudyResults:
    """Build results in which later algorithms err less, by a margin that shrinks with noise.

    The options are those of `_made`. Calls with equal options get copies of the same results.
    """
    return copy.deepcopy(_made(**options))


@cached(LRUCache(8), key=lambda **options: repr(options))
def _made(
    *,
    datasets: tuple[str, ...] = (),
    algorithms: tuple[str, ...] = ALGORITHMS,
    noise: tuple[Any, ...] = (0.0, 0.1, 0.3),
    seeds: int = 5,
    protocol: str = "holdout",
    tuned: tuple[str, ...] = ("PA-I", "AROW"),
    title: str = "Synthetic study",
) -> StudyResults:
    datasets = datasets or DATASETS
    rng = np.random.RandomState(7)
    cells: list[dict[str, Any]] = []
    curves: list[dict[str, Any]] = []
    tuning: list[Tuned] = []
    for d, dataset in enumerate(datasets):
        for level in map(parse_noise, noise):
            rate = level.rate
            for a, algorithm in enumerate(algorithms):
                if algorithm in tuned:
                    values = [0.01, 0.1, 1.0, 10.0]
                    tuning.append(
                        Tuned(
                            dataset=dataset,
                            algorithm=algorithm,
                            noise=level,
                            grid={"r": [*values]},
                            winner={"r": values[d % 4], "covariance": "diagonal"},
                            criterion="online mistakes",
                            scores=[({"r": value}, 100 - a) for value in values],
                            at_edge=("r",) if d % 4 in (0, 3) else (),
                        )
                    )
                # Random per data set and algorithm, so that not every pair differs significantly.
                suits = 0.025 * rng.standard_normal()
                for seed in range(seeds):
                    error = suits + 0.08 + 0.01 * d + 0.25 * rate + 0.02 * (len(algorithms) - a) * (1 - rate)
                    error = float(np.clip(error + 0.01 * rng.standard_normal(), 0.0, 0.9))
                    key = f"{d}-{a}-{rate if rate == level.spec else level.slug}-{seed}"
                    wrong = round(1000 * error)
                    cells.append(
                        {
                            "key": key,
                            "dataset": dataset,
                            "source": dataset.partition("[")[0],
                            "parent": dataset.partition("[")[0],
                            "task": f"one-vs-rest:{dataset[-10]}"
                            if dataset.endswith("-vs-rest]")
                            else "binary",
                            "algorithm": algorithm,
                            "learner": "AROW",
                            "params": "{}",
                            "grid": json.dumps({"r": [0.01, 0.1, 1.0, 10.0]}) if algorithm in tuned else None,
                            "noise": level.slug,
                            "seed": seed,
                            "stage": "run",
                            "protocol": protocol,
                            "status": "ok",
                            "n_features": 20,
                            "n_examples": 1000,
                            "noise_realised": rate,
                            "mistakes": wrong + round(500 * rate),
                            "mistakes_clean": wrong,
                            "updates": wrong + 100,
                            "fit_seconds": 0.001 * (1 + a),
                            "total_seconds": 0.01,
                        }
                    )
                    if protocol == "holdout":
                        cells[-1] |= {
                            "test_examples": 500,
                            "test_mistakes": round(400 * error),
                            "test_accuracy": 1 - round(400 * error) / 500,
                        }
                    curves += [
                        {
                            "key": key,
                            "t": t,
                            "mistakes": int(t * (error + rate / 2)),
                            "mistakes_clean": int(t * error * (2 - t / 1000)),
                            "updates": t // 3,
                            "fit_seconds": t * 1e-6,
                        }
                        for t in T
                    ]
    parents = dict.fromkeys(name.partition("[")[0] for name in datasets)
    study = {
        "name": "synthetic",
        "title": title,
        "description": "Drawn from a formula.",
        "protocol": protocol,
        "noise": list(noise),
        "seeds": list(range(seeds)),
        "datasets": [{"name": parent, "label": parent} for parent in parents],
        "algorithms": [{"name": "AROW", "label": label} for label in algorithms],
    }
    return StudyResults(
        pd.DataFrame(cells, columns=CELLS.names),
        pd.DataFrame(curves, columns=CURVES.names),
        study,
        planned=len(cells),
        provenance={"python": "3.11.0", "packages": {"numpy": "2.0", "numba": None}, "cpu": "a <CPU>"},
        tuning=tuning,
    )


def fail(results: StudyResults, keys: list[str], error: str = "ValueError: no <good>") -> StudyResults:
    """Turn cells into failed ones."""
    cells = results.cells.copy()
    hit = cells["key"].isin(keys)
    cells.loc[hit, "status"] = "failed"
    cells["error"] = cells["error"].astype(object)
    cells["traceback"] = cells["traceback"].astype(object)
    cells.loc[hit, "error"] = error
    cells.loc[hit, "traceback"] = "Traceback (most recent call last):\n  boom & bust"
    numbers = ["mistakes", "mistakes_clean", "updates", "test_accuracy", "n_examples", "fit_seconds"]
    cells[numbers] = cells[numbers].astype("float64")
    cells.loc[hit, numbers] = np.nan
    return replace(results, cells=cells)


def diverging_results() -> StudyResults:
    """Build results that are ranked by hinge loss, ten billion times larger on the first data set."""
    names, algorithms = ("wild", "a", "b", "c"), ("PA", "CW", "AROW")
    options: dict[str, Any] = {"noise": (0.0,), "protocol": "prequential", "tuned": (), "seeds": 1}
    made = make_results(datasets=names, algorithms=algorithms, **options)
    loss = made.cells["mistakes_clean"] / 700
    loss = loss.mask(made.cells["dataset"] == "wild", 1e10 * loss)
    study = {**made.study, "metrics": ["hinge_loss"]}
    return replace(made, cells=made.cells.assign(hinge_loss_clean=loss), study=study)


def results_with_sizes(*, seeds: int = 2, **options: Any) -> StudyResults:
    """Build results of four algorithms; all except AROW have support sets, 10 larger with every seed."""
    made = make_results(algorithms=(*SIZES, "AROW"), tuned=(), seeds=seeds, **options)
    cells = made.cells
    size = cells["algorithm"].map(SIZES) + 10 * cells["seed"]
    cells = cells.assign(
        learner=cells["algorithm"].map({**LEARNERS, "AROW": "AROW"}),
        support_vectors=size,
        kernel_evaluations=2000 * size,
        model_bytes=800 * size,
    )
    sizes = cells.set_index("key")["support_vectors"]
    curves = made.curves
    curves = curves.assign(
        support_vectors=curves["key"].map(sizes) * curves["t"] / 1000,
        kernel_evaluations=curves["key"].map(sizes) * curves["t"] ** 2 / 1000,
    )
    return replace(made, cells=cells, curves=curves)


def stop(results: StudyResults, keys: list[str]) -> StudyResults:
    """Stop cells at their time limit after 10 examples, when all their figures look better than others."""
    cells, curves = results.cells.copy(), results.curves
    hit = cells["key"].isin(keys)
    early = {"mistakes": 2, "mistakes_clean": 2, "updates": 1, "n_examples": 10, "test_accuracy": 1.0}
    early |= {"support_vectors": 1, "kernel_evaluations": 1, "fit_seconds": 1e-6}
    for column, value in early.items():
        if cells[column].notna().any():
            cells[column] = cells[column].astype(float).mask(hit, value)
    cells.loc[hit, "status"] = "stopped"
    cells["error"] = cells["error"].astype(object)
    cells.loc[hit, "error"] = "time limit of 1 s reached after 10 of 1,000 examples"
    return replace(results, cells=cells, curves=curves[~curves["key"].isin(keys) | (curves["t"] <= 10)])
