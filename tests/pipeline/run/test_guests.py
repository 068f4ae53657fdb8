"""Test learners of other libraries in whole cells: their results, and the errors of those that fail."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import re
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

from singlepass.learners import NoChange, Perceptron, Resetting, registry, to_river
from singlepass.learners.guests import given, names, versions
from singlepass.learners.guests.given import give
from singlepass.learners.guests.kinds import as_guest
from singlepass.learners.guests.returned import GuestError, checked_codes
from singlepass.pipeline import data
from singlepass.pipeline.errors import InputError
from singlepass.pipeline.run import prequential
from singlepass.pipeline.run.task import learn_cell, run_cell
from singlepass.pipeline.study.cell import Cell
from singlepass.pipeline.study.plan import make_plan
from singlepass.pipeline.study.study_file import parse_study
from singlepass.pipeline.workers.in_flight import InFlight
from singlepass.pipeline.workers.subprocess_runner import run_in_subprocess
from singlepass.pipeline.workers.threads import compute_in_threads
from singlepass.pipeline.workers.timeout import run_with_timeout

SGD = "sklearn.linear_model:SGDClassifier"
GAUSS = {"name": "gauss", "n_train": 300, "n_test": 100}
# The learners of strangers.py, as plug-ins.
OWN = str(Path(__file__).parent / "strangers.py")


def need(package: str) -> Any:
    return pytest.mark.skipif(
        importlib.util.find_spec(package) is None, reason=f"{package} is not installed: pip install {package}"
    )


river, vw = need("river"), need("vowpalwabbit")


def cells(*algorithms: dict[str, Any], dataset: dict[str, Any] | None = None, **study: Any) -> list[Cell]:
    table = {"name": "s", "seeds": 1, "datasets": [dataset or GAUSS], "algorithms": list(algorithms)}
    plan = make_plan(parse_study(table | study), plugins=(OWN,))
    return list(plan.evaluation_cells({}))


def rows(*algorithms: dict[str, Any], **study: Any) -> list[dict[str, Any]]:
    return [run_cell(cell).row for cell in cells(*algorithms, **study)]


@pytest.mark.parametrize(
    "study",
    [
        {},
        {"noise": 0.2},
        {"delay": 7},
        pytest.param({"dataset": "sparse"}, marks=pytest.mark.slow),
        {"protocol": "holdout", "time_limit": 600.0},
    ],
)
@pytest.mark.parametrize("C", [0.1, pytest.param(1.0, marks=pytest.mark.slow)])
def test_sgd_is_our_passive_aggressive_mistake_by_mistake(
    C: float, study: dict[str, Any], tmp_path: Path
) -> None:
    if C != 1.0 and sklearn.__version__.startswith("1.7."):
        pytest.skip("scikit-learn 1.7 ignores eta0 and learns with C = 1")
    if study.get("dataset"):
        study = {"dataset": sparse_file(tmp_path / "sparse.svm")}
    theirs = {"loss": "hinge", "learning_rate": "pa1", "eta0": C, "alpha": 0.0, "fit_intercept": False}
    both = cells(
        {"name": "PassiveAggressive", "variant": "PA-I", "C": C},
        {"name": SGD, **theirs},
        # As many points as rows.
        checkpoints=600,
        **study,
    )
    ours, guest = (run_cell(cell) for cell in both)
    assert guest.row["status"] == "ok", guest.row["error"]
    for name in ("t", "mistakes", "mistakes_clean"):
        assert list(guest.curve[name]) == list(ours.curve[name])
    assert guest.row.get("test_mistakes") == ours.row.get("test_mistakes")
    assert guest.row["updates"] is None
    assert guest.row["fit_seconds"] > 0


def sparse_file(path: Path) -> dict[str, Any]:
    """Return a data set of sparse rows, some of which share no feature with earlier rows."""
    rng = np.random.RandomState(0)
    with path.open("w", encoding="ascii") as file:
        for i in range(300):
            features = np.unique(rng.randint(1, 900, 8))
            file.write(
                f"{i % 2} " + " ".join(f"{j}:{rng.randint(1, 9) + 3 * (i % 2)}" for j in features) + "\n"
            )
    return {"path": str(path)}


def by_river(model: Any, cell: Cell, delay: int | None) -> int:
    """Return the mistakes that River counts on a cell's stream."""
    from river import evaluate, metrics

    given = learn_cell(cell).inputs
    X, y = given.stream.X[given.train.rows], given.noisy
    stream = [(dict(enumerate(x)), bool(code)) for x, code in zip(X.tolist(), y, strict=True)]
    metric = metrics.Accuracy()
    for _ in evaluate.iter_progressive_val_score(stream, model, metric, delay=delay):
        pass
    found = metric.cm
    return int(found.n_samples - found.total_true_positives)


@river
@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("linear_model.PAClassifier", {"C": 0.5, "mode": 1}),
        ("linear_model.ALMAClassifier", {}),
        ("linear_model.LogisticRegression", {"l2": 0.01}),
        ("linear_model.Perceptron", {}),
        ("naive_bayes.GaussianNB", {}),
        ("tree.HoeffdingAdaptiveTreeClassifier", {"grace_period": 20, "seed": 3}),
    ],
)
@pytest.mark.parametrize(
    ("course", "of_river"),
    [
        ({}, None),
        # River delivers a label just before the row `delay` rows later, this package just after it.
        ({"delay": 1}, 2),
        ({"delay": 20}, 21),
        ({"delay": 1, "label_due": "before"}, 1),
        ({"delay": 20, "label_due": "before"}, 20),
    ],
)
def test_a_model_of_river_makes_the_mistakes_that_river_counts(
    name: str, params: dict[str, Any], course: dict[str, Any], of_river: int | None
) -> None:
    module, cls = name.split(".")
    model = getattr(importlib.import_module(f"river.{module}"), cls)(**params)
    silent = model.predict_one({0: 1.0}) is None
    [cell] = cells(
        {"name": f"river.{module}:{cls}", **params}, dataset={"name": "gauss", "n_train": 300}, **course
    )
    row = run_cell(cell).row
    assert row["status"] == "ok", row["error"]
    theirs = by_river(model, cell, of_river)
    # For a row without a prediction River counts no mistake; this package predicts the first class.
    unsaid = learn_cell(cell).inputs.noisy[: of_river or 1].sum() if silent else 0
    assert row["mistakes"] == theirs + unsaid
    assert row["updates"] is None


@river
@vw
@pytest.mark.parametrize(
    "dataset", [pytest.param(GAUSS, marks=pytest.mark.slow), {"name": "digits", "max_examples": 200}]
)
@pytest.mark.slow
def test_guests_of_all_kinds_beside_our_own(dataset: dict[str, Any]) -> None:
    many = dataset["name"] == "digits"
    found = rows(
        {"name": "AROW"},
        {"name": SGD, "loss": "log_loss"},
        {"name": "river.naive_bayes:GaussianNB"},
        *([] if many else [{"name": "river.linear_model:PAClassifier"}]),
        *([] if many else [{"name": "river.linear_model:ALMAClassifier"}]),
        {"name": "vw", "args": "--ftrl"},
        {"name": "vw", "args": "--loss_function logistic", "label": "logistic", "batch": 4},
        {"name": "StandardizedLogistic"},
        dataset=dataset,
        protocol="holdout",
        metrics=["error", "balanced_accuracy", *([] if many else ["auc", "log_loss"])],
    )
    assert [row["status"] for row in found] == ["ok"] * len(found), [row["error"] for row in found]
    chance = 0.9 if many else 0.5
    for row in found:
        assert row["mistakes"] / row["n_examples"] < chance
        assert row["test_accuracy"] > 1 - chance
        assert sum(row["occurred_clean"]) == row["n_examples"]
    if not many:
        assert all(0.5 < row["auc_given"] <= 1 for row in found), [row["auc_given"] for row in found]
        assert [row.get("log_loss_given") is not None for row in found][:3] == [False, False, True]


@pytest.mark.parametrize("delay", [0, pytest.param(3, marks=pytest.mark.slow)])
def test_predictions_are_not_measured_as_scores(delay: int) -> None:
    study = {"protocol": "holdout", "delay": delay, "max_examples": 60}
    [other] = cells({"name": "Sound"}, metrics=["f1"], **study)
    [cell] = cells({"name": "Sound"}, metrics=["f1", "auc", "log_loss"], **study)
    # Such a cell stores the same as one of a study without metrics of scores, and so has the same key.
    assert (cell.key, cell.spec.kept) == (other.key, ("classes",))
    # If planning does not know the learner, its cell does.
    found = run_cell(Cell(replace(cell.spec, kept=("classes", "scores"))))
    assert found.row["right_given"]
    columns = {*found.row, *found.curve}
    assert not [name for name in columns if name.startswith(("auc", "hinge_loss", "test_auc"))]


def _without_chances(kind: str) -> Any:
    """Return a model of River that has `predict_proba_one`, which raises NotImplementedError."""
    if kind == "ours":
        return importlib.import_module("river.preprocessing").StandardScaler() | to_river(NoChange())
    linear = importlib.import_module("river.linear_model")
    pairs = importlib.import_module("river.multiclass").OneVsOneClassifier(linear.LogisticRegression())
    sampler = importlib.import_module("river.imblearn").RandomUnderSampler
    return sampler(pairs, {False: 0.5, True: 0.5}, seed=1)


@river
@pytest.mark.parametrize(("kind", "planned"), [("ours", False), ("wrapper", True)])
def test_models_of_river_without_probabilities_are_asked_for_labels(kind: str, planned: bool) -> None:
    guest = as_guest(_without_chances(kind))
    assert guest.gives_scores is planned
    guest.begin(np.arange(2, dtype=np.int32), 1)
    assert (guest.gives_scores, guest.scores_are_log_odds) == (False, False)
    X, codes = np.array([[1.0], [-1.0]] * 20), np.array([1, 0] * 20, np.int32)
    model, expected = _without_chances(kind), []
    for x, code in zip(X[:, 0].tolist(), codes.tolist(), strict=True):
        expected.append(1.0 if model.predict_one({0: x}) else -1.0)
        model.learn_one({0: x}, bool(code))
    assert guest.learn_rows(guest.rows_of(X), codes).tolist() == expected


def test_predictions_of_a_tuned_learner_are_not_measured_as_scores() -> None:
    table = {"name": "s", "seeds": 1, "datasets": [GAUSS], "metrics": ["auc"]}
    algorithm = {"name": "Tuned", "rate": [1.0, 2.0]}
    plan = make_plan(parse_study({**table, "algorithms": [algorithm]}), plugins=(OWN,))
    spec = next(plan.tuning_cells()).spec
    [cell] = plan.evaluation_cells({(spec.group, spec.seed): {"rate": 1.0}})
    assert cell.spec.kept == ()


@pytest.mark.slow
def test_scores_that_a_learner_in_blocks_returns_are_measured() -> None:
    for delay, kept in ((0, ("scores",)), (3, ())):
        [cell] = cells({"name": "InBlocks"}, metrics=["auc"], delay=delay, max_examples=60)
        assert cell.spec.kept == kept
        assert ("auc_given" in run_cell(cell).row) == (delay == 0)


@vw
def test_the_log_loss_of_vowpal_wabbit_along_the_stream() -> None:
    import vowpalwabbit

    [cell] = cells({"name": "vw", "args": "--loss_function logistic"}, metrics=["log_loss"])
    inputs = learn_cell(cell).inputs
    model, losses = vowpalwabbit.Workspace("--quiet --loss_function logistic"), []
    for x, code in zip(inputs.stream.X[inputs.train.rows].tolist(), inputs.noisy.tolist(), strict=True):
        row = " | " + " ".join(f"{j}:{value!r}" for j, value in enumerate(x))
        losses.append(np.log1p(np.exp(-(2 * code - 1) * model.predict(row))))
        model.learn(("-1", "1")[code] + row)
    assert run_cell(cell).row["log_loss_given"] == pytest.approx(np.mean(losses), rel=1e-6)


@vw
@pytest.mark.parametrize("args", ["--binary --loss_function logistic", "--oaa 2"])
def test_vowpal_wabbit_without_scores(args: str) -> None:
    [cell] = cells({"name": "vw", "args": args}, metrics=["auc", "test_log_loss"], protocol="holdout")
    row = run_cell(cell).row
    assert row["status"] == "ok", row["error"]
    assert not row.keys() & {"auc_given", "hinge_loss_given", "test_auc", "test_log_loss"}


@pytest.mark.slow
@vw
@pytest.mark.parametrize("option", ["--link=logistic", "--link 'logistic'", "'--link' \"logistic\""])
def test_links_onto_positive_numbers_fail_with_two_classes(option: str) -> None:
    link = {"name": "vw", "args": f"--loss_function logistic {option}"}
    [row] = rows(link)
    assert (row["status"], "leave --link logistic out" in row["error"]) == ("failed", True)
    [row] = rows(link, dataset={"name": "digits", "max_examples": 60})
    assert row["status"] == "ok"


@pytest.mark.parametrize(
    ("args", "metrics", "other"),
    [
        ("--ftrl", ["auc", "f1"], True),
        ("--ftrl", ["f1"], False),
        ("--link=poisson", ["f1"], True),
        ("--link 'poisson'", ["f1"], True),
        ("--link glf1", ["f1"], False),
    ],
)
def test_cells_of_vowpal_wabbit_with_scores_have_other_keys(
    args: str, metrics: list[str], other: bool
) -> None:
    [cell] = cells({"name": "vw", "args": args}, metrics=metrics)
    assert ("scores" in cell.spec.document) == other


def test_scores_of_one_point_of_a_grid_suffice() -> None:
    table = {"name": "s", "seeds": 1, "datasets": [GAUSS], "metrics": ["auc"]}
    algorithm = {"name": "SometimesLikely", "likely": [False, True]}
    plan = make_plan(parse_study({**table, "algorithms": [algorithm]}), plugins=(OWN,))
    spec = next(plan.tuning_cells()).spec
    [cell] = plan.evaluation_cells({(spec.group, spec.seed): {"likely": True}})
    assert cell.spec.kept == ("scores",)


class Reusing:
    """A learner that returns one array for all rows."""

    def __init__(self) -> None:
        self.scores = np.zeros(1)

    def partial_fit(self, X: Any, y: Any) -> None:
        self.scores += 1

    def predict(self, X: Any) -> Any:
        return self.scores

    decision_function = predict


def test_a_learner_may_return_the_same_array_for_each_row() -> None:
    guest = as_guest(Reusing())
    guest.begin(np.arange(2, dtype=np.int32), 1)
    assert guest.learn_rows(np.ones((4, 1)), np.zeros(4, np.int32)).tolist() == [0, 1, 2, 3]


class OlderArray:
    """An array type from before NumPy 2: it takes no argument `copy`."""

    def __array__(self, dtype: Any = None) -> Any:
        return np.ones(1)


def test_a_learner_may_return_an_array_type_of_before_numpy_2() -> None:
    guest = as_guest(SimpleNamespace(partial_fit=lambda X, y: None, predict=lambda X: OlderArray()))
    guest.begin(np.arange(2, dtype=np.int32), 1)
    guest.teach_rows(np.ones((1, 1)), np.zeros(1, np.int32))
    assert guest.learn_rows(np.ones((2, 1)), np.zeros(2, np.int32)).tolist() == [1, 1]


class ReusingOne:
    """A learner like River's that returns one array without dimensions for all rows."""

    def __init__(self) -> None:
        self.label = np.array(0)

    def learn_one(self, x: Any, y: Any) -> None: ...

    def predict_one(self, x: Any) -> Any:
        self.label[...] = x[0] > 0
        return self.label


def test_a_model_like_rivers_may_return_the_same_array_for_each_row() -> None:
    guest = as_guest(ReusingOne())
    guest.begin(np.arange(2, dtype=np.int32), 1)
    rows = guest.rows_of(np.array([[1.0], [-1.0], [1.0], [-1.0]]))
    assert guest.learn_rows(rows, np.zeros(4, np.int32)).tolist() == [1, -1, 1, -1]
    assert guest.predict_codes(rows).tolist() == [1, 0, 1, 0]


@pytest.mark.parametrize("delay", [0, 5])
def test_a_batch_is_predicted_then_learnt(delay: int) -> None:
    from sklearn.linear_model import SGDClassifier

    [cell] = cells(
        {"name": SGD, "batch": 7, "loss": "log_loss", "random_state": 1}, delay=delay, checkpoints=23
    )
    given = learn_cell(cell).inputs
    X, y = given.stream.X[given.train.rows], given.noisy
    model, wrong, taught = SGDClassifier(loss="log_loss", random_state=1), 0, 0
    for t in range(len(y)):
        # Before the first batch there is no prediction, which counts as a mistake.
        wrong += model.predict(X[t : t + 1])[0] != y[t] if taught else 1
        if t - delay >= taught + 6:
            model.partial_fit(X[taught : taught + 7], y[taught : taught + 7], classes=[0, 1])
            taught += 7
    assert run_cell(cell).row["mistakes"] == wrong


@pytest.mark.parametrize(
    "algorithm",
    [{"name": SGD, "batch": 16}, {"name": "Sound"}, {"name": "Unfitted"}, {"name": "UnfittedInBlocks"}],
)
def test_before_the_first_learned_row_test_rows_get_the_first_class(algorithm: dict[str, Any]) -> None:
    delay = 0 if "batch" in algorithm else 15
    [cell] = cells(algorithm, protocol="holdout", test_curve=True, checkpoints=[15, 40], delay=delay)
    found = run_cell(cell)
    assert found.row["status"] == "ok", found.row["error"]
    assert (found.curve["t"][0], found.curve["mistakes"][0]) == (15, 15)
    assert found.curve["test_accuracy"][0] == found.row["test_occurred"][0] / 100


@pytest.mark.parametrize("name", ["NeverFitted", "NeverFittedInBlocks"])
def test_a_learner_that_refuses_to_predict_after_its_first_row_fails(name: str) -> None:
    [row] = rows({"name": name}, protocol="holdout")
    assert row["status"] == "failed"
    assert "raised NotFittedError: not fitted" in row["error"]


def test_a_batch_is_part_of_the_key_and_of_the_parameters() -> None:
    one, two = cells({"name": SGD}, {"name": SGD, "batch": 8, "label": "eight"})
    assert one.key != two.key
    assert json.loads(run_cell(two).row["params"]) == {"batch": 8}
    with pytest.raises(InputError, match="batch must be a whole number of rows, 1 or more, got 0"):
        cells({"name": SGD, "batch": 0})
    with pytest.raises(InputError, match="has no parameter 'batch'"):
        cells({"name": "AROW", "batch": 8})


def test_a_key_holds_class_version_and_parameters() -> None:
    import sklearn

    [cell] = cells({"name": SGD, "alpha": 0.5})
    document = cell.spec.document
    assert document["learner"] == SGD
    assert document["learner_version"] == f"scikit-learn {sklearn.__version__}"
    assert document["params"] == {"alpha": 0.5}


def test_another_version_than_planned_is_not_run() -> None:
    [cell] = cells({"name": SGD})
    other = Cell(replace(cell.spec, algorithm_version="scikit-learn 0.1"))
    row = run_cell(other).row
    assert row["status"] == "failed"
    assert row["error"].startswith(f"algorithm '{SGD}': planned with scikit-learn 0.1, but scikit-learn ")
    # Without this option a later run would keep the failed cell.
    assert row["error"].endswith("restart them, and run the study again with --retry-failed")


PLAIN = """
class Plain:
    def partial_fit(self, X, y): ...
    def predict(self, X): return [0] * X.shape[0]
"""


@pytest.mark.parametrize(
    "text",
    [
        PLAIN.replace("[0]", "[1]"),
        pytest.param(None, marks=pytest.mark.slow),
        pytest.param("class Plain(", marks=pytest.mark.slow),
    ],
)
def test_an_edit_of_a_plugin_during_a_run_changes_no_cell(
    text: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plugin = tmp_path / "plain_own.py"
    plugin.write_text(PLAIN)
    monkeypatch.setattr(registry, "_plugins", {})
    algorithms = [{"name": "Plain"}, {"name": "AROW"}, {"name": SGD}]
    table = {"name": "s", "seeds": 1, "datasets": [GAUSS], "algorithms": algorithms}
    plain, *others = make_plan(parse_study(table), plugins=(str(plugin),)).evaluation_cells({})
    expected = run_cell(plain).row["mistakes"]
    plugin.unlink() if text is None else plugin.write_text(text)
    assert run_cell(plain).row["mistakes"] == expected
    # A subprocess or a worker reads the file.
    registry._plugins.clear()
    row = run_cell(plain).row
    assert row["status"] == "failed"
    assert "plain_own.py" in row["error"]
    assert "--retry-failed" in row["error"]
    if text and "predict" in text:
        assert ": if you edited plain_own.py during the run, run it again; otherwise give " in row["error"]
    assert [run_cell(cell).row["status"] for cell in others] == ["ok", "ok"]


LATE = """
class Late:
    def partial_fit(self, X, y): ...
    def predict(self, X):
        from sp_late.rule import code
        return [code] * X.shape[0]
"""


@pytest.mark.parametrize("kind", ["plugin", "module", "notebook"])
def test_a_module_edited_between_planning_and_its_import_fails_the_cell(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "sp_late").mkdir()
    rule, mine = tmp_path / "sp_late/rule.py", tmp_path / "sp_mine.py"
    (tmp_path / "sp_late/__init__.py").write_text("")
    mine.write_text(LATE)
    values: dict[str, Any] = {"__name__": "__main__"}
    exec(LATE, values)
    found = []
    for edited in (False, True):
        monkeypatch.setattr(versions, "_seen", {})
        rule.write_text("code = 0\n")
        name = {"plugin": "Late", "module": "sp_mine:Late", "notebook": give(values["Late"]).name}[kind]
        table = {"name": "s", "seeds": 1, "datasets": [GAUSS], "algorithms": [{"name": name}]}
        plugins = (str(mine),) if kind == "plugin" else ()
        [cell] = make_plan(parse_study(table), plugins=plugins).evaluation_cells({})
        if edited:
            rule.write_text("code = 1  # edited\n")
        found.append(run_cell(cell).row)
        for each in [each for each in sys.modules if each.startswith(("sp_late", "sp_mine"))]:
            del sys.modules[each]
        importlib.invalidate_caches()
    assert [row["status"] for row in found] == ["ok", "failed"]
    assert re.search("planned with .*, but|code that it imports has changed", found[1]["error"])


@pytest.mark.slow
def test_a_subprocess_imports_from_the_same_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "sp_apart.py").write_text(LATE.replace("from sp_late.rule import code", "code = 0"))
    [cell] = cells({"name": "sp_apart:Late"})
    row = run_in_subprocess(cell).row
    assert row["status"] == "ok", row["error"]


def test_learners_of_entry_points_have_the_version_of_their_package(monkeypatch: pytest.MonkeyPatch) -> None:
    point = importlib.metadata.EntryPoint("Theirs", SGD, registry.ENTRY_POINT_GROUP)
    monkeypatch.setattr(registry, "entry_points", lambda group: [point])
    registry._installed.cache_clear()
    try:
        [cell] = cells({"name": "Theirs"})
        assert cell.spec.algorithm_version == f"scikit-learn {sklearn.__version__}"
        row = run_cell(Cell(replace(cell.spec, algorithm_version="scikit-learn 0.1"))).row
        assert row["error"].startswith("algorithm 'Theirs': planned with scikit-learn 0.1, but ")
    finally:
        registry._installed.cache_clear()


def test_a_class_derived_from_a_learner_of_this_package_has_its_version(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "derived_own.py").write_text(
        "from singlepass.learners import CSOGD, Perceptron\n\n"
        "class First(Perceptron): ...\n\nclass Second(CSOGD): ...\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    first, second = cells({"name": "derived_own:First"}, {"name": "derived_own:Second"})
    package = first.spec.algorithm_version
    assert re.fullmatch(r"1\.1\+derived_own [0-9a-f]{16}", package)
    assert second.spec.algorithm_version == package.replace("1.1+", "2.1+")


class Derived(Perceptron):
    """A class of a notebook, derived from a learner of this package."""


class Holder:
    """A learner without `get_params` that holds another."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> None:
        self.inner.partial_fit(X, y, classes)

    def predict(self, X: Any) -> Any:
        return self.inner.predict(X)


def made_by(cls: type) -> Holder:
    """Return a learner of a class, not importable by name, that makes another learner itself."""

    class Maker(Holder):
        def __init__(self) -> None:
            super().__init__(cls())

    return Maker()


@pytest.mark.parametrize(
    "around",
    [
        lambda learner: learner,
        lambda learner: make_pipeline(Normalizer(), learner),
        lambda learner: Resetting(learner, "ddm"),
        lambda learner: pytest.importorskip("river.preprocessing").StandardScaler() | to_river(learner),
        lambda learner: pytest.importorskip("river.ensemble").VotingClassifier([to_river(learner)] * 2),
        Holder,
        lambda learner: Holder(SimpleNamespace(inner=learner)),
        lambda learner: made_by(type(learner)),
    ],
)
def test_notebook_learners_of_derived_classes_have_new_names(
    around: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    of_package, derived = (give(around(each())).name for each in (Perceptron, Derived))
    monkeypatch.setattr(given, "is_derived", lambda cls: False)
    assert give(around(Perceptron())).name == of_package
    assert give(around(Derived())).name != derived


def test_what_a_guest_draws_begins_with_the_repetition() -> None:
    first, again, other = (
        learn_cell(cell).learner.random_state
        for cell in [*cells({"name": SGD}, seeds=2), *cells({"name": SGD})][::1]
    )
    assert first == other != again
    given = learn_cell(cells({"name": SGD, "random_state": 5})[0]).learner
    assert given.random_state == 5


TWO_SEEDS = """
class TwoSeeds:
    def __init__(self, random_state=None, seed=None):
        self.seeds = random_state, seed

    def partial_fit(self, X, y): ...
    def predict(self, X): return [0] * X.shape[0]
"""


def test_a_learner_with_two_seeds_gets_both(tmp_path: Path) -> None:
    plugin = tmp_path / "two_seeds.py"
    plugin.write_text(TWO_SEEDS)
    values: dict[str, Any] = {"__name__": "__main__"}
    exec(TWO_SEEDS, values)
    for name in (give(values["TwoSeeds"]).name, "TwoSeeds"):
        algorithms = [{"name": name}, {"name": name, "label": "half", "seed": 5}]
        table = {"name": "s", "seeds": 1, "datasets": [GAUSS], "algorithms": algorithms}
        found = list(make_plan(parse_study(table), plugins=(str(plugin),)).evaluation_cells({}))
        (first, second), (third, fourth) = (learn_cell(cell).learner.seeds for cell in found)
        assert first == second == third
        assert (first is None, fourth) == (False, 5)
        # Earlier versions left the second seed None, so that these cells have other keys now.
        assert str(found[0].spec.algorithm_version).startswith("1.2")


def test_repetitions_are_kept_where_a_guest_draws(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    np.savetxt(path, np.arange(80.0).reshape(20, 4) % 7 % 2, delimiter=",", header="a,b,c,y", comments="")
    study = {"dataset": {"path": str(path), "target": "y"}, "order": "given", "seeds": 3}
    assert len(cells({"name": "AROW"}, {"name": SGD, "random_state": 1}, **study)) == 2
    assert len(cells({"name": "AROW"}, {"name": SGD}, **study)) == 6


# -- failures ------------------------------------------------------------------------------------------

FAILURES = {
    "Raising": "algorithm 'Raising': partial_fit raised KeyError: 'lost' (strangers.py, line 26)",
    "Unmakeable": "algorithm 'Unmakeable': its constructor raised RuntimeError: no licence "
    "(strangers.py, line 32)",
    "Shapeless": "algorithm 'Shapeless': decision_function returned scores of shape (1, 3), not (1,)",
    "Flat": "algorithm 'Flat': predict returned shape () for a row, not a score or label",
    "NotANumber": "algorithm 'NotANumber': decision_function returned nan among its scores",
    "Infinite": "algorithm 'Infinite': decision_function returned inf among its scores",
    "Elsewhere": "algorithm 'Elsewhere': predict returned the label 7, which is not one of the classes "
    "0 to 1 of the stream",
    "Talking": "algorithm 'Talking': predict returned the label 'yes', which is not one of the classes "
    "0 to 1 of the stream",
    "Unlikely": "algorithm 'Unlikely': predict_proba returned probabilities from -1 to 2",
    "Reversed": "algorithm 'Reversed': its classes_ are [1, 0], but predict_proba must have the classes in "
    "ascending order",
    "Appending": "algorithm 'Appending': its classes_ are [1, 0], but predict_proba must have the classes in "
    "ascending order",
    "Changeable": "algorithm 'Changeable': decision_function returned shape (1, 2) for a row, then (1,): "
    "return one shape for all rows",
    "AsText": "algorithm 'AsText': predict returned the label '1', which is not one of the classes "
    "0 to 1 of the stream",
    "LaterText": "algorithm 'LaterText': predict returned the label 'spam', which is not one of the "
    "classes 0 to 1 of the stream",
    "LaterTextOne": "algorithm 'LaterTextOne': predict_one returned the label '1', which is not one of the "
    "classes 0 to 1 of the stream",
    "ScoresAsText": "algorithm 'ScoresAsText': decision_function returned array(['0.5'], dtype='<U3'), "
    "which are not numbers",
    "Complex": "algorithm 'Complex': predict returned the label (1+0j), which is not one of the classes "
    "0 to 1 of the stream",
    "Chunky": "algorithm 'Chunky': learn() returned nan among its scores",
    "Slipping": "algorithm 'Slipping': predict_one returned the label 'spam', which is not one of the "
    "classes 0 to 1 of the stream",
}


@pytest.mark.parametrize("name", FAILURES)
def test_a_failure_is_one_line_and_the_others_finish(name: str) -> None:
    bad, good = rows({"name": name}, {"name": "Sound"}, protocol="holdout", max_examples=60)
    assert bad["status"] == "failed"
    assert bad["error"] == FAILURES[name]
    assert "Traceback" in bad["traceback"]
    assert good["status"] == "ok", good["error"]


@pytest.mark.parametrize("label", [np.complex64(1), np.array(1 + 0j)])
def test_a_complex_number_among_objects_is_no_label(label: Any) -> None:
    found = np.empty(1, object)
    found[0] = label
    with pytest.raises(GuestError, match=r"^predict returned the label .*1\.?\+0"):
        checked_codes(found, "predict", 1, 2)


def test_a_complex_label_is_named_and_not_one_before_it() -> None:
    with pytest.raises(GuestError, match=r"^predict returned the label 1j, which is"):
        checked_codes([1, 1j], "predict", 2, 2)


@pytest.mark.parametrize("label", [pd.NA, np.array([1]), np.array([0, 1]), np.array("1"), np.array(b"1")])
def test_an_object_that_is_no_number_is_no_label(label: Any) -> None:
    found = np.empty(2, object)
    found[:] = 1
    found[0] = label
    with pytest.raises(GuestError, match=re.escape(f"predict returned the label {label!r}, which is")):
        checked_codes(found, "predict", 2, 2)


def test_failures_with_late_labels_and_batches() -> None:
    for more in ({"delay": 3}, {"batch": 4}):
        delay, extra = more.get("delay", 0), {key: more[key] for key in more if key == "batch"}
        for name in ("Raising", "NotANumber", "Elsewhere"):
            [row] = rows({"name": name, **extra}, delay=delay, max_examples=60)
            assert row["status"] == "failed"
            assert row["error"].startswith(f"algorithm '{name}': ")
            assert "\n" not in row["error"]


def test_a_learner_without_partial_fit() -> None:
    with pytest.raises(InputError, match=r"^algorithm 'sklearn\.svm:SVC': SVC has no partial_fit: "):
        rows({"name": "sklearn.svm:SVC"}, {"name": "Sound"})


def test_a_missing_package(monkeypatch: pytest.MonkeyPatch) -> None:
    find, absent = importlib.util.find_spec, ("river", "vowpalwabbit")
    monkeypatch.setattr(
        names.importlib.util, "find_spec", lambda name: None if name in absent else find(name)
    )
    found = rows(
        {"name": "river.tree:HoeffdingTreeClassifier", "grace_period": [1, 2], "label": "tree"},
        {"name": "river.linear_model:PAClassifier", "C": 1.0, "label": "PA"},
        {"name": "vw", "args": "--ftrl"},
        {"name": "Sound"},
    )
    assert [row["error"] for row in found] == [
        "algorithm 'PA': river is not installed: pip install 'singlepass[river]'",
        "algorithm 'vw': vowpalwabbit is not installed: pip install 'singlepass[vw]'",
        None,
    ]


@pytest.mark.parametrize(
    ("algorithm", "message"),
    [
        ({"name": "sklearn.linear_model:SGDClasifier"}, "has no class .*: did you mean 'SGDClassifier'"),
        ({"name": "sklearn.nothing:SGDClassifier"}, "module 'sklearn.nothing' cannot be imported"),
        ({"name": "a b:C"}, "write 'module:Class'"),
        ({"name": "sklearn.linear_model.SGDClassifier"}, "'sklearn.linear_model:SGDClassifier'"),
        ({"name": SGD, "alfa": 1.0}, "has no parameter 'alfa': did you mean 'alpha'"),
        ({"name": SGD, "loss": "hinged"}, "The 'loss' parameter of SGDClassifier must be"),
        ({"name": SGD, "query": "all"}, "query works with learners of this package only: remove query"),
        pytest.param({"name": "vw", "args": "--nosuch"}, "unrecognised option '--nosuch'", marks=vw),
    ],
)
def test_a_slip_in_the_study_is_refused(algorithm: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        cells(algorithm)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(prequential, "GRACE_SECONDS", 0.5)
    monkeypatch.setattr(data, "cache_folder", lambda: tmp_path)


HUNG = (
    "algorithm 'Hanging': had not learned its next rows (at most 64) after 1 s, with a time limit of 0.5 s: "
    "if no call hangs, raise time_limit"
)


@pytest.mark.usefixtures("impatient")
def test_one_that_hangs_is_given_up_and_the_others_finish() -> None:
    given = cells({"name": "Hanging"}, {"name": "Sound"}, time_limit=0.5)
    found: list[dict[str, Any]] = []
    with InFlight("out", 1) as in_flight:
        compute_in_threads(
            1,
            [(cell,) for cell in given],
            lambda batch: found.extend(each.row for each in batch),
            cell_limit=600.0,
            in_flight=in_flight,
        )
    assert {row["algorithm"]: row["status"] for row in found} == {"Hanging": "crashed", "Sound": "ok"}
    assert next(row["error"] for row in found if row["algorithm"] == "Hanging") == HUNG


@pytest.mark.usefixtures("impatient")
def test_one_that_hangs_on_a_cluster_is_given_up() -> None:
    hanging, sound = cells({"name": "Hanging"}, {"name": "Sound"}, time_limit=0.5)
    row = run_with_timeout((hanging,), 600.0)[0].row
    assert (row["status"], row["error"]) == ("crashed", HUNG)
    assert run_with_timeout((sound,), 600.0)[0].row["status"] == "ok"


def test_one_that_is_slow_is_stopped_with_its_curve() -> None:
    [cell] = cells({"name": "Slow"}, time_limit=0.2)
    found = run_cell(cell)
    assert found.row["status"] == "stopped"
    assert 1 <= found.row["n_examples"] < 300
    assert list(found.curve["t"])[-1] == found.row["n_examples"]


@pytest.mark.slow
def test_each_cell_has_an_instance_of_its_own() -> None:
    given = cells({"name": SGD, "loss": "log_loss"}, seeds=8)
    alone = {cell.key: run_cell(cell).row["mistakes"] for cell in given}
    together: dict[str, int] = {}

    def work(part: list[Cell]) -> None:
        together.update((cell.key, run_cell(cell).row["mistakes"]) for cell in part)

    threads = [threading.Thread(target=work, args=(given[i::4],)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert together == alone
