"""Rows of a store's cells table, as a study of a few cells leaves them."""

from __future__ import annotations

from typing import Any

import pandas as pd


def cell(dataset: str, algorithm: str, seed: int, **given: Any) -> dict[str, Any]:
    return {
        "dataset": dataset,
        "source": dataset.partition("[")[0],
        "parent": dataset.partition("[")[0],
        "algorithm": algorithm,
        "noise": "0",
        "seed": seed,
        "stage": "run",
        "status": "ok",
        "n_examples": 100,
        "mistakes": 20,
        "mistakes_clean": 10,
        "updates": 50,
        "support_vectors": 30,
        "kernel_evaluations": 1500,
        "queried": 25,
        "model_bytes": 2500,
        "test_accuracy": 0.9,
        "fit_seconds": 0.5,
        **given,
    }


def frame(*rows: dict[str, Any]) -> pd.DataFrame:
    return pd.DataFrame(list(rows))
