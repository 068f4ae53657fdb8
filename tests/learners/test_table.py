"""The table of learners: its entries are true, and the files generated from it are up to date."""

import re

import pytest

import singlepass.learners
from singlepass.learners import KernelClassifier, MulticlassClassifier, OnlineClassifier, Perceptron
from singlepass.learners.__main__ import STUB, stub
from singlepass.learners.table import NAMES, ROWS, TABLE

from .cases import CASES
from .streams import GOLDEN, golden_runs

every_row = pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)


def test_what_type_checkers_read():
    assert STUB.read_text("utf-8") == stub(), "run: python -m singlepass.learners"
    names = set(re.findall("^from .* import (.*) as .*$", stub(), re.MULTILINE))
    assert names == set(singlepass.learners.__all__)


def test_names_are_public_and_there_once():
    names = [row.name for row in TABLE]
    assert len(set(names)) == len(names)
    assert set(names) - set(singlepass.learners.__all__) == {"SVC"}
    queries = {"QueryAll", "Greedy", "SelectiveSampling", "AdaptiveSelectiveSampling", "RandomQueries"}
    assert set(names) - set(NAMES) == queries | {"FollowTheLeader", "ExponentialWeights", "Resetting"}


@every_row
def test_what_a_row_says_of_its_class(row):
    learner = row.load()
    assert (learner.__name__, getattr(singlepass.learners, row.name, learner)) == (row.name, learner)
    if row.kind != "batch":
        assert issubclass(learner, OnlineClassifier)
        assert issubclass(learner, KernelClassifier) == (row.kind in ("kernel", "svm"))
        assert issubclass(learner, MulticlassClassifier) == (row.kind == "linear" and row.classes == "many")
        given = {"learner": Perceptron(), "grid": {"average": [False, True]}}
        needed = {name: value for name, value in given.items() if name in learner._get_param_names()}
        made = learner(**needed if row.kind == "strategy" else {})
        assert made._takes_many_classes == (row.classes == "many")
    names = re.findall("`([a-z0-9_]+)`", row.parameters, re.IGNORECASE)
    if row.kind != "strategy" and row.name != "IncrementalSVM":
        assert set(names) <= set(learner().get_params())


@pytest.mark.parametrize("name", CASES)
def test_cases_differ(name):
    cases = CASES[name]
    made = [repr(ROWS[name].load()(**settings)) for settings in (*cases.variants, *cases.many_classes)]
    assert len(set(made)) == len(made)


def test_golden_runs_exist_and_are_of_one_learner():
    files = [path.name.removesuffix(".json.gz") for path in GOLDEN.glob("*.json.gz")]
    runs = {name.partition("__")[0] for name in golden_runs(*files)}
    named = [name for cases in CASES.values() for name in cases.golden]
    assert len(set(named)) == len(named)
    assert set(named) <= runs


def test_who_counts_rounds():
    counting = {
        "OnlineGradientDescent", "UnbiasedLoss", "TruncatedGradient", "FOBOS", "RDA", "AdaGradFOBOS",
        "RestartedGradientDescent", "KT", "VowpalWabbitCoin", "IELLIP", "BBQ",
    }  # fmt: skip
    assert {name for name, cases in CASES.items() if cases.counts_rounds} == counting
