"""Test models of noise: how many labels they replace and which, and that written models are read back."""

from __future__ import annotations

import math
import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from singlepass.pipeline.noise import (
    Circumstances,
    ClassNoise,
    FeatureNoise,
    MarginNoise,
    Noise,
    PairNoise,
    WindowNoise,
    noise_of,
    parse,
    parse_noise,
)
from singlepass.pipeline.noise.margin import margin_chances
from singlepass.pipeline.randomness import random_state

CLASSES = ("ham", "news", "spam")
N = 600
MODELS = [
    Noise(0.3),
    Noise(0.3, "class"),
    ClassNoise(rates=(("ham", 0.1), ("spam", 0.4))),
    ClassNoise(matrix=((0.7, 0.3, 0.0), (0.0, 1.0, 0.0), (0.1, 0.2, 0.7))),
    PairNoise(0.2),
    MarginNoise(0.25),
    WindowNoise(0.4, start=0.25, stop=0.5),
]


# For each attribute of a model, apart from its rates: another value.
OTHER = {"level": "class", "start": 0.1, "stop": 0.9, "scale": 2.0}


def clean_codes(seed: int = 0) -> Any:
    return np.random.RandomState(seed).choice(3, N, p=[0.5, 0.3, 0.2]).astype(np.int32)


def margins() -> Any:
    return np.random.RandomState(1).standard_normal(N)


def transitions(noise: Noise, codes: Any) -> Any:
    """Return each row's probability of every given label, computed by hand from the definition."""
    chances = np.zeros((N, 3))
    for i, k in enumerate(codes):
        if isinstance(noise, ClassNoise) and noise.matrix:
            chances[i] = noise.matrix[k]
            continue
        p = noise.rate
        if isinstance(noise, ClassNoise):
            p = dict(noise.rates).get(CLASSES[k], 0.0)
        if isinstance(noise, WindowNoise):
            p = noise.rate if N // 4 <= i < N // 2 else 0.0
        if isinstance(noise, MarginNoise):
            p = margin_chances(margins(), noise.rate)[i]
        others = [(k + 1) % 3] if isinstance(noise, PairNoise) else [j for j in range(3) if j != k]
        chances[i, others] = p / len(others)
        chances[i, k] = 1 - p
    return chances


@pytest.mark.parametrize("noise", MODELS, ids=lambda noise: noise.slug)
def test_rates_of_a_hundred_seeds(noise: Noise) -> None:
    """For every class and every given label, rates are within four standard errors of the definition."""
    codes = clean_codes()
    chances = transitions(noise, codes)
    counts = np.zeros((3, 3))
    for seed in range(100):
        rng = random_state(0, "d", seed=seed, purpose="noise", noise=noise)
        given = noise.corrupt(codes, 3, rng, Circumstances(CLASSES, margins))
        for k in range(3):
            counts[k] += np.bincount(given[codes == k], minlength=3)
    for k in range(3):
        p = chances[codes == k]
        expected = 100 * p.sum(axis=0)
        error = np.sqrt(100 * (p * (1 - p)).sum(axis=0))
        assert (np.abs(counts[k] - expected) <= 4 * error).all()
        # Impossible replacements never occur.
        assert (counts[k][expected == 0] == 0).all()


def test_features_of_a_hundred_seeds() -> None:
    noise, spread = FeatureNoise(0.3, scale=2.0), np.array([1.0, 0.25, 0.0])
    n_changed, sums = 0, np.zeros(3)
    for seed in range(100):
        rng = random_state(0, "d", seed=seed, purpose="noise", noise=noise)
        n_changed += int(noise.drawn(N, rng).sum())
        sums += (noise.added(spread, N, rng) ** 2).sum(axis=0)
    n = 100 * N
    assert abs(n_changed - 0.3 * n) <= 4 * math.sqrt(n * 0.3 * 0.7)
    # The variance of a squared standard normal is 2.
    assert (np.abs(sums - n * (2 * spread) ** 2) <= 4 * math.sqrt(2 * n) * (2 * spread) ** 2).all()


@pytest.mark.parametrize("noise", [*MODELS, FeatureNoise(0.3)], ids=lambda noise: noise.slug)
def test_clean_labels_are_not_written_to(noise: Noise) -> None:
    codes = clean_codes()
    codes.flags.writeable = False
    given = noise.corrupt(codes, 3, np.random.RandomState(0), Circumstances(CLASSES, margins))
    assert given.dtype == np.int32
    assert not np.shares_memory(given, codes)
    assert noise.relabels == (given != codes).any()


PINNED = {
    "0.3": "011212012022",
    "class_matrix_0.7,0.3,0_0,1,0_0.1,0.2,0.7": "012110112012",
    "class_rates_ham=0.1_spam=0.4": "012011212011",
    "margin_0.25": "012012012212",
    "pair_0.2": "012010012110",
    "uniform_0.3_level=class": "012010112010",
    "window_0.4_from=0.25_to=0.5": "012012012012",
}
PINNED_VALUES = [[-1.0123186111450195, -0.1879878044128418]]


def test_integers_are_pinned() -> None:
    # These labels must be the same on every machine and in every release: published results depend on them.
    codes = np.arange(12, dtype=np.int32) % 3
    about = Circumstances(CLASSES, lambda: np.arange(12) / 4)
    found = {}
    for noise in MODELS:
        rng = random_state(0, "digits", seed=1, purpose="noise", noise=noise)
        found[noise.slug] = "".join(map(str, noise.corrupt(codes, 3, rng, about)))
    assert found == PINNED
    rng = random_state(0, "digits", seed=1, purpose="noise", noise=FeatureNoise(0.5))
    assert FeatureNoise(0.5).added(np.array([1.0, 0.5]), 1, rng).tolist() == PINNED_VALUES


@pytest.mark.parametrize("rate", [0.01, 0.1, 0.3, 0.9, 1.0])
@pytest.mark.parametrize("spread", [0.0, 1.0, 100.0, 1e6])
def test_chances_by_margin_have_the_mean_asked_for(rate: float, spread: float) -> None:
    m = np.random.RandomState(2).standard_t(2, 5000) * spread
    p = margin_chances(m, rate)
    assert p.mean() == pytest.approx(rate, rel=1e-9)
    assert p.min() >= 0
    assert p.max() <= 1
    # Nearer rows are replaced more often, with p = c exp(-|m|/q) if that is below 1.
    nearest = np.argsort(np.abs(m), kind="stable")
    assert (np.diff(p[nearest]) <= 0).all()
    free = (p < 1) & (np.abs(m) < 100 * spread)
    if spread and free.any():
        c = p[free] * np.exp(np.abs(m[free]) / np.median(np.abs(m)))
        assert c.max() == pytest.approx(c.min(), rel=1e-9)


_RATES = st.floats(1e-6, 1.0)
_LEVELS = st.sampled_from(["task", "class"])
_NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)


@st.composite
def any_noise(draw: Any) -> Noise:
    rate, level = draw(_RATES), draw(_LEVELS)
    start, stop = sorted(draw(st.lists(st.floats(0, 1), min_size=2, max_size=2, unique=True)))
    rates = draw(st.dictionaries(_NAMES, st.floats(0, 1), min_size=1, max_size=3))
    p = draw(st.floats(0, 1))
    made = [
        Noise(rate, "class"),
        ClassNoise(level=level, rates=tuple(sorted(rates.items()))),
        ClassNoise(level=level, matrix=((p, 1 - p), (1.0, 0.0))),
        PairNoise(rate, level),
        MarginNoise(rate, level),
        WindowNoise(rate, level, start=start, stop=stop),
        FeatureNoise(rate, scale=draw(st.floats(1e-3, 1e3))),
    ]
    return made[draw(st.integers(0, len(made) - 1))]


@pytest.mark.parametrize("name", parse.MODELS)
def test_a_model_has_its_own_name_and_place(name: str) -> None:
    kind = parse.MODELS[name][0]
    assert kind.model == name, f"{kind.__name__} needs model: ClassVar[str] = {name!r}"
    assert [each for each, *_ in parse.MODELS.values() if each.place == kind.place] == [kind]


def test_every_model_is_tested() -> None:
    assert {type(noise) for noise in [*MODELS, FeatureNoise(0.3)]} == {
        kind for kind, *_ in parse.MODELS.values()
    }


@pytest.mark.parametrize("noise", [*MODELS, FeatureNoise(0.3)], ids=lambda noise: noise.slug)
def test_levels_that_differ_have_different_titles(noise: Noise) -> None:
    readers = parse.MODELS[noise.model][1].values()
    for name in {attribute for attribute, _ in readers} - {"rate", "rates", "matrix"}:
        assert name in OTHER, f"add another value of {name!r} to OTHER"
        other = replace(noise, **{name: OTHER[name]})
        if other != noise:
            assert other.short != noise.short, f"name {name!r} in kind, or in short if it is defined"
            assert other.label != noise.label, f"name {name!r} in kind, or in label if it is defined"


@pytest.mark.parametrize("noise", MODELS, ids=lambda noise: noise.slug)
def test_every_model_is_read_back(noise: Noise) -> None:
    assert noise_of(noise.slug) == noise
    assert parse_noise(noise.spec) == noise


@given(any_noise())
def test_what_is_written_is_read_back(noise: Noise) -> None:
    assert noise_of(noise.slug) == noise
    assert parse_noise(noise.spec) == noise
    assert pickle.loads(pickle.dumps(noise)) == noise
    assert len({noise, noise_of(noise.slug)}) == 1
    for text in (noise.slug, noise.stem):
        assert set(text) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,=_~+-")
    assert len(noise.stem) <= 60
    # Its random numbers differ from those of every rate of uniform noise.
    assert 2**31 <= noise.code < 2**32


@given(any_noise(), any_noise())
def test_other_noise_has_another_name_and_another_place(one: Noise, other: Noise) -> None:
    assert (one.slug == other.slug) == (one == other)
    assert (one < other) != (other < one) or one == other


@pytest.mark.parametrize(
    ("noise", "slug", "short", "label"),
    [
        (PairNoise(0.3), "pair_0.3", "30% pair", "30% pair noise"),
        (MarginNoise(0.1), "margin_0.1", "10% margin", "10% margin noise"),
        (FeatureNoise(0.3), "features_0.3", "30% features", "30% features noise"),
        (FeatureNoise(0.3, scale=2.0), "features_0.3_scale=2", "30% features ×2", "30% features ×2 noise"),
        (
            WindowNoise(0.3, start=0.25, stop=0.5),
            "window_0.3_from=0.25_to=0.5",
            "30% window 25–50%",
            "30% label noise from 25% to 50% of the stream",
        ),
        (
            ClassNoise(rates=(("no spam", 0.3),), level="class"),
            "class_rates_no~20~spam=0.3_level=class",
            "no spam 30% class-level, by class",
            "class-level noise by class (no spam 30%)",
        ),
    ],
)
def test_names(noise: Noise, slug: str, short: str, label: str) -> None:
    assert (noise.slug, noise.short, noise.label, noise.opening[-len(label) :]) == (slug, short, label, label)
    assert noise_of(slug) == noise


def test_pairs_are_neighbors() -> None:
    noisy = PairNoise(0.3).corrupt(np.array([0, 1, 2, 0, 1, 2], np.int32), 3, np.random.RandomState(4))
    assert noisy.tolist() == [0, 1, 2, 0, 1, 0]


def test_models_stand_together_by_rising_rate() -> None:
    made = [PairNoise(0.1), Noise(0.3), MarginNoise(0.1), Noise(), PairNoise(0.05), Noise(0.1, "class")]
    slugs = [noise.slug for noise in sorted(made)]
    assert slugs == ["0", "0.3", "uniform_0.1_level=class", "pair_0.05", "pair_0.1", "margin_0.1"]


def test_a_rate_is_a_rate_however_it_is_written() -> None:
    for table in ({"model": "uniform", "rate": 0.1}, {"model": "uniform", "rate": 0.1, "level": "task"}):
        noise = parse_noise(table)
        assert (noise, noise.spec, noise.slug, noise.code) == (Noise(0.1), 0.1, "0.1", 10**8)
    assert parse_noise({"model": "class", "rates": {"b": 1, "a": 0}}).slug == "class_rates_a=0_b=1"


@pytest.mark.parametrize(
    ("table", "line"),
    [
        ({"rate": 0.1}, "a table of noise needs a 'model': give one of uniform, class, pair, margin, window"),
        ({"model": "pairs", "rate": 0.1}, "unknown model of noise 'pairs': give one of uniform, class, pair"),
        ({"model": ["pair"]}, r"unknown model of noise \['pair'\]"),
        ({"model": "pair"}, "noise of model 'pair': 'rate' is missing"),
        ({"model": "pair", "rate": 1.5}, "'rate' must be a probability in"),
        ({"model": "pair", "rate": 0}, "for no noise write 0.0 instead of the table"),
        ({"model": "pair", "rate": True}, "'rate' must be a probability in"),
        ({"model": "pair", "rate": 0.1, "rates": {}}, "unknown key 'rates'; known: rate, level"),
        ({"model": "pair", "rate": 0.1, "level": "row"}, "'level' must be 'task' or 'class', got 'row'"),
        ({"model": "features", "rate": 0.1, "level": "class"}, "unknown key 'level'; known: rate, scale"),
        ({"model": "features", "rate": 0.1, "scale": 0.0}, "'scale' must be a finite number > 0"),
        ({"model": "features", "rate": 0.1, "scale": math.inf}, "'scale' must be a finite number > 0"),
        ({"model": "window", "rate": 0.1, "from": 0.5}, "'to' is missing"),
        ({"model": "window", "rate": 0.1, "from": 0.5, "to": 0.5}, "'from' must be less than 'to'"),
        ({"model": "window", "rate": 0.1, "from": 0.5, "to": 2}, "'to' must be a place in the stream"),
        ({"model": "class"}, "give either 'rates' or a 'matrix'"),
        (
            {"model": "class", "rates": {"a": 0.1}, "matrix": [[1, 0], [0, 1]]},
            "give either 'rates' or a 'matrix'",
        ),
        ({"model": "class", "rates": {}}, "'rates' must be a table of classes and rates"),
        ({"model": "class", "rates": {"spam": -1}}, r"'spam' must be a rate in \[0, 1\], got -1"),
        ({"model": "class", "matrix": [[1.0]]}, "K is the number of classes, at least 2"),
        ({"model": "class", "matrix": [[1.0, 0.0], [1.0]]}, "row 2 does not have 2 numbers"),
        ({"model": "class", "matrix": [[1.0, 0.0], [0.3, 0.6]]}, "row 2 adds up to 0.9"),
        ({"model": "class", "matrix": [[2.0, -1.0], [0.3, 0.7]]}, "must be rows of probabilities"),
        ({"model": "uniform", "rate": 1.0}, "1.0 is not a noise rate"),
    ],
)
def test_what_is_wrong_is_one_line(table: dict[str, Any], line: str) -> None:
    with pytest.raises(ValueError, match=line) as caught:
        parse_noise(table)
    assert "\n" not in str(caught.value)


def test_chances_by_hand() -> None:
    assert margin_chances(np.array([0.0, -1.0, 9.0]), 0.3).round(3).tolist() == [0.658, 0.242, 0.0]
    assert margin_chances(np.array([0.0, 1.0, 9.0]), 0.5).round(3).tolist() == [1.0, 0.5, 0.0]


def test_margins_are_asked_for() -> None:
    with pytest.raises(ValueError, match="needs the margins"):
        MarginNoise(0.1).corrupt(clean_codes(), 3, np.random.RandomState(0))
