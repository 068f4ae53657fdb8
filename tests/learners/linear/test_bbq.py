"""BBQ: golden runs, the plain rule, its least squares fit, and a bound on the labels it asks for."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from singlepass.learners import BBQ

from ..streams import as_csr, golden_learner, golden_runs, golden_stream, noisy_stream, wild_stream

pytestmark = pytest.mark.slow

RUNS = {name: run for name, run in golden_runs("selective").items() if name.startswith("bbq")}
seeds = st.integers(0, 2**31 - 1)
# 0.3 uses all binary digits of a float.
kappas = st.one_of(st.sampled_from([0.3, 0.5, 0.75, 0.999]), st.floats(0.05, 0.95))


@pytest.mark.parametrize("convert", [np.asarray, as_csr])
@pytest.mark.parametrize("name", sorted(RUNS))
def test_run(name, convert):
    run = RUNS[name]
    X, y = golden_stream(run["stream"])
    learner, Z = golden_learner(name), convert(X)
    assert learner.kappa == run["hyperparameters"]["kappa"]
    scores, asked = [], []
    for t in range(len(y)):
        before = learner.n_queried_ if t else 0
        scores.extend(learner.learn(Z[t : t + 1], y[t : t + 1], classes=[-1, 1]))
        asked += [t] * (learner.n_queried_ - before)
    assert asked == run["asked_indices_0based"] == run["update_indices_0based"]
    assert np.flatnonzero(y * scores <= 0).tolist() == run["mistake_indices_0based"]
    assert (learner.n_queried_, learner.n_mistakes_) == (run["n_updates_final"], run["mistakes_final"])
    assert learner.counters()["queried"] == learner.counters()["updates"] == run["n_updates_final"]
    for values, expected in (
        (scores[:50], run["online_score_first50"]),
        (scores[49::50], run["online_score_every_50_from_49"]),
        (learner.decision_function(convert(X[:20])), run["final_decision_first20"]),
        (learner.coef_[0], run["weights"]),
        (np.diag(learner.sigma_), run["sigma_diag"]),
    ):
        np.testing.assert_allclose(values, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())


def test_all_runs_are_here():
    streams = ("s1_gauss2d", "s2_synth20", "s3_digits_binary")
    assert sorted(RUNS) == [f"bbq_kappa0.5.ref__{stream}" for stream in streams]


def plain(X, y, kappa):
    """Return scores and queried rows, solving with A at every row."""
    A, b, scores, asked = np.eye(X.shape[1]), np.zeros(X.shape[1]), [], []
    for t, (x, sign) in enumerate(zip(X, y, strict=True)):
        scores.append(np.linalg.solve(A, b) @ x)
        v = x @ np.linalg.solve(A, x)
        if v / (1 + v) > (t + 1) ** -kappa:
            A, b = A + np.outer(x, x), b + sign * x
            asked.append(t)
    return scores, np.linalg.solve(A, b), np.linalg.inv(A), asked


@given(seed=seeds, kappa=kappas, cuts=st.lists(st.integers(1, 149), max_size=5), sparse=st.booleans())
def test_weights_are_least_squares_on_the_queried_rows(seed, kappa, cuts, sparse):
    X, y = noisy_stream(seed, d=6, density=0.7)
    scores, w, inverse, asked = plain(X, 2 * y - 1, kappa)
    model, Z = BBQ(kappa), as_csr(X) if sparse else X
    edges = [0, *sorted(set(cuts)), len(y)]
    parts = [model.learn(Z[i:j], y[i:j], classes=[0, 1]) for i, j in itertools.pairwise(edges)]
    assert model.n_queried_ == model.n_updates_ == len(asked)
    np.testing.assert_allclose(np.concatenate(parts), scores, rtol=0, atol=1e-9)
    np.testing.assert_allclose(model.coef_[0], w, rtol=0, atol=1e-9)
    np.testing.assert_allclose(model.sigma_, inverse, rtol=0, atol=1e-9)


@given(seed=seeds, kappa=kappas)
def test_queries_are_bounded(seed, kappa):
    """At most ``T^κ ln det A``, because each queried row adds more than ``T^-κ`` to the logarithm."""
    X, y = noisy_stream(seed, n=400, d=5)
    model = BBQ(kappa).fit(X, y)
    log_det = -np.linalg.slogdet(model.sigma_)[1]
    assert 0 < model.n_queried_ <= len(y) ** kappa * log_det


def test_queries_do_not_depend_on_labels():
    X, y = noisy_stream(1)
    one, two = BBQ().fit(X, y), BBQ().fit(X, np.random.RandomState(0).permutation(y))
    assert one.sigma_.tolist() == two.sigma_.tolist()
    assert one.n_queried_ == two.n_queried_ < len(y)


def test_rows_without_an_update_count():
    X, y = noisy_stream(2, n=50)
    late = BBQ().fit(np.vstack([np.zeros((1000, X.shape[1])), X]), [0] * 1000 + y.tolist())
    assert late.n_queried_ > BBQ().fit(X, y).n_queried_


def test_rows_of_any_length():
    model = BBQ().fit(*wild_stream(3))
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.sigma_).all()


@pytest.mark.parametrize("kappa", [0.0, 1.0, "half"])
def test_bad_parameters(kappa):
    with pytest.raises(ValueError, match=r"^BBQ: kappa must be a number between 0.0 and 1.0, both excluded"):
        BBQ(kappa).fit([[1.0], [2.0]], [0, 1])
