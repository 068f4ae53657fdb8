"""The improved ellipsoid method: golden runs, and the plain rule."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from singlepass.learners import IELLIP

from ..streams import as_csr, golden_learner, golden_runs, golden_stream, noisy_classes, noisy_stream

pytestmark = pytest.mark.slow

RUNS = golden_runs("ellipsoid")
seeds = st.integers(0, 2**31 - 1)


@pytest.mark.parametrize("convert", [np.asarray, as_csr])
@pytest.mark.parametrize("name", sorted(RUNS))
def test_run(name, convert):
    run = RUNS[name]
    X, y = golden_stream(run["stream"])
    learner = golden_learner(name)
    assert run["hyperparameters"] == {}
    scores = learner.learn(convert(X), y, classes=[-1, 1])
    mistakes = np.flatnonzero(y * scores <= 0).tolist()
    assert mistakes == run["mistake_indices_0based"] == run["update_indices_0based"]
    assert learner.n_updates_ == run["n_updates_final"]
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
    assert sorted(RUNS) == [f"iellip.ref__{stream}" for stream in streams]


def plain(X, y, c, b, a):
    w, sigma, scores = np.zeros(X.shape[1]), a * np.eye(X.shape[1]), []
    for t, (x, sign) in enumerate(zip(X, y, strict=True)):
        scores.append(w @ x)
        m, s = sign * scores[-1], sigma @ x
        v = x @ s
        if m <= 0 and v > 0:
            cut = c * b**t
            w = w + (1 - m) / v * sign * s
            sigma = (sigma - cut * np.outer(s, s) / v) / (1 - cut)
    return scores, w, sigma


@given(seed=seeds, c=st.floats(0.0, 0.6), b=st.sampled_from([0.0, 0.3, 0.99, 1.0]), sparse=st.booleans())
def test_it_is_the_rule(seed, c, b, sparse):
    X, y = noisy_stream(seed, d=5, density=0.8)
    model = IELLIP(c, b, 2.5)
    scores = model.learn(as_csr(X) if sparse else X, y, classes=[0, 1])
    expected, w, sigma = plain(X, 2 * y - 1, c, b, 2.5)
    # With cuts of 0.6 at every mistake, Σ loses digits in any implementation.
    tolerance = 1e-6 * max(1.0, np.abs(expected).max())
    np.testing.assert_allclose(scores, expected, rtol=0, atol=tolerance)
    np.testing.assert_allclose(model.coef_[0], w, rtol=0, atol=1e-6 * np.abs(w).max())
    np.testing.assert_allclose(model.sigma_, sigma, rtol=0, atol=1e-6 * np.abs(sigma).max())
    assert (model.sigma_ == model.sigma_.T).all()


def test_a_mistake_is_corrected():
    X, y = noisy_stream(3, n=80)
    model = IELLIP(b=0.9)
    for t in range(len(y)):
        x, sign = X[t : t + 1], 2 * y[t] - 1
        if sign * model.learn(x, y[t : t + 1], classes=[0, 1])[0] <= 0:
            assert sign * model.decision_function(x)[0] == pytest.approx(1.0)


def test_endless_cuts_keep_the_matrix_in_range():
    """With b = 1 the ellipsoid grows forever along directions that do not occur, so it is rescaled."""
    X, y = np.ones((3000, 2)), np.arange(3000) % 2
    X[:, 1] = 0.0
    model = IELLIP(c=0.2, b=1.0).fit(X, y)
    assert model.n_mistakes_ == 3000
    assert 1.0 <= model._rates[1] < 2.0**200
    assert np.isfinite(model.sigma_[0, 0])
    # Along the row that is cut Σ stays what it was: (1 - c)/(1 - c).
    assert model.sigma_[0, 0] == pytest.approx(1.0, rel=1e-9)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"c": 1.0}, "IELLIP: c must be < 1, got 1.0"),
        ({"c": -0.1}, "IELLIP: c must be a number from 0 to 1, got -0.1"),
        ({"b": 1.5}, "IELLIP: b must be a number from 0 to 1, got 1.5"),
        ({"a": 0.0}, "IELLIP: a must be a finite number > 0, got 0.0"),
    ],
)
def test_invalid_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        IELLIP(**parameters).fit(*noisy_stream(1))


def test_more_than_two_classes_are_refused():
    with pytest.raises(ValueError, match=r"Only binary .* IELLIP was given 5 classes"):
        IELLIP().fit(*noisy_classes(1))
