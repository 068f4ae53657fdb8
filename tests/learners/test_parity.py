"""The learners beyond the five papers: against their definitions, their bounds and other implementations."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn.linear_model import SGDClassifier

from singlepass.learners import (
    ALMA,
    NAROW,
    NHERD,
    ROMMA,
    ConfidenceWeighted,
    OnlineGradientDescent,
    SoftConfidenceWeighted,
)

from .streams import as_csr, noisy_stream

pytestmark = pytest.mark.slow

seeds = st.integers(0, 2**31 - 1)
shapes = pytest.mark.parametrize("covariance", ["full", "diagonal"])


def one_by_one(learner, X, labels):
    """Learn row by row; yield (x, y, score, whether it was an update) after each row."""
    before = 0
    for t in range(len(labels)):
        score = learner.learn(X[t : t + 1], labels[t : t + 1], classes=[0, 1])[0]
        yield X[t], 2 * labels[t] - 1, score, learner.n_updates_ > before
        before = learner.n_updates_


def inverse(sigma):
    """Return Σ⁻¹ as a matrix."""
    return np.diag(1 / sigma) if sigma.ndim == 1 else np.linalg.inv(sigma)


@pytest.mark.parametrize("aggressive", [False, True])
@given(seed=seeds)
def test_romma_takes_the_shortest_vector_of_its_constraints(aggressive, seed):
    """The new w is ``c w + d y x`` with c, d >= 0; constraints with a positive factor hold with equality."""
    X, labels = noisy_stream(seed, n=40, d=5, noise=0.05)
    X *= np.random.RandomState(seed).uniform(0.1, 10.0, (len(X), 1))
    model, w = ROMMA(aggressive=aggressive), np.zeros(5)
    for x, y, score, updated in one_by_one(model, X, labels):
        new = model.coef_[0].copy()
        wanted = y * score < 1 if aggressive else y * score <= 0
        assert updated == wanted
        if updated:
            (c, d), *_ = np.linalg.lstsq(np.column_stack([w, y * x]), new, rcond=None)
            np.testing.assert_allclose(c * w + d * y * x, new, rtol=0, atol=1e-9 * np.abs(new).max())
            error = 1e-9 * max(1.0, np.linalg.norm(new) * np.linalg.norm(x))
            assert y * (new @ x) == pytest.approx(1.0, abs=error)
            assert d > 0
            assert new @ w >= w @ w * (1 - 1e-9)
            if c > 1e-9:
                assert new @ w == pytest.approx(w @ w, rel=1e-9)
            assert np.linalg.norm(new) >= np.linalg.norm(w) * (1 - 1e-12)
        else:
            assert new.tolist() == w.tolist()
        w = new


@pytest.mark.parametrize("aggressive", [False, True])
@given(seed=seeds, d=st.integers(2, 10))
def test_mistake_bound_of_romma(aggressive, seed, d):
    """At most ``(R ‖u‖)²`` mistakes if ``y u·x >= 1`` for all rows and ``‖x‖ <= R``."""
    random = np.random.RandomState(seed)
    X, u = random.standard_normal((600, d)), random.standard_normal(d)
    u *= 3 / np.linalg.norm(u)
    X = X[np.abs(X @ u) >= 1]
    labels = (X @ u > 0).astype(int)
    model = ROMMA(aggressive=aggressive).partial_fit(X, labels, [0, 1])
    assert model.n_mistakes_ <= (X**2).sum(axis=1).max() * (u @ u)


def romma_mistakes(X, y, aggressive):
    """Return ROMMA's mistakes by the paper's formulas, with w and the margin 1 divided by ‖w‖."""
    w, one, mistakes = np.zeros(X.shape[1]), 1.0, []
    for t, x in enumerate(X):
        s, n, W = w @ x, x @ x, w @ w
        if y[t] * s <= 0:
            mistakes.append(t)
        if y[t] * s < one if aggressive else y[t] * s <= 0:
            if y[t] * s * one >= n * W:
                w = one * y[t] * x / n
            else:
                w = ((n * W - one * y[t] * s) * w + W * (one * y[t] - s) * x) / (n * W - s * s)
            w, one = w / np.linalg.norm(w), one / np.linalg.norm(w)
    return mistakes


@pytest.mark.parametrize("aggressive", [False, True])
@pytest.mark.parametrize(("n", "d", "density"), [(8000, 2, 1.0), (3000, 30, 0.5), (3000, 1000, 0.02)])
@pytest.mark.parametrize("convert", [np.asarray, as_csr])
def test_romma_outgrows_float64_unharmed(aggressive, n, d, density, convert):
    """Noise makes w grow exponentially (beyond 1e400 in 2 dimensions); mistakes stay those of the paper."""
    X, labels = noisy_stream(18, n=n, d=d, density=density, noise=0.3)
    model = ROMMA(aggressive=aggressive)
    scores = model.learn(convert(X), labels, classes=[0, 1])
    y = 2 * labels - 1
    assert np.flatnonzero(y * scores <= 0).tolist() == romma_mistakes(X, y, aggressive)
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(scores).all()


@pytest.mark.parametrize("aggressive", [False, True])
@pytest.mark.parametrize("power", [-500, -300, 300, 500])
def test_romma_does_not_see_the_unit_of_the_rows(aggressive, power):
    X, labels = noisy_stream(24, n=3000, d=3, noise=0.3)
    plain, scaled = ROMMA(aggressive=aggressive), ROMMA(aggressive=aggressive)
    wrong = (2 * labels - 1) * plain.learn(X, labels) <= 0
    margins = (2 * labels - 1) * scaled.learn(X * 2.0**power, labels)
    assert np.flatnonzero(margins <= 0).tolist() == np.flatnonzero(wrong).tolist()
    assert scaled.n_updates_ == plain.n_updates_


def test_romma_passes_over_what_no_vector_satisfies():
    model = ROMMA().partial_fit([[1.0, 1.0], [2.0, 2.0], [-1.0, -1.0]], [1, 0, 1], [0, 1])
    assert model.coef_.tolist() == [[0.5, 0.5]]
    assert (model.n_mistakes_, model.n_updates_) == (3, 1)


def test_aggressive_romma_turns_to_a_shorter_row_in_the_same_direction():
    model = ROMMA(aggressive=True).partial_fit([[4.0, 0.0], [1.0, 0.0]], [1, 1], [0, 1])
    assert model.coef_.tolist() == [[1.0, 0.0]]


@given(seed=seeds, alpha=st.floats(0.01, 1.0), noise=st.floats(0, 0.5), sparse=st.booleans())
def test_alma_is_its_definition(seed, alpha, noise, sparse):
    X, labels = noisy_stream(seed, noise=noise)
    model, w, k, updates = ALMA(alpha=alpha), np.zeros(X.shape[1]), 1, []
    scores = model.learn(as_csr(X) if sparse else X, labels, classes=[0, 1])
    for t, x in enumerate(X):
        x, y = x / np.linalg.norm(x), 2 * labels[t] - 1
        assert scores[t] == pytest.approx(w @ x, rel=1e-9, abs=1e-12)
        if y * scores[t] <= (1 - alpha) / (alpha * math.sqrt(k)):
            w = w + math.sqrt(2 / k) * y * x
            w /= max(1.0, np.linalg.norm(w))
            k += 1
            updates.append(t)
    np.testing.assert_allclose(model.coef_[0], w, rtol=1e-9, atol=1e-12)
    assert model.n_updates_ == len(updates)
    assert np.linalg.norm(model.coef_) <= 1 + 1e-12


def test_alma_does_not_see_the_length_of_a_row():
    X, labels = noisy_stream(19)
    lengths = 2.0 ** np.random.RandomState(19).randint(-300, 300, (len(X), 1))
    plain, scaled = ALMA(), ALMA()
    expected = plain.learn(X, labels)
    assert scaled.learn(X * lengths, labels).tolist() == expected.tolist()
    assert scaled.coef_.tolist() == plain.coef_.tolist()


def test_alma_scales_a_weight_vector_down_for_ever():
    """With a small α every row is an update, and the product of all scalings leaves the range of float64."""
    random = np.random.RandomState(20)
    X = np.array([1.0, 0.0, 0.0]) + 0.1 * random.standard_normal((80_000, 3))
    model = ALMA(alpha=1e-3)
    w, log_scale = np.zeros(3), 0.0
    for k, x in enumerate(X / np.linalg.norm(X, axis=1)[:, None], start=1):
        w = w + math.sqrt(2 / k) * x
        length = max(1.0, np.linalg.norm(w))
        w, log_scale = w / length, log_scale - math.log(length)
    assert log_scale < -750
    model.partial_fit(X, np.ones(len(X), dtype=int), [0, 1])
    assert model.n_updates_ == len(X)
    np.testing.assert_allclose(model.coef_[0], w, rtol=1e-9)


@pytest.mark.parametrize("eta", [0.01, 1.0, 30.0])
@pytest.mark.parametrize("convert", [np.asarray, as_csr])
def test_online_gradient_descent_equals_scikit_learn(eta, convert):
    X, y = noisy_stream(21, n=400, density=0.5)
    X[:3] = X[17] = 0.0  # they count as rounds
    theirs = SGDClassifier(
        loss="hinge",
        penalty=None,
        learning_rate="invscaling",
        eta0=eta,
        power_t=0.5,
        shuffle=False,
        fit_intercept=False,
        max_iter=1,
        tol=None,
    ).fit(convert(X), y)
    ours = OnlineGradientDescent(eta=eta)
    margins = (2 * y - 1) * ours.learn(convert(X), y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9, atol=1e-12)
    assert ours.n_updates_ == np.count_nonzero((margins < 1) & X.any(axis=1))


def test_nherd_passes_over_a_row_whose_step_overflows():
    model = NHERD(C=100.0, projection="precision").partial_fit([[1e153, 0.0], [1.0, 1.0]], [0, 1], [0, 1])
    assert model.n_updates_ == 1
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.sigma_).all()


@pytest.mark.parametrize("convert", [np.asarray, as_csr])
def test_online_gradient_descent_sees_entries_whose_squares_underflow(convert):
    model = OnlineGradientDescent().partial_fit(
        convert(np.array([[0.0, 1e-170], [0.0, 0.0]])), [1, 1], [0, 1]
    )
    assert model.coef_.tolist() == [[0.0, 1e-170]]
    assert model.n_updates_ == 1


@shapes
@pytest.mark.parametrize("projection", ["covariance", "precision"])
@given(seed=seeds)
def test_soft_confidence_without_limit_is_confidence_weighted(covariance, projection, seed):
    X, labels = noisy_stream(seed, n=40)
    parameters = {"eta": 0.7, "covariance": covariance, "projection": projection}
    hard = ConfidenceWeighted(constraint="stdev", **parameters).fit(X, labels)
    capped = SoftConfidenceWeighted("SCW-I", C=1e300, **parameters).fit(X, labels)
    assert capped.coef_.tolist() == hard.coef_.tolist()
    assert capped.sigma_.tolist() == hard.sigma_.tolist()


@shapes
@pytest.mark.parametrize("projection", ["covariance", "precision"])
@pytest.mark.parametrize("v", [1e-14, 1e-17, 1e-40])
def test_capped_soft_confidence_goes_on_where_the_exact_step_is_lost_in_rounding(covariance, projection, v):
    """`ConfidenceWeighted` skips such a row, but a step of C is possible."""
    C = 3.0
    model = SoftConfidenceWeighted("SCW-I", C=C, covariance=covariance, projection=projection)
    phi = norm.ppf(model.eta)
    model.begin(np.array([0, 1]), 1)
    # `sigma_` of a full Σ is a copy.
    sigma = model.sigma_ if covariance == "diagonal" else model._sigma[:1, :1]
    model.coef_[:], sigma[:] = 1.0, v
    model.learn_rows(np.array([[1.0]]), np.array([0]))
    assert model.n_updates_ == 1
    assert model.coef_.item() == pytest.approx(1 - C * v, rel=1e-15)
    root = (math.sqrt((C * v * phi) ** 2 + 4 * v) - C * v * phi) / 2
    # Σ shrinks by a fraction of about √v, which is below rounding for the smallest v.
    assert model.sigma_.item() == pytest.approx(root**2, rel=1e-15)
    assert (model.sigma_.item() < v) == (v > 1e-30)


@given(seed=seeds)
def test_soft_confidence_of_squared_loss_tends_to_confidence_weighted(seed):
    X, labels = noisy_stream(seed, n=20, d=30)
    hard = ConfidenceWeighted(constraint="stdev", eta=0.7, covariance="full").fit(X, labels)
    soft = SoftConfidenceWeighted("SCW-II", C=1e12, eta=0.7, covariance="full").fit(X, labels)
    np.testing.assert_allclose(soft.coef_, hard.coef_, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(soft.sigma_, hard.sigma_, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("variant", ["SCW-I", "SCW-II"])
@given(seed=seeds, C=st.floats(0.05, 5), eta=st.floats(0.55, 0.95))
def test_soft_confidence_solves_its_problem(variant, seed, C, eta):
    """With ``α = (μ' - μ)·y x/v`` and the new margin m' and variance u, check the KKT conditions.

    SCW-I: ``0 < α <= C`` and ``m' = φ√u`` unless α = C; SCW-II: ``m' = φ√u - α/(2C)``. For β: ``u = v - βv²``
    where ``√u = (-αvφ + √(α²v²φ² + 4v))/2``.
    """
    X, labels = noisy_stream(seed, n=30, d=5)
    phi = norm.ppf(eta)
    model = SoftConfidenceWeighted(variant, eta=eta, C=C, covariance="full")
    mu, sigma = np.zeros(5), np.eye(5)
    for x, y, score, updated in one_by_one(model, X, labels):
        v = x @ sigma @ x
        if updated:
            assert y * score < phi * math.sqrt(v)
            alpha = y * ((model.coef_[0] - mu) @ x) / v
            m, root = y * (model.coef_[0] @ x), math.sqrt(x @ model.sigma_ @ x)
            a = alpha * v * phi
            assert root == pytest.approx((math.sqrt(a * a + 4 * v) - a) / 2, rel=1e-6)
            assert alpha > 0
            if variant == "SCW-II":
                assert m == pytest.approx(phi * root - alpha / (2 * C), rel=1e-6, abs=1e-9)
            elif alpha < C * (1 - 1e-9):
                assert m == pytest.approx(phi * root, rel=1e-6, abs=1e-9)
            else:
                assert alpha == pytest.approx(C, rel=1e-9)
                assert m < phi * root + 1e-9
        mu, sigma = model.coef_[0].copy(), model.sigma_.copy()
    assert model.n_updates_ > 0


@shapes
def test_narow_is_its_definition(covariance):
    """Keep A and θ, and invert A, including the current row, to compute its score."""
    X, labels = noisy_stream(22, n=80, d=4)
    X *= np.random.RandomState(22).uniform(0.1, 3.0, (len(X), 1))
    b, A, theta, expected, adapted = 0.5, np.eye(4), np.zeros(4), [], 0
    for x, y in zip(X, 2 * labels - 1, strict=True):
        v = x @ np.linalg.solve(A, x)
        r = v / (b * v - 1) if v > 1 / b else math.inf
        with_row = A + (np.outer(x, x) if covariance == "full" else np.diag(x * x)) / r
        expected.append(theta @ np.linalg.solve(with_row, x))
        if 1 - y * expected[-1] > 0:
            theta, A = theta + y * x, with_row
            adapted += r < math.inf
    assert 0 < adapted < len(X)
    model = NAROW(b=b, covariance=covariance)
    np.testing.assert_allclose(model.learn(X, labels), expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.coef_[0], np.linalg.solve(A, theta), rtol=1e-9)
    np.testing.assert_allclose(inverse(model.sigma_), A, rtol=1e-9, atol=1e-12)


@given(seed=seeds, b=st.floats(0.1, 10), sparse=st.booleans())
def test_diagonal_narow_predicts_with_the_row_in_the_diagonal(seed, b, sparse):
    """With a diagonal this can change the sign of μ·x, unlike a common factor of all features."""
    X, labels = noisy_stream(seed, n=60, d=4)
    model = NAROW(b=b).fit(X[:30], labels[:30])
    u, rows = model.coef_[0] / model.sigma_, 4.0 * X[30:]
    v = rows**2 @ model.sigma_
    weight = np.maximum(0.0, b - 1 / v)[:, None]
    expected = (u * rows / (1 / model.sigma_ + weight * rows**2)).sum(axis=1)
    scores = model.decision_function(as_csr(rows) if sparse else rows)
    np.testing.assert_allclose(scores, expected, rtol=1e-9, atol=1e-12)


@given(
    seed=seeds,
    b=st.floats(0.01, 10),
    noise=st.floats(0, 0.5),
    length=st.floats(0.01, 10),
    d=st.integers(1, 8),
)
def test_mistake_bound_of_narow(seed, b, noise, length, d):
    """For every u, ``M + U <= Σ l(u) + √(uᵀA u) √(Σ min(v, 1/b) + 2 Σ m)``, the sums over the updates.

    By the Cauchy-Schwarz inequality for ``u·θ``: an update adds at most ``2m + v'`` to θᵀA⁻¹θ, where v' is
    the variance of the row after it.
    """
    X, labels = noisy_stream(seed, n=60, d=d, noise=noise)
    u = length * np.random.RandomState(seed ^ 1).standard_normal(d)
    model, loss, squares = NAROW(b=b, covariance="full"), 0.0, 0.0
    for x, y, score, updated in one_by_one(model, X, labels):
        if updated:
            after = x @ model.sigma_ @ x
            assert after <= 1 / b * (1 + 1e-9)
            loss += max(0.0, 1 - y * (u @ x))
            squares += 2 * y * score + after
    bound = loss + math.sqrt(u @ inverse(model.sigma_) @ u) * math.sqrt(squares)
    assert model.n_updates_ <= bound * (1 + 1e-9)


@pytest.mark.parametrize(
    ("covariance", "projection"),
    [("full", "covariance"), ("diagonal", "covariance"), ("diagonal", "precision")],
)
def test_nherd_is_its_definition(covariance, projection):
    """Move every weight vector by ``I - C/(1 + Cv) Σx xᵀ``; Σ becomes that of the moved vectors."""
    X, labels = noisy_stream(23, n=80, d=4)
    C, mu, sigma, expected = 0.7, np.zeros(4), np.eye(4), []
    for x, y in zip(X, 2 * labels - 1, strict=True):
        expected.append(mu @ x)
        v = x @ sigma @ x
        if 1 - y * expected[-1] > 0:
            mu = mu + y * (1 - y * expected[-1]) / (v + 1 / C) * (sigma @ x)
            move = np.eye(4) - C / (1 + C * v) * np.outer(sigma @ x, x)
            moved = move @ sigma @ move.T
            if covariance == "diagonal":
                diagonal = np.diag(np.linalg.inv(moved)) if projection == "precision" else 1 / np.diag(moved)
                moved = np.diag(1 / diagonal)
            sigma = moved
    model = NHERD(C=C, covariance=covariance, projection=projection)
    np.testing.assert_allclose(model.learn(X, labels), expected, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(model.coef_[0], mu, rtol=1e-8)
    np.testing.assert_allclose(inverse(model.sigma_), np.linalg.inv(sigma), rtol=1e-8, atol=1e-8)
