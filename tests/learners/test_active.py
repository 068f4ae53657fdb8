"""Active strategies: which labels they ask for, and that they change nothing else."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from singlepass.learners import (
    AROW,
    BBQ,
    FOGD,
    LASVM,
    ActiveRampSVM,
    FollowTheLeader,
    Greedy,
    KernelPerceptron,
    OnlineGradientDescent,
    Perceptron,
    QueryAll,
    RandomQueries,
    Resetting,
    SelectiveSampling,
)

from .streams import as_csr, noisy_stream, state

seeds = st.integers(0, 2**31 - 1)
INNER = [Perceptron(), AROW(r=0.5), KernelPerceptron(gamma=0.1)]
every_inner_learner = pytest.mark.parametrize("inner", INNER, ids=repr)


@parametrize_with_checks([QueryAll(Perceptron()), Greedy(KernelPerceptron(), h=2)])
def test_estimator(estimator, check):
    check(estimator)


def by_hand(inner, X, y, h):
    """Return scores, learner and learnt rows of a plain version of the strategy, row by row."""
    model, scores, asked = clone(inner), [], []
    model.begin(np.array([0, 1]), X.shape[1])
    for start in range(0, len(y), h):
        group = slice(start, start + h)
        scores.extend(model.decision_function(X[group]).tolist())
        if start + h <= len(y):
            row = start + int(np.argmin(np.abs(scores[start:])))
            asked.append(row)
            model.learn(X[row : row + 1], y[row : row + 1])
    return np.array(scores), model, asked


@every_inner_learner
@given(seed=seeds, h=st.integers(1, 7))
def test_of_every_h_rows_the_least_certain_is_learnt(inner, seed, h):
    X, y = noisy_stream(seed, n=80)
    scores, expected, asked = by_hand(inner, X, y, h)
    model = Greedy(inner, h)
    assert model.learn(X, y).tolist() == scores.tolist()
    assert state(model.learner_) == state(expected)
    assert model.n_queried_ == len(asked) == len(y) // h
    assert model.n_mistakes_ == np.count_nonzero(np.where(y == 1, scores, -scores) <= 0)
    assert model.n_updates_ == expected.n_updates_


@every_inner_learner
@given(seed=seeds, cuts=st.lists(st.integers(1, 79), max_size=5), sparse=st.booleans())
def test_chunks_and_storage_change_nothing(inner, seed, cuts, sparse):
    X, y = noisy_stream(seed, n=80, density=0.7)
    usual, other = Greedy(inner, h=3), Greedy(inner, h=3)
    scores = usual.learn(X, y)
    Z = as_csr(X) if sparse else X
    edges = [0, *sorted(set(cuts)), len(y)]
    parts = [other.learn(Z[a:b], y[a:b], classes=[0, 1]) for a, b in itertools.pairwise(edges)]
    np.testing.assert_allclose(np.concatenate(parts), scores, rtol=1e-9, atol=1e-9)
    assert (other.n_mistakes_, other.n_queried_) == (usual.n_mistakes_, usual.n_queried_)
    if not sparse:
        assert state(other.learner_) == state(usual.learner_)
        assert np.concatenate(parts).tolist() == scores.tolist()


@every_inner_learner
def test_query_all_is_the_learner_itself(inner):
    X, y = noisy_stream(3)
    plain = clone(inner)
    expected = plain.learn(X, y).tolist()
    for model in (QueryAll(inner), Greedy(inner, h=1)):
        assert model.learn(X, y).tolist() == expected
        assert state(model.learner_) == state(plain)
        assert model.n_queried_ == len(y)
        assert model.counters() == plain.counters() | {"queried": len(y)}
        for name in ("n_mistakes_", "n_updates_", "n_support_", "n_kernel_evaluations_", "model_bytes_"):
            assert getattr(model, name, None) == getattr(plain, name, None)


@pytest.mark.parametrize("wrap", [Resetting, lambda inner: FollowTheLeader(inner, {"average": [False]})])
def test_class_weights_within_wrappers_are_those_of_labels(wrap):
    X, y = noisy_stream(1, n=600, d=6, noise=0.05)
    labels = 1 + np.where(np.arange(600) < 300, y, 1 - y)  # `Resetting` restarts
    inner = wrap(Perceptron(class_weight={1: 5.0}))
    expected = clone(inner).learn(X, labels).tolist()
    for model in (QueryAll(inner), Greedy(inner, h=1)):
        assert model.learn(X, labels).tolist() == expected
        assert model.switches() or wrap is not Resetting


@pytest.mark.parametrize("strategy", [QueryAll, Greedy, RandomQueries, SelectiveSampling])
def test_scores_are_log_odds_if_those_of_the_learner_are(strategy):
    assert strategy(OnlineGradientDescent(loss="logistic")).scores_are_log_odds
    assert not strategy(OnlineGradientDescent()).scores_are_log_odds
    assert not strategy(KernelPerceptron()).scores_are_log_odds


@pytest.mark.slow
@pytest.mark.parametrize("epochs", [1, 2])
def test_query_all_tells_the_learner_of_the_end_of_a_pass(epochs):
    X, y = noisy_stream(3)
    plain = LASVM(gamma=0.1, finish=True, epochs=epochs).fit(X, y)
    inner = clone(plain).set_params(epochs=1)
    for model in (QueryAll(inner, epochs=epochs), Greedy(inner, h=1, epochs=epochs)):
        model.fit(X, y)
        assert model.learner_.dual_coef_.tolist() == plain.dual_coef_.tolist()
        assert model.learner_.support_.tolist() == plain.support_.tolist()
        assert model.learner_.gap_ == plain.gap_


@pytest.mark.slow
def test_rows_of_another_pass_are_new_where_some_are_passed_over():
    X, y = noisy_stream(3)
    model = Greedy(LASVM(gamma=0.1, finish=True), h=3, epochs=2)
    expected = clone(model)
    model.fit(X, y)
    for _ in range(2):
        expected.learn(X, y)
    expected.learner_.optimize()
    assert state(model.learner_) == state(expected.learner_)


def test_labels_that_are_not_asked_for_are_not_looked_at():
    X, y = noisy_stream(4, n=100)
    asked = by_hand(AROW(), X, y, 5)[2]
    others = np.setdiff1d(np.arange(100), asked)
    flipped = y.copy()
    flipped[others] = 1 - y[others]
    one, two = Greedy(AROW()).fit(X, y), Greedy(AROW()).fit(X, flipped)
    assert one.learner_.coef_.tolist() == two.learner_.coef_.tolist()
    assert one.n_mistakes_ != two.n_mistakes_


def test_ties_go_to_the_first_and_an_unfinished_group_waits():
    model = Greedy(Perceptron(), h=2)
    model.learn([[1.0], [2.0], [3.0]], [1, 0, 1])
    assert model.learner_.coef_.tolist() == [[1.0]]
    assert (model.n_queried_, model.n_examples_) == (1, 3)
    model.learn([[-0.5]], [1])
    assert model.learner_.coef_.tolist() == [[0.5]]


def test_a_score_that_is_nan_is_the_least_certain():
    X, y = np.array([[9.0, -9.0], [9.0, -9.0], [3.0, -3.0], [1e308, 1e308]]), np.array([1, 1, 1, 0])
    whole, cut = Greedy(Perceptron(), h=2), Greedy(Perceptron(), h=2)
    whole.learn(X, y)
    for t in range(4):
        cut.learn(X[t : t + 1], y[t : t + 1], classes=[0, 1])
    assert whole.learner_.coef_.tolist() == cut.learner_.coef_.tolist() == [[-1e308, -1e308]]
    assert whole.n_updates_ == cut.n_updates_ == 2


def test_a_changed_h_waits_for_the_next_fit():
    X, y = noisy_stream(9, n=20)
    changed, plain = (Greedy(Switching(), h=4).partial_fit(X[:7], y[:7], [0, 1]) for _ in range(2))
    changed.set_params(h=2)
    assert changed.learn(X[7:], y[7:]).tolist() == plain.learn(X[7:], y[7:]).tolist()
    assert (changed.n_queried_, changed.switches()) == (plain.n_queried_, plain.switches()) == (5, [3, 11])
    assert changed.fit(X, y).n_queried_ == 10


def test_kernel_evaluations_are_those_of_every_score():
    X, y = noisy_stream(5)
    model, expected = Greedy(KernelPerceptron(gamma=0.1), h=4), 0
    for t in range(len(y)):
        expected += model.n_support_ if t else 0
        model.learn(X[t : t + 1], y[t : t + 1], classes=[0, 1])
    assert model.n_kernel_evaluations_ == expected


class Switching(Perceptron):
    """A Perceptron that reports a switch to a more complex model at its first and third row."""

    def switches(self):
        return [0, 2]


def test_switches_are_rows_of_the_stream():
    X, y = noisy_stream(8, n=9)
    assert QueryAll(Switching()).fit(X, y).switches() == [0, 2]
    assert Greedy(Switching(), h=3).fit(X, y).switches() == [2, 8]
    assert Greedy(Perceptron()).fit(X, y).switches() is None


def test_greedy_asks_for_a_fifth_and_learns_the_rule():
    X, y = noisy_stream(6, n=2000, noise=0.0)
    model = Greedy(AROW()).fit(X[:1500], y[:1500])
    assert model.n_queried_ == 300
    assert model.score(X[1500:], y[1500:]) > AROW().fit(X[:300], y[:300]).score(X[1500:], y[1500:])


def test_parameters_of_the_learner_inside():
    model = Greedy(AROW(r=0.5)).set_params(learner__r=2.0)
    assert model.get_params()["learner__r"] == 2.0
    inner = model.learner
    model.fit(*noisy_stream(7))
    assert vars(inner).keys() == AROW().get_params().keys()


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (Greedy(AROW(), h=0), "Greedy: h must be an integer >= 1, got 0"),
        (Greedy(AROW(r=-1)), "AROW: r must be a finite number > 0, got -1"),
        (QueryAll(AROW), "QueryAll: learner must be an online learner of this package, got <class "),
        (QueryAll(AROW(), epochs=0), "QueryAll: epochs must be an integer >= 1, got 0"),
    ],
)
def test_bad_parameters(model, message):
    with pytest.raises(ValueError, match=f"^{message}.*$"):
        model.fit([[1.0], [2.0]], [0, 1])


@pytest.mark.parametrize(
    "model",
    [
        QueryAll(FOGD(D=10**9)),
        Resetting(FOGD(D=10**9)),
        FollowTheLeader(FOGD(), {"D": [10**9]}),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_learner_is_not_fitted_if_its_inner_learner_cannot_begin(model):
    with pytest.raises(ValueError, match="the limit is 4 GiB"):
        model.begin(np.array([0, 1]), 1)
    assert not model.__sklearn_is_fitted__()


def test_more_than_two_classes_are_refused():
    with pytest.raises(ValueError, match="Only binary classification is supported"):
        Greedy(Perceptron()).fit([[1.0], [2.0], [3.0]], [0, 1, 2])


@pytest.mark.parametrize("learner", [BBQ(), ActiveRampSVM(), QueryAll(Perceptron())])
def test_no_strategy_around_what_asks_by_itself(learner):
    with pytest.raises(ValueError, match="Greedy: learner must not ask for labels itself"):
        Greedy(learner, h=2).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize("columns", [1, 4])
def test_a_waiting_row_is_widened(columns):
    """New features are 0 in the row that waits for the end of its group."""
    X, y = noisy_stream(3, 20, columns)
    more = noisy_stream(4, 10, columns + 3)[0]
    grown, whole = (Greedy(KernelPerceptron(gamma=0.1), h=3) for _ in range(2))
    grown.learn(X, y)
    grown.widen(columns + 3)
    whole.learn(np.pad(X, ((0, 0), (0, 3))), y)
    np.testing.assert_array_equal(grown.learn(more, y[:10]), whole.learn(more, y[:10]))
