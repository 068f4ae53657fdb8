"""Properties of every learner on any stream."""

import itertools
import math

import numpy as np
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.linear_model import SGDClassifier

from singlepass.learners import (
    AROW,
    KT,
    AdaGradRDA,
    ConfidenceWeighted,
    PassiveAggressive,
    Perceptron,
    SecondOrderPerceptron,
    VowpalWabbitCoin,
)

from .cases import CASES
from .streams import (
    FEATURE_LEARNERS,
    KERNEL_LEARNERS,
    LEARNERS,
    any_learner,
    as_csr,
    every_learner,
    is_representative,
    noisy_stream,
    one_of_each_loop,
    representatives_of,
    state,
    tiered,
    wild_stream,
)

seeds = st.integers(0, 2**31 - 1)


@any_learner
@settings(max_examples=10)
@given(seed=seeds, cuts=st.lists(st.integers(1, 149), max_size=6), sparse=st.booleans())
def test_cutting_the_stream_changes_nothing(learner, seed, cuts, sparse):
    X, y = noisy_stream(seed, density=0.4)
    X = as_csr(X) if sparse else X
    whole, cut = clone(learner), clone(learner)
    scores = whole.learn(X, y, classes=[0, 1])
    edges = [0, *sorted(set(cuts)), len(y)]
    parts = [cut.learn(X[a:b], y[a:b], classes=[0, 1]) for a, b in itertools.pairwise(edges)]
    assert np.concatenate(parts).tolist() == scores.tolist()
    assert state(cut) == state(whole)


@any_learner
def test_rows_one_by_one_and_scores_beforehand(learner):
    """learn() returns the score that decision_function() gave before; later calls do not need the row."""
    X, y = noisy_stream(3, density=0.5)
    whole, single = clone(learner), clone(learner)
    scores = whole.learn(X, y, classes=[0, 1])
    buffer = np.empty((1, X.shape[1]))
    for t in range(len(y)):
        buffer[:] = X[t]
        if t > 0:
            assert single.decision_function(buffer)[0] == scores[t]
        assert single.learn(buffer, y[t : t + 1], classes=None if t else [0, 1])[0] == scores[t]
        buffer[:] = np.nan  # single pass: the learner keeps no reference to the row
    assert state(single) == state(whole)


@pytest.mark.slow
@pytest.mark.parametrize(
    "learner", one_of_each_loop(LEARNERS, 2) + KERNEL_LEARNERS + FEATURE_LEARNERS, ids=repr
)
@pytest.mark.parametrize("d", [37, 100])
def test_rows_wide_enough_for_vectors_one_by_one(learner, d):
    """An update combined with the next row's score equals the separate update, to the last bit."""
    X, y = noisy_stream(12, n=60, d=d)
    # Of the linear loops only some are compiled for float32 rows, see `test_orders`.
    if is_representative(learner) or not learner._reads_orders:
        X = X.astype(np.float32)
    whole, single = clone(learner), clone(learner)
    for model in (whole, single):
        model.begin(np.arange(2), d)
    scores = whole.learn_rows(X, y)
    assert whole.n_updates_ > 0
    alone = [single.learn_rows(X[t : t + 1], y[t : t + 1])[0] for t in range(60)]
    assert alone == scores.tolist()
    assert state(single) == state(whole)


@any_learner
def test_chunks_may_be_overwritten_once_learnt(learner):
    X, y = noisy_stream(4, n=90)
    whole, chunked = clone(learner), clone(learner)
    whole.learn(X, y, classes=[0, 1])
    buffer, labels = np.empty((30, X.shape[1])), np.empty(30, dtype=int)
    for start in range(0, 90, 30):
        buffer[:], labels[:] = X[start : start + 30], y[start : start + 30]
        chunked.learn(buffer, labels, classes=[0, 1])
        buffer[:], labels[:] = 1e9, 0
    assert state(chunked) == state(whole)


@every_learner
@given(seed=seeds, density=st.sampled_from([0.05, 0.5, 1.0]))
def test_dense_and_sparse_agree(learner, seed, density):
    if isinstance(learner, ConfidenceWeighted):
        # If a row of one or two features occurs again, CW's constraint holds with equality, and rounding
        # (1e-17) decides whether it is an update. Rows of many features do not occur again.
        density = max(density, 0.5)
    X, y = noisy_stream(seed, density=density)
    dense, sparse = clone(learner).partial_fit(X, y, [0, 1]), clone(learner).partial_fit(as_csr(X), y, [0, 1])
    assert dense.n_mistakes_ == sparse.n_mistakes_
    assert dense.n_updates_ == sparse.n_updates_
    # The order of sums differs, and CW accumulates rounding differences, up to 1e-9 of the largest weight.
    largest = np.abs(dense.coef_).max()
    np.testing.assert_allclose(dense.coef_, sparse.coef_, rtol=0, atol=1e-9 * largest)


@pytest.mark.slow
@representatives_of(LEARNERS)
@pytest.mark.parametrize("convert", [np.asarray, as_csr])
def test_float32_and_float64_of_the_same_values_agree(learner, convert):
    X, y = noisy_stream(5, density=0.6)
    X = X.astype(np.float32)
    single, double = clone(learner), clone(learner)
    scores = single.learn(convert(X), y, classes=[0, 1])
    assert scores.tolist() == double.learn(convert(X.astype(np.float64)), y, classes=[0, 1]).tolist()
    assert state(single) == state(double)


# Loops read entries of CSR rows through the same few functions; those of a full covariance have their own.
READ_INDICES = [
    learner
    for learner in one_of_each_loop(LEARNERS, 2)
    if is_representative(learner) or getattr(learner, "covariance", "") == "full"
]


@pytest.mark.slow
@pytest.mark.parametrize("learner", tiered(READ_INDICES + KERNEL_LEARNERS + FEATURE_LEARNERS))
def test_index_width_of_csr_does_not_matter(learner):
    X, y = noisy_stream(6, density=0.3)
    narrow, wide = as_csr(X), as_csr(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    assert state(clone(learner).fit(narrow, y)) == state(clone(learner).fit(wide, y))


@any_learner
def test_fit_forgets_and_repeats(learner):
    X, y = noisy_stream(7)
    thrice = clone(learner).set_params(epochs=3).fit(X, y)
    by_hand = clone(learner)
    for left in (2, 1, 0):
        by_hand.learn(X, y, classes=[0, 1])
        by_hand.end_of_pass(last=left == 0)
    assert state(thrice) == state(by_hand)
    assert thrice.n_examples_ == 3 * len(y)
    thrice.set_params(epochs=1).fit(X, y)
    assert state(thrice) == state(clone(learner).fit(X, y))


@every_learner
def test_zero_rows_are_mistakes_that_teach_nothing(learner):
    X, y = noisy_stream(8, n=40)
    first = 0 if CASES[type(learner).__name__].counts_rounds else 2
    X = np.vstack([np.zeros((first, X.shape[1])), X, np.zeros((1, X.shape[1]))])
    y = np.concatenate([[0, 1][:first], y, [1]])
    model = clone(learner)
    scores = model.learn(X, y)
    assert scores[[*range(first), -1]].tolist() == [0.0] * (first + 1)
    # The L1 threshold counts every round, and l2 shrinks in every round.
    if getattr(learner, "l1", 0.0) or getattr(learner, "l2", 0.0):
        return
    plain = clone(learner).partial_fit(X[first:-1], y[first:-1], [0, 1])
    assert model.n_mistakes_ == plain.n_mistakes_ + first + 1
    # Means and bets count every round, too.
    if not (getattr(learner, "average", False) or isinstance(learner, KT | VowpalWabbitCoin)):
        assert model.coef_.tolist() == plain.coef_.tolist()


SKIP = "a rule must skip rows whose step overflows and, if it divides by ‖x‖², rows of subnormal ‖x‖²"


@every_learner
def test_extreme_scales_stay_finite(learner):
    for scale in [1e-160, 1e-30, 1e30, 1e60, 1e160]:
        X, y = noisy_stream(9)
        model = clone(learner).fit(X * scale, y)
        assert np.isfinite(model.coef_).all(), SKIP
        assert np.isfinite(getattr(model, "sigma_", 0.0)).all(), SKIP


@every_learner
def test_rows_of_wildly_different_lengths_leave_the_model_finite(learner):
    """Overflowing scores and steps are skipped."""
    for convert, seed in itertools.product([np.asarray, as_csr], range(30)):
        X, y = wild_stream(seed)
        model = clone(learner).partial_fit(convert(X), y, [0, 1])
        assert np.isfinite(model.coef_).all(), SKIP
        assert np.isfinite(getattr(model, "sigma_", 0.0)).all(), SKIP


@every_learner
def test_the_shape_of_the_state_and_the_rates_are_those_learning_began_with(learner):
    """Changes by `set_params` that are not possible in the middle of a stream take effect at the next fit."""
    X, y = noisy_stream(25)
    fixed = {"eta": 0.8, "delta": 3.0, "l1": 0.1}
    if not isinstance(learner, AdaGradRDA):
        fixed = {"covariance": "diagonal" if getattr(learner, "covariance", "") == "full" else "full"}
    fixed = {name: value for name, value in fixed.items() if name in learner.get_params()}
    plain, changed = (clone(learner).partial_fit(X[:100], y[:100], [0, 1]) for _ in range(2))
    changed.set_params(**fixed)
    for model in (plain, changed):
        model.partial_fit(X[100:], y[100:])
    assert state(changed) == state(plain)
    assert changed.coef_.tolist() == plain.coef_.tolist()
    assert changed.decision_function(X).tolist() == plain.decision_function(X).tolist()


@every_learner
def test_the_sign_of_the_score_is_the_prediction(learner):
    X, y = noisy_stream(10)
    names = np.array(["no", "yes"])[y]
    model = clone(learner).fit(X, names)
    scores = model.decision_function(X)
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.predict(X).tolist() == np.where(scores > 0, "yes", "no").tolist()
    # A score of 0 predicts the first class, as in scikit-learn.
    nothing = np.zeros((1, X.shape[1]))
    told = "yes" if model.decision_function(nothing)[0] > 0 else "no"
    assert model.predict(nothing).tolist() == [told]


@every_learner
def test_linearly_separable_stream_is_learnt(learner):
    random = np.random.RandomState(11)
    X = random.standard_normal((1500, 6))
    y = (X @ np.arange(1, 7) > 0).astype(int)
    assert clone(learner).fit(X[:1000], y[:1000]).score(X[1000:], y[1000:]) > 0.85


@pytest.mark.slow
@pytest.mark.parametrize(
    "learner",
    [learner for learner in LEARNERS if getattr(learner, "covariance", "") == "full"],
    ids=repr,
)
@given(seed=seeds)
def test_full_covariance_is_exactly_symmetric(learner, seed):
    X, y = noisy_stream(seed, n=300)
    sigma = clone(learner).fit(X, y).sigma_
    assert (sigma == sigma.T).all()
    assert (np.diag(sigma) > 0).all()


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
@pytest.mark.parametrize("projection", ["covariance", "precision"])
@given(seed=seeds, r=st.floats(0.01, 100))
def test_diagonal_confidence_only_grows(loss, projection, seed, r):
    X, y = noisy_stream(seed)
    model, before = AROW(r=r, loss=loss, projection=projection), np.ones(X.shape[1])
    for t in range(0, len(y), 10):
        model.partial_fit(X[t : t + 10], y[t : t + 10], [0, 1])
        assert (model.sigma_ <= before).all()
        assert (model.sigma_ > 0).all()
        before = model.sigma_.copy()


@given(
    seed=seeds,
    r=st.floats(0.01, 100),
    noise=st.floats(0, 0.5),
    length=st.floats(0.01, 10),
    d=st.integers(1, 8),
)
def test_mistake_bound_of_the_arow_paper(seed, r, noise, length, d):
    """Theorem 1 (eq. 38): for every u, M <= Σg + √(r‖u‖² + uᵀX_A u) √(log det(I + X_A/r) + U) - U.

    The worst u are along ``(r I + X_A)⁻¹ Σ y x``, where the Cauchy-Schwarz inequality is tight, and so short
    that no margin is above 1: there only the product of the two square roots keeps the bound.
    """
    X, labels = noisy_stream(seed, n=120, d=d, noise=noise)
    y = 2 * labels - 1
    model = AROW(r=r, covariance="full")
    margins = y * model.learn(X, labels, classes=[0, 1])
    updates = margins < 1
    mistakes = int((margins <= 0).sum())
    others = int(updates.sum()) - mistakes
    A = X[updates].T @ X[updates]
    worst = np.linalg.solve(r * np.eye(d) + A, y[updates] @ X[updates])
    short = worst / np.abs(X[updates] @ worst).max()
    log_det = np.linalg.slogdet(np.eye(d) + A / r)[1]
    for u in (worst, short, length * np.random.RandomState(seed ^ 1).standard_normal(d)):
        loss = np.maximum(0, 1 - y[updates] * (X[updates] @ u)).sum()
        bound = loss + math.sqrt(r * (u @ u) + u @ A @ u) * math.sqrt(log_det + others) - others
        assert mistakes <= bound + 1e-9 * (mistakes + others)


@given(seed=seeds, r=st.floats(0.01, 100), noise=st.floats(0, 0.5), d=st.integers(1, 8))
def test_arow_full_mean_is_that_of_lemma_2(seed, r, noise, d):
    """Lemma 2, summed: r Σ_T⁻¹ μ_T is the sum of y x over the updates, and r Σ_T⁻¹ is r I + X_A."""
    X, labels = noisy_stream(seed, n=120, d=d, noise=noise)
    y = 2 * labels - 1
    model = AROW(r=r, covariance="full")
    updates = y * model.learn(X, labels, classes=[0, 1]) < 1
    total = y[updates] @ X[updates]
    close = {"rtol": 0, "atol": 1e-9 * np.abs(X[updates]).sum(axis=0).max()}
    np.testing.assert_allclose(r * np.linalg.solve(model.sigma_, model.coef_[0]), total, **close)
    A = r * np.eye(d) + X[updates].T @ X[updates]
    np.testing.assert_allclose(A @ model.coef_[0], total, **close)


def test_arow_full_covariance_is_the_regularised_inverse():
    """Eq. 15, summed: Σ⁻¹ = I + X_A/r over the updates."""
    X, y = noisy_stream(12, d=5)
    model = AROW(r=0.3, covariance="full")
    margins = (2 * y - 1) * model.learn(X, y)
    A = X[margins < 1].T @ X[margins < 1]
    np.testing.assert_allclose(model.sigma_, np.linalg.inv(np.eye(5) + A / 0.3), rtol=1e-9, atol=1e-12)


def test_precision_projection_is_the_diagonal_of_the_summed_precision():
    X, y = noisy_stream(13, d=5)
    model = AROW(r=0.3, projection="precision")
    margins = (2 * y - 1) * model.learn(X, y)
    np.testing.assert_allclose(1 / model.sigma_, 1 + (X[margins < 1] ** 2).sum(axis=0) / 0.3, rtol=1e-12)


@pytest.mark.slow
@given(seed=seeds)
def test_confidence_weighted_meets_its_constraint_after_an_update(seed):
    """With full covariance the constraint holds with equality on the row just learnt."""
    X, y = noisy_stream(seed, n=40, d=5)
    for constraint in ("variance", "stdev"):
        model, updates = ConfidenceWeighted(eta=0.8, constraint=constraint, covariance="full"), 0
        phi = 0.8416212335729143  # Φ⁻¹(0.8)
        for t in range(len(y)):
            x = X[t : t + 1]
            model.learn(x, y[t : t + 1], classes=[0, 1])
            if model.n_updates_ > updates:
                updates = model.n_updates_
                m = (2 * y[t] - 1) * model.decision_function(x)[0]
                v = (x @ model.sigma_ @ x.T).item()
                # The tolerance is 1e-6 because the margin is a difference of larger numbers.
                assert m == pytest.approx(phi * (v if constraint == "variance" else math.sqrt(v)), rel=1e-6)
        assert updates > 0


@pytest.mark.parametrize("seed", range(10))
def test_collapsing_confidence_stops_the_model_and_breaks_nothing(seed):
    """Noise drives Σ to 0 doubly exponentially: after a few updates, √v is below the rounding error of m."""
    X, y = noisy_stream(seed, n=2000, d=2, noise=0.3)
    model = ConfidenceWeighted(eta=0.95, constraint="stdev", projection="precision", epochs=3).fit(X, y)
    assert model.n_mistakes_ > 1000
    assert model.n_updates_ < 100
    assert np.isfinite(model.coef_).all()
    assert (model.sigma_ > 0).all()


def test_averaged_perceptron_is_the_mean_of_the_hypotheses():
    X, y = noisy_stream(15)
    plain, hypotheses = Perceptron(), []
    for t in range(len(y)):
        plain.learn(X[t : t + 1], y[t : t + 1], classes=[0, 1])
        hypotheses.append(plain.coef_[0].copy())
    averaged = Perceptron(average=True).fit(X, y)
    np.testing.assert_allclose(averaged.coef_[0], np.mean(hypotheses, axis=0), rtol=1e-9)
    np.testing.assert_allclose(averaged.decision_function(X), X @ averaged.coef_[0], rtol=1e-9, atol=1e-12)
    assert averaged.n_updates_ == plain.n_updates_


@pytest.mark.slow
def test_second_order_perceptron_scores_with_the_row_in_the_matrix():
    """Compare with the definition, rebuilding and inverting A at every row."""
    X, y = noisy_stream(16, n=60, d=4)
    sign, a = 2 * y - 1, 0.5
    for covariance in ("full", "diagonal"):
        A, u, expected = a * np.eye(4), np.zeros(4), []
        for x, s in zip(X, sign, strict=True):
            with_row = A + np.outer(x, x)
            if covariance == "diagonal":
                with_row = np.diag(np.diag(with_row))
            expected.append(u @ np.linalg.solve(with_row, x))
            if s * expected[-1] <= 0:
                A, u = with_row, u + s * x
        scores = SecondOrderPerceptron(a=a, covariance=covariance).learn(X, y)
        np.testing.assert_allclose(scores, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("variant", "schedule"), [("PA-I", "pa1"), ("PA-II", "pa2")])
@pytest.mark.parametrize("C", [0.01, 1.0, 10.0])
@pytest.mark.parametrize("convert", [np.asarray, as_csr])
def test_passive_aggressive_equals_scikit_learn(variant, schedule, C, convert):
    if C != 1.0 and sklearn.__version__.startswith("1.7."):
        pytest.skip("scikit-learn 1.7 ignores eta0 and learns with C = 1")
    X, y = noisy_stream(17, n=400, density=0.5)
    theirs = SGDClassifier(
        loss="hinge",
        penalty=None,
        learning_rate=schedule,
        eta0=C,
        shuffle=False,
        fit_intercept=False,
        max_iter=1,
        tol=None,
    ).fit(convert(X), y)
    ours = PassiveAggressive(variant=variant, C=C).fit(convert(X), y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9, atol=1e-12)
