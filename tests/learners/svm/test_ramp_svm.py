"""The ramp-loss SVMs: golden runs, optimality after every row, removal, and the batch CCCP."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from singlepass.learners import (
    ActiveRampSVM,
    IncrementalSVM,
    OfflineRampSVM,
    OnlineRampSVM,
    RetrainedRampSVM,
    registry,
)
from singlepass.learners.svm.solvers import ramp

from ..streams import as_csr, golden_runs, golden_stream, noisy_stream, state

pytestmark = pytest.mark.slow

RUNS = golden_runs("ramp_svm")
seeds = st.integers(0, 2**31 - 1)
GAMMA = 0.1


@parametrize_with_checks([OfflineRampSVM(gamma=GAMMA)])
def test_batch_estimator(estimator, check):
    check(estimator)


def of_run(name):
    """Return the learner, rows and labels of a golden run."""
    run = RUNS[name]
    parameters = run["hyperparameters"]
    learner = ActiveRampSVM() if parameters["active"] else OnlineRampSVM(max_non_support=parameters["m_keep"])
    learner.set_params(C=parameters["C"], tol=parameters["kkt_tol"], min_gain=parameters["gain_tol"])
    learner.set_params(kernel=run["kernel"]["type"], gamma=run["kernel"]["gamma"])
    X, y = golden_stream(run["stream"])
    return learner, X[: run["n"]], y[: run["n"]]


def assert_close(values, expected):
    expected = np.array(expected)
    np.testing.assert_allclose(values, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("name", sorted(RUNS))
def test_golden_run(name):
    run = RUNS[name]
    learner, X, y = of_run(name)
    learner.begin(np.array([-1, 1]), X.shape[1])
    scores, sizes, objectives, updates = [], [], {}, []
    for stop in range(10, len(y) + 1, 10):
        for t in range(stop - 10, stop):
            before = learner.n_updates_
            scores.append(learner.learn(X[t : t + 1], y[t : t + 1])[0])
            updates += [t] * (learner.n_updates_ - before)
        sizes.append(learner.n_support_)
        objectives[stop] = learner.objective_
    scores = np.array(scores)
    assert np.flatnonzero(y * scores <= 0).tolist() == run["mistake_indices_0based"]
    assert updates == run["update_indices_0based"]
    assert sizes == run["n_sv_every_10"]
    order = np.argsort(run["sv_indices_0based"])
    assert learner.support_.tolist() == np.array(run["sv_indices_0based"])[order].tolist()
    assert_close(learner.dual_coef_[0], np.array(run["sv_coefficients"])[order])
    assert_close(scores[:50], run["online_score_first50"])
    assert_close(scores[49::50], run["online_score_every_50_from_49"])
    assert_close(learner.decision_function(X[:20]), run["final_decision_first20"])
    assert (learner.n_stored_, learner.n_active_) == (run["stored_examples_final"], run["n_in_V_final"])
    assert getattr(learner, "n_queried_", len(y)) == run["label_queries"]
    for point in run.get("objective_7", []):
        assert objectives[point["after"]] == pytest.approx(point["objective"], rel=1e-9)


CCCP = [
    (name, point["after"], point["cccp_from_hinge_svm"])
    for name, run in RUNS.items()
    for point in run.get("objective_7", [])
    if "cccp_from_hinge_svm" in point
]


@pytest.mark.parametrize(("name", "n", "objective"), CCCP)
def test_golden_objective_of_the_cccp_from_a_hinge_svm(name, n, objective):
    learner, X, y = of_run(name)
    model = OfflineRampSVM(C=learner.C, initial=1.0, tol=1e-8, gamma=learner.gamma).fit(X[:n], y[:n])
    assert model.objective_ == pytest.approx(objective, rel=1e-7)


def examples_of(model, X, y):
    """Return number, y α, label, stored g, V and g computed from scratch of every example; k(x, x) = 1."""
    store, support = model._store, model._support
    sign = np.where(y[support.born] == 1, 1.0, -1.0)
    assert store.labels.tolist() == sign.tolist()
    rows = X[support.born]
    assert np.array_equal(support.matrix(np.arange(support.size)), rows)
    g = 1.0 - sign * (rbf_kernel(rows, gamma=model.gamma) @ support.alpha)
    return support.born, sign * support.alpha, store.gradients, store.active, g


def assert_optimal(alpha, g, active, C, tol, min_gain):
    """Check α = 0 outside V, and KKT conditions in V within `tol` unless no step gains over `min_gain`."""
    assert ((alpha >= 0.0) & (alpha <= C)).all()
    assert (alpha[~active] == 0.0).all()
    violated = np.where(alpha == 0.0, g > tol, np.where(alpha == C, g < -tol, np.abs(g) > tol))
    step = np.clip(alpha + g, 0.0, C) - alpha
    gain = step * g - 0.5 * step**2
    assert (gain[active & violated] <= min_gain).all()


@given(
    seed=seeds,
    C=st.sampled_from([0.3, 1.0, 10.0]),
    min_gain=st.sampled_from([0.0, 1e-5]),
    most=st.sampled_from([None, 0, 5, 30]),
    kind=st.sampled_from(["online", "active"]),
)
def test_after_every_row(seed, C, min_gain, most, kind):
    """Check the stored g, V, the KKT conditions, removal, and that examples that left V are unlearnt."""
    X, y = noisy_stream(seed, n=60, d=3)
    if kind == "active":
        model, most = ActiveRampSVM(C=C, min_gain=min_gain, gamma=GAMMA), None
    else:
        model = OnlineRampSVM(C=C, max_non_support=most, min_gain=min_gain, gamma=GAMMA)
    queried = 0
    for t in range(len(y)):
        updates = model.n_updates_ if t else 0
        score = model.learn(X[t : t + 1], y[t : t + 1], classes=[0, 1])[0]
        queried += abs(score) <= 1.0
        born, alpha, kept, active, g = examples_of(model, X, y)
        np.testing.assert_allclose(kept, g, atol=1e-8)
        assert_optimal(alpha, kept, active, C, 1e-3, min_gain)
        if model.n_updates_ > updates:
            # V was just formed, so it satisfies its definition.
            assert active.tolist() == (kept <= 2.0).tolist()
        assert (kept[active] <= 2.0).all()
        assert len(set(born.tolist())) == model.n_stored_
        if most is not None:
            assert (alpha == 0.0).sum() <= most
        elif kind == "online":
            assert model.n_stored_ == t + 1
        assert model.n_support_ == np.count_nonzero(alpha)
    if kind == "active":
        assert model.n_queried_ == model.n_stored_ == model.n_updates_ == queried


def test_an_unlearnt_example_has_left_no_trace():
    """Support vectors with wrong labels leave V; the model is then the hinge SVM of V alone."""
    left = 0
    for seed in range(5):
        X, y = noisy_stream(seed, n=120, d=2, noise=0.3)
        model, before = OnlineRampSVM(C=10.0, tol=1e-8, min_gain=0.0, gamma=0.5), set()
        for t in range(len(y)):
            model.learn(X[t : t + 1], y[t : t + 1], classes=[0, 1])
            born, alpha, kept, active, g = examples_of(model, X, y)
            assert not alpha[~active].any()
            np.testing.assert_allclose(kept, g, atol=1e-8)
            left += len(before & set(born[~active].tolist()))
            before = set(model.support_.tolist())
        V = born[active]
        hinge = OfflineRampSVM(C=10.0, initial=1.0, tol=1e-8, gamma=0.5).fit(X[V], y[V])
        assert len(hinge.objectives_) == 1
        np.testing.assert_allclose(hinge.decision_function(X), model.decision_function(X), atol=1e-5)
    assert left > 5


def test_removal_forgets_the_furthest_and_of_equal_ones_the_oldest():
    """Copies of a row are equally far; the first is the support vector, and the last copy stays."""
    model = OnlineRampSVM(C=10.0, max_non_support=2)
    kept = []
    for _ in range(5):
        model.learn([[1.0]], [0], classes=[0, 1])
        kept.append(sorted(model._support.born.tolist()))
    assert kept == [[0], [0, 1], [0, 1, 2], [0, 2, 3], [0, 3, 4]]
    assert model.support_.tolist() == [0]


@given(seed=seeds, most=st.integers(0, 20))
def test_removal_keeps_those_nearest_to_the_boundary(seed, most):
    X, y = noisy_stream(seed, n=80, d=3)
    model = OnlineRampSVM(max_non_support=most, gamma=GAMMA)
    for t in range(len(y)):
        remembered = set(model._support.born.tolist()) | {t} if t else {t}
        model.learn(X[t : t + 1], y[t : t + 1], classes=[0, 1])
        born, alpha, g, _, _ = examples_of(model, X, y)
        forgotten = sorted(remembered - set(born.tolist()))
        distance = np.abs(model.decision_function(X[forgotten])) if forgotten else np.zeros(0)
        if (alpha == 0.0).any() and forgotten:
            assert distance.min() >= np.abs(1 - g[alpha == 0.0]).max() - 1e-9
        assert (alpha == 0.0).sum() <= most


@pytest.mark.parametrize("parameters", [{}, {"max_non_support": 20}])
def test_the_row_cache_changes_nothing(parameters):
    X, y = noisy_stream(1, n=200, d=4)
    models = [OnlineRampSVM(gamma=GAMMA, cache_mb=mb, **parameters).fit(X, y) for mb in (0, 0.01, 200)]
    assert state(models[0]) == state(models[1]) == state(models[2])


def test_without_removal_a_second_pass_learns_nothing_new():
    X, y = noisy_stream(2)
    once, twice = (OnlineRampSVM(gamma=GAMMA, epochs=epochs).fit(X, y) for epochs in (1, 2))
    assert twice.support_.tolist() == once.support_.tolist()
    assert (twice.n_stored_, twice.n_examples_) == (len(y), 2 * len(y))
    assert OnlineRampSVM(max_non_support=5, gamma=GAMMA, epochs=2).fit(X, y).n_stored_ <= len(y)


@pytest.mark.parametrize("learner", [OnlineRampSVM(gamma=GAMMA), IncrementalSVM(gamma=GAMMA)])
def test_a_widened_model_scores_rows_of_more_features(learner):
    X, y = noisy_stream(2, n=50, d=3)
    expected = learner.fit(X, y).decision_function(X)
    learner.widen(6)
    wide = np.hstack([X, np.zeros((50, 3))])
    assert learner.decision_function(wide).tolist() == expected.tolist()


def test_rows_after_fitting_are_new():
    X, y = noisy_stream(2)
    model, expected = (OnlineRampSVM(gamma=GAMMA) for _ in range(2))
    model.fit(X[:100], y[:100]).partial_fit(X[100:], y[100:])
    assert state(model) == state(expected.partial_fit(X, y))
    assert model.n_stored_ == len(y)


@given(
    seed=seeds, n=st.integers(1, 40), C=st.sampled_from([1.0, 100.0]), min_gain=st.sampled_from([0.0, 0.1])
)
def test_the_next_step_is_the_first_of_the_largest_gain(seed, n, C, min_gain):
    """Few different values make ties; examples outside V that are not unlearnt come first."""
    random = np.random.RandomState(seed)
    y = random.choice([-1.0, 1.0], n + 3)
    alpha, g = random.choice([0.0, 0.5, C], n + 3), random.choice([-1.5, -1e-4, 0.0, 0.25, 1.0], n + 3)
    own = random.choice([1.0, 2.0], n + 3)
    active = random.uniform(size=n + 3) < 0.9
    rules = ramp.Rules(C, 1e-3, min_gain)
    i, new = ramp.next_step(y * alpha, y, g, own, active, np.empty(n + 3), n, rules)
    best = np.clip(alpha + g / own, 0.0, C)
    step = best - alpha
    violates = ((alpha < C) & (g > 1e-3)) | ((alpha > 0.0) & (g < -1e-3))
    gain = np.where(violates, step * g - 0.5 * step**2 * own, 0.0)
    gain = np.where(active, gain, np.where(alpha > 0.0, np.inf, 0.0))[:n]
    if gain.max() <= 0.0 or gain.max() < min_gain:
        assert (i, new) == (-1, 0.0)
    else:
        assert (i, new) == (gain.argmax(), best[gain.argmax()] if active[gain.argmax()] else 0.0)


def test_far_rows_are_stored_but_never_support_vectors():
    """Labels disagree with neighbors: the hinge loss makes support vectors, the ramp loss drops them."""
    random = np.random.RandomState(3)
    X = np.concatenate([random.normal(-2, 0.5, (100, 1)), random.normal(2, 0.5, (100, 1))])
    y = np.repeat([0, 1], 100)
    order = random.permutation(200)
    X, y = X[order], y[order]
    wrong = np.arange(50, 200, 10)
    y[wrong] = 1 - y[wrong]
    model = OnlineRampSVM(C=1.0, gamma=0.5).fit(X, y)
    hinge = SVC(C=1.0, gamma=0.5).fit(X, y)
    assert not set(model.support_) & set(wrong)
    assert set(hinge.support_) >= set(wrong)


@given(seed=seeds)
def test_active_learning_is_the_online_learner_on_the_rows_it_asked_for(seed):
    X, y = noisy_stream(seed)
    model = ActiveRampSVM(gamma=GAMMA)
    asked = np.abs(model.learn(X, y)) <= 1.0
    plain = OnlineRampSVM(gamma=GAMMA)
    plain.learn(X[asked], y[asked], classes=[0, 1])
    assert model.dual_coef_.tolist() == plain.dual_coef_.tolist()
    assert model.support_.tolist() == np.flatnonzero(asked)[plain.support_].tolist()
    assert model.n_queried_ == asked.sum() < len(y)


@given(seed=seeds, initial=st.sampled_from([0.1, 0.5, 1.0]), C=st.sampled_from([0.3, 10.0]))
def test_the_objective_of_the_cccp_falls(seed, initial, C):
    X, y = noisy_stream(seed, n=80, d=3, noise=0.3)
    model = OfflineRampSVM(C=C, initial=initial, tol=1e-9, gamma=0.3).fit(X, y)
    assert (np.diff(model.objectives_) <= 1e-6 * model.objectives_[0]).all()
    sign = np.where(y == 1, 1.0, -1.0)
    alpha = np.zeros(len(y))
    alpha[model.support_] = model.dual_coef_[0]
    f = rbf_kernel(X, gamma=0.3) @ alpha
    np.testing.assert_allclose(model.decision_function(X), f, atol=1e-9)
    objective = 0.5 * alpha @ f + C * np.clip(1 - sign * f, 0, 2).sum()
    assert model.objective_ == pytest.approx(objective)
    assert_optimal(sign * alpha, 1 - sign * f, sign * f >= -1.0, C, 1e-6, 1e-9)


@pytest.mark.parametrize("initial", [0.2, 1.0])
def test_retraining_is_the_batch_estimator_after_each_row(initial):
    X, y = noisy_stream(5, n=60, d=3)
    model = RetrainedRampSVM(initial=initial, gamma=GAMMA)
    model.learn(X[:10], y[:10])
    for t in range(10, len(y)):
        expected = model.n_kernel_evaluations_ + model.n_support_
        model.learn(X[t : t + 1], y[t : t + 1])
        batch = OfflineRampSVM(initial=initial, min_gain=1e-5, gamma=GAMMA).fit(X[: t + 1], y[: t + 1])
        assert model.support_.tolist() == batch.support_.tolist()
        np.testing.assert_allclose(model.dual_coef_, batch.dual_coef_, atol=1e-9)
        assert model.n_kernel_evaluations_ == expected + batch.n_kernel_evaluations_
    assert model.n_updates_ == len(y)


def test_kernel_evaluations_of_the_online_learner():
    """Count one per support vector to predict, one for the row itself, and whole rows of values."""
    X, y = noisy_stream(6, n=80)
    model = OnlineRampSVM(gamma=GAMMA)
    for t in range(len(y)):
        before = (model.n_kernel_evaluations_, model.n_support_, model.n_updates_) if t else (0, 0, 0)
        model.learn(X[t : t + 1], y[t : t + 1], classes=[0, 1])
        rows, rest = divmod(model.n_kernel_evaluations_ - before[0] - before[1] - 1, t + 1)
        assert rest == 0
        assert (rows > 0) == (model.n_updates_ > before[2])


@pytest.mark.parametrize("kernel", ["linear", "poly"])
def test_values_of_any_size_end(kernel):
    """The number of steps is bounded if rounding exceeds any gain."""
    random = np.random.RandomState(8)
    X = random.standard_normal((20, 3)) * 10.0 ** random.uniform(-170, 170, (20, 1))
    model = OnlineRampSVM(kernel=kernel).fit(X, random.randint(2, size=20))
    assert np.isfinite(model.dual_coef_).all()


def test_the_batch_estimator_is_no_online_learner():
    assert not hasattr(OfflineRampSVM, "learn")
    assert registry.is_batch(registry.available()["OfflineRampSVM"])


@pytest.mark.parametrize("convert", [np.asarray, as_csr])
def test_the_batch_estimator_takes_any_rows(convert):
    X, y = noisy_stream(9, density=0.6)
    names = np.array(["no", "yes"])[y]
    model = OfflineRampSVM(gamma=GAMMA).fit(convert(X), names)
    plain = OfflineRampSVM(gamma=GAMMA).fit(X, y)
    assert model.decision_function(convert(X)).tolist() == plain.decision_function(X).tolist()
    assert model.score(X, names) > 0.8
    assert model.n_support_ == plain.n_support_ == model.support_vectors_.shape[0]


COUNT = "an integer >= 0 or None"
SHARE = "a number between 0.0 and 1.0, 0.0 excluded"


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (OnlineRampSVM(C=0), "C must be a finite number > 0, got 0"),
        (OnlineRampSVM(max_non_support=-1), f"max_non_support must be {COUNT}, got -1"),
        (OnlineRampSVM(max_non_support=1.0), f"max_non_support must be {COUNT}, got 1.0"),
        (OnlineRampSVM(max_non_support=True), f"max_non_support must be {COUNT}, got True"),
        (ActiveRampSVM(tol=-1.0), "tol must be a finite number >= 0, got -1.0"),
        (ActiveRampSVM(min_gain="no"), "min_gain must be a finite number >= 0, got 'no'"),
        (RetrainedRampSVM(initial=0.0), f"initial must be {SHARE}, got 0.0"),
        (OfflineRampSVM(initial=2), f"initial must be {SHARE}, got 2"),
        (OfflineRampSVM(kernel="rbx"), "kernel must be one of 'rbf', 'poly', 'linear', got 'rbx'"),
        (OfflineRampSVM(cache_mb=-1), "cache_mb must be a finite number >= 0, got -1"),
    ],
    ids=repr,
)
def test_bad_parameters(model, message):
    with pytest.raises(ValueError, match=f"^{type(model).__name__}: {message}$"):
        model.fit([[1.0], [2.0]], [0, 1])


def test_the_batch_estimator_needs_two_classes():
    with pytest.raises(
        ValueError, match=r"OfflineRampSVM needs two classes, but the labels contain 1 class$"
    ):
        OfflineRampSVM().fit([[1.0], [2.0]], [1, 1])
    with pytest.raises(ValueError, match=r"Only binary classification is supported\..* contain 3 classes$"):
        OfflineRampSVM().fit([[1.0], [2.0], [3.0]], [0, 1, 2])


def test_the_first_rows_of_a_share_in_float32_are_those_of_the_same_float():
    X, y = noisy_stream(3, n=10)
    share = np.float32(0.1)  # slightly more than 0.1, so two of ten rows; in float32 the product is 1
    model, same = (OfflineRampSVM(initial=each).fit(X, y) for each in (share, float(share)))
    assert model.objectives_.tolist() == same.objectives_.tolist()
