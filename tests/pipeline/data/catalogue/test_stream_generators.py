"""Compare drifting generators with their concepts, written out again here, and with class frequencies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from singlepass.pipeline.data import describe, expand, open_stream
from singlepass.pipeline.data.catalogue.generators import GENERATORS, draw_hyperplane, draw_random_rbf
from singlepass.pipeline.errors import InputError

from .test_generators import digest

N = 20_000
# These have no test part by default.
DRIFTING = [name for name, entry in GENERATORS.items() if not entry.n_test]


def drawn(name: str, seed: int = 0, **options: Any) -> tuple[np.ndarray, np.ndarray]:
    stream = open_stream(expand(name=name, options={"n_train": N, **options})[0], seed=seed)
    return np.asarray(stream.X), stream.y


def close_to(y: np.ndarray, share: float) -> bool:
    """Return whether class 1 has the expected frequency, within four standard errors."""
    return abs(y.mean() - share) <= 4 * np.sqrt(share * (1 - share) / len(y))


@pytest.mark.parametrize(("concept", "theta"), [(1, 8.0), (2, 9.0), (3, 7.0), (4, 9.5)])
def test_sea(concept: int, theta: float) -> None:
    X, y = drawn("sea", concept=concept)
    assert np.array_equal(y == 1, X[:, 0] + X[:, 1] <= theta)
    # The area below the line in a square of side 10.
    assert close_to(y, theta**2 / 200)
    assert X.min() >= 0.0
    assert X.max() <= 10.0


@pytest.mark.parametrize(("concept", "share"), [(1, 1 / 9), (2, 5 / 9), (3, 2 / 3)])
def test_stagger(concept: int, share: float) -> None:
    X, y = drawn("stagger", concept=concept)
    small, medium, large, red, _, green, circle, _, _ = X.T == 1.0
    wanted = {1: small & red, 2: green | circle, 3: medium | large}[concept]
    assert np.array_equal(y == 1, wanted)
    assert close_to(y, share)
    assert (X.reshape(N, 3, 3).sum(axis=2) == 1.0).all()


def test_a_hyperplane_that_stays_is_one() -> None:
    X, y = drawn("hyperplane", change=0.0)
    assert close_to(y, 0.5)
    signed = np.where(y == 1, 1.0, -1.0)
    # The concept is linearly separable, so a perceptron eventually makes no more mistakes.
    w, Z = np.zeros(10), X - 0.5
    for _ in range(2000):
        wrong = signed * (Z @ w) <= 0
        if wrong.mean() < 0.002:
            break
        w += (signed[wrong, np.newaxis] * Z[wrong]).mean(axis=0)
    assert wrong.mean() < 0.002


def test_a_hyperplane_rotates() -> None:
    X, y = drawn("hyperplane", drift_features=10, change=0.0005, reversal=0.0)
    Z, signed = X - 0.5, np.where(y == 1, 1.0, -1.0)
    first, last = (
        np.linalg.lstsq(Z[part], signed[part], rcond=None)[0] for part in (slice(1000), slice(-1000, None))
    )
    assert (np.sign(Z[:1000] @ first) == signed[:1000]).mean() > 0.9
    assert first @ last / np.linalg.norm(first) / np.linalg.norm(last) < 0.9


def test_centres_move() -> None:
    draw = draw_random_rbf
    still, moved = (draw(np.random.RandomState(4), 500, centres=3, speed=speed) for speed in (0.0, 0.001))
    assert np.array_equal(still[1], moved[1])
    assert set(still[1]) == {0, 1}
    gone = np.sqrt(((still[0] - moved[0]) ** 2).sum(axis=1))
    # The distance moved equals the number of rows passed, until a side reflects the centre.
    assert np.allclose(gone[:10], 0.001 * np.arange(10))
    assert (gone <= 0.001 * np.arange(500) + 1e-9).all()


@pytest.mark.parametrize(("name", "still"), [("hyperplane", {"change": 0.0}), ("random-rbf", {"speed": 0.0})])
def test_the_test_part_has_the_concept_of_the_training_part(name: str, still: dict[str, Any]) -> None:
    stream = open_stream(expand(name=name, options={"n_train": 2000, "n_test": 500, **still})[0], seed=2)
    near = KNeighborsClassifier(5).fit(np.asarray(stream.X), stream.y)
    assert near.score(np.asarray(stream.X_test), stream.y_test) > 0.8


def test_the_test_part_continues_the_drift() -> None:
    still, moved = (
        draw_random_rbf(np.random.RandomState(4), 40, n_test=20, centres=3, speed=speed)[0]
        for speed in (0.0, 0.0001)
    )
    assert np.allclose(np.sqrt(((still - moved) ** 2).sum(axis=1)), 0.0001 * np.arange(60))
    X, y = draw_hyperplane(
        np.random.RandomState(4), 1000, n_test=50, drift_features=1, change=0.1, reversal=0.0
    )
    # After 1,000 steps of length 0.1 the first weight outweighs the other nine.
    agree = ((X[1000:, 0] > 0.5) == y[1000:]).mean()
    assert max(agree, 1.0 - agree) > 0.9


@pytest.mark.parametrize("name", sorted(DRIFTING))
def test_a_test_part_leaves_the_training_part(name: str) -> None:
    with_test, without = (
        open_stream(expand(name=name, options={"n_train": 101, "n_test": n})[0]) for n in (7, 0)
    )
    assert digest(with_test) == digest(without)
    assert with_test.y_test is not None
    assert len(with_test.y_test) == 7


def test_led_without_faults_is_told_by_its_segments() -> None:
    X, y = drawn("led", inverted=0.0)
    shown = {tuple(row[:7]): label for row, label in zip(X.tolist(), y.tolist(), strict=True)}
    assert len(shown) == 10
    assert sorted(sum(key) for key in shown) == [2, 3, 4, 5, 5, 5, 6, 6, 6, 7]
    faulty, again = drawn("led", inverted=0.2)
    assert np.array_equal(y, again)
    flipped = (faulty[:, :7] != X[:, :7]).mean()
    assert abs(flipped - 0.2) < 0.01
    swapped, _ = drawn("led", inverted=0.0, swapped=3)
    assert np.array_equal(swapped[:, 7:10], X[:, :3])
    assert np.array_equal(swapped[:, 3:7], X[:, 3:7])


def agrawal_by_hand(concept: int, row: np.ndarray) -> bool:
    """Return the group of one row by the paper's functions."""
    salary, commission, age, house, years, loan = row[:6] * [150e3, 75e3, 80.0, 1350e3, 30.0, 500e3]
    education = int(row[6:11].argmax())
    band = 0 if age < 39.5 else 1 if age < 59.5 else 2
    pay = [(50, 100), (75, 125), (25, 75)][band]

    def within(value: float, bounds: tuple[int, int]) -> bool:
        return bounds[0] * 1e3 <= value <= bounds[1] * 1e3

    schooled = education in [(0, 1), (1, 2, 3), (2, 3, 4)][band]
    net = 0.67 * (salary + commission)
    if concept == 1:
        return band != 1
    if concept == 2:
        return within(salary, pay)
    if concept == 3:
        return schooled
    if concept == 4:
        with_it, without = [((25, 75), (50, 100)), ((50, 100), (75, 125)), ((50, 100), (25, 75))][band]
        return within(salary, with_it if schooled else without)
    if concept == 5:
        with_it, without = [((100, 300), (200, 400)), ((200, 400), (300, 500)), ((300, 500), (100, 300))][
            band
        ]
        return within(loan, with_it if within(salary, pay) else without)
    if concept == 6:
        return within(salary + commission, pay)
    if concept == 7:
        return net - 0.2 * loan - 20e3 > 0
    if concept == 8:
        return net - 5e3 * education - 20e3 > 0
    if concept == 9:
        return net - 5e3 * education - 0.2 * loan - 10e3 > 0
    equity = 0.1 * house * max(years - 20, 0)
    return net - 5e3 * education + 0.2 * equity - 10e3 > 0


@pytest.mark.parametrize("concept", range(1, 11))
def test_agrawal(concept: int) -> None:
    X, y = drawn("agrawal", concept=concept, perturbation=0.0, n_train=3000)
    assert [agrawal_by_hand(concept, row) for row in X] == (y == 1).tolist()
    assert X.shape == (3000, 40)
    moved, same = drawn("agrawal", concept=concept, perturbation=0.1, n_train=3000)
    assert np.array_equal(same, y)
    assert not np.array_equal(moved[:, :6], X[:, :6])
    assert np.array_equal(moved[:, 6:], X[:, 6:])
    assert np.array_equal(moved[:, 1] == 0.0, X[:, 1] == 0.0)


# The last number is River's positive class: its SEA calls rows above the line positive, and its Agrawal swaps
# the groups from the seventh function on. Its fifth function uses the salary where the paper has the loan.
RIVER: list[tuple[str, dict[str, Any], Callable[[Any], Any], int]] = [
    *(("sea", {"concept": i}, lambda synth, i=i: synth.SEA(variant=i - 1, seed=1), 0) for i in range(1, 5)),
    *(("stagger", {"concept": i}, lambda synth, i=i: synth.STAGGER(i - 1, seed=1), 1) for i in range(1, 4)),
    *(
        ("agrawal", {"concept": i}, lambda synth, i=i: synth.Agrawal(i - 1, seed=1), int(i < 7))
        for i in (1, 2, 3, 4, 6, 7, 8, 9, 10)
    ),
    ("hyperplane", {}, lambda synth: synth.Hyperplane(seed=1, noise_percentage=0.0), 1),
]


@pytest.mark.parametrize(
    ("name", "options", "make", "positive"),
    [pytest.param(*each, marks=[] if each[1].get("concept", 1) == 1 else pytest.mark.slow) for each in RIVER],
)
def test_class_ratios_are_those_of_river(
    name: str, options: dict[str, Any], make: Callable[[Any], Any], positive: int
) -> None:
    synth = pytest.importorskip("river.datasets.synth", reason="the oracle is River, which is not installed")
    n = 4000
    theirs = np.mean([int(y) == positive for _, y in make(synth).take(n)])
    assert abs(drawn(name, **options)[1].mean() - theirs) < 4 * np.sqrt(0.25 / n + 0.25 / N)


PINNED = {
    "agrawal": "557ae789292d9738",
    "clicks": "4e7455c7d8c02c3d",
    "hyperplane": "cd556ae8d79ead57",
    "led": "e8b4d22d2e1e5b2d",
    "random-rbf": "8ba8931ef31a4f2c",
    "sea": "c7bbc6b4d7868291",
    "stagger": "cff2f5e1016b2cb7",
}


@pytest.mark.parametrize("name", sorted(DRIFTING))
def test_rows_are_pinned(name: str) -> None:
    stream = open_stream(expand(name=name, options={"n_train": 100, "n_test": 7})[0], root=3, seed=2)
    assert digest(stream) == PINNED.get(name), (
        f"raise the version of {name!r} if its rows had to change, or add it to PINNED of {__file__}"
    )
    other = open_stream(expand(name=name, options={"n_train": 100})[0], root=3, seed=3)
    assert digest(other) != digest(stream)


def test_they_are_listed_as_they_are() -> None:
    rows = {row.name: row for row in describe()}
    for name in DRIFTING:
        stream = open_stream(expand(name=name)[0])
        assert rows[name].shape == stream.X.shape
        assert rows[name].classes == stream.classes
        assert not rows[name].official_split


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("sea", {"concept": 5}),
        ("sea", {"concept": 0}),
        ("agrawal", {"perturbation": 1.5}),
        ("hyperplane", {"change": "fast"}),
        ("hyperplane", {"change": float("inf")}),
        ("random-rbf", {"speed": float("nan")}),
        ("led", {"swapped": True}),
        ("stagger", {"consept": 1}),
    ],
)
def test_an_option_that_makes_no_sense_is_one_line(name: str, options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=next(iter(options))) as caught:
        expand(name=name, options=options)
    assert "\n" not in str(caught.value)
