"""Make rows of a store's cells table, as a small study leaves them."""

from __future__ import annotations

from typing import Any

import pandas as pd

SCORED = ("auc", "average_precision", "hinge_loss", "log_loss")


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
        "nonzeros": 40,
        "model_bytes": 2500,
        "test_accuracy": 0.9,
        # Of 100 rows, 20 are positive: 12 of them are predicted positive, and so are 8 negative ones.
        "predicted": [80, 20],
        "right_clean": [72, 12],
        "occurred_clean": [80, 20],
        "right_given": [64, 8],
        "occurred_given": [80, 20],
        "majority_clean": 80,
        "majority_given": 80,
        "before_clean": 60,
        "before_given": 60,
        "test_predicted": [40, 10],
        "test_right": [36, 6],
        "test_occurred": [40, 10],
        **{f"{name}_{side}": 0.75 for name in SCORED for side in ("clean", "given")},
        **{f"regret_{side}": 12.5 for side in ("clean", "given")},
        **{f"test_{name}": 0.625 for name in SCORED},
        "fit_seconds": 0.5,
        **given,
    }


def frame(*rows: dict[str, Any]) -> pd.DataFrame:
    return pd.DataFrame(list(rows))
