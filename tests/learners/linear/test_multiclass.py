"""Properties of every learner for more than two classes, on any stream."""

import itertools
import pickle
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from singlepass.learners import (
    AROW,
    KT,
    ROMMA,
    AdaGradRDA,
    ConfidenceWeighted,
    DAdaptationSGD,
    DoG,
    DoWG,
    Mechanic,
    PassiveAggressive,
    Perceptron,
    SecondOrderPerceptron,
    as_rows,
)

from ..cases import CASES
from ..streams import (
    OF_MANY_CLASSES,
    as_csr,
    every_multiclass_learner,
    noisy_classes,
    noisy_stream,
    representatives_of,
    state,
    tiered,
    wild_stream,
)

seeds = st.integers(0, 2**31 - 1)
CLASSES = range(5)


@every_multiclass_learner
@given(seed=seeds, cuts=st.lists(st.integers(1, 119), max_size=6), sparse=st.booleans())
def test_chunks_change_nothing(learner, seed, cuts, sparse):
    X, y = noisy_classes(seed, density=0.4)
    X = as_csr(X) if sparse else X
    whole, cut = clone(learner), clone(learner)
    scores = whole.learn(X, y, classes=CLASSES)
    edges = [0, *sorted(set(cuts)), len(y)]
    parts = [cut.learn(X[a:b], y[a:b], classes=CLASSES) for a, b in itertools.pairwise(edges)]
    assert np.concatenate(parts).tolist() == scores.tolist()
    assert state(cut) == state(whole)


@every_multiclass_learner
def test_rows_one_by_one_and_scores_beforehand(learner):
    X, y = noisy_classes(3, density=0.5)
    whole, single = clone(learner), clone(learner)
    scores = whole.learn(X, y, classes=CLASSES)
    buffer = np.empty((1, X.shape[1]))
    for t in range(len(y)):
        buffer[:] = X[t]
        if t > 0:
            assert single.decision_function(buffer)[0].tolist() == scores[t].tolist()
        assert single.learn(buffer, y[t : t + 1], classes=CLASSES)[0].tolist() == scores[t].tolist()
        buffer[:] = np.nan  # single pass: the learner keeps no reference to the row
    assert state(single) == state(whole)


# They sum ‖x‖² of dense and of CSR rows in different orders.
TAKING_LENGTHS = (PassiveAggressive, KT, ROMMA, DoG, DoWG, DAdaptationSGD, Mechanic)


@every_multiclass_learner
def test_dense_and_sparse_agree(learner):
    for n_classes, density in itertools.product([3, 4, 5, 17, 60], [0.2, 1.0]):
        X, y = noisy_classes(1, n_classes=n_classes, density=density)
        dense, sparse = clone(learner), clone(learner)
        scores = dense.learn(X, y, classes=range(n_classes))
        if isinstance(learner, TAKING_LENGTHS):
            np.testing.assert_allclose(
                sparse.learn(as_csr(X), y, range(n_classes)), scores, rtol=0, atol=1e-10
            )
        else:
            same = sparse.learn(as_csr(X), y, classes=range(n_classes)).tolist() == scores.tolist()
            assert same, "a learner that uses ‖x‖² must be in TAKING_LENGTHS"
        assert dense.n_mistakes_ == sparse.n_mistakes_
        assert dense.n_updates_ == sparse.n_updates_
        assert scores.shape == (len(y), n_classes)
        assert dense.coef_.shape == (n_classes, X.shape[1])


@pytest.mark.slow
@representatives_of(OF_MANY_CLASSES)
@pytest.mark.parametrize("convert", [np.asarray, as_csr])
def test_precision_and_index_width_do_not_matter(learner, convert):
    X, y = noisy_classes(5, density=0.6)
    X = convert(X.astype(np.float32))
    double = X.astype(np.float64)
    if sp.issparse(double):
        double.indices, double.indptr = double.indices.astype(np.int64), double.indptr.astype(np.int64)
    assert state(clone(learner).fit(X, y)) == state(clone(learner).fit(double, y))


@every_multiclass_learner
def test_mistakes_are_margins_of_at_most_zero(learner):
    X, y = noisy_classes(2)
    model = clone(learner)
    scores = model.learn(X, y, classes=CLASSES)
    margins = [s[label] - np.delete(s, label).max() for s, label in zip(scores, y, strict=True)]
    assert model.n_mistakes_ == sum(not margin > 0 for margin in margins)
    assert 0 < model.n_mistakes_ < len(y)


@every_multiclass_learner
def test_fit_resets_the_learner(learner):
    X, y = noisy_classes(7)
    thrice = clone(learner).set_params(epochs=3).fit(X, y)
    by_hand = clone(learner)
    for _ in range(3):
        by_hand.learn(X, y, classes=CLASSES)
    assert state(thrice) == state(by_hand)
    # Learn two classes, then more again: nothing remains of the earlier model.
    binary = noisy_stream(7)
    thrice.set_params(epochs=1).fit(*binary)
    assert state(thrice) == state(clone(learner).fit(*binary))
    assert thrice.decision_function(binary[0]).ndim == 1
    assert state(thrice.fit(X, y)) == state(clone(learner).fit(X, y))


@every_multiclass_learner
def test_a_pickled_learner_continues_where_it_stopped(learner):
    X, y = noisy_classes(1)
    model = clone(learner).partial_fit(X[:80], y[:80], CLASSES)
    copy = pickle.loads(pickle.dumps(model))
    assert state(copy.partial_fit(X[80:], y[80:])) == state(model.partial_fit(X[80:], y[80:]))


@every_multiclass_learner
def test_zero_rows_are_mistakes_without_updates(learner):
    X, y = noisy_classes(8, n=40)
    first = 0 if CASES[type(learner).__name__].counts_rounds else 2
    padded = np.vstack([np.zeros((first, X.shape[1])), X, np.zeros((1, X.shape[1]))])
    model = clone(learner)
    scores = model.learn(padded, np.concatenate([[0, 1][:first], y, [4]]), classes=CLASSES)
    assert not scores[[*range(first), -1]].any()
    # The mean, the L1 threshold and bets count every round, and l2 shrinks in every round.
    counts = any(getattr(learner, name, 0.0) for name in ("average", "l1", "l2")) or isinstance(learner, KT)
    if not counts:
        plain = clone(learner).partial_fit(X, y, CLASSES)
        assert model.n_mistakes_ == plain.n_mistakes_ + first + 1
        assert model.coef_.tolist() == plain.coef_.tolist()


@every_multiclass_learner
def test_rows_of_wildly_different_lengths_leave_the_model_finite(learner):
    """Overflowing scores and steps are skipped."""
    for convert, seed in itertools.product([np.asarray, as_csr], range(30)):
        X, y = wild_stream(seed, n_classes=4)
        model = clone(learner).partial_fit(convert(X), y, range(4))
        assert np.isfinite(model.coef_).all()
        assert np.isfinite(getattr(model, "sigma_", 0.0)).all()


@every_multiclass_learner
def test_extreme_scales_stay_finite(learner):
    for scale in [1e-160, 1e-30, 1e30, 1e160]:
        X, y = noisy_classes(9)
        model = clone(learner).fit(X * scale, y)
        assert np.isfinite(model.coef_).all()
        assert np.isfinite(getattr(model, "sigma_", 0.0)).all()


@every_multiclass_learner
def test_the_largest_score_is_the_prediction(learner):
    X, y = noisy_classes(10)
    names = np.array(["ash", "beech", "cedar", "elm", "fir"])
    model = clone(learner).fit(X, names[y])
    assert model.classes_.tolist() == names.tolist()
    assert model.predict(X).tolist() == names[model.decision_function(X).argmax(axis=1)].tolist()
    assert model.predict(np.zeros((1, X.shape[1]))).tolist() == ["ash"]  # the first of equal scores


@every_multiclass_learner
def test_separable_stream_is_learnt(learner):
    X, y = noisy_classes(11, n=3000, noise=0.0)
    assert clone(learner).fit(X[:2500], y[:2500]).score(X[2500:], y[2500:]) > 0.8


# With several classes, KT scales its reward by 1/√2, but not its scores.
@pytest.mark.parametrize(
    "learner", tiered(learner for learner in OF_MANY_CLASSES if not isinstance(learner, KT))
)
@pytest.mark.parametrize("convert", [np.asarray, as_csr])
def test_two_classes_by_blocks_are_the_binary_learner_on_the_difference(learner, convert):
    """With K = 2, Δf is y (-x, x), so the multi-class loop is the binary one on rows of 2d features."""
    X, y = noisy_stream(13)
    blocks = clone(learner)
    blocks.begin(np.array([0, 1]), X.shape[1])
    blocks._allocate_classes(X.shape[1], 2)
    scores = np.empty((len(y), 2))
    counts = blocks._pass_classes(as_rows(convert(X)), y.astype(np.int32), scores)
    blocks.n_examples_ = len(y)
    binary = clone(learner)
    expected = binary.learn(np.hstack([-X, X]), y, classes=[0, 1])
    assert counts == (binary.n_mistakes_, binary.n_updates_)
    largest = np.abs(binary.coef_).max()
    np.testing.assert_allclose(blocks.coef_.ravel(), binary.coef_[0], rtol=0, atol=1e-9 * largest)
    margins = scores[:, 1] - scores[:, 0]
    if isinstance(learner, SecondOrderPerceptron) and learner.covariance == "full":
        assert (np.sign(margins) == np.sign(expected)).all()  # without the factor 1/(1 + v)
    else:
        np.testing.assert_allclose(margins, expected, rtol=0, atol=1e-9 * np.abs(expected).max())


@pytest.mark.slow
def test_two_classes_by_blocks_are_the_binary_perceptron_and_pa_themselves():
    X, y = noisy_stream(14)
    pairs = [
        (Perceptron(), Perceptron(), 2.0),
        (PassiveAggressive(variant="PA"), PassiveAggressive(variant="PA"), 1.0),
        (PassiveAggressive(variant="PA-I", C=0.1), PassiveAggressive(variant="PA-I", C=0.2), 1.0),
        (PassiveAggressive(variant="PA-II", C=0.1), PassiveAggressive(variant="PA-II", C=0.2), 1.0),
    ]
    for blocks, binary, factor in pairs:
        blocks.begin(np.array([0, 1]), X.shape[1])
        blocks._allocate_classes(X.shape[1], 2)
        counts = blocks._pass_classes(X, y.astype(np.int32), np.empty((len(y), 2)))
        binary.fit(X, y)
        assert counts == (binary.n_mistakes_, binary.n_updates_)
        difference = blocks.coef_[1] - blocks.coef_[0]
        np.testing.assert_allclose(difference, factor * binary.coef_[0], rtol=1e-9, atol=1e-12)


def test_averaged_perceptron_is_the_mean_of_the_hypotheses():
    X, y = noisy_classes(15)
    plain, hypotheses = Perceptron(), []
    for t in range(len(y)):
        plain.learn(X[t : t + 1], y[t : t + 1], classes=CLASSES)
        hypotheses.append(plain.coef_.copy())
    averaged = Perceptron(average=True).fit(X, y)
    np.testing.assert_allclose(averaged.coef_, np.mean(hypotheses, axis=0), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(averaged.decision_function(X), X @ averaged.coef_.T, rtol=1e-9, atol=1e-12)
    assert averaged.n_updates_ == plain.n_updates_


@pytest.mark.parametrize("l1", [0.0, 0.02])
def test_adagrad_by_its_definition(l1):
    X, y = noisy_classes(16)
    eta, delta, (n, d), K = 0.7, 0.3, X.shape, 5
    u, G, expected = np.zeros((K, d)), np.zeros((K, d)), np.empty((n, K))
    for t in range(n):
        w = -np.sign(u) * eta / (delta + np.sqrt(G)) * np.maximum(np.abs(u) - l1 * t, 0.0)
        expected[t] = s = w @ X[t]
        others = np.where(np.arange(K) == y[t], -np.inf, s)
        if 1 - (s[y[t]] - others.max()) > 0:
            for z, g in ((y[t], -X[t]), (others.argmax(), X[t])):
                u[z] += g
                G[z] += g * g
    model = AdaGradRDA(eta=eta, delta=delta, l1=l1)
    np.testing.assert_allclose(model.learn(X, y), expected, rtol=1e-9, atol=1e-12)
    assert (model.coef_ == 0).any() == (l1 > 0)


@pytest.mark.parametrize("covariance", [pytest.param("full", marks=pytest.mark.slow), "diagonal"])
def test_second_order_perceptron_by_its_definition(covariance):
    """Rebuild and invert A at every row; scores follow the documentation."""
    X, y = noisy_classes(17, n=60, d=4)
    (n, d), K, a = X.shape, 5, 0.5
    A, u, expected = a * np.eye(K * d), np.zeros(K * d), np.empty((n, K))
    for t, (x, label) in enumerate(zip(X, y, strict=True)):
        f = np.kron(np.eye(K), x)  # f[z]: x in block z
        weights = np.linalg.solve(A, u) if covariance == "full" else u / (np.diag(A) + np.tile(x * x, K))
        expected[t] = s = f @ weights
        other = np.where(np.arange(K) == label, -np.inf, s).argmax()
        if not s[label] - s[other] > 0:
            difference = f[label] - f[other]
            outer = np.outer(difference, difference)
            A += outer if covariance == "full" else np.diag(np.diag(outer))
            u += difference
    model = SecondOrderPerceptron(a=a, covariance=covariance)
    np.testing.assert_allclose(model.learn(X, y, classes=CLASSES), expected, rtol=1e-9, atol=1e-12)
    shape = (K * d, K * d) if covariance == "full" else (K, d)
    inverse = np.linalg.inv(A) if covariance == "full" else 1 / np.diag(A).reshape(K, d)
    assert model.sigma_.shape == shape
    np.testing.assert_allclose(model.sigma_, inverse, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(model.coef_.ravel(), np.linalg.solve(A, u), rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize(
    "learner",
    tiered(learner for learner in OF_MANY_CLASSES if getattr(learner, "covariance", "") == "full"),
)
def test_full_covariance_is_exactly_symmetric(learner):
    sigma = clone(learner).fit(*noisy_classes(18, n=300)).sigma_
    assert sigma.shape == (40, 40)
    assert (sigma == sigma.T).all()
    assert (np.diag(sigma) > 0).all()


@pytest.mark.parametrize("Learner", [AROW, ConfidenceWeighted, SecondOrderPerceptron])
def test_full_covariance_of_too_many_classes(Learner):
    X = sp.identity(300, format="csr")
    message = "covariance='full' with 300 features and 300 classes needs 64800000000 bytes .* use covariance="
    with pytest.raises(ValueError, match=message):
        Learner(covariance="full").fit(X, np.arange(300))


@pytest.mark.slow
@pytest.mark.parametrize(
    "learner",
    [
        Perceptron(),
        PassiveAggressive(),
        SecondOrderPerceptron(),
        ConfidenceWeighted(),
        AROW(),
        AROW(constraints=3),
        AROW(constraints="all"),
        AdaGradRDA(),
    ],
    ids=repr,
)
def test_thousands_of_classes(learner):
    """Memory is that of weights and one confidence each; no other array has that size."""
    K, d, n = 2000, 5000, 4000
    random = np.random.RandomState(0)
    y = np.arange(n) % K
    # Two features of the row's class and eight shared ones.
    columns = np.column_stack([2 * y, 2 * y + 1, random.randint(4000, d, size=(n, 8))])
    X = sp.csr_matrix((np.ones(10 * n), columns.ravel(), np.arange(0, 10 * n + 1, 10)), (n, d))
    X.sum_duplicates()
    # Compile before measuring memory.
    clone(learner).fit(X[:5], y[:5])
    tracemalloc.start()
    try:
        learner.begin(np.arange(K), d)
        for start in range(0, n, 500):
            learner.learn_rows(X[start : start + 500], y[start : start + 500])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1.1 * K * d * 8 * 2
    assert learner.score(X[:500], y[:500]) > 0.9


@every_multiclass_learner
def test_rows_that_are_not_finite_are_named(learner):
    for convert, (bad, name) in itertools.product(
        [np.asarray, as_csr], [(np.nan, "NaN"), (np.inf, "infinity")]
    ):
        X, y = noisy_classes(19, n=40)
        X[13, 1] = bad
        model = clone(learner)
        for method in (model.learn, model.fit):
            with pytest.raises(ValueError, match=rf"X contains {name} in row 13 \(counted from 0\)"):
                method(convert(X), y)
        assert not hasattr(model, "classes_")


@every_multiclass_learner
def test_an_overflowed_score_is_a_mistake(learner):
    X = np.random.RandomState(0).choice([-1e200, 1e200], size=(30, 3))
    y = np.arange(30) % 3
    model = clone(learner)
    with np.errstate(invalid="ignore"):
        scores = model.learn(X, y)
        margins = [s[label] - np.delete(s, label).max() for s, label in zip(scores, y, strict=True)]
    assert model.n_mistakes_ == sum(not margin > 0 for margin in margins)


def test_labels():
    X, y = noisy_classes(20)
    model = AROW().partial_fit(X, y)
    before = state(model)
    with pytest.raises(ValueError, match=r"label .*7.* is not one of the classes \[0, 1, 2, 3, 4\]"):
        model.learn(X[:2], np.array([0, 7]))
    with pytest.raises(ValueError, match="is not one of the classes"):
        model.learn(X[:2], np.array(["0", "1"]))
    with pytest.raises(ValueError, match=r"classes \[0, 1, 2\] are not those of the first call"):
        model.learn(X, y, classes=[0, 1, 2])
    with pytest.raises(ValueError, match=r"label .*9.* is not one of the classes \[0, 1, .* \(30 of them\)"):
        AROW().learn(X[:1], [99], classes=range(30))
    assert state(model) == before
    assert model.learn(X[:1], [1]).shape == (1, 5)  # one class in a later chunk is fine
    strings = AROW().fit(X, np.array(list("abcde"))[y])
    with pytest.raises(ValueError, match="label 'q' is not one of the classes"):
        strings.learn(X[:2], np.array(["a", "q"]))
    with pytest.raises(ValueError, match="is not one of the classes"):
        strings.learn(X[:2], np.array([0, 1]))


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64])
def test_learn_rows_takes_codes_of_any_width(dtype):
    X, y = noisy_classes(21)
    model, public = AROW(), AROW().fit(X, y)
    model.begin(np.arange(5), X.shape[1])
    assert model.learn_rows(X[:50], y[:50].astype(dtype)).shape == (50, 5)
    model.learn_rows(X[50:], y[50:].astype(dtype))
    assert state(model) == state(public)
