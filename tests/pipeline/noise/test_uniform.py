"""Test uniform label noise: its rate, the classes it chooses, and what it leaves unchanged."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from singlepass.pipeline.noise import Noise, noise_of, parse_noise


@given(
    n=st.integers(1, 200),
    rate=st.floats(0, 0.99),
    n_classes=st.integers(2, 7),
    seed=st.integers(0, 1000),
)
def test_flipped_labels_are_other_classes(n: int, rate: float, n_classes: int, seed: int) -> None:
    clean = np.random.RandomState(seed).randint(0, n_classes, n).astype(np.int32)
    before = clean.copy()
    noisy = Noise(rate).corrupt(clean, n_classes, np.random.RandomState(seed + 1))
    assert np.array_equal(clean, before)
    assert noisy.dtype == np.int32
    assert noisy.min() >= 0
    assert noisy.max() < n_classes
    if rate == 0:
        assert np.array_equal(noisy, clean)


@pytest.mark.parametrize(("rate", "n_classes"), [(0.1, 2), (0.3, 2), (0.25, 5)])
def test_rate_and_spread(rate: float, n_classes: int) -> None:
    n = 40_000
    clean = np.zeros(n, dtype=np.int32)
    noisy = Noise(rate).corrupt(clean, n_classes, np.random.RandomState(0))
    counts = np.bincount(noisy, minlength=n_classes)
    # Five standard deviations of a binomial count: a correct sampler fails once in a million seeds.
    for wrong in counts[1:]:
        expected = n * rate / (n_classes - 1)
        assert abs(wrong - expected) < 5 * np.sqrt(expected)
    assert counts[1:].sum() == pytest.approx(n * rate, abs=5 * np.sqrt(n * rate * (1 - rate)))


def test_integers_are_pinned() -> None:
    noisy = Noise(0.5).corrupt(np.zeros(6, dtype=np.int32), 2, np.random.RandomState(0))
    assert noisy.tolist() == [0, 0, 0, 0, 1, 0]


@pytest.mark.parametrize(("rate", "slug"), [(0.1, "0.1"), (1 / 3, "0.3333333333333333")])
def test_a_slug_has_few_digits_if_they_suffice(rate: float, slug: str) -> None:
    assert Noise(rate).slug == slug


@given(rate=st.floats(0, 1, exclude_max=True))
def test_what_the_store_writes_is_read_back(rate: float) -> None:
    assert noise_of(Noise(rate).slug) == Noise(rate)
    assert parse_noise(Noise(rate).spec) == Noise(rate)


@pytest.mark.parametrize("value", [1, -0.1, "much", "0.1", True, None, [0.1], float("nan")])
def test_what_is_no_rate_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="is not a noise rate: give numbers in"):
        parse_noise(value)
