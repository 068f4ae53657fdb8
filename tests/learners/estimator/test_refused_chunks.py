"""A refused chunk changes nothing, wherever the bad row is and however bad rows are detected."""

import itertools
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from singlepass.learners import (
    AROW,
    FollowTheLeader,
    Greedy,
    KernelPerceptron,
    PassiveAggressive,
    Perceptron,
    Projectron,
    QueryAll,
    RandomQueries,
    Resetting,
)
from singlepass.learners.estimator import validation
from singlepass.learners.estimator.rollback import RolledBack, parts_to_widen
from singlepass.learners.numeric.rows import as_rows

from ..streams import (
    any_learner,
    every_learner,
    every_multiclass_learner,
    noisy_classes,
    noisy_stream,
    state,
    wild_stream,
)

X, Y = noisy_stream(1, n=60, d=3, density=0.7)
BAD = [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")]
NORMED = Projectron(kernel="linear", U=2.0)
CONVERTERS = [np.asarray, sp.csr_matrix, sp.csr_array]
as_dense_and_csr = pytest.mark.parametrize("convert", CONVERTERS)


def spoilt(value, row=-1, column=1):
    rows = X.copy()
    rows[row, column] = value
    return rows


def everything(learner):
    """Return the state of a learner, and the identities of all its attributes."""
    return state(learner), {name: id(value) for name, value in vars(learner).items()}


@any_learner
def test_a_bad_last_row_changes_nothing(learner):
    for convert, (bad, name) in itertools.product(CONVERTERS, BAD):
        model = clone(learner)
        message = rf"^Input X contains {name} in row 59 \(counted from 0\)\.$"
        before = dict(vars(model))
        with pytest.raises(ValueError, match=message):
            model.learn(convert(spoilt(bad)), Y)
        assert vars(model) == before
        model.learn(convert(X), Y)
        kept = everything(model)
        with pytest.raises(ValueError, match=message):
            model.learn(convert(spoilt(bad)), Y)
        assert everything(model) == kept
        # It continues like a learner that never got the chunk.
        other = clone(learner)
        other.learn(convert(X), Y)
        assert model.learn(convert(X), Y).tolist() == other.learn(convert(X), Y).tolist()
        assert state(model) == state(other)


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    [
        RandomQueries(NORMED),
        Resetting(NORMED),
        FollowTheLeader(NORMED, {"U": [None, 2.0]}),
        Greedy(Resetting(NORMED), h=2),
    ],
    ids=repr,
)
def test_a_row_that_only_the_inner_learner_refuses_changes_nothing(model):
    rows = X / 10
    model.learn(rows, Y)
    bad = rows.copy()
    bad[30] *= 100
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match=r"U needs k\(x, x\) <= 1, but row 30 \(counted from 0\) has "):
        model.learn(bad, Y)
    assert pickle.dumps(model) == before


@pytest.mark.slow
@every_multiclass_learner
def test_a_bad_last_row_of_many_classes_changes_nothing(learner):
    for convert in CONVERTERS:
        rows, labels = noisy_classes(0)
        bad = rows.copy()
        bad[-1, 0] = np.nan
        model = clone(learner)
        model.learn(convert(rows), labels)
        kept = everything(model)
        with pytest.raises(ValueError, match=r"NaN in row 119 "):
            model.learn(convert(bad), labels)
        assert everything(model) == kept


@every_learner
def test_a_bad_feature_makes_the_score_of_its_row_one(learner):
    """The search by scores relies on this, also for states that have overflowed."""
    for convert in CONVERTERS:
        for rows, labels in (noisy_stream(2, d=4), wild_stream(0, d=4)):
            model = clone(learner)
            model.learn(rows, labels)
            for bad, _ in BAD:
                for column in range(4):
                    row = rows[:1].copy()
                    row[0, column] = bad
                    assert not np.isfinite(model.score_rows(as_rows(convert(row)))).any()


@pytest.mark.parametrize("column", [-1, 3, 2**31 - 1])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_a_bad_column_in_the_last_row_changes_nothing(column, index):
    model = AROW()
    broken = sp.csr_matrix(X + 1)  # no zeros: the last row has three entries
    broken.indices, broken.indptr = broken.indices.astype(index), broken.indptr.astype(index)
    broken.indices[-1] = column
    message = "^X is a CSR matrix with column indices outside 0 to 2$"
    with pytest.raises(ValueError, match=message):
        model.learn(broken, Y)
    assert vars(model) == vars(AROW())
    model.learn(X, Y)
    kept = everything(model)
    with pytest.raises(ValueError, match=message):
        model.learn(broken, Y)
    assert everything(model) == kept


def test_indices_of_64_bits_are_not_cut_to_32():
    wide = sp.csr_matrix(X + 1)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    wide.indices[-1] = 2**32 + 2
    with pytest.raises(ValueError, match="column indices outside 0 to 2"):
        AROW().learn(wide, Y)


@pytest.mark.parametrize("disorder", ["unsorted", "split in two"])
def test_rows_that_are_not_canonical_are_learnt_as_if_they_were(disorder):
    plain = sp.csr_matrix(X + 1)
    given = plain.copy()
    if disorder == "unsorted":
        # Disorder only the rows from 30 on.
        for part in (given.data, given.indices):
            part[90:] = part[90:].reshape(-1, 3)[:, ::-1].ravel()
    else:
        halves = [np.repeat(plain.data[90:] / 2, 2), np.repeat(plain.indices[90:], 2)]
        data, indices = (
            np.concatenate([part[:90], half])
            for part, half in zip((plain.data, plain.indices), halves, strict=True)
        )
        indptr = np.concatenate([plain.indptr[:31], 90 + 6 * np.arange(1, 31)])
        given = sp.csr_matrix((data, indices, indptr), plain.shape)
    stored = given.indices.copy()
    for Learner in (PassiveAggressive, AROW):
        ours, expected = Learner(), Learner()
        for _ in range(2):
            assert ours.learn(given, Y).tolist() == expected.learn(plain, Y).tolist()
        assert state(ours) == state(expected)
    assert (given.indices == stored).all()


def test_what_is_canonical():
    def canonical(indices, indptr, n_columns=5):
        return validation._all_canonical(np.array(indices, np.int32), np.array(indptr, np.int32), n_columns)

    assert canonical([], [0])
    assert canonical([], [0, 0, 0])
    assert canonical([0, 4, 0, 1, 2], [0, 2, 2, 5, 5])
    assert canonical([3, 9, 9, 0], [1 - 1, 1])  # entries beyond the last row do not matter
    assert canonical([4, 1], [0, 1, 2])
    assert not canonical([4, 1], [0, 2])
    assert not canonical([1, 1], [0, 2])
    assert canonical([1, 1], [0, 1, 2])
    assert not canonical([0, 5], [0, 2])
    assert not canonical([-1, 3], [0, 2])
    # Rows that overlap, run backwards or leave the arrays.
    assert not canonical([0, 1, 2], [0, 3, 1, 3])
    assert not canonical([0, 1, 2], [0, 4])
    assert not canonical([0, 1, 2], [-1, 3])
    rng = np.random.RandomState(0)
    for _ in range(200):
        indptr = np.concatenate([[0], np.cumsum(rng.randint(4, size=6))])
        indices = rng.randint(-1, 7, size=indptr[-1])
        if rng.randint(2):
            for start, stop in itertools.pairwise(indptr):
                indices[start:stop].sort()
        expected = all(
            (np.diff(row) > 0).all() and ((row >= 0) & (row < 6)).all()
            for row in (indices[start:stop] for start, stop in itertools.pairwise(indptr))
        )
        assert canonical(indices, indptr, 6) == expected


@as_dense_and_csr
def test_scores_of_good_rows_may_overflow(convert):
    """Such rows are not refused, and the result equals that of single rows."""
    rows = np.random.RandomState(0).choice([-1e200, 1e200], size=(40, 3))
    labels = np.arange(40) % 2
    for learner in (Perceptron(), AROW(), PassiveAggressive()):
        whole, single = clone(learner), clone(learner)
        whole.learn(convert(rows), labels)
        scores = whole.learn(convert(rows), labels)
        single.learn(convert(rows), labels)
        by_one = [single.learn(convert(rows[i : i + 1]), labels[i : i + 1])[0] for i in range(40)]
        np.testing.assert_array_equal(scores, by_one)
        np.testing.assert_array_equal(whole.coef_, single.coef_)
        assert whole.n_mistakes_ == single.n_mistakes_


@as_dense_and_csr
@pytest.mark.parametrize("size", [1, 7, 60])
def test_how_bad_rows_are_found_does_not_change_what_is_learnt(convert, size):
    """Short chunks are checked before learning, long ones by their scores."""
    model, expected = AROW(), AROW()
    expected.begin(np.array([0, 1]), 3)
    for start in range(0, 60, size):
        part, labels = convert(X[start : start + size]), Y[start : start + size]
        scores = model.learn(part, labels, classes=[0, 1])
        assert scores.tolist() == expected.learn_rows(part, labels).tolist()
    assert state(model) == state(expected)


def test_arrays_are_given_back_their_values():
    model = AROW().fit(X, Y)
    shown, kept = model.coef_, everything(model)

    def write_and_fail():
        with RolledBack(model, [model._weights, None]):
            model._weights[:] = 7.0
            model.n_updates_ += 1
            model.extra = 1
            raise KeyError

    with pytest.raises(KeyError):
        write_and_fail()
    assert everything(model) == kept
    assert np.shares_memory(shown, model.coef_)


def test_a_refused_widening_changes_nothing():
    grid = {"learner__gamma": [0.1, 1.0]}
    model = QueryAll(FollowTheLeader(Resetting(KernelPerceptron()), grid)).fit(X, Y)
    last = model.learner_.learners_[-1].learner_.set_params(epochs=0)
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match="epochs must be"):
        model.widen(5)
    assert pickle.dumps(model) == before
    last.set_params(epochs=1)
    model.widen(5)
    assert model.learn(np.pad(X, ((0, 0), (0, 2))), Y).shape == (60,)


def test_helpers_of_a_learner_may_have_slots_or_refer_to_it():
    class Slotted:
        __slots__ = ()

        def widen(self, n_features):
            pass

    class Helper(Slotted):
        pass

    model = AROW().fit(X, Y)
    model._helpers, model._helper = [Slotted()], Helper()
    model._helper.learner = model
    parts = parts_to_widen(model)
    assert parts == [model, model._helper]
