"""Properties of all kernel learners: exactness, storage, counters; and equality with linear ones."""

import itertools
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel

from singlepass.learners import (
    ALMA,
    AROW,
    BPAS,
    BSGD,
    FOGD,
    LASVM,
    NORMA,
    DistillCacheMIRA,
    DistillCachePerceptron,
    Forgetron,
    IncrementalSVM,
    KernelALMA,
    KernelAROW,
    KernelMIRA,
    KernelPassiveAggressive,
    KernelPerceptron,
    KernelSecondOrderPerceptron,
    OnlineGradientDescent,
    OnlineModelSelection,
    PassiveAggressive,
    Perceptron,
    Projectron,
    ProjectronPlusPlus,
    as_rows,
)
from singlepass.learners.kernel.values.row_storage import aligned

from ..streams import (
    as_csr,
    every_kernel_learner,
    every_kernel_learner_but_ramp_svms,
    is_representative,
    noisy_stream,
    state,
)

seeds = st.integers(0, 2**31 - 1)


@every_kernel_learner
@settings(max_examples=15)
@given(
    seed=seeds,
    rows=st.sampled_from([1, 2, 5, 13, 60, 200]),
    cuts=st.lists(st.integers(1, 149), max_size=4),
    sparse=st.booleans(),
    dtype=st.sampled_from([np.float32, np.float64]),
)
def test_blocks_chunks_and_storage_change_nothing(learner, seed, rows, cuts, sparse, dtype):
    """Scores, coefficients and counters agree to the last bit."""
    X, y = noisy_stream(seed, density=0.7)
    X = X.astype(dtype)
    # Loops are compiled for each kind of rows; the representatives read all of them.
    sparse = sparse and (is_representative(learner) or dtype == np.float64)
    usual, other = clone(learner), clone(learner)
    scores = usual.learn(X, y, classes=[0, 1])
    other._block_rows = rows
    edges = [0, *sorted(set(cuts)), len(y)]
    Z = as_csr(X) if sparse else X
    parts = [other.learn(Z[a:b], y[a:b], classes=[0, 1]) for a, b in itertools.pairwise(edges)]
    assert np.concatenate(parts).tolist() == scores.tolist()
    assert state(other) == state(usual)
    assert other.decision_function(Z).tolist() == usual.decision_function(X).tolist()


@every_kernel_learner
def test_rows_of_another_kind_are_converted(learner):
    """A float64 or dense chunk may follow float32 CSR ones, and the reverse."""
    X, y = noisy_stream(1, density=0.5)
    X = X.astype(np.float32)
    kinds = [as_csr(X), X, as_csr(X).astype(np.float64), X.astype(np.float64)]
    for first in kinds if is_representative(learner) else kinds[1:]:
        mixed, plain = clone(learner), clone(learner)
        plain.learn(first, y)
        for k, (a, b) in enumerate([(0, 40), (40, 80), (80, 120), (120, 150)]):
            mixed.learn((kinds[k] if k else first)[a:b], y[a:b], classes=[0, 1])
        assert state(mixed) == state(plain)


@every_kernel_learner
def test_a_model_that_has_learnt_nothing_scores_zero(learner):
    model = clone(learner)
    model.begin(np.array([0, 1]), 3)
    assert model.score_rows(np.ones((2, 3))).tolist() == [0.0, 0.0]
    assert (model.support_.shape, model.dual_coef_.shape) == ((0,), (1, 0))
    assert model.support_vectors_.shape == (0, 3)
    assert model.model_bytes_ == 0


@every_kernel_learner
@pytest.mark.parametrize("scale", [1e-160, 1e-30, 1e30, 1e60, 1e160])
def test_extreme_scales_stay_finite(learner, scale):
    X, y = noisy_stream(9)
    model = clone(learner).set_params(gamma=1.0)
    if getattr(learner, "U", None) is None:
        model.fit(X * scale, y)
        assert np.isfinite(model.dual_coef_).all()


@pytest.mark.slow
@pytest.mark.parametrize("convert", [np.asarray, as_csr])
def test_float64_values_beyond_float32_are_taken_without_a_warning(convert):
    X, y = noisy_stream(10, n=40)
    later = np.array([[1e300] * X.shape[1]])
    for learner in (KernelPerceptron(gamma=0.1), FOGD(D=8)):
        model = learner.partial_fit(convert(X.astype(np.float32)), y)
        model.partial_fit(convert(later), [1])
        assert np.isfinite(model.decision_function(convert(X))).all()


def test_a_row_whose_norm_overflows_is_not_learnt():
    X, y = noisy_stream(10, n=40)
    X[7] = 1e200
    model = KernelPerceptron().fit(X, y)
    assert 7 not in model.support_
    assert model.n_mistakes_ == model.n_support_ + 1


@pytest.mark.parametrize(
    ("kernel", "linear"),
    [
        (KernelPerceptron(kernel="linear"), Perceptron()),
        (KernelPassiveAggressive(C=0.3, kernel="linear"), PassiveAggressive(C=0.3)),
        *(
            pytest.param(*pair, marks=pytest.mark.slow)
            for pair in (
                (KernelAROW(r=0.3, kernel="linear"), AROW(r=0.3, covariance="full")),
                (NORMA(eta0=0.3, lam=0.0, decay=True, kernel="linear"), OnlineGradientDescent(eta=0.3)),
                (KernelALMA(alpha=0.8, kernel="linear"), ALMA(alpha=0.8)),
            )
        ),
    ],
    ids=repr,
)
@given(seed=seeds)
def test_with_the_linear_kernel_it_is_the_linear_learner(kernel, linear, seed):
    X, y = noisy_stream(seed)
    kernel, linear = clone(kernel), clone(linear)
    expected = linear.learn(X, y)
    if isinstance(linear, ALMA):  # it scores rows of norm 1
        expected *= np.linalg.norm(X, axis=1)
    np.testing.assert_allclose(kernel.learn(X, y), expected, rtol=1e-9, atol=1e-10)
    assert kernel.n_mistakes_ == linear.n_mistakes_
    assert kernel.n_updates_ == linear.n_updates_ == kernel.n_support_


def test_alma_stays_in_the_unit_ball():
    X, y = noisy_stream(23, n=300)
    model = KernelALMA(gamma=0.1)
    for t in range(0, 300, 20):
        model.learn(X[t : t + 20], y[t : t + 20], classes=[0, 1])
        alpha = model.dual_coef_[0]
        squared = alpha @ rbf_kernel(model.support_vectors_, gamma=0.1) @ alpha
        assert squared == pytest.approx(model._squared_norm)
        assert squared <= 1.0 + 1e-9


def sizes_along(model, X, y):
    """Return the size of the support set before each row, and the signed margins."""
    sizes, margins = [], []
    for t in range(len(y)):
        sizes.append(model.n_support_ if t else 0)
        margins.append((2 * y[t] - 1) * model.learn(X[t : t + 1], y[t : t + 1], classes=[0, 1])[0])
    return np.array(sizes), np.array(margins)


def evaluations_of_removals(model, X, y):
    """Return how many kernel values DistillCache needs beyond those of predictions."""
    K = rbf_kernel(X, gamma=model.gamma) if model.kernel == "rbf" else X @ X.T
    cache, evaluations = {}, 0
    for t, sign in enumerate(2 * y - 1):
        m = sign * sum(a * K[i, t] for i, a in cache.items())
        τ = min(1.0, (model.beta - m) / K[t, t]) if isinstance(model, DistillCacheMIRA) else 1.0
        if m > model.beta or τ <= 0.0:
            continue
        cache[t] = τ * sign
        while cache:
            margins = {
                i: np.sign(a) * sum(cache[j] * K[i, j] for j in cache if j != i) for i, a in cache.items()
            }
            r = max(margins, key=margins.get)
            if len(cache) <= model.budget if model.budget else margins[r] < model.beta:
                break
            del cache[r]
            evaluations += sum(i != t for i in cache) if r != t else 0
    assert list(cache) == model.support_.tolist()
    return evaluations


@every_kernel_learner_but_ramp_svms
def test_kernel_evaluations_are_those_of_an_implementation_on_demand(learner):
    X, y = noisy_stream(19, n=120)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    model = clone(learner)
    if isinstance(learner, OnlineModelSelection):  # it has two models: see test_model_selection
        return
    sizes, margins = sizes_along(model, X, y)
    expected = sizes.sum()
    if isinstance(learner, (KernelPassiveAggressive, ProjectronPlusPlus, KernelAROW, BPAS)):
        expected += (margins < 1).sum()
    elif isinstance(learner, (Projectron, KernelSecondOrderPerceptron)):
        expected += (margins <= 0).sum()
    elif isinstance(learner, KernelALMA):
        expected += len(y)
    elif isinstance(learner, LASVM):
        expected += model.n_updates_
    elif isinstance(learner, KernelMIRA):
        expected += (margins <= learner.beta).sum()
    elif isinstance(learner, (DistillCachePerceptron, DistillCacheMIRA)):
        if isinstance(learner, DistillCacheMIRA):
            expected += (margins <= learner.beta).sum()
        expected += evaluations_of_removals(model, X, y)
    elif isinstance(learner, IncrementalSVM):
        # Rows that join the margin set need more; only the loop itself knows their number.
        expected += (np.arange(1, len(y) + 1) - sizes)[margins < 1].sum()
        assert model.n_kernel_evaluations_ > expected
        return
    elif isinstance(learner, BSGD) and learner.maintenance == "merging":
        # A merger evaluates at most row p with all others except the new row: see test_budgets.
        mergers = (margins < 1) & (sizes == learner.budget)
        assert 0 < model.n_kernel_evaluations_ - expected <= (learner.budget - 1) * mergers.sum()
        return
    elif isinstance(learner, Forgetron):
        expected += sizes[(margins <= 0) & (sizes == learner.budget)].sum()
    assert model.n_kernel_evaluations_ == expected, "a rule that returns evaluations needs a line above"


@pytest.mark.parametrize("sparse", [False, True])
def test_threads_score_with_one_model(sparse):
    """Each call writes the values of a block into its own array."""
    X, y = noisy_stream(30, n=600, d=40, density=0.3)
    Z = as_csr(X) if sparse else X
    model = KernelPerceptron(gamma=0.1).fit(Z, y)
    parts = [Z[start:] for start in range(0, 400, 10)]
    expected = [model.decision_function(part).tolist() for part in parts]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(3):
            assert [scores.tolist() for scores in pool.map(model.decision_function, parts)] == expected


@pytest.mark.parametrize("sparse", [False, True])
def test_a_support_set_that_grows_while_it_scores_writes_into_its_room_only(sparse):
    """As if another thread learned after the room was made; memory beyond the room stays as it was."""
    X, y = noisy_stream(30, n=600, d=40, density=0.3)
    Z = as_csr(X) if sparse else X
    model = KernelPerceptron(gamma=0.1).fit(Z[:20], y[:20])
    support, n = model._support, 12
    room, scores = support.room(n), np.empty(n)
    memory = aligned((40 * n, room.slots), room.values.dtype, np.zeros)
    room.values = memory[: len(room.values)]
    model.partial_fit(Z, y)
    assert support.size > 2 * room.slots
    support.scores(as_rows(Z[:n]), n, scores, room)
    assert not memory[len(room.values) :].any()
    first = support.matrix(np.arange(room.slots))
    expected = rbf_kernel(X[:n], first, gamma=0.1) @ support.alpha[: room.slots]
    np.testing.assert_allclose(scores, expected, atol=1e-10)


def test_without_room_for_their_rows_support_vectors_are_left_out():
    """While learners share kernel values, a set has coefficients of rows that are not copied to it yet."""
    X, y = noisy_stream(30, n=20, d=4)
    support = KernelPerceptron(gamma=0.1).fit(X, y)._support
    support.reserve(1000, rows=False)
    assert support.room(1).slots == support.rows.capacity() < len(support.norms)


def test_random_features_without_weights_score_zero():
    """Another thread that begins to learn may have replaced one of the two but not the other."""
    X, y = noisy_stream(30, n=20, d=4)
    model = FOGD(D=8).fit(X, y)
    model._weights = np.zeros(0)
    assert not model.decision_function(X).any()


def test_a_pickle_holds_nothing_of_the_last_block():
    X, y = noisy_stream(31, n=100, d=5)
    model = KernelPerceptron().fit(X, y)
    assert model._support._room is not None
    again = pickle.loads(pickle.dumps(model))
    assert again._support._room is None
    assert again.learn(X, y).tolist() == model.learn(X, y).tolist()
