"""Test what cells must store for the metrics that a study requests."""

from __future__ import annotations

from singlepass.pipeline.scoring import kept_for


def test_what_is_kept_for_metrics() -> None:
    assert kept_for(["auc", "f1", "recall"]) == ("classes", "scores")
    assert kept_for(["test_accuracy"]) == ()
