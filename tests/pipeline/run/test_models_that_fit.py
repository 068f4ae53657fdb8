"""Test that models too large for memory are refused before they are made."""

from __future__ import annotations

import numpy as np
import psutil
import pytest
from scipy.sparse import csr_array

from singlepass.learners import AROW, Forgetron, Perceptron
from singlepass.pipeline.errors import InputError
from singlepass.pipeline.run.prequential import check_room
from singlepass.pipeline.run.splits import Fold

WIDE = 2**31 - 1


def wide_part() -> Fold:
    X = csr_array(
        (np.ones(2), np.array([0, WIDE - 1], np.int32), np.array([0, 1, 2], np.int32)), shape=(2, WIDE)
    )
    return Fold(X, np.arange(2), np.array([0, 1], np.int32))


def test_a_model_that_does_not_fit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = psutil.virtual_memory()._replace(available=10**9)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: memory)
    with pytest.raises(InputError, match=r"2,147,483,647 features and 2 classes takes 17\.2 GB, but 1\.0 GB"):
        check_room(Perceptron(), wide_part(), 2)
    with pytest.raises(InputError, match=r"takes 51\.5 GB"):
        check_room(AROW(), wide_part(), 2)


def test_what_is_told_is_what_it_takes() -> None:
    for learner, n_classes in ((Perceptron(), 2), (AROW(), 2), (AROW(), 5)):
        learner.begin(np.arange(n_classes), 1000)
        told = learner.state_bytes(n_classes, 1000)
        assert told <= learner.model_bytes_ <= told + 1000


def test_features_that_do_not_occur_take_nothing() -> None:
    part = wide_part()
    few = csr_array((np.ones(2), np.array([0, 1], np.int32), np.array([0, 1, 2], np.int32)), shape=(2, 2))
    check_room(Perceptron(), Fold(part.X, part.rows, part.codes, few), 2)


def test_learners_that_grow_are_let_pass() -> None:
    check_room(Forgetron(), wide_part(), 2)
