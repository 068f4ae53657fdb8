"""The Projectrons: projections, and the mistake bounds of their paper."""

import os
import subprocess
import sys

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics.pairwise import rbf_kernel

from singlepass.learners import KernelPerceptron, Projectron, ProjectronPlusPlus, as_rows
from singlepass.learners.kernel.support.inverse_factor import (
    project,
    projected,
    projected_norm,
    room_to_project,
)

from ..streams import as_csr, inverse_factor_of, noisy_stream, state

pytestmark = pytest.mark.slow

seeds = st.integers(0, 2**31 - 1)


@given(seed=seeds, gamma=st.floats(0.3, 3.0))
def test_projectron_without_tolerance_predicts_as_the_perceptron(seed, gamma):
    X, y = noisy_stream(seed, d=4)
    plain, projecting = KernelPerceptron(gamma=gamma), Projectron(eta=0.0, gamma=gamma)
    expected = plain.learn(X, y)
    np.testing.assert_allclose(projecting.learn(X, y), expected, rtol=1e-6, atol=1e-6)
    assert projecting.n_mistakes_ == plain.n_mistakes_
    assert projecting.n_support_ <= plain.n_support_


@pytest.mark.parametrize(
    ("parameters", "rank"), [({"kernel": "linear"}, 5), ({"kernel": "poly", "degree": 2}, 21)]
)
def test_projectron_needs_no_more_rows_than_the_kernel_has_dimensions(parameters, rank):
    X, y = noisy_stream(16, n=500, d=5)
    plain, projecting = KernelPerceptron(**parameters), Projectron(eta=0.0, **parameters)
    expected = plain.learn(X, y)
    np.testing.assert_allclose(projecting.learn(X, y), expected, rtol=1e-6, atol=1e-6)
    assert projecting.n_support_ == rank < plain.n_support_
    single = Projectron(eta=0.0, **parameters).fit(X.astype(np.float32), y)
    assert single.n_support_ <= rank + 3  # the rounding of float32 may look like a dimension


@given(seed=seeds, eta=st.sampled_from([0.05, 0.2, 0.5]), plus=st.booleans())
def test_projections_equal_a_least_squares_solve(seed, eta, plus):
    X, y = noisy_stream(seed, n=100, d=4)
    model = (ProjectronPlusPlus if plus else Projectron)(eta=eta, gamma=0.2).fit(X, y)
    inverse = inverse_factor_of(model)
    assert (np.triu(inverse, 1) == 0.0).all()
    lower = np.linalg.inv(inverse)
    slots = model._support.matrix(np.arange(model.n_support_))
    K, k = rbf_kernel(slots, gamma=0.2), rbf_kernel(slots, X[:20], gamma=0.2)
    least = np.linalg.lstsq(K, k, rcond=None)[0]
    residual = 1 - (np.linalg.solve(lower, k) ** 2).sum(axis=0)
    np.testing.assert_allclose(residual, 1 - np.einsum("ij,ij->j", k, least), atol=1e-8)
    np.testing.assert_allclose(lower @ lower.T, K, atol=1e-12)


@given(seed=seeds, n=st.integers(1, 40))
def test_both_products_of_a_projection(seed, n):
    """Check ‖z‖² and K⁻¹k, with and without whole panels; a row of the set has d = e_i and δ² = 0."""
    X, y = noisy_stream(seed, n=40, d=4)
    model = Projectron(eta=0.0, gamma=1.0)
    model.learn(X[:n], y[:n], classes=[0, 1])
    inside = model._support.matrix(np.arange(model.n_support_))
    view = model._support.open_block(as_rows(inside), len(inside), 0)
    K = rbf_kernel(inside, gamma=1.0)
    for t in range(len(inside)):
        norm, d = project_both(view, len(inside), t, -1, 0)
        assert norm == pytest.approx(1.0, abs=1e-9)
        np.testing.assert_allclose(K @ d, K[t], atol=1e-9)
        np.testing.assert_allclose(d, np.eye(len(inside))[t], atol=1e-6)


@given(seed=seeds, n=st.integers(1, 40))
def test_a_row_projected_with_another_is_as_if_alone(seed, n):
    """The results agree to the last bit, in either place of the pair."""
    X, y = noisy_stream(seed, n=60, d=4)
    model = Projectron(eta=0.1, gamma=1.0)
    model.learn(X[:n], y[:n], classes=[0, 1])
    view = model._support.open_block(as_rows(X[40:]), 20, n)
    for t in range(19):
        for place, pair in enumerate([(t, t + 1), (t - 1, t)][: t + 1]):
            alone = project_both(view, model.n_support_, t, -1, 0)
            together = project_both(view, model.n_support_, *pair, place)
            assert alone[0] == together[0]
            np.testing.assert_array_equal(alone[1], together[1])


def test_projections_onto_more_rows_than_two_panels_in_a_cache():
    """From that size on, the halves of a step are separate loops; check pairs and single rows."""
    X, y = noisy_stream(23, n=800, d=6)
    y = np.random.RandomState(23).permutation(y)  # about every other row is a mistake
    model = Projectron(eta=0.0, gamma=4.0).fit(X[:780], y[:780])
    n = model.n_support_
    assert n > 300
    view = model._support.open_block(as_rows(X[780:]), 20, 780)
    inside = model._support.matrix(np.arange(n))
    K, k = rbf_kernel(inside, gamma=4.0), rbf_kernel(inside, X[780:], gamma=4.0)
    for size in (248, 256, 264, n):  # for whole panels, entries after the last row count as zeros
        expected = np.linalg.solve(K[:size, :size], k[:size])
        for t in range(19):
            alone = [project_both(view, size, s, -1, 0) for s in (t, t + 1)]
            for place, (norm, d) in enumerate(alone):
                together = project_both(view, size, t, t + 1, place)
                assert together[0] == norm
                np.testing.assert_array_equal(together[1], d)
            np.testing.assert_allclose(alone[0][1], expected[:, t], rtol=1e-7, atol=1e-9)
            assert alone[0][0] == pytest.approx(k[:size, t] @ expected[:, t], rel=1e-9)


@pytest.mark.parametrize("Learner", [Projectron, ProjectronPlusPlus])
@pytest.mark.parametrize("eta", [0.1, 0.6])
def test_what_is_solved_ahead_changes_nothing(Learner, eta):
    """Single rows are never solved ahead; many mistakes are near one another, and some rows join the set."""
    X, y = noisy_stream(22, n=400, d=3)
    whole, single = Learner(eta=eta, gamma=0.3), Learner(eta=eta, gamma=0.3)
    scores = whole.learn(X, y, classes=[0, 1])
    one_by_one = [single.learn(X[t : t + 1], y[t : t + 1], classes=[0, 1]) for t in range(len(y))]
    np.testing.assert_array_equal(scores, np.concatenate(one_by_one))
    np.testing.assert_array_equal(whole.dual_coef_, single.dual_coef_)
    assert 1 < whole.n_support_ < whole.n_mistakes_ - 40


@numba.njit
def project_both(view, n, t, other, place):
    work = room_to_project(view)
    project(view, n, t, other, work)
    return projected_norm(n, place, work), projected(n, place, work).copy()


@given(seed=seeds, share=st.floats(0.1, 0.9))
def test_mistake_bound_of_theorem_2(seed, share):
    """The bound holds for any competitor g and eta < (2 - R²)/(2‖g‖), here with R = 1."""
    X, y = noisy_stream(seed, n=120, d=3)
    sign = 2 * y - 1
    random = np.random.RandomState(seed)
    K = rbf_kernel(X, gamma=0.3)
    for scale in (0.1, 1.0):
        weights = scale * sign * random.uniform(size=len(y)) / 5
        norm = np.sqrt(weights @ K @ weights)
        loss = np.maximum(0.0, 1.0 - sign * (K @ weights)).sum()
        eta = share / (2.0 * norm)
        model = Projectron(eta=eta, gamma=0.3).fit(X, y)
        assert model.n_mistakes_ <= (norm**2 + 2 * loss) / (1.0 - 2.0 * eta * norm) + 1e-9


@pytest.mark.parametrize("Learner", [Projectron, ProjectronPlusPlus])
@given(seed=seeds, U=st.floats(0.5, 20.0))
def test_mistake_bound_of_corollary_1(Learner, seed, U):
    X, y = noisy_stream(seed, n=120, d=3)
    sign = 2 * y - 1
    K = rbf_kernel(X, gamma=0.3)
    weights = sign * 0.2
    norm = np.sqrt(weights @ K @ weights)
    weights, norm = weights * min(1.0, U / norm), min(norm, U)
    loss = np.maximum(0.0, 1.0 - sign * (K @ weights)).sum()
    model = Learner(U=U, gamma=0.3).fit(X, y)
    assert model.n_mistakes_ <= 2 * norm**2 + 4 * loss + 1e-9


@pytest.mark.parametrize("Learner", [Projectron, ProjectronPlusPlus])
@pytest.mark.parametrize("convert", [np.asarray, as_csr])
def test_a_norm_bound_needs_kernel_values_within_one(Learner, convert):
    X, y = noisy_stream(17, n=20, d=3)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    model = Learner(U=3.0, kernel="linear").fit(convert(X), y)
    before = state(model)
    X[11] *= 3
    message = r"U needs k\(x, x\) <= 1, but row 11 \(counted from 0\) has 9; scale the rows, or give eta"
    with pytest.raises(ValueError, match=message):
        model.learn(convert(X), y)
    assert state(model) == before
    with pytest.raises(ValueError, match=r"U needs k\(x, x\) <= 1, but row 11"):
        Learner(U=3.0, kernel="poly").fit(convert(X), y)
    fresh = Learner(U=3.0, kernel="linear")
    with pytest.raises(ValueError, match=message):
        fresh.learn(convert(X), y)
    # If the first rows are refused, the stream has not begun.
    assert vars(fresh) == vars(Learner(U=3.0, kernel="linear"))


def test_a_norm_bound_set_while_learning_three_classes_is_refused():
    X, y = noisy_stream(17, n=20, d=3)
    model = Projectron().fit(X, np.arange(20) % 3).set_params(U=2.0)
    with pytest.raises(ValueError, match="U is for two classes, not 3; give eta instead"):
        model.learn(X, y)


@pytest.mark.parametrize("Learner", [Projectron, ProjectronPlusPlus])
def test_a_norm_bound_is_checked_with_the_kernel_in_use(Learner):
    """A kernel changed by `set_params` waits for the next `fit`."""
    X, y = noisy_stream(17, n=20, d=3)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    linear = Learner(U=3.0, kernel="linear").fit(X, y).set_params(kernel="rbf")
    with pytest.raises(ValueError, match=r"U needs k\(x, x\) <= 1, but row"):
        linear.learn(3 * X, y)
    linear.fit(3 * X, y)
    rbf = Learner(U=3.0).fit(3 * X, y).set_params(kernel="linear")
    assert rbf.learn(3 * X, y).tolist() == linear.learn(3 * X, y).tolist()


def test_projectron_plus_plus_grows_on_mistakes_only():
    X, y = noisy_stream(18, n=300, d=3)
    model = ProjectronPlusPlus(eta=0.5, gamma=0.1)
    for t in range(len(y)):
        mistakes, size = (model.n_mistakes_, model.n_support_) if t else (0, 0)
        model.learn(X[t : t + 1], y[t : t + 1], classes=[0, 1])
        assert model.n_support_ == size or model.n_mistakes_ == mistakes + 1
    assert model.n_updates_ > model.n_mistakes_


@given(seed=seeds, U=st.floats(1.0, 20.0))
def test_with_a_norm_bound_each_update_of_projectron_plus_plus_makes_progress(seed, U):
    """``‖f - g‖²`` falls by 1/2 or more on a mistake and never rises, for g with norm U and no loss."""
    X, y = noisy_stream(seed, n=60, d=3, noise=0.0)
    sign = 2 * y - 1
    K = rbf_kernel(X, gamma=0.3)
    model = ProjectronPlusPlus(U=U, gamma=0.3)
    f = np.zeros(len(y))
    for t in range(len(y)):
        m = sign[t] * model.learn(X[t : t + 1], y[t : t + 1], classes=[0, 1])[0]
        after = np.zeros(len(y))
        after[model.support_] = model.dual_coef_[0]
        # Of all g with norm <= U and loss <= l on this row, progress is smallest for that along -(f' - f).
        step = after - f
        length = np.sqrt(max(step @ K @ step, 0.0))
        if length > 0.0:
            fall = f @ K @ f - after @ K @ after + 2 * least_product(K, step, t, sign[t], U)
            assert fall >= (0.5 if m <= 0.0 else 0.0) - 1e-9
        f = after


def least_product(K, step, t, sign, U):
    """Return the least ``⟨step, g⟩`` over g with ``‖g‖ <= U`` and ``sign · g(x_t) >= 1``, if k(x, x) = 1."""
    along = sign * (step @ K[t])
    across = np.sqrt(max(step @ K @ step - along**2, 0.0))
    # g = c sign k(x_t, ·) + an orthogonal part.
    c = np.linspace(1.0, U, 200)
    return (c * along - np.sqrt(np.maximum(U**2 - c**2, 0.0)) * across).min()


def test_what_a_projection_works_on_is_held_until_the_block_has_ended():
    # With these settings every larger array is a separate memory mapping, unmapped with the array, so that a
    # later read or write crashes the process.
    environment = os.environ | {
        "MALLOC_MMAP_THRESHOLD_": "4096", "MALLOC_TOP_PAD_": "0", "MALLOC_TRIM_THRESHOLD_": "0"
    }  # fmt: skip
    code = (
        "import numpy as np; from singlepass.learners import Projectron\n"
        "random = np.random.RandomState(0)\n"
        "X = random.standard_normal((3000, 6))\n"
        "for y in (random.randint(0, 2, 3000), random.randint(0, 3, 3000)):\n"
        "    print(Projectron(eta=0.0, gamma=4.0).fit(X, y).n_support_ > 0)\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert (ended.returncode, ended.stdout) == (0, "True\nTrue\n"), ended.stderr
