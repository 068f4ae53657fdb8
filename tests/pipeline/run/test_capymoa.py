"""Compare classifiers of CapyMOA in whole cells with CapyMOA's own evaluation."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from singlepass.learners.guests.capymoa import CapyMOAGuest, leave_signals_to_python
from singlepass.pipeline.errors import InputError
from singlepass.pipeline.run.task import learn_cell, run_cell
from singlepass.pipeline.study.cell import Cell
from singlepass.pipeline.study.plan import make_plan
from singlepass.pipeline.study.study_file import parse_study
from singlepass.pipeline.workers.in_flight import InFlight
from singlepass.pipeline.workers.threads import compute_in_threads

GAUSS = {"name": "gauss", "n_train": 600, "n_test": 100}
DIGITS = {"name": "digits"}
capymoa = pytest.mark.skipif(
    importlib.util.find_spec("capymoa") is None,
    reason="CapyMOA is not installed: pip install 'singlepass[capymoa]', and Java",
)


def cells(*algorithms: dict[str, Any], dataset: dict[str, Any] = GAUSS, **study: Any) -> list[Cell]:
    table = {"name": "s", "seeds": 1, "datasets": [dataset], "algorithms": list(algorithms)}
    return list(make_plan(parse_study(table | study)).evaluation_cells({}))


def by_capymoa(name: str, params: dict[str, Any], cell: Cell) -> int:
    """Return the mistakes that CapyMOA counts on a cell's stream."""
    from capymoa import classifier
    from capymoa.evaluation import prequential_evaluation
    from capymoa.stream import NumpyStream

    given = learn_cell(cell).inputs
    X, y = given.stream.X[given.train.rows], given.noisy
    stream = NumpyStream(np.asarray(X, float), y.astype(int), target_type="categorical")
    model = getattr(classifier, name)(schema=stream.get_schema(), **params)
    accuracy = prequential_evaluation(stream, model).cumulative.accuracy()
    return round((1 - accuracy / 100) * len(y))


@capymoa
@pytest.mark.parametrize("dataset", [GAUSS, DIGITS])
@pytest.mark.parametrize(
    ("name", "params"), [("HoeffdingTree", {"grace_period": 50}), ("NaiveBayes", {})], ids=["tree", "nb"]
)
def test_mistakes_are_those_of_capymoas_own_evaluation(
    name: str, params: dict[str, Any], dataset: dict[str, Any]
) -> None:
    [cell] = cells(
        {"name": f"capymoa.classifier:{name}", **params}, dataset=dataset, noise=0.1, protocol="holdout"
    )
    row = run_cell(cell).row
    assert row["status"] == "ok", row["error"]
    assert row["mistakes"] == by_capymoa(name, params, cell)
    assert row["ties"] == 0
    assert 0.5 < row["test_accuracy"] <= 1


@pytest.mark.parametrize("votes", [np.ones(2), [1.0, 1.0]])
def test_a_model_may_return_the_same_votes_for_each_row(votes: Any) -> None:
    guest = CapyMOAGuest.__new__(CapyMOAGuest)
    guest._likely, guest._model = True, SimpleNamespace(predict_proba=lambda instance: votes)
    assert guest._said(None) is not votes


def test_a_model_may_return_the_same_label_for_each_row() -> None:
    guest, label = CapyMOAGuest.__new__(CapyMOAGuest), np.array(0)

    def predict(x: float) -> Any:
        label[...] = x
        return label

    guest._n_classes, guest._instance = 2, lambda schema, x, code: x
    guest._model = SimpleNamespace(schema=None, predict=predict)
    assert guest.predict_codes([1.0, 0.0]).tolist() == [1, 0]


@capymoa
def test_votes_are_scores_and_labels_may_come_late_or_together() -> None:
    tree = {"name": "capymoa.classifier:HoeffdingTree"}
    [cell] = cells(tree, metrics=["auc", "log_loss"])
    row = run_cell(cell).row
    assert row["status"] == "ok", row["error"]
    assert 0.5 < row["auc_clean"] < 1
    assert row["log_loss_clean"] > 0
    late, together = (
        run_cell(cells({**tree, **more}, **study)[0]).row
        for more, study in (({}, {"delay": 7}), ({"batch": 32}, {}))
    )
    assert late["status"] == together["status"] == "ok"


@capymoa
def test_cells_in_threads_are_as_one_after_the_other() -> None:
    work = cells(
        {"name": "capymoa.classifier:HoeffdingTree"}, {"name": "capymoa.classifier:NaiveBayes"}, seeds=3
    )
    found: dict[str, int] = {}
    with InFlight("threads", 2) as in_flight:
        compute_in_threads(
            2,
            [(cell,) for cell in work],
            lambda batch: found.update({each.row["key"]: each.row["mistakes"] for each in batch}),
            cell_limit=300.0,
            in_flight=in_flight,
        )
    assert found == {cell.key: run_cell(cell).row["mistakes"] for cell in work}


@capymoa
def test_what_it_does_not_take_is_said_when_the_study_is_checked() -> None:
    with pytest.raises(InputError, match="has no parameter 'grace': did you mean 'grace_period'"):
        cells({"name": "capymoa.classifier:HoeffdingTree", "grace": 5})
    with pytest.raises(InputError, match="algorithm 'T': "):
        cells({"name": "capymoa.classifier:HoeffdingTree", "label": "T", "split_criterion": "None such"})
    with pytest.raises(InputError, match="FIMTDD is no classifier of CapyMOA: name one, as in 'capymoa"):
        cells({"name": "capymoa.regressor:FIMTDD"})


SIGNALS = """
import signal
from singlepass.learners.guests.names import find_guest

caught = []
signal.signal(signal.SIGTERM, lambda *_: caught.append("SIGTERM"))
find_guest("capymoa.classifier:NaiveBayes")
signal.raise_signal(signal.SIGTERM)
try:
    signal.raise_signal(signal.SIGINT)
except KeyboardInterrupt:
    caught.append("SIGINT")
print(*caught)
"""


@capymoa
def test_java_leaves_signals_to_python() -> None:
    done = subprocess.run([sys.executable, "-c", SIGNALS], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.split()) == (0, ["SIGTERM", "SIGINT"]), done.stderr


def test_own_arguments_of_java_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAPYMOA_JVM_ARGS", "-Xmx1g")
    for _ in range(2):
        leave_signals_to_python()
        assert os.environ["CAPYMOA_JVM_ARGS"] == "-Xmx1g -Xrs"


def test_where_it_is_missing_a_line_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    [cell] = cells({"name": "capymoa.classifier:HoeffdingTree"})
    row = run_cell(cell).row
    assert row["status"] == "failed"
    assert "capymoa is not installed: pip install 'singlepass[capymoa]'" in row["error"]
