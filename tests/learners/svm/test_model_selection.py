"""Online model selection: against an independent run, with its switches and its first γ."""

import numpy as np
import pytest
from scipy.stats import ttest_ind_from_stats
from sklearn.base import clone

from singlepass.learners import LASVM, OnlineModelSelection

from ..streams import as_csr, golden_runs, golden_stream, noisy_stream

pytestmark = pytest.mark.slow

RUN = golden_runs("lasvm")["oms_lasvm_rbf.ref__s3_digits_binary"]


@pytest.mark.parametrize("convert", [np.asarray, as_csr])
def test_run(convert):
    X, y = golden_stream(RUN["stream"])
    model, sizes, scores = OnlineModelSelection(gamma_init=0.005, min_examples=1, fit_intercept=False), [], []
    Z = convert(X)
    for t in range(0, len(y), 10):
        scores.append(model.learn(Z[t : t + 10], y[t : t + 10], classes=[-1, 1]))
        sizes.append(model.n_support_)
    scores = np.concatenate(scores)
    switches = RUN["increases_at_example_0based_new_level"]
    assert model.switches_ == [t for t, _ in switches]
    assert model.complexity_ == switches[-1][1] == RUN["final_level"]
    assert model.gamma_ == 0.005 * 2.0 ** (RUN["final_level"] - 1)
    assert np.flatnonzero(y * scores <= 0).tolist() == RUN["mistake_indices_0based"]
    assert sizes[: len(RUN["n_sv_every_10"])] == RUN["n_sv_every_10"]
    order = np.argsort(RUN["sv_indices_0based"])
    assert model.support_.tolist() == np.array(RUN["sv_indices_0based"])[order].tolist()
    np.testing.assert_allclose(model.dual_coef_[0], np.array(RUN["sv_coefficients"])[order], atol=1e-9)
    np.testing.assert_allclose(scores[:50], RUN["online_score_first50"], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(scores[49::50], RUN["online_score_every_50_from_49"], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(
        model.decision_function(Z[:20]), RUN["final_decision_first20"], rtol=1e-9, atol=1e-9
    )


def test_without_a_switch_it_is_the_simpler_lasvm():
    X, y = noisy_stream(1)
    model = OnlineModelSelection(gamma_init=0.1, p_value=1e-9)
    simple, other = LASVM(gamma=0.1), LASVM(gamma=0.2)
    assert model.learn(X, y).tolist() == simple.learn(X, y).tolist()
    other.learn(X, y)
    assert (model.complexity_, model.switches_, model.gamma_) == (1, [], 0.1)
    assert model.dual_coef_.tolist() == simple.dual_coef_.tolist()
    assert model.intercept_ == simple.intercept_
    assert model.n_updates_ == simple.n_updates_
    assert model.n_kernel_evaluations_ == simple.n_kernel_evaluations_ + other.n_kernel_evaluations_
    assert model.model_bytes_ == simple.model_bytes_ + other.model_bytes_


def test_kernel_evaluations_of_a_switch():
    X, y = golden_stream(RUN["stream"])
    parameters = {"fit_intercept": False}
    model = OnlineModelSelection(gamma_init=0.005, min_examples=1, **parameters)
    simple, other, new = (LASVM(gamma=0.005 * 2.0**level, **parameters) for level in range(3))
    t = RUN["increases_at_example_0based_new_level"][0][0]
    for learner in (model, simple, other):
        learner.learn(X[:t], y[:t], classes=[-1, 1])
    for learner in (model, other):
        learner.learn(X[t : t + 1], y[t : t + 1])
    assert len(model.switches_) == 1
    # The new model begins with the support vectors that the former more complex one had before the row.
    before = clone(other).fit(X[:t], y[:t])
    new.learn(before.support_vectors_, y[before.support_], classes=[-1, 1])
    new.learn(X[t : t + 1], y[t : t + 1])
    of_the_simple = simple.n_kernel_evaluations_ + simple.n_support_
    expected = of_the_simple + other.n_kernel_evaluations_ + new.n_kernel_evaluations_
    assert model.n_kernel_evaluations_ == expected


def products(seed, n=600):
    """Return rows whose label is the sign of the product of their two features, a rule of degree 2."""
    X = np.random.RandomState(seed).uniform(-1, 1, (n, 2))
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


def test_the_degree_that_is_needed_is_found():
    X, y = products(2)
    model = OnlineModelSelection(kernel="poly", C=10.0).fit(X, y)
    assert model.degree_ == model.complexity_ == 2
    assert model.score(*products(3)) > 0.95
    assert LASVM(kernel="poly", degree=1, C=10.0).fit(X, y).score(*products(3)) < 0.7


def test_switches_are_at_least_min_examples_apart():
    """Use several streams, because the last bit decides where a pass switches with such parameters."""

    def gaps(least):
        for seed in range(5, 9):
            model = OnlineModelSelection(gamma_init=1e-4, p_value=0.9, min_examples=least)
            # The first example is judged, too, so the fiftieth has number 49.
            yield np.diff([-1, *model.fit(*noisy_stream(seed, n=600)).switches_])

    assert min(np.concatenate([*gaps(1)])) < 50
    seldom = [*gaps(50)]
    assert max(len(each) for each in seldom) > 1
    assert min(np.concatenate(seldom)) >= 50


def first_switch(X, y, power, level, least):
    """Return the example at which a t-test, with variances to a power, first separates two LASVMs."""
    losses = [
        LASVM(C=10.0, kernel="poly", degree=degree).learn(X, y) * np.where(y == 1, 1, -1) <= 0
        for degree in (1, 2)
    ]
    means, variances = np.zeros(2), np.zeros(2)
    for t, loss in enumerate(np.transpose(losses)):
        means += (loss - means) / (t + 1)
        variances += ((loss - means) ** 2 - variances) / (t + 1)
        if t + 1 < least or means[1] > means[0] or not variances.any():
            continue
        # SciPy expects standard deviations, the square roots of the values used as variances.
        a, b = ((mean, root, t + 1) for mean, root in zip(means, variances ** (power / 2), strict=True))
        if ttest_ind_from_stats(*a, *b, equal_var=False).pvalue < level:
            return t
    return None


@pytest.mark.parametrize("p_value", [0.1, 0.001])
def test_the_variances_are_squared_as_printed_or_not(p_value):
    X, y = products(9)
    found = {}
    for test, power in (("welch", 1), ("printed", 2)):
        model = OnlineModelSelection(C=10.0, p_value=p_value, min_examples=20, kernel="poly", test=test)
        found[test] = model.fit(X, y).switches_[0]
        assert found[test] == first_switch(X, y, power, p_value, 20)
    assert found["printed"] < found["welch"]


def fewest_errors(X, y, C):
    """Return the γ that a 5-fold cross-validation chooses."""
    folds, errors = np.arange(len(y)) % 5, {}
    for gamma in sorted([0.004, *(2.0**k for k in range(-15, 4, 2))]):
        model = LASVM(C=C, gamma=gamma, finish=True)
        rest = [clone(model).fit(X[folds != f], y[folds != f]).predict(X[folds == f]) for f in range(5)]
        errors[gamma] = sum((rest[f] != y[folds == f]).sum() for f in range(5))
    return min(errors, key=errors.get)


def test_the_start_that_the_paper_prints_may_win():
    X, y = products(13, n=100)
    # The data are so wide that small γ are best.
    X *= 20
    assert OnlineModelSelection(C=10.0).fit(X, y).gamma_ == fewest_errors(X, y, 10.0) == 0.004


@pytest.mark.parametrize("convert", [np.asarray, as_csr])
def test_gamma_is_chosen_on_the_first_hundred_examples(convert):
    X, y = noisy_stream(6, n=160, noise=0.1)
    model = OnlineModelSelection(C=2.0, p_value=1e-9)
    scores = model.learn(convert(X), y)
    chosen = fewest_errors(X[:100], y[:100], 2.0)
    assert model.gamma_ == chosen != 1 / 12
    provisional = LASVM(C=2.0, gamma=1 / 12).learn(X[:100], y[:100])
    assert scores[:100].tolist() == provisional.tolist()
    fixed = OnlineModelSelection(C=2.0, gamma_init=chosen, p_value=1e-9)
    assert scores[100:].tolist() == fixed.learn(X, y)[100:].tolist()
    assert model.n_kernel_evaluations_ > fixed.n_kernel_evaluations_


def test_gamma_of_a_shorter_stream_is_chosen_at_its_end():
    X, y = noisy_stream(7, n=60, noise=0.1)
    assert OnlineModelSelection().partial_fit(X, y).gamma_ == 1 / 12
    assert OnlineModelSelection().fit(X, y).gamma_ == fewest_errors(X, y, 1.0)


@pytest.mark.parametrize(
    ("parameter", "value", "right"),
    [
        ("p_value", 1, "a number between 0 and 1, both excluded"),
        ("min_examples", 0, "an integer >= 1"),
        ("kernel", "linear", "one of 'rbf', 'poly'"),
        ("test", "student", "one of 'welch', 'printed'"),
        ("gamma_init", "scale", "'cv' or a finite number > 0"),
    ],
)
def test_parameters(parameter, value, right):
    X, y = noisy_stream(8, n=10)
    with pytest.raises(
        ValueError, match=f"^OnlineModelSelection: {parameter} must be {right}, got {value!r}$"
    ):
        OnlineModelSelection(**{parameter: value}).fit(X, y)
