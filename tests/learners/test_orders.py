"""Orders of rows, recording at stops, and omitted features do not change any result."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from singlepass.learners import AROW, BBQ, IELLIP, ROMMA, SketchedOnlineNewton, ordered_rows, take_rows
from singlepass.learners.linear import linear_classifier
from singlepass.learners.numeric import orders

from .streams import (
    FEATURE_LEARNERS,
    KERNEL_LEARNERS,
    LEARNERS,
    OF_MANY_CLASSES,
    SEVERAL_CONSTRAINTS,
    any_learner,
    as_csr,
    every_learner,
    every_multiclass_learner,
    is_representative,
    noisy_stream,
    one_of_each_loop,
    tiered,
)

ROWS = 60
STOPS = np.array([1, 7, 30, 45])


def stream_of(n_classes):
    """Return float64 rows with values that float32 has, too."""
    X, y = noisy_stream(n_classes, n=ROWS)
    return X.astype(np.float32).astype(np.float64), y.astype(np.int32)


SINGLE = {
    repr(learner)
    for learners, n_classes in ((LEARNERS, 2), (OF_MANY_CLASSES + SEVERAL_CONSTRAINTS, 5))
    for learner in one_of_each_loop(learners, n_classes, of_each_rule=False)
    if not is_representative(learner)
}


def dtype_of(learner):
    """Return the dtype in which a learner reads ordered rows here.

    One learner of each loop reads them in float32, which also shows that float32 rows give the outcome of
    float64 rows. The representatives have tests of float32 of their own.
    """
    return np.float32 if repr(learner) in SINGLE else np.float64


def begun(learner, n_classes, n_features, *n_occurring):
    model = clone(learner)
    model.begin(np.arange(n_classes), n_features, *n_occurring)
    return model


def assert_same_model(one, other, X):
    np.testing.assert_array_equal(one.score_rows(X), other.score_rows(X))
    assert one.counters() == other.counters()
    assert (one.n_examples_, one.n_mistakes_) == (other.n_examples_, other.n_mistakes_)


def check_order(learner, n_classes, dtype, convert):
    X, y = stream_of(n_classes)
    X = convert(X)
    # Rows that are left out, and rows that come again.
    order = np.random.RandomState(3).randint(0, ROWS, 90)
    gathered, codes = take_rows(X, order), y[order]
    plain, through = begun(learner, n_classes, X.shape[1]), begun(learner, n_classes, X.shape[1])
    rows = ordered_rows(X.astype(dtype), order)
    np.testing.assert_array_equal(plain.learn_rows(gathered, codes), through.learn_rows(rows, codes))
    assert_same_model(plain, through, X)
    np.testing.assert_array_equal(plain.score_rows(gathered), plain.score_rows(rows))


@pytest.mark.parametrize(
    "learner", tiered(one_of_each_loop(LEARNERS, 2) + KERNEL_LEARNERS + FEATURE_LEARNERS)
)
def test_an_order_is_what_rows_gathered_in_it_are(learner):
    for convert in (np.asarray, as_csr):
        check_order(learner, 2, dtype_of(learner), convert)
    check_stops(learner, 2, in_order)


@pytest.mark.parametrize("learner", tiered(one_of_each_loop(OF_MANY_CLASSES + SEVERAL_CONSTRAINTS, 5)))
def test_an_order_of_many_classes(learner):
    for convert in (np.asarray, as_csr):
        check_order(learner, 5, dtype_of(learner), convert)
    check_stops(learner, 5, in_order)


@pytest.mark.parametrize("convert", [np.asarray, pytest.param(as_csr, marks=pytest.mark.slow)])
def test_an_order_of_single_precision(convert):
    check_order(AROW(), 2, np.float32, convert)


def in_order(learner, X):
    """Return the rows of a matrix in reverse order, which is not copied."""
    return ordered_rows(X.astype(dtype_of(learner)), np.arange(ROWS)[::-1])


def check_stops(learner, n_classes, reverse=lambda _, X: X[::-1].copy()):
    X, y = stream_of(n_classes)
    rows, codes = reverse(learner, X), y[::-1]
    whole, noting, pieces = (begun(learner, n_classes, X.shape[1]) for _ in range(3))
    passage = noting.learn_along(rows, codes, STOPS)
    np.testing.assert_array_equal(passage.scores, whole.learn_rows(rows, codes))
    assert_same_model(whole, noting, X)
    start = 0
    for i, stop in enumerate(STOPS):
        pieces.learn_rows(X[::-1][start:stop].copy(), codes[start:stop])
        start = stop
        counted = pieces.counters()
        assert {name: int(values[i]) for name, values in passage.counts.items()} == counted
    seconds = np.asarray(passage.seconds)
    assert len(seconds) == len(STOPS)
    assert (np.diff(seconds) >= 0).all()
    assert (seconds >= 0).all()
    # A second stretch continues where the first ended.
    more = noting.learn_along(rows, codes, np.array([ROWS]))
    whole.learn_rows(rows, codes)
    assert [int(values[0]) for values in more.counts.values()] == list(whole.counters().values())


@any_learner
def test_what_is_noted_at_stops_is_what_is_counted_there(learner):
    check_stops(learner, 2)


@every_multiclass_learner
def test_what_is_noted_at_stops_of_many_classes(learner):
    check_stops(learner, 5)


@pytest.mark.parametrize("learner", [AROW(), ROMMA()], ids=repr)
def test_a_platform_without_a_clock_notes_the_same(learner, monkeypatch):
    monkeypatch.setattr(linear_classifier, "LOOPS_HAVE_A_CLOCK", False)
    check_stops(learner, 2)


class Counting(AROW):
    """An AROW with an additional counter along the stream."""

    def counters(self):
        return super().counters() | {"complexity": self.n_examples_ // 10}


def test_what_a_learner_counts_besides_is_noted_too():
    check_stops(Counting(), 2)


def check_absent(learner, n_classes):
    X, y = stream_of(n_classes)
    # Only every third feature of the first ones occurs.
    n_features = 3 * X.shape[1] + 40
    wide = np.zeros((ROWS, n_features))
    wide[:, 1 : 3 * X.shape[1] : 3] = X
    wide, narrow = sp.csr_matrix(wide), sp.csr_matrix(X)
    numbered = begun(learner, n_classes, n_features, X.shape[1])
    everything = begun(learner, n_classes, n_features)
    scores = numbered.learn_rows(narrow, y)
    np.testing.assert_array_equal(scores, everything.learn_rows(wide, y))
    np.testing.assert_array_equal(numbered.score_rows(narrow), everything.score_rows(wide))
    assert numbered.counters() == everything.counters()


@every_learner
def test_features_that_never_occur_can_be_left_out(learner):
    if not learner.indifferent_to_absent_features:
        assert (
            isinstance(learner, (ROMMA, IELLIP, BBQ, SketchedOnlineNewton))
            or getattr(learner, "covariance", "diagonal") == "full"
        )
    else:
        check_absent(learner, 2)


@every_multiclass_learner
def test_features_of_many_classes_can_be_left_out(learner):
    if learner.indifferent_to_absent_features:
        check_absent(learner, 5)


def test_blocks_of_an_order_are_its_rows(monkeypatch):
    X, _ = stream_of(2)
    order = np.random.RandomState(0).permutation(ROWS)
    monkeypatch.setattr(orders, "_BLOCK_BYTES", 17 * X.shape[1] * X.itemsize)
    found = list(orders.blocks_in_order(ordered_rows(X, order)))
    assert [stop - start for start, stop, _ in found] == [17, 17, 17, 9]
    np.testing.assert_array_equal(np.vstack([rows for _, _, rows in found]), X[order])
    ((start, stop, rows),) = orders.blocks_in_order(X)
    assert (start, stop) == (0, ROWS)
    assert np.shares_memory(rows, X)


@pytest.mark.parametrize("order", [[0, ROWS], [-1]])
def test_an_order_is_checked(order):
    X, _ = stream_of(2)
    with pytest.raises(IndexError, match=f"row numbers must be 0 to {ROWS - 1}"):
        ordered_rows(X, order)
