"""Test generators: moments as defined, and the same rows for the same seed in every release."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import pytest

from singlepass.pipeline.data import Stream, TaskRef, expand, fingerprint, open_stream
from singlepass.pipeline.data.catalogue.generators import (
    GENERATORS,
    draw_arow_synthetic,
    draw_checkerboard,
    draw_gauss,
    draw_waveform,
)
from singlepass.pipeline.errors import InputError

# Large enough for three digits of a moment.
N = 100_000


def test_arow_synthetic_has_the_papers_shape() -> None:
    X, y = draw_arow_synthetic(np.random.RandomState(0), N)
    long = (X[:, 0] + X[:, 1]) * np.sqrt(0.5)
    short = (X[:, 1] - X[:, 0]) * np.sqrt(0.5)
    assert X.shape == (N, 20)
    assert long.std() == pytest.approx(1.0, rel=0.01)
    assert short.std() == pytest.approx(0.1, rel=0.01)
    assert X[:, 2:].var(axis=0) == pytest.approx(np.full(18, 2.0), rel=0.03)
    assert X.mean(axis=0) == pytest.approx(np.zeros(20), abs=0.02)
    np.testing.assert_array_equal(y, short > 0)
    assert y.mean() == pytest.approx(0.5, abs=0.01)
    # The correlation of a rotated Gaussian with these axes.
    assert np.corrcoef(X[:, 0], X[:, 1])[0, 1] == pytest.approx((1 - 0.01) / (1 + 0.01), abs=0.001)


def test_gauss_reaches_the_published_bayes_accuracy() -> None:
    X, y = draw_gauss(np.random.RandomState(0), N)
    for label, mean, variance in ((0, [0.0, 0.0], 1.0), (1, [2.0, 0.0], 4.0)):
        assert X[y == label].mean(axis=0) == pytest.approx(mean, abs=0.03)
        assert X[y == label].var(axis=0) == pytest.approx([variance] * 2, rel=0.03)
    # Bayes rule: the likelihood ratio of the two densities.
    narrow = -(X**2).sum(axis=1) / 2
    wide = -((X - [2.0, 0.0]) ** 2).sum(axis=1) / 8 - np.log(4.0)
    assert ((wide > narrow) == y).mean() == pytest.approx(0.815, abs=0.004)


def test_checkerboard_is_uniform_and_alternates() -> None:
    X, y = draw_checkerboard(np.random.RandomState(0), N)
    assert X.min() >= 0.0
    assert X.max() < 4.0
    squares, counts = np.unique(np.floor(X).astype(int), axis=0, return_counts=True)
    assert len(squares) == 16
    assert counts == pytest.approx(np.full(16, N / 16), rel=0.05)
    np.testing.assert_array_equal(y, np.floor(X).astype(int).sum(axis=1) % 2)


def test_noisy_checkerboard_has_noise_in_the_training_part_alone() -> None:
    options = {"n_train": N, "n_test": 1_000}
    stream = open_stream(expand(name="checkerboard-noisy", options=options)[0])
    wrong = np.floor(np.asarray(stream.X)).astype(int).sum(axis=1) % 2 != stream.y
    assert wrong.mean() == pytest.approx(0.15, abs=0.005)
    assert wrong[stream.y == 1].mean() == pytest.approx(0.15, abs=0.01)
    assert stream.X_test is not None
    np.testing.assert_array_equal(
        np.floor(np.asarray(stream.X_test)).astype(int).sum(axis=1) % 2, stream.y_test
    )


def test_waveform_has_the_moments_of_its_definition() -> None:
    X, y = draw_waveform(np.random.RandomState(0), N)
    i = np.arange(1, 22)
    h1, h2, h3 = (np.maximum(6.0 - np.abs(i - peak), 0.0) for peak in (11, 15, 7))
    for label, (a, b) in enumerate([(h1, h2), (h1, h3), (h2, h3)]):
        rows = X[y == label]
        assert len(rows) == pytest.approx(N / 3, rel=0.02)
        assert rows.mean(axis=0) == pytest.approx((a + b) / 2, abs=0.05)
        # u has variance 1/12 and moves all features together.
        expected = np.outer(a - b, a - b) / 12 + np.eye(21)
        np.testing.assert_allclose(np.cov(rows.T), expected, rtol=0, atol=0.1)


def test_tasks_of_the_waveforms() -> None:
    options = {"n_train": 300, "n_test": 50}
    table = open_stream(expand(name="waveform-generator", label="w[uci-first-negative]", options=options)[0])
    stream = open_stream(
        expand(name="waveform-generator", label="w", task="uci-first-negative", options=options)[0]
    )
    assert (len(table.classes), stream.classes) == (3, ("rest", "uci-first-negative"))
    np.testing.assert_array_equal(stream.X, table.X)
    np.testing.assert_array_equal(stream.y, table.y < 2)
    assert [ref.task for ref in expand(name="waveform-generator", task="pairs")] == [
        "pair:1,2",
        "pair:1,3",
        "pair:2,3",
    ]


def digest(stream: Stream) -> str:
    """Hash values rounded to nine decimals.

    Another C library's logarithm may change the last bit of a normal draw.
    """
    X: Any = stream.X
    values = X if isinstance(X, np.ndarray) else np.concatenate([X.data, X.indices, X.indptr])
    rounded = np.round(values, 9) + 0.0
    return hashlib.sha256(rounded.tobytes() + stream.y.tobytes()).hexdigest()[:16]


PINNED = {
    "arow-synthetic": "1a23b7a6378947e1",
    "gauss": "fefea57a85811ebf",
    "checkerboard": "fb9149fc021e4dc5",
    "checkerboard-noisy": "11716572a36e5a82",
    "waveform-generator": "bdf5be1ae4c6ab2c",
}


@pytest.mark.parametrize("name", sorted(name for name, entry in GENERATORS.items() if entry.n_test))
def test_rows_are_pinned(name: str) -> None:
    stream = open_stream(expand(name=name, options={"n_train": 100, "n_test": 7})[0], root=3, seed=2)
    assert digest(stream) == PINNED.get(name), (
        f"raise the version of {name!r} if its rows had to change, or add it to PINNED of {__file__}"
    )


def test_rows_depend_on_root_label_and_seed_only() -> None:
    ref = expand(name="gauss", options={"n_train": 50})[0]
    base = open_stream(ref, root=1, seed=1)
    assert open_stream(ref, root=1, seed=1) is base
    other_label = expand(name="gauss", label="other", options={"n_train": 50})[0]
    for stream in (open_stream(ref, 2, 1), open_stream(ref, 1, 2), open_stream(other_label, 1, 1)):
        assert digest(stream) != digest(base)
    fewer_tests = expand(name="gauss", options={"n_train": 50, "n_test": 0})[0]
    stream = open_stream(fewer_tests, 1, 1)
    assert stream.X_test is None
    assert stream.y_test is None
    assert digest(stream) == digest(base)


def test_defaults_are_the_papers() -> None:
    stream = open_stream(expand(name="arow-synthetic")[0])
    assert stream.X.shape == (5_000, 20)
    assert stream.X_test is not None
    assert stream.X_test.shape == (10_000, 20)
    assert stream.rows is None
    assert stream.X.dtype == np.float64
    assert not stream.X.flags.writeable


def test_fingerprint_needs_no_drawing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("singlepass.pipeline.data.sources.random_state", None)
    plain = expand(name="gauss")[0]
    refs = [
        plain,
        expand(name="gauss", options={"bias": True})[0],
        expand(name="gauss", label="g2")[0],
        expand(name="checkerboard")[0],
        expand(name="gauss", options={"positive": "-1"})[0],
    ]
    assert len({fingerprint(ref) for ref in refs}) == len(refs)
    spelled_out = TaskRef(plain.label, "gauss", "binary", "gauss", (("n_train", 10_000),))
    assert fingerprint(spelled_out) == fingerprint(plain)


def test_feature_options_apply() -> None:
    stream = open_stream(expand(name="gauss", options={"n_train": 9, "bias": True, "dtype": "float32"})[0])
    assert stream.X.dtype == np.float32
    assert np.asarray(stream.X)[:, 2].tolist() == [1.0] * 9


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"n_train": 0}, "n_train must be a whole number >= 1, not 0"),
        ({"n_test": -1}, "n_test must be a whole number >= 0, not -1"),
        ({"rows": 5}, "data set 'gauss' has no option 'rows'"),
    ],
)
def test_wrong_options(options: dict[str, int], line: str) -> None:
    with pytest.raises(InputError, match=line):
        expand(name="gauss", options=options)
