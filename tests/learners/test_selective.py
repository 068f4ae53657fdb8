"""Selective sampling: golden runs, plain rules, equivalent learners, and proven bounds."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from singlepass.learners import (
    AROW,
    LASVM,
    NAROW,
    AdaptiveSelectiveSampling,
    ExponentialWeights,
    FollowTheLeader,
    Greedy,
    KernelPerceptron,
    OnlineGradientDescent,
    PassiveAggressive,
    Perceptron,
    QueryAll,
    RandomQueries,
    Resetting,
    SelectiveSampling,
)

from .streams import as_csr, golden_runs, golden_stream, noisy_stream, state, wild_stream

RUNS = {name: run for name, run in golden_runs("selective").items() if not name.startswith("bbq")}
GOLDEN = {
    "selective_perceptron_b1": SelectiveSampling(Perceptron(), b=1.0),
    "selective_perceptron_adaptive_b0.1": AdaptiveSelectiveSampling(Perceptron(), beta=0.1),
    "paa1_delta0.1": SelectiveSampling(PassiveAggressive("PA-I", C=1.0), b=0.1),
    "random_pa1_q0.3": RandomQueries(PassiveAggressive("PA-I", C=1.0), q=0.3),
}
seeds = st.integers(0, 2**31 - 1)
# One learner whose steps depend on the number of rows it was given, and others that keep more than weights.
LINEAR = [
    Perceptron(),
    Perceptron(average=True),
    PassiveAggressive("PA"),
    PassiveAggressive("PA-II", C=0.5),
    OnlineGradientDescent(eta=0.5),
    NAROW(b=2.0, covariance="full"),
]
STRATEGIES = [
    *(SelectiveSampling(inner, b=0.7) for inner in (*LINEAR, KernelPerceptron(gamma=0.1))),
    *(AdaptiveSelectiveSampling(inner, beta=0.05) for inner in LINEAR),
    *(RandomQueries(inner, q=0.4) for inner in (Perceptron(average=True), KernelPerceptron(gamma=0.1))),
]
every_strategy = pytest.mark.parametrize(
    "strategy",
    [
        pytest.param(strategy, marks=[pytest.mark.slow] if isinstance(strategy.learner, NAROW) else [])
        for strategy in STRATEGIES
    ],
    ids=repr,
)


@parametrize_with_checks([SelectiveSampling(Perceptron()), AdaptiveSelectiveSampling(PassiveAggressive())])
def test_estimator(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks([RandomQueries(KernelPerceptron(), q=0.8)])
def test_estimator_of_kernels(estimator, check):
    check(estimator)


def replaying(strategy, uniforms):
    """Return a copy of a strategy with given draws."""

    class Replaying(type(strategy)):
        def _uniforms(self, n):
            start = self.n_examples_
            return np.array(uniforms[start : start + n])

    return Replaying(**strategy.get_params(deep=False))


@pytest.mark.parametrize("convert", [np.asarray, as_csr])
@pytest.mark.parametrize("name", sorted(RUNS))
def test_run(name, convert):
    run = RUNS[name]
    X, y = golden_stream(run["stream"])
    strategy = replaying(GOLDEN[name.partition(".ref__")[0]], run["uniforms"])
    told = run["hyperparameters"]
    assert told["b"] in strategy.get_params(deep=False).values()
    assert isinstance(strategy.learner, {"perceptron": Perceptron, "pa1": PassiveAggressive}[told["learner"]])
    Z, scores, asked, updates = convert(X), [], [], []
    for t in range(len(y)):
        before = (strategy.n_queried_, strategy.n_updates_) if t else (0, 0)
        scores.extend(strategy.learn(Z[t : t + 1], y[t : t + 1], classes=[-1, 1]))
        asked += [t] * (strategy.n_queried_ - before[0])
        updates += [t] * (strategy.n_updates_ - before[1])
    assert asked == run["asked_indices_0based"]
    assert updates == run["update_indices_0based"]
    assert np.flatnonzero(y * scores <= 0).tolist() == run["mistake_indices_0based"]
    final = strategy.n_queried_, strategy.n_updates_, strategy.n_mistakes_
    assert final == (run["n_asked"], run["n_updates_final"], run["mistakes_final"])
    for values, expected in (
        (scores[:50], run["online_score_first50"]),
        (scores[49::50], run["online_score_every_50_from_49"]),
        (strategy.decision_function(convert(X[:20])), run["final_decision_first20"]),
        (strategy.learner_.coef_[0], run["weights"]),
    ):
        np.testing.assert_allclose(values, expected, rtol=1e-9)


def test_all_runs_are_here():
    streams = ("s1_gauss2d", "s2_synth20", "s3_digits_binary")
    assert sorted(RUNS) == sorted(f"{name}.ref__{stream}" for name in GOLDEN for stream in streams)


def step_of(rule, m, x):
    """Return the step along ``y x`` of w on a queried row."""
    if rule == "Perceptron":
        return 1.0 if m <= 0 else 0.0
    norm, loss = x @ x, max(0.0, 1.0 - m)
    if not (norm and loss):
        return 0.0
    return {"PA": loss / norm, "PA-I": min(0.5, loss / norm), "PA-II": loss / (norm + 1.0)}[rule]


def plain(rule, kind, b, X, y, uniforms):
    """Return scores, w, queried rows and updated rows."""
    w, scores, asked, updates, largest = np.zeros(X.shape[1]), [], [], [], 0.0
    for t, (x, sign, u) in enumerate(zip(X, y, uniforms, strict=True)):
        s = w @ x
        scores.append(s)
        b_t = b
        if kind == "adaptive":
            b_t = b * max(largest, x @ x) * np.sqrt(1 + len(updates))
        p = b if kind == "random" else 1.0 if s == 0 else b_t / (b_t + abs(s))
        if u < p:
            asked.append(t)
            step = step_of(rule, sign * s, x)
            if step or (rule == "Perceptron" and sign * s <= 0):
                w = w + step * sign * x
                updates.append(t)
                largest = max(largest, x @ x)
    return scores, w, asked, updates


KINDS = {"margin": SelectiveSampling, "adaptive": AdaptiveSelectiveSampling, "random": RandomQueries}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rule", ["Perceptron", "PA", "PA-I", "PA-II"])
@given(
    seed=seeds,
    b=st.floats(0.01, 1.0),
    cuts=st.lists(st.integers(1, 119), max_size=5),
    sparse=st.booleans(),
)
def test_it_is_the_rule(rule, kind, seed, b, cuts, sparse):
    X, y = noisy_stream(seed, n=120, d=6, density=0.6)
    uniforms = np.random.RandomState(seed % 1000).random_sample(len(y))
    scores, w, asked, updates = plain(rule, kind, b, X, 2 * y - 1, uniforms)
    inner = Perceptron() if rule == "Perceptron" else PassiveAggressive(rule, C=0.5)
    model = KINDS[kind](inner, b, random_state=seed % 1000)
    Z = as_csr(X) if sparse else X
    edges = [0, *sorted(set(cuts)), len(y)]
    parts = [model.learn(Z[i:j], y[i:j], classes=[0, 1]) for i, j in itertools.pairwise(edges)]
    tolerance = 1e-9 * max(1.0, np.abs(scores).max())
    np.testing.assert_allclose(np.concatenate(parts), scores, rtol=0, atol=tolerance)
    np.testing.assert_allclose(model.learner_.coef_[0], w, rtol=0, atol=tolerance)
    assert (model.n_queried_, model.n_updates_) == (len(asked), len(updates))
    assert model.learner_.n_examples_ == len(asked)
    assert model.n_mistakes_ == np.count_nonzero((2 * y - 1) * np.concatenate(parts) <= 0)


def by_hand(strategy, X, y):
    """Return scores, learner and queried rows of a strategy, row by row."""
    inner = clone(strategy.learner)
    inner.begin(np.array([0, 1]), X.shape[1])
    uniforms = np.random.RandomState(strategy.random_state).random_sample(len(y))
    scores, asked, largest = [], [], 0.0
    for t, u in enumerate(uniforms):
        row = X[t : t + 1]
        s = inner.decision_function(row)[0]
        if isinstance(strategy, RandomQueries):
            p = strategy.q
        elif isinstance(strategy, SelectiveSampling):
            p = strategy.b / (strategy.b + abs(s))
        else:
            b = strategy.beta * max(largest, row[0] @ row[0]) * np.sqrt(1 + inner.n_updates_)
            p = b / (b + abs(s)) if s else 1.0
        scores.append(s)
        if u < p:
            before = inner.n_updates_
            inner.learn(row, y[t : t + 1])
            asked.append(t)
            if inner.n_updates_ > before:
                largest = max(largest, row[0] @ row[0])
    return scores, inner, asked


@pytest.mark.slow
@every_strategy
@given(seed=seeds)
def test_around_any_learner(strategy, seed):
    X, y = noisy_stream(seed, n=80)
    scores, inner, asked = by_hand(strategy, X, y)
    model = clone(strategy)
    assert model.learn(X, y, classes=[0, 1]).tolist() == scores
    assert state(model.learner_) == state(inner)
    assert model.n_queried_ == len(asked)
    assert model.counters()["queried"] == len(asked)


@pytest.mark.slow
@every_strategy
@given(seed=seeds, cuts=st.lists(st.integers(1, 79), max_size=5), sparse=st.booleans())
def test_chunks_change_nothing(strategy, seed, cuts, sparse):
    X, y = noisy_stream(seed, n=80, density=0.7)
    X = as_csr(X) if sparse else X
    whole, cut = clone(strategy), clone(strategy)
    scores = whole.learn(X, y, classes=[0, 1])
    edges = [0, *sorted(set(cuts)), len(y)]
    parts = [cut.learn(X[a:b], y[a:b], classes=[0, 1]) for a, b in itertools.pairwise(edges)]
    assert np.concatenate(parts).tolist() == scores.tolist()
    assert state(cut.learner_) == state(whole.learner_)
    assert cut.counters() == whole.counters()


@pytest.mark.parametrize(
    "inner",
    [*LINEAR[:-1], pytest.param(LINEAR[-1], marks=pytest.mark.slow), KernelPerceptron(gamma=0.1)],
    ids=repr,
)
def test_who_asks_for_every_label_is_the_learner_itself(inner):
    X, y = noisy_stream(3)
    plain_learner = clone(inner)
    expected = plain_learner.learn(X, y).tolist()
    models = [SelectiveSampling(inner, b=1e150), RandomQueries(inner, q=1.0)]
    if not isinstance(inner, KernelPerceptron):
        models.append(AdaptiveSelectiveSampling(inner, beta=1e150))
    for model in models:
        assert model.learn(X, y).tolist() == expected
        assert state(model.learner_) == state(plain_learner)
        assert model.counters() == QueryAll(inner).fit(X, y).counters()
        assert model.n_queried_ == len(y)


def test_who_asks_for_none_learns_nothing():
    X, y = noisy_stream(3)
    model = RandomQueries(Perceptron(), q=0.0).fit(X, y)
    assert (model.n_queried_, model.n_updates_, model.n_mistakes_) == (0, 0, len(y))


@every_strategy
def test_labels_that_are_not_asked_for_are_not_looked_at(strategy):
    X, y = noisy_stream(4, n=100)
    others = np.setdiff1d(np.arange(100), by_hand(strategy, X, y)[2])
    flipped = y.copy()
    flipped[others] = 1 - y[others]
    one, two = clone(strategy), clone(strategy)
    assert one.learn(X, y).tolist() == two.learn(X, flipped).tolist()
    assert state(one.learner_) == state(two.learner_)
    assert one.n_mistakes_ != two.n_mistakes_


def test_draws_begin_with_the_seed():
    X, y = noisy_stream(5)
    for strategy in (SelectiveSampling(Perceptron()), RandomQueries(Perceptron())):
        counts = {clone(strategy).set_params(random_state=i).fit(X, y).n_mistakes_ for i in range(5)}
        assert len(counts) > 1
        assert strategy.fit(X, y).counters() == strategy.fit(X, y).counters()


@pytest.mark.parametrize("strategy", [STRATEGIES[6], STRATEGIES[-1]], ids=repr)
def test_kernel_evaluations_are_those_of_every_score(strategy):
    X, y = noisy_stream(5)
    expected, model = 0, clone(strategy)
    for t in range(len(y)):
        expected += model.n_support_ if t else 0
        model.learn(X[t : t + 1], y[t : t + 1], classes=[0, 1])
    whole = clone(strategy).fit(X, y)
    assert whole.n_kernel_evaluations_ == model.n_kernel_evaluations_ == expected
    assert whole.counters()["kernel_evaluations"] == expected


class Switching(Perceptron):
    """A Perceptron that reports a switch to a more complex model at its first and third row."""

    def switches(self):
        return [t for t in (0, 2) if t < self.n_examples_]


@pytest.mark.parametrize(
    "strategy", [SelectiveSampling(Switching(), b=0.5), RandomQueries(Switching(), q=0.3)], ids=repr
)
def test_switches_are_rows_of_the_stream(strategy):
    X, y = noisy_stream(8, n=60)
    asked = by_hand(strategy, X, y)[2]
    assert asked[2] > 2
    assert clone(strategy).fit(X, y).switches() == [asked[0], asked[2]]
    cut = clone(strategy)
    for t in range(len(y)):
        cut.learn(X[t : t + 1], y[t : t + 1], classes=[0, 1])
    assert cut.switches() == [asked[0], asked[2]]


def test_a_restart_by_the_last_queried_row_is_a_switch():
    X, y = noisy_stream(8, n=90)
    y[60:] = 1 - y[60:]
    restarted = Resetting(PassiveAggressive()).fit(X, y)
    n = restarted.resets_[0]
    assert RandomQueries(Resetting(PassiveAggressive()), q=1.0).fit(X[:n], y[:n]).switches() == [n]


@pytest.mark.slow
def test_rows_of_another_pass_are_new():
    X, y = noisy_stream(3)
    model = SelectiveSampling(LASVM(gamma=0.1, finish=True), b=0.5, epochs=2)
    expected = clone(model)
    model.fit(X, y)
    for _ in range(2):
        expected.learn(X, y)
    expected.learner_.optimize()
    assert state(model.learner_) == state(expected.learner_)


@given(seed=seeds, d=st.integers(2, 8), b=st.floats(0.01, 100.0))
def test_what_the_bound_of_the_selective_perceptron_rests_on(seed, d, b):
    """``Σ 2(b + |s|) <= ‖u‖² (2b + R²)²/(4γ²)`` over updates, for any draws, if ``y u·x >= γ``."""
    random = np.random.RandomState(seed)
    X, u = random.standard_normal((400, d)), random.standard_normal(d)
    X = X[np.abs(X @ u) > 0.2]
    y = (X @ u > 0).astype(int)
    squares, gamma = (X**2).sum(axis=1).max(), np.abs(X @ u).min()
    model, total = SelectiveSampling(Perceptron(), b=b, random_state=seed % 1000), 0.0
    for t in range(len(y)):
        before = model.n_updates_ if t else 0
        score = model.learn(X[t : t + 1], y[t : t + 1], classes=[0, 1])[0]
        total += 2 * (b + abs(score)) * (model.n_updates_ - before)
    assert total <= u @ u * (2 * b + squares) ** 2 / (4 * gamma**2) * (1 + 1e-9)


@pytest.mark.parametrize("b", [0.1, 1.0, 10.0])
def test_mistakes_of_the_selective_perceptron_are_bounded_on_average(b):
    random = np.random.RandomState(1)
    u = np.array([1.0, 0.0, 0.0])
    X = random.uniform(-1, 1, (1000, 3))
    X = X[np.abs(X @ u) >= 0.3]
    y = (X @ u > 0).astype(int)
    models = [SelectiveSampling(Perceptron(), b=b, random_state=i).fit(X, y) for i in range(20)]
    squares, gamma = (X**2).sum(axis=1).max(), np.abs(X @ u).min()
    mistakes = np.mean([model.n_mistakes_ for model in models])
    assert 0 < mistakes <= (2 * b + squares) ** 2 / (8 * b * gamma**2)
    assert np.mean([model.n_queried_ for model in models]) < len(y)


def test_a_row_without_a_score_is_asked_for():
    zeros = np.zeros((3, 2))
    for inner in (Perceptron(), PassiveAggressive()):
        for model in (SelectiveSampling(inner, b=1e-150), AdaptiveSelectiveSampling(inner, beta=1e-150)):
            assert model.fit(zeros, [0, 1, 0]).n_queried_ == 3


@every_strategy
def test_rows_of_any_length(strategy):
    X, y = wild_stream(2)
    with np.errstate(all="raise"):
        model = clone(strategy)
        model.learn(X, y, classes=[0, 1])
    assert 0 < model.n_queried_ <= len(y)


def test_selective_asks_for_less_and_errs_less_than_chance():
    X, y = noisy_stream(6, n=4000, d=20, noise=0.0)
    selective = SelectiveSampling(PassiveAggressive(), b=0.1).fit(X[:3000], y[:3000])
    random = RandomQueries(PassiveAggressive(), q=selective.n_queried_ / 3000).fit(X[:3000], y[:3000])
    assert selective.n_queried_ < 1500
    assert selective.score(X[3000:], y[3000:]) > random.score(X[3000:], y[3000:])


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (SelectiveSampling(AROW(), b=0), "SelectiveSampling: b must be a finite number > 0, got 0"),
        (SelectiveSampling(AROW(), b=1e200), "SelectiveSampling: b must be a number from 1e-150 to 1e150"),
        (
            AdaptiveSelectiveSampling(AROW(), beta=-1),
            "AdaptiveSelectiveSampling: beta must be a finite number > 0, got -1",
        ),
        (
            AdaptiveSelectiveSampling(KernelPerceptron()),
            "AdaptiveSelectiveSampling: learner must be a linear one of this package, got KernelPerceptron",
        ),
        (RandomQueries(AROW(), q=1.5), "RandomQueries: q must be a number from 0 to 1, got 1.5"),
        (RandomQueries(AROW(), random_state=-1), "RandomQueries: random_state must be an integer from 0"),
        (SelectiveSampling(AROW(r=-1)), "AROW: r must be a finite number > 0, got -1"),
        (RandomQueries(AROW), "RandomQueries: learner must be an online learner of this package"),
    ],
)
def test_bad_parameters(model, message):
    with pytest.raises(ValueError, match=f"^{message}.*$"):
        model.fit([[1.0], [2.0]], [0, 1])


def test_more_than_two_classes_are_refused():
    with pytest.raises(ValueError, match="Only binary classification is supported"):
        SelectiveSampling(Perceptron()).fit([[1.0], [2.0], [3.0]], [0, 1, 2])


@pytest.mark.parametrize("wrap", [QueryAll, Greedy, RandomQueries, SelectiveSampling])
@pytest.mark.parametrize(
    "inner",
    [FollowTheLeader(KernelPerceptron(), {"gamma": [0.1]}), Resetting(KernelPerceptron(gamma=0.1))],
    ids=repr,
)
def test_kernel_evaluations_of_wrapped_learners_are_counted(wrap, inner):
    X, y = noisy_stream(5)
    model = wrap(inner).fit(X, y)
    assert getattr(model.learner_, "resets_", []) == []
    assert model.counters() == wrap(KernelPerceptron(gamma=0.1)).fit(X, y).counters()


def test_scores_of_several_learners_take_their_kernel_values():
    X, y = noisy_stream(5)
    grid = {"gamma": [0.001, 10.0]}
    vote = ExponentialWeights(KernelPerceptron(), grid).fit(X, y)
    sizes = [each.n_support_ for each in vote.learners_]
    assert sizes[0] != sizes[1]
    assert vote.evaluations_per_score() == sum(sizes)
    leader = FollowTheLeader(KernelPerceptron(), grid).fit(X, y)
    assert leader.evaluations_per_score() == sizes[leader.leader_]
    assert Resetting(leader).fit(X, y).evaluations_per_score() in sizes
