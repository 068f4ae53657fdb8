"""The exact SVM: its conditions after every row, the optimum of a QP solver, and unlearning."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel
from sklearn.svm import SVC

from singlepass.learners import IncrementalSVM
from singlepass.learners.svm.solvers import incremental_store

from ..streams import as_csr, golden_runs, golden_stream, noisy_stream, state

pytestmark = pytest.mark.slow

RUNS = golden_runs("incremental_svm")

seeds = st.integers(0, 2**31 - 1)
learners = st.builds(
    IncrementalSVM,
    C=st.sampled_from([0.1, 1.0, 10.0, 100.0]),
    fit_intercept=st.booleans(),
    kernel=st.sampled_from(["rbf", "linear"]),
    gamma=st.sampled_from([0.1, 1.0, 5.0]),
)


def alpha_of(model, rows):
    """Return the signed α of the rows with the given numbers."""
    alpha = dict(zip(model.support_.tolist(), model.dual_coef_[0].tolist(), strict=True))
    assert set(alpha) <= set(rows)
    return np.array([alpha.get(row, 0.0) for row in rows])


def gram(model, X):
    return linear_kernel(X) if model.kernel == "linear" else rbf_kernel(X, gamma=model.gamma)


def dual(model, X, rows):
    alpha = alpha_of(model, rows)
    return np.abs(alpha).sum() - alpha @ gram(model, X) @ alpha / 2


def violation(model, X, sign, rows):
    """Return the largest violation of the optimality conditions: the margins, the box, and Σ y α = 0."""
    signed = alpha_of(model, rows)
    alpha, C = sign * signed, model.C
    g = sign * (gram(model, X) @ signed + model.intercept_[0]) - 1.0
    return max(
        (-alpha).max(),
        (alpha - C).max(),
        (-g[alpha < C]).max(initial=0.0),
        g[alpha > 0].max(initial=0.0),
        abs(signed.sum()) if model.fit_intercept else abs(model.intercept_[0]),
    )


def degenerate_stream(kind, seed, n=40):
    """Return rows with ties or linear dependence, by kind, and labels with some rule."""
    random = np.random.RandomState(seed)
    d = random.randint(1, 5)
    few = random.standard_normal((n // 4, d))
    if kind == "scattered":
        X = random.standard_normal((n, d))
    elif kind == "grid":
        X = random.randint(-1, 3, size=(n, d)).astype(float)
    else:
        X = few[random.randint(0, n // 4, n)]
        if kind == "nearly twice":
            X += 1e-7 * random.standard_normal((n, d)) * (random.uniform(size=(n, 1)) < 0.5)
    y = (X.sum(axis=1) + random.standard_normal(n) > 0).astype(int)
    return X, np.sort(y) if random.uniform() < 0.3 else y


@given(learner=learners, seed=seeds, kind=st.sampled_from(["scattered", "grid", "twice", "nearly twice"]))
def test_the_conditions_hold_after_every_row_learnt_or_unlearnt(learner, seed, kind):
    X, y = degenerate_stream(kind, seed)
    random, rows = np.random.RandomState(seed), []
    for t in range(len(y)):
        learner.learn(X[t : t + 1], y[t : t + 1], classes=[0, 1])
        rows.append(t)
        assert violation(learner, X[rows], 2 * y[rows] - 1, rows) < 1e-8
        if random.uniform() < 0.25:
            learner.unlearn(rows.pop(random.randint(len(rows))))
            if rows:
                assert violation(learner, X[rows], 2 * y[rows] - 1, rows) < 1e-8


@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
@pytest.mark.parametrize("seed", range(4))
def test_the_conditions_hold_if_one_class_comes_first(seed, C):
    """While there is one class, all rows are exactly on their margin, many more than are independent."""
    random = np.random.RandomState(seed)
    X, y = random.standard_normal((150, 4)), (np.arange(150) >= 100).astype(int)
    X[:100:10] = 0.0
    X[100:, 0] += 0.5
    learner = IncrementalSVM(C=C, kernel="linear").fit(X, y)
    assert violation(learner, X, 2 * y - 1, range(150)) < 1e-8
    for row in range(0, 150, 3):
        learner.unlearn(row)
    kept = [row for row in range(150) if row % 3]
    assert violation(learner, X[kept], 2 * y[kept] - 1, kept) < 1e-8


@given(learner=learners, seed=seeds, kind=st.sampled_from(["scattered", "grid", "twice"]))
def test_there_is_no_duality_gap(learner, seed, kind):
    """The primal objective equals the dual one, so no better solution exists."""
    X, y = degenerate_stream(kind, seed)
    learner.learn(X, y, classes=[0, 1])
    signed, sign = alpha_of(learner, range(len(y))), 2 * y - 1
    scores = gram(learner, X) @ signed + learner.intercept_[0]
    loss = np.maximum(0.0, 1.0 - sign * scores).sum()
    primal = signed @ gram(learner, X) @ signed / 2 + learner.C * loss
    assert dual(learner, X, range(len(y))) == pytest.approx(primal, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("seed", range(3))
def test_the_solution_is_that_of_libsvm(seed, C):
    X, y = noisy_stream(seed, n=80, d=3)
    model = IncrementalSVM(C=C, gamma=0.5).fit(X, y)
    solver = SVC(C=C, gamma=0.5, tol=1e-9).fit(X, y)
    alpha = solver.dual_coef_[0]
    expected = np.abs(alpha).sum() - alpha @ rbf_kernel(X[solver.support_], gamma=0.5) @ alpha / 2
    assert dual(model, X, range(len(y))) == pytest.approx(expected, rel=1e-6)
    # LIBSVM's kernel values are float32.
    np.testing.assert_allclose(model.decision_function(X), solver.decision_function(X), rtol=0, atol=1e-4)


@given(seed=seeds, C=st.sampled_from([0.2, 1.0, 20.0]), bias=st.booleans())
def test_a_row_learnt_and_unlearnt_leaves_nothing(seed, C, bias):
    X, y = degenerate_stream("scattered", seed)
    model = IncrementalSVM(C=C, fit_intercept=bias, gamma=0.7)
    model.learn(X[:30], y[:30], classes=[0, 1])
    rows = range(30)
    before, scores = alpha_of(model, rows), model.decision_function(X)
    unique = model.n_margin_ > 0  # without rows on the margin, any bias in an interval is optimal
    model.learn(X[30:], y[30:])
    for t in np.random.RandomState(seed).permutation(np.arange(30, 40)).tolist():
        model.unlearn(t)
    np.testing.assert_allclose(alpha_of(model, rows), before, rtol=0, atol=1e-8 * max(1.0, C))
    if unique:
        np.testing.assert_allclose(model.decision_function(X), scores, rtol=0, atol=1e-8)


@pytest.mark.parametrize("bias", [True, False])
def test_all_rows_can_be_unlearnt(bias):
    X, y = noisy_stream(1, n=60, d=3)
    model = IncrementalSVM(C=2.0, fit_intercept=bias, gamma=0.3).fit(X, y)
    for t in range(60):
        model.unlearn(t)
    assert (model.n_support_, model.n_margin_, model.n_examples_) == (0, 0, 60)
    assert model.decision_function(X).tolist() == [0.0] * 60
    scores = model.learn(X, y)
    again = IncrementalSVM(C=2.0, fit_intercept=bias, gamma=0.3)
    np.testing.assert_allclose(scores, again.learn(X, y), rtol=0, atol=1e-8)
    assert (model.support_ - 60).tolist() == again.support_.tolist()
    np.testing.assert_allclose(model.dual_coef_, again.dual_coef_, rtol=0, atol=1e-8)


@pytest.mark.parametrize("number", [-1, 20, 3, 1.0, True, "1", None])
def test_rows_that_cannot_be_unlearnt(number):
    X, y = noisy_stream(2, n=20)
    model = IncrementalSVM().fit(X, y).unlearn(3)
    before = state(model)
    with pytest.raises(ValueError, match="unlearn takes the number of a row that was learned"):
        model.unlearn(number)
    assert state(model) == before


def test_a_window_takes_no_more_memory():
    X, y = noisy_stream(3, n=300, d=3)
    model = IncrementalSVM(gamma=0.3)
    for t in range(300):
        model.learn(X[t : t + 1], y[t : t + 1], classes=[0, 1])
        if t >= 20:
            model.unlearn(t - 20)
    assert len(model._support.machine.alpha) <= 60
    rows = range(280, 300)
    assert violation(model, X[280:], 2 * y[280:] - 1, rows) < 1e-8


@given(seed=seeds, sparse=st.booleans())
def test_forgotten_kernel_values_are_computed_again(seed, sparse):
    X, y = noisy_stream(seed, n=150, d=2)
    usual, forgetful = IncrementalSVM(gamma=0.1), IncrementalSVM(gamma=0.1)
    Z = as_csr(X) if sparse else X
    scores = usual.learn(X, y)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(incremental_store, "CACHE_BYTES", 0)
        assert forgetful.learn(Z, y).tolist() == scores.tolist()
        assert state(forgetful.unlearn(5)) == state(usual.unlearn(5))
    assert len(forgetful._support._owner) < len(usual._support._owner)


@pytest.mark.parametrize("convert", [np.asarray, as_csr])
@pytest.mark.parametrize("name", sorted(RUNS))
def test_golden_run(name, convert):
    run = RUNS[name]
    X, y = (part[: run["n"]] for part in golden_stream(run["stream"]))
    model = IncrementalSVM(run["hyperparameters"]["C"], fit_intercept=False, gamma=run["kernel"]["gamma"])
    scores, sizes, updates = [], [], []
    for t in range(len(y)):
        scores += model.learn(convert(X[t : t + 1]), y[t : t + 1], classes=[-1, 1]).tolist()
        sizes.append(model.n_support_)
        updates.append(model.n_updates_)
    assert np.flatnonzero(y * scores <= 0).tolist() == run["mistake_indices_0based"]
    assert np.flatnonzero(np.diff(updates, prepend=0)).tolist() == run["update_indices_0based"]
    assert sizes[9::10] == run["n_sv_every_10"]
    assert model.support_.tolist() == run["sv_indices_0based"]
    close = {"rtol": 1e-9, "atol": 1e-9}
    np.testing.assert_allclose(model.dual_coef_[0], run["sv_coefficients"], **close)
    np.testing.assert_allclose(scores[:50], run["online_score_first50"], **close)
    np.testing.assert_allclose(scores[49::50], run["online_score_every_50_from_49"], **close)
    np.testing.assert_allclose(model.decision_function(X[:20]), run["final_decision_first20"], **close)


def test_rows_of_one_class_move_the_bias_alone():
    X = noisy_stream(4, n=30)[0]
    model = IncrementalSVM(gamma=0.1)
    model.learn(X, np.ones(30, int), classes=[0, 1])
    assert (model.n_support_, model.n_mistakes_, model.n_updates_) == (0, 1, 1)
    assert model.decision_function(X).tolist() == [1.0] * 30
