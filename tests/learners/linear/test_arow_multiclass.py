"""AROW's multi-class updates: top-1, the quadratic program of eq. 27, Lemma 4 and Theorem 2."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from singlepass.learners import AROW
from singlepass.learners.linear.arow import multipliers, violated
from singlepass.learners.linear.parts.classes import new_class_state

from ..streams import noisy_classes

pytestmark = pytest.mark.slow

seeds = st.integers(0, 2**31 - 1)
losses = pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
projections = pytest.mark.parametrize("projection", ["covariance", "precision"])
K, D = 6, 5


def random_model(random, **parameters):
    """Return a model in a random state, and copies of its μ and σ, shape (K, d)."""
    model = AROW(**parameters)
    model.begin(np.arange(K), D)
    model.coef_[:] = random.standard_normal((K, D))
    model.sigma_[:] = random.uniform(0.01, 1.0, size=(K, D)) ** 2
    return model, model.coef_.copy(), model.sigma_.copy()


def solve_dual(mu, sigma, x, y, wrong, r, hinge):
    """Return the μ of eq. 27 by a general solver, from the dense vectors Δf."""
    blocks = np.kron(np.eye(K), x)
    differences = np.array([blocks[y] - blocks[z] for z in wrong])
    gram = differences * sigma.ravel() @ differences.T
    losses = 1 - differences @ mu.ravel()
    hessian = gram if hinge else gram + r
    # Scale to a unit diagonal, so that the solver's tolerance means the same for every multiplier.
    scale = 1 / np.sqrt(np.diag(hessian))
    hessian, gain = hessian * np.outer(scale, scale), losses * scale
    cap = {"type": "ineq", "fun": lambda a: 1 / (2 * r) - scale @ a, "jac": lambda a: -scale}
    found = minimize(
        lambda a: 0.5 * a @ hessian @ a - gain @ a,
        np.zeros(len(wrong)),
        jac=lambda a: hessian @ a - gain,
        bounds=[(0, None)] * len(wrong),
        constraints=[cap] if hinge else [],
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 1000},
    )
    return (mu.ravel() + sigma.ravel() * ((found.x * scale) @ differences)).reshape(K, D)


@losses
@pytest.mark.parametrize("constraints", [2, 3, "all"])
@given(seed=seeds, r=st.floats(0.05, 20))
def test_the_mean_solves_its_quadratic_programme(loss, constraints, seed, r):
    random = np.random.RandomState(seed)
    model, mu, sigma = random_model(random, r=r, loss=loss, constraints=constraints)
    x, y = random.standard_normal(D), random.randint(K)
    scores = mu @ x
    wrong = [z for z in np.argsort(-scores, kind="stable") if z != y]
    k = K - 1 if constraints == "all" else constraints
    model.learn_rows(x[None], np.array([y]))
    expected = mu
    if scores[y] - scores[wrong[0]] < 1:
        expected = solve_dual(mu, sigma, x, y, wrong[:k], r, loss == "hinge")
        assert model.n_updates_ == 1
    else:
        assert model.n_updates_ == 0
    np.testing.assert_allclose(model.coef_, expected, rtol=0, atol=1e-6)


@losses
@given(seed=seeds, spread=st.sampled_from([1e-12, 1e-3, 1.0]), size=st.sampled_from([1e-9, 1.0, 1e9]))
def test_multipliers_satisfy_the_optimality_conditions(loss, seed, spread, size):
    """Include v_z far smaller than r, for which sweeps would converge far too slowly."""
    random, r = np.random.RandomState(seed), 1.0
    f = spread * random.standard_normal(K)
    variances = size * random.uniform(0.1, 1.0, K)
    hinge = loss == "hinge"
    y, alpha = int(f.argmin()), np.zeros(K)
    wrong = violated(f, y, K - 1)
    n = multipliers(f, y, wrong, variances, r, hinge, alpha)
    rest = [z for z in range(K) if z != y]
    total = sum(alpha[wrong[:n]])
    alpha[wrong[n:]] = 0.0
    assert alpha[rest].min() >= 0
    slope = 1 - (f[y] - f[rest]) - variances[y] * total - variances[rest] * alpha[rest]
    if hinge:
        assert total <= 1 / (2 * r) * (1 + 1e-12)
        price = max(slope[alpha[rest] > 0].max(), 0.0) if total > 0.5 * (1 - 1e-12) else 0.0
    else:
        price = r * total
    excess = slope - price
    assert (excess < 1e-9).all()
    assert np.abs(excess[alpha[rest] > 0]).max() < 1e-9


@losses
@projections
def test_one_of_several_constraints_is_top_1(loss, projection):
    """constraints=1 changes μ and Σ in two blocks, by the binary formulas."""
    random = np.random.RandomState(0)
    for _ in range(50):
        r = random.uniform(0.1, 3.0)
        model, mu, sigma = random_model(random, r=r, loss=loss, projection=projection)
        x, y = random.standard_normal(D), random.randint(K)
        scores = mu @ x
        z = max((z for z in range(K) if z != y), key=lambda z: scores[z])
        model.learn_rows(x[None], np.array([y]))
        l, v = 1 - (scores[y] - scores[z]), (sigma[y] + sigma[z]) @ (x * x)
        if l > 0:
            alpha = min(1 / (2 * r), l / v) if loss == "hinge" else l / (v + r)
            mu[y] += alpha * sigma[y] * x
            mu[z] -= alpha * sigma[z] * x
            for c in (y, z):
                if projection == "precision":
                    sigma[c] = 1 / (1 / sigma[c] + x * x / r)
                else:
                    sigma[c] -= (sigma[c] * x) ** 2 / (v + r)
        np.testing.assert_allclose(model.coef_, mu, rtol=1e-10, atol=1e-14)
        np.testing.assert_allclose(model.sigma_, sigma, rtol=1e-10)


@losses
@given(seed=seeds)
def test_a_single_violated_constraint_moves_the_mean_as_top_1(loss, seed):
    random = np.random.RandomState(seed)
    top1, mu, sigma = random_model(random, r=0.5, loss=loss)
    top_k = AROW(r=0.5, loss=loss, constraints="all")
    top_k.begin(np.arange(K), D)
    top_k.coef_[:], top_k.sigma_[:] = mu, sigma
    x = random.standard_normal(D)
    scores = mu @ x
    order = np.argsort(-scores)
    # The right class leads all others except one by more than 1.
    shift = np.where(np.isin(np.arange(K), order[:2]), 0.0, -10.0)
    for model in (top1, top_k):
        model.coef_[:] += np.outer(shift, x) / (x @ x)
        model.learn_rows(x[None], np.array([order[0]]))
    np.testing.assert_allclose(top_k.coef_, top1.coef_, rtol=1e-12, atol=1e-14)


@projections
@pytest.mark.parametrize("constraints", [2, "all"])
def test_several_constraints_shrink_every_block(projection, constraints):
    """Eqs. 29 and 30: f is the sum over all classes, for k < K - 1 too."""
    random, r = np.random.RandomState(1), 0.7
    model, _, sigma = random_model(random, r=r, projection=projection, constraints=constraints)
    model.coef_[:] = 0.0
    x = random.standard_normal(D)
    model.learn_rows(x[None], np.array([2]))
    if projection == "precision":
        expected = 1 / (1 / sigma + x * x / r)
    else:
        f = np.tile(x, K)
        full = np.diag(sigma.ravel())
        full -= np.outer(full @ f, f @ full) / (r + f @ full @ f)
        expected = np.diag(full).reshape(K, D)
    np.testing.assert_allclose(model.sigma_, expected, rtol=1e-12)


def test_two_classes_have_one_constraint():
    X, y = noisy_classes(0, n_classes=2)
    models = [AROW(constraints=constraints).fit(X, y) for constraints in (1, 2, "all")]
    assert models[0].coef_.tolist() == models[1].coef_.tolist() == models[2].coef_.tolist()


def test_several_constraints_are_refused_once_a_full_covariance_is_begun():
    X, y = noisy_classes(0)
    model = AROW(covariance="full").fit(X, y).set_params(covariance="diagonal", constraints=2)
    before = model.coef_.tolist()
    with pytest.raises(
        ValueError, match=r"AROW: constraints must be 1 for a model begun with .*'full', got 2"
    ):
        model.partial_fit(X, y)
    assert (model.n_examples_, model.coef_.tolist()) == (len(y), before)
    assert model.fit(X, y).sigma_.shape == (5, 8)


def test_more_constraints_than_classes_are_all():
    X, y = noisy_classes(0)
    assert AROW(constraints=99).fit(X, y).coef_.tolist() == AROW(constraints="all").fit(X, y).coef_.tolist()


def blocks_and_margins(X, y, scores):
    """Return f(x, z) of every row and class, the best wrong classes and the margins."""
    n, k = scores.shape
    own, others = scores[np.arange(n), y], scores.copy()
    others[np.arange(n), y] = -np.inf
    blocks = np.einsum("kc,nd->nkcd", np.eye(k), X).reshape(n, k, -1)
    return blocks, others.argmax(axis=1), own - others.max(axis=1)


@given(seed=seeds, r=st.floats(0.05, 20), noise=st.sampled_from([0.0, 0.1, 0.4]))
def test_lemma_4_gives_the_mean_of_top_1(seed, r, noise):
    """Lemma 4, summed: r Σ_T⁻¹ μ_T is the sum of Δf over the updates, and r Σ_T⁻¹ is r I + X_A."""
    X, y = noisy_classes(seed, n=200, d=4, n_classes=4, noise=noise)
    model = AROW(r=r, covariance="full")
    blocks, wrong, margins = blocks_and_margins(X, y, model.learn(X, y, classes=range(4)))
    updated = np.flatnonzero(margins < 1)
    assert model.n_updates_ == len(updated)
    differences = blocks[updated, y[updated]] - blocks[updated, wrong[updated]]
    total = differences.sum(axis=0)
    close = {"rtol": 0, "atol": 1e-9 * np.abs(differences).sum(axis=0).max()}
    np.testing.assert_allclose(r * np.linalg.solve(model.sigma_, model.coef_.ravel()), total, **close)
    A = r * np.eye(16) + differences.T @ differences
    np.testing.assert_allclose(A @ model.coef_.ravel(), total, **close)


@given(seed=seeds, r=st.floats(0.05, 20), noise=st.sampled_from([0.0, 0.1, 0.4]))
def test_theorem_2_bounds_the_mistakes(seed, r, noise):
    """The theorem bounds the mistakes of top-1 with a full Σ for any weights u: random, good and worst ones.

    The worst are along ``(r I + X_A)⁻¹ Σ Δf``, where the Cauchy-Schwarz inequality is tight, and so short
    that no margin is above 1.
    """
    X, y = noisy_classes(seed, n=200, d=4, n_classes=4, noise=noise)
    model = AROW(r=r, covariance="full")
    blocks, wrong, margins = blocks_and_margins(X, y, model.learn(X, y, classes=range(4)))
    M, U = int((margins <= 0).sum()), int(((margins > 0) & (margins < 1)).sum())
    updated = np.flatnonzero(margins < 1)
    differences = blocks[updated, y[updated]] - blocks[updated, wrong[updated]]
    XA = differences.T @ differences
    random = np.random.RandomState(seed)
    worst = np.linalg.solve(r * np.eye(16) + XA, differences.sum(axis=0))
    short = worst / np.abs(differences @ worst).max()
    mean = model.coef_.ravel()
    for u in (worst, short, mean, 5 * mean, random.standard_normal(16), np.zeros(16)):
        values = (blocks @ u)[updated]
        own = values[np.arange(len(updated)), y[updated]].copy()
        values[np.arange(len(updated)), y[updated]] = -np.inf
        g = np.maximum(0, 1 - (own - values.max(axis=1))).sum()
        logdet = np.linalg.slogdet(np.eye(16) + XA / r)[1]
        assert g + np.sqrt(r * u @ u + u @ XA @ u) * np.sqrt(logdet + U) - U >= M


def test_state_of_many_classes_is_padded_to_whole_vectors():
    widths = [new_class_state(2, n_classes).shape[1] for n_classes in (3, 4, 5, 8, 9, 20)]
    assert widths == [4, 4, 8, 8, 16, 24]
