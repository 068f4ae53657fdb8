"""Test that cells get the labels and rows of every noise model, never the clean ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from singlepass.learners import Perceptron
from singlepass.pipeline import data
from singlepass.pipeline.errors import InputError
from singlepass.pipeline.noise import FeatureNoise, MarginNoise, Noise, margin, parse_noise
from singlepass.pipeline.noise.features import feature_spread
from singlepass.pipeline.noise.margin import margin_chances
from singlepass.pipeline.randomness import random_state
from singlepass.pipeline.run import shared_inputs
from singlepass.pipeline.run import task as cell_module
from singlepass.pipeline.run.shared_inputs import with_feature_noise
from singlepass.pipeline.run.splits import Fold, split
from singlepass.pipeline.run.task import run_cell
from singlepass.pipeline.store.schema import CELLS, PROVENANCE
from singlepass.pipeline.study.cell import Cell
from singlepass.pipeline.study.plan import Plan, make_plan
from singlepass.pipeline.study.study_file import parse_study

NOISE = [
    0.3,
    {"model": "class", "matrix": [[0.5, 0.5], [0.0, 1.0]]},
    {"model": "pair", "rate": 0.3},
    {"model": "margin", "rate": 0.3},
    {"model": "window", "rate": 0.9, "from": 0.2, "to": 0.9},
    {"model": "uniform", "rate": 0.3, "level": "class"},
    {"model": "features", "rate": 0.5},
]


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    shared_inputs._source.cache.clear()
    yield
    shared_inputs._source.cache.clear()


def plan_of(noise: Any, dataset: dict[str, Any], *algorithms: dict[str, Any], **study: Any) -> Plan:
    table = {"name": "s", "noise": noise, "seeds": 1, "protocol": "holdout", "datasets": [dataset], **study}
    return make_plan(parse_study({**table, "algorithms": algorithms or [{"name": "Perceptron"}]}))


def cell_of(noise: Any, dataset: dict[str, Any], *algorithms: dict[str, Any], **study: Any) -> Cell:
    return next(plan_of(noise, dataset, *algorithms, **study).evaluation_cells({}))


DIGITS = {"name": "digits", "task": "one-vs-rest:3"}


@pytest.fixture
def sparse_file(tmp_path: Any) -> dict[str, Any]:
    rng = np.random.RandomState(0)
    lines = []
    for i in range(400):
        columns = np.unique(rng.randint(1, 900, 12))
        lines.append(f"{i % 2} " + " ".join(f"{j}:{rng.randint(1, 9) + 3 * (i % 2)}" for j in columns))
    path = tmp_path / "sparse.svm"
    path.write_text("\n".join(lines) + "\n")
    return {"path": str(path), "max_examples": 300}


class Watched(Perceptron):
    """A plug-in's Perceptron that records everything it is given."""

    told: list[tuple[Any, Any]] = []  # noqa: RUF012

    def learn(self, X: Any, y: Any, classes: Any = None) -> Any:
        Watched.told.append((X.copy(), np.array(y)))
        return super().learn(X, y, classes=classes)


@pytest.mark.parametrize("tune_by", ["online", "validation"])
@pytest.mark.parametrize("noise", NOISE, ids=str)
def test_a_learner_is_told_what_is_noisy_only(
    noise: Any, tune_by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In evaluation cells and in tuning cells, learners get noisy labels and rows only."""
    monkeypatch.setattr(cell_module.ResolvedLearner, "make", lambda *_: Watched())
    grid = {"name": "PassiveAggressive", "C": [0.1, 1.0]}
    plan = plan_of(noise, DIGITS, grid, tune_by=tune_by)
    tuning = next(plan.tuning_cells())
    [run] = plan.evaluation_cells({(tuning.spec.group, tuning.spec.seed): {"C": 1.0}})
    for cell in (tuning, run):
        Watched.told.clear()
        row = run_cell(cell).row
        assert row["status"] == "ok", row
        given = shared_inputs.inputs_of(cell.spec)
        told = np.concatenate([y for _, y in Watched.told])
        np.testing.assert_array_equal(told, given.noisy)
        # Recompute the inputs from the stream: the learner must get nothing else of it.
        stream = data.open_stream(cell.spec.dataset)
        part, _ = split(cell.spec, stream)
        clean, X = part.codes[: len(told)], stream.X[part.rows[: len(told)]]
        rows = np.concatenate([X for X, _ in Watched.told])
        if cell.spec.noise.relabels:
            np.testing.assert_array_equal(rows, X)
            touched = told != clean
            # Noise that may change labels changes many: a learner that got clean labels would show none.
            assert touched.mean() > 0.02
        else:
            np.testing.assert_array_equal(told, clean)
            touched = (rows != X).any(axis=1)
            assert 0.4 < touched.mean() < 0.6
        assert row["noise_realised"] == touched.mean()
        assert row["noise_by_class"] == [touched[clean == k].mean() for k in (0, 1)]
        assert row["mistakes"] != row["mistakes_clean"] or not cell.spec.noise.relabels
        if given.held_out is not None:
            # A grid is judged by noisy labels of the same draw, further down the stream.
            fold, judged_by = given.held_out
            np.testing.assert_array_equal(fold.codes, part.codes[len(told) :])
            if cell.spec.noise.model != "features":
                assert (judged_by != fold.codes).any()
        # The final test uses clean labels on clean rows.
        if given.test is not None:
            tested = given.test.X[given.test.rows]
            assert {row.tobytes() for row in tested} <= {row.tobytes() for row in stream.X}


@pytest.mark.parametrize("noise", NOISE, ids=str)
@pytest.mark.parametrize(
    "protocol",
    ["crossval", *(pytest.param(each, marks=pytest.mark.slow) for each in ("holdout", "prequential"))],
)
def test_a_compact_copy_changes_no_integer(
    noise: Any, protocol: str, sparse_file: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A compact copy with renumbered features changes no count of a learner."""
    kernel = {"name": "KernelPerceptron", "gamma": 0.01}
    plan = plan_of(noise, sparse_file, {"name": "AROW"}, kernel, protocol=protocol, seeds=[0], folds=3)
    outcomes = []
    for most in (shared_inputs._MOST_BYTES, 0):
        shared_inputs._source.cache.clear()
        with monkeypatch.context() as patched:
            patched.setattr(shared_inputs, "_MOST_BYTES", most)
            rows = [run_cell(cell).row for cell in plan.evaluation_cells({})]
        assert {row["status"] for row in rows} == {"ok"}, rows[0]["error"]
        outcomes.append([{name: row[name] for name in row if name not in PROVENANCE} for row in rows])
    assert outcomes[0] == outcomes[1]
    assert set(rows[0]) <= set(CELLS.names)


def test_noise_among_the_classes_that_a_task_joins() -> None:
    """Uniform noise of 30% on a class of 10%: of the given positives 79% are false without `level`."""
    codes = np.repeat(np.arange(10), 2000).astype(np.int32)
    false = {}
    for level in ("task", "class"):
        noise = Noise(0.3, level)  # type: ignore[arg-type]
        rng = random_state(0, "d", seed=0, purpose="noise", noise=noise)
        if level == "task":
            given = noise.corrupt((codes == 3).astype(np.int32), 2, rng)
        else:
            given = (noise.corrupt(codes, 10, rng) == 3).astype(np.int32)
        false[level] = (codes[given == 1] != 3).mean()
    assert false["task"] == pytest.approx(0.27 / (0.27 + 0.07), abs=0.02)
    assert false["class"] == pytest.approx(0.3, abs=0.03)


@pytest.mark.parametrize("task", ["one-vs-rest:3", "group:round", "multiclass"])
def test_level_class_is_noise_of_the_data_sets_own_labels(task: str) -> None:
    noise = parse_noise({"model": "class", "rates": {"3": 0.5, "8": 1.0}, "level": "class"})
    cell = cell_of(noise, {"name": "digits", "task": task})
    given = shared_inputs.inputs_of(cell.spec)
    stream = data.open_stream(cell.spec.dataset)
    own = data.open_stream(data.expand(name="digits", task="multiclass")[0])
    part, _ = split(cell.spec, stream)
    digits = own.y[part.rows]
    same = ~np.isin(digits, [3, 8])
    np.testing.assert_array_equal(given.noisy[same], part.codes[same])
    if task == "one-vs-rest:3":
        # An 8, always relabelled as another digit, becomes a 3 one time in nine.
        assert (given.noisy[digits == 8] == 1).mean() == pytest.approx(1 / 9, abs=0.11)
        assert (given.noisy[digits == 3] == 0).mean() == pytest.approx(0.5, abs=0.2)
    if task == "multiclass":
        assert (given.noisy[digits == 8] != 8).all()
    row = run_cell(cell).row
    assert row["noise_realised"] == (given.noisy != part.codes).mean()


def test_margin_noise_is_that_of_the_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    cell = cell_of({"model": "margin", "rate": 0.2}, {"name": "breast-cancer"})
    stream = data.open_stream(cell.spec.dataset)
    part, _ = split(cell.spec, stream)
    X = StandardScaler().fit_transform(stream.X[part.rows])
    m = LogisticRegression(C=1.0, tol=1e-10, max_iter=10_000).fit(X, part.codes).decision_function(X)
    rng = random_state(0, "breast-cancer", seed=0, purpose="noise", noise=MarginNoise(0.2))
    u = rng.random_sample(len(m))
    p = margin_chances(m, 0.2)
    sure = np.abs(u - p) > 1e-4
    assert sure.mean() > 0.99
    given = shared_inputs.inputs_of(cell.spec)
    np.testing.assert_array_equal((given.noisy != part.codes)[sure], (u < p)[sure])


def test_margins_are_found_once_a_repetition(monkeypatch: pytest.MonkeyPatch) -> None:
    fitted = []

    def counted(X: Any, codes: Any) -> Any:
        fitted.append(len(codes))
        return margin.reference_margins(X, codes)

    monkeypatch.setattr(shared_inputs, "reference_margins", counted)
    noise = [{"model": "margin", "rate": 0.1}, {"model": "margin", "rate": 0.3}]
    algorithms = [{"name": "Perceptron"}, {"name": "AROW"}]
    for protocol, n in (("holdout", 3), ("prequential", 1)):
        fitted.clear()
        plan = plan_of(noise, {"name": "breast-cancer"}, *algorithms, protocol=protocol, seeds=3)
        rows = [run_cell(cell).row for cell in plan.evaluation_cells({})]
        assert {row["status"] for row in rows} == {"ok"}
        # Each seed of a holdout has its own rows; a whole stream is the same rows in another order.
        assert len(fitted) == n


@pytest.mark.parametrize("n_classes", [2, 3])
def test_reference_margins_do_not_depend_on_who_adds_up(n_classes: int) -> None:
    """Rows in another order, sparse or dense, round differently; margins agree to 9 digits."""
    rng = np.random.RandomState(0)
    X = rng.standard_normal((300, 5))
    X[:, 4] = 7.0
    y = (X[:, :n_classes] + 0.5 * rng.standard_normal((300, n_classes))).argmax(axis=1).astype(np.int32)
    order = rng.permutation(300)
    margins = margin.reference_margins(X, y)
    np.testing.assert_allclose(margin.reference_margins(X[order], y[order]), margins[order], rtol=1e-9)
    sparse = sp.csr_array(np.where(np.abs(X) > 1, X, 0.0))
    found = margin.reference_margins(sparse, y)
    np.testing.assert_allclose(margin.reference_margins(sparse[order], y[order]), found[order], rtol=1e-9)
    # A margin is positive where the reference is right; of two classes it has the sign of the larger code.
    right = np.mean(margins > 0) if n_classes > 2 else np.mean((margins > 0) == (y == 1))
    assert right > 0.75
    assert not margin.reference_margins(X, np.zeros(300, np.int32)).any()


def test_reference_margins_of_many_features() -> None:
    rng = np.random.RandomState(0)
    X = sp.random(150, 1200, 0.02, "csr", random_state=rng)
    y = (np.asarray(X[:, :600].sum(axis=1)).ravel() > 6).astype(np.int32)
    order = rng.permutation(150)
    margins = margin.reference_margins(X, y)
    np.testing.assert_allclose(margin.reference_margins(X[order], y[order]), margins[order], rtol=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_rows_are_changed_where_they_have_values(layout: str, dtype: Any) -> None:
    rng = np.random.RandomState(0)
    values = np.where(rng.random_sample((5000, 6)) < 0.4, 10 * rng.standard_normal((5000, 6)), 0.0)
    values[:, 5] = 2.5
    X = values.astype(dtype) if layout == "dense" else sp.csr_array(values.astype(dtype))
    before = X.copy()
    rows = rng.permutation(5000)[:4000]
    noise = FeatureNoise(0.25, scale=0.5)
    made, changed = with_feature_noise(
        Fold(X, rows, np.zeros(4000, np.int32)), noise, np.random.RandomState(1)
    )
    assert (before != X).sum() == 0
    clean = np.asarray(before[rows].todense() if layout == "sparse" else before[rows], np.float64)
    found = made.X[made.rows]
    found = np.asarray(found.todense() if layout == "sparse" else found, np.float64)
    assert made.X.dtype == dtype
    np.testing.assert_array_equal(found[~changed], clean[~changed])
    assert changed.mean() == pytest.approx(0.25, abs=0.03)
    # Some sparse rows store only the constant feature, to which no noise is added.
    np.testing.assert_array_equal(changed, (found != clean).any(axis=1))
    added = (found - clean)[changed]
    spread = clean.std(axis=0)
    np.testing.assert_allclose(feature_spread(X[rows]), spread, rtol=1e-6, atol=1e-9)
    for j in range(6):
        kept = added[:, j][clean[changed][:, j] != 0] if layout == "sparse" else added[:, j]
        assert kept.std() == pytest.approx(0.5 * spread[j], rel=0.15, abs=1e-6)
        if layout == "sparse":
            # Zeros that are not stored remain zero.
            assert not added[:, j][clean[changed][:, j] == 0].any()


@pytest.mark.parametrize(("as_matrix", "unstored"), [(np.array, True), (sp.csr_array, False)])
def test_rows_without_noise_do_not_count_as_changed(as_matrix: Callable[[Any], Any], unstored: bool) -> None:
    for values, changed in (([2.5, 2.5, 2.5], [False] * 3), ([0.0, 2.0, 1.0], [unstored, True, True])):
        X = as_matrix(np.reshape(values, (3, 1)))
        assert FeatureNoise(1.0).change_features(X, np.random.RandomState(0)).tolist() == changed


def test_rows_that_noise_changed_are_counted_in_what_is_kept() -> None:
    cell = cell_of({"model": "features", "rate": 0.5}, DIGITS)
    given = shared_inputs.inputs_of(cell.spec)
    assert given.n_bytes > given.train.X.nbytes
    other = shared_inputs.inputs_of(replace(cell.spec, noise=Noise()))
    assert other.n_bytes < given.train.X.nbytes


@pytest.mark.parametrize(
    ("noise", "dataset", "line"),
    [
        (
            {"model": "class", "rates": {"benin": 0.1}},
            {"name": "breast-cancer"},
            "data set 'breast-cancer': noise of model 'class' names class 'benin', which the data set does "
            "not have: did you mean 'benign'?",
        ),
        (
            {"model": "class", "rates": {"8": 0.1}},
            DIGITS,
            "noise of model 'class' names class '8', which the data set does not have: known: 3, rest",
        ),
        (
            {"model": "class", "matrix": [[1.0, 0.0], [0.0, 1.0]]},
            {"name": "digits"},
            "data set 'digits': noise of model 'class' has a matrix of 2 rows, but there are 10 classes: 0,",
        ),
        (
            {"model": "pair", "rate": 0.1, "level": "class"},
            {"name": "digits", "task": "pair:3,5"},
            "data set 'digits[3-vs-5]': level = 'class' is noise among all classes, but this task",
        ),
    ],
)
def test_classes_are_checked_when_a_study_is_planned(noise: Any, dataset: Any, line: str) -> None:
    with pytest.raises(InputError) as caught:
        plan_of(noise, dataset)
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_worker_refuses_what_no_plan_has() -> None:
    cell = cell_of(0.1, {"name": "digits", "task": "pair:3,5"})
    row = run_cell(replace(cell, spec=replace(cell.spec, noise=Noise(0.1, "class")))).row
    assert row["status"] == "failed"
    assert "this task leaves some out: set level = 'task'" in row["error"]


def test_feature_noise_leaves_rows_without_values_as_they_are() -> None:
    empty = sp.csr_matrix((5, 3))
    assert not FeatureNoise(1.0).change_features(empty, np.random.RandomState(0)).any()
    assert empty.nnz == 0
