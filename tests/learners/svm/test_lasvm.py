"""LASVM against its authors' code and LIBSVM, and properties of any optimizer of its dual."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from singlepass.learners import LASVM, Perceptron

from ..streams import as_csr, golden_runs, golden_stream, noisy_stream, state

pytestmark = pytest.mark.slow

seeds = st.integers(0, 2**31 - 1)
RUNS = golden_runs("lasvm")
WITHOUT = sorted(name for name in RUNS if name.startswith("lasvm_nobias"))
WITH = sorted(name for name in RUNS if name.startswith("lasvm_bias"))
either = pytest.mark.parametrize("fit_intercept", [False, True])


def learner_of(run, **parameters):
    return LASVM(C=run["hyperparameters"]["C"], gamma=run["kernel"]["gamma"], **parameters)


def solution(model):
    """Return rows, coefficients and gradients computed with scikit-learn's kernel values."""
    X, alpha = model.support_vectors_, model.dual_coef_[0]
    return X, alpha, rbf_kernel(X, gamma=model.gamma) @ alpha


def gap(model, y):
    """Return the violation of optimality by the most violating pair, for y in -1, 1."""
    _, alpha, f = solution(model)
    g = y - f
    up, down = alpha < np.maximum(0, model.C * y), alpha > np.minimum(0, model.C * y)
    if model.fit_intercept:
        return g[up].max() - g[down].min()
    return max(0.0, g[up].max(initial=0)) - min(0.0, g[down].min(initial=0))


def test_there_are_runs_on_every_stream():
    assert len(WITHOUT) == len(WITH) == 3


@pytest.mark.parametrize("convert", [np.asarray, as_csr])
@pytest.mark.parametrize("name", WITHOUT)
def test_without_an_intercept_every_step_is_that_of_the_authors_code(name, convert):
    run = RUNS[name]
    X, y = golden_stream(run["stream"])
    learner, scores, sizes, objectives = learner_of(run, fit_intercept=False), [], [], []
    Z = convert(X)
    for t in range(0, len(y), 10):
        scores.append(learner.learn(Z[t : t + 10], y[t : t + 10], classes=[-1, 1]))
        sizes.append(learner.n_support_)
        objectives.append(learner.dual_objective_)
    scores = np.concatenate(scores)
    assert np.flatnonzero(y * scores <= 0).tolist() == run["mistake_indices_0based"]
    assert sizes[: len(run["n_in_expansion_every_10"])] == run["n_in_expansion_every_10"]
    np.testing.assert_allclose(scores[:50], run["online_score_first50"], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(scores[49::50], run["online_score_every_50_from_49"], rtol=1e-9, atol=1e-9)
    expected = run["dual_objective_every_50_from_49"]
    np.testing.assert_allclose(objectives[4::5][: len(expected)], expected, rtol=1e-9)
    end = run["after_online_pass_double_rows"]
    order = np.argsort(end["sv_indices_0based"])
    assert learner.support_.tolist() == np.array(end["sv_indices_0based"])[order].tolist()
    np.testing.assert_allclose(learner.dual_coef_[0], np.array(end["signed_alpha"])[order], atol=1e-9)
    np.testing.assert_allclose(learner.decision_function(Z[:20]), end["final_decision_first20"], atol=1e-9)
    # That code also evaluates k(x, x) for rows that it does not admit.
    assert learner.n_kernel_evaluations_ + len(y) - learner.n_updates_ == run["n_kernel_evaluations"]


@pytest.mark.parametrize("name", WITH)
def test_with_an_intercept_it_comes_out_as_the_authors_code_does(name):
    run = RUNS[name]
    X, y = golden_stream(run["stream"])
    learner = learner_of(run, finish=True).fit(X, y)
    end = run["after_finish_double_rows"]
    assert learner.dual_objective_ == pytest.approx(end["dual_objective"], rel=0.01)
    assert learner.n_support_ == pytest.approx(end["n_in_expansion"], rel=0.05)
    assert learner.n_mistakes_ == pytest.approx(run["mistakes_final"], rel=0.15)
    assert learner.intercept_[0] == pytest.approx(-end["b_as_returned"], abs=0.25)


@either
@pytest.mark.parametrize("name", WITH)
def test_three_passes_reach_the_optimum_over_all_examples(name, fit_intercept):
    run = RUNS[name]
    X, y = golden_stream(run["stream"])
    learner = learner_of(run, fit_intercept=fit_intercept, finish=True, epochs=3).fit(X, y)
    best = run["batch_libsvm_with_bias" if fit_intercept else "batch_optimum_without_bias"]
    assert learner.dual_objective_ == pytest.approx(best["dual_objective"], rel=1e-5)
    decision = learner.decision_function(X[:20])
    np.testing.assert_allclose(decision, best["final_decision_first20"], atol=0.02)


@settings(max_examples=10)
@given(seed=seeds, C=st.sampled_from([0.1, 1.0, 20.0]), kernel=st.sampled_from(["rbf", "poly", "linear"]))
def test_with_finish_the_objective_is_that_of_libsvm(seed, C, kernel):
    X, y = noisy_stream(seed, n=120, d=4)
    parameters = {"kernel": kernel, "C": C, "gamma": 0.3, "degree": 2, "coef0": 1.0}
    learner = LASVM(finish=True, epochs=4, **parameters).fit(X, y)
    batch = SVC(tol=1e-5, **parameters).fit(X, y)
    alpha = batch.dual_coef_[0]
    f = batch.decision_function(batch.support_vectors_) - batch.intercept_
    assert learner.dual_objective_ == pytest.approx(np.abs(alpha).sum() - alpha @ f / 2, rel=1e-3)
    assert (learner.predict(X) == batch.predict(X)).mean() > 0.97


@either
@given(seed=seeds, C=st.sampled_from([0.2, 1.0, 50.0]))
def test_after_finishing_no_pair_is_violating(fit_intercept, seed, C):
    X, y = noisy_stream(seed, n=80, d=4)
    model = LASVM(C=C, fit_intercept=fit_intercept, finish=True, gamma=0.3).fit(X, y)
    y = 2.0 * y[model.support_] - 1.0
    _, alpha, f = solution(model)
    assert gap(model, y) <= model.tau + 1e-9
    assert 0.0 <= model.gap_ <= model.tau
    assert (alpha * y >= 0).all()
    assert (np.abs(alpha) <= C).all()
    if fit_intercept:
        assert abs(alpha.sum()) < 1e-9 * C
    else:
        assert model.intercept_.tolist() == [0.0]
    assert model.dual_objective_ == pytest.approx(alpha @ y - alpha @ f / 2, rel=1e-9)
    before = state(model)
    assert state(model.optimize()) == before


@either
@given(seed=seeds)
def test_every_example_improves_the_dual_objective(fit_intercept, seed):
    X, y = noisy_stream(seed, n=80, d=4)
    model, objectives = LASVM(fit_intercept=fit_intercept, gamma=0.3), [0.0]
    for t in range(len(y)):
        model.learn(X[t : t + 1], y[t : t + 1], classes=[0, 1])
        objectives.append(model.dual_objective_)
    assert (np.diff(objectives) >= -1e-12).all()
    objectives.append(model.optimize().dual_objective_)
    assert objectives[-1] >= objectives[-2] > 0.0


@pytest.mark.parametrize("convert", [np.asarray, as_csr])
@either
@given(seed=seeds, cache_mb=st.sampled_from([0, 0.001, 0.01]), cut=st.integers(1, 149))
def test_the_cache_is_a_matter_of_time_alone(fit_intercept, convert, seed, cache_mb, cut):
    X, y = noisy_stream(seed)
    usual = LASVM(C=5.0, fit_intercept=fit_intercept, gamma=0.1)
    other = clone(usual).set_params(cache_mb=cache_mb)
    scores = usual.learn(X, y)
    Z = convert(X)
    parts = [other.learn(Z[a:b], y[a:b], classes=[0, 1]) for a, b in itertools.pairwise([0, cut, len(y)])]
    assert np.concatenate(parts).tolist() == scores.tolist()
    assert state(other) == state(usual)
    assert state(other.optimize()) == state(usual.optimize())


def test_with_an_intercept_both_classes_are_needed_and_the_first_five_stay():
    X, y = noisy_stream(3, n=60)
    order = np.argsort(y, kind="stable")
    X, y = X[order], y[order]
    first = int((y == 0).sum())
    model = LASVM(gamma=0.1)
    scores = model.learn(X[:first], y[:first], classes=[0, 1])
    assert not scores.any()
    assert model.support_.tolist() == [0, 1, 2, 3, 4]
    assert not model.dual_coef_.any()
    model.learn(X[first : first + 5], y[first : first + 5])
    assert model.support_.tolist() == [0, 1, 2, 3, 4, *range(first, first + 5)]
    assert model.dual_objective_ > 0.0
    assert model.learn(X[first + 5 :], y[first + 5 :]).all()


@either
@pytest.mark.parametrize("epochs", [1, 2])
def test_rows_after_fitting_are_new(fit_intercept, epochs):
    """They get new numbers, so that none is taken for a returning support vector."""
    X, y = noisy_stream(9)
    model = LASVM(fit_intercept=fit_intercept, gamma=0.1, epochs=epochs)
    by_hand = clone(model)
    model.fit(X[:100], y[:100])
    by_hand.learn(X[:100], y[:100])
    for _ in range(epochs - 1):
        by_hand.end_of_pass(last=False)
        by_hand.learn(X[:100], y[:100])
    for start in (100, 125):
        rows = slice(start, start + 25)
        assert model.learn(X[rows], y[rows]).tolist() == by_hand.learn(X[rows], y[rows]).tolist()
    assert state(model) == state(by_hand)
    assert model.support_.max() >= 100
    assert (model.support_vectors_ == X[model.support_]).all()


@pytest.mark.parametrize("y", [[0] * 8, [0, 1] * 4])
def test_the_gap_is_0_where_no_pair_is_violating(y):
    """One class alone has no pairs; with a tiny C and two equal classes every coefficient is at its bound."""
    X = np.arange(8.0).reshape(-1, 1)
    model = LASVM(C=1e-3)
    model.learn(X, y, classes=[0, 1])
    assert model.optimize().gap_ == 0.0


def test_the_gap_of_an_earlier_model_is_dropped():
    X, y = noisy_stream(5, n=20)
    model = LASVM(finish=True).fit(X, y)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(X * np.nan, y)
    assert model.gap_ <= model.tau
    model.set_params(finish=False).fit(X, y)
    assert not hasattr(model, "gap_")


@either
def test_a_support_vector_that_comes_again_is_not_processed_again(fit_intercept):
    X, y = noisy_stream(4)
    model = LASVM(C=0.5, fit_intercept=fit_intercept, gamma=0.1, epochs=4, finish=True).fit(X, y)
    assert len(set(model.support_.tolist())) == model.n_support_
    assert (model.support_vectors_ == X[model.support_]).all()
    assert model.n_examples_ == 4 * len(y)


def test_more_of_a_stream_after_finishing():
    X, y = noisy_stream(5)
    model = LASVM(gamma=0.1, finish=True)
    assert model.learn(X[:100], y[:100]).shape == (100,)
    size = model.n_support_
    assert model.optimize().n_support_ <= size
    objective = model.dual_objective_
    model.learn(X[100:], y[100:])
    assert model.dual_objective_ > objective
    assert model.support_.max() > 100


def test_a_new_learner_has_nothing_to_optimize():
    with pytest.raises(NotFittedError):
        LASVM().optimize()


def test_model_bytes():
    X, y = noisy_stream(6)
    model = LASVM(gamma=0.1).fit(X, y)
    # Rows, coefficients, gradients and labels.
    assert model.model_bytes_ == model.n_support_ * 8 * (12 + 3)


@pytest.mark.parametrize(
    ("parameter", "value", "right"),
    [
        ("C", 0, "a finite number > 0"),
        ("tau", -1.0, "a finite number > 0"),
        ("fit_intercept", "yes", "True or False"),
        ("finish", 1, "True or False"),
        ("cache_mb", -1, "a finite number >= 0"),
    ],
)
def test_parameters(parameter, value, right):
    X, y = noisy_stream(7, n=10)
    with pytest.raises(ValueError, match=f"^LASVM: {parameter} must be {right}, got {value!r}$"):
        LASVM(**{parameter: value}).fit(X, y)


def test_learners_are_told_of_the_end_of_each_pass():
    class Listening(Perceptron):
        def end_of_pass(self, last):
            self.told = [*getattr(self, "told", []), (self.n_examples_, last)]

    X, y = noisy_stream(8, n=10)
    assert Listening(epochs=3).fit(X, y).told == [(10, False), (20, False), (30, True)]
    assert Listening().fit(X, y).told == [(10, True)]
    assert not hasattr(Listening().partial_fit(X, y), "told")
