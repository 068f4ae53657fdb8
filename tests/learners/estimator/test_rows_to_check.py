"""CSR chunks that are checked while they are learnt give the same result as with a check beforehand."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from singlepass.learners import AROW, PassiveAggressive, Perceptron, as_rows
from singlepass.learners.estimator import online_classifier, validation
from singlepass.learners.numeric.rows import rows_to_check

from ..streams import LEARNERS as EVERY_LEARNER
from ..streams import noisy_classes, noisy_stream, one_of_each_loop, state

# Rows with fewer and more than 16 entries, where vector comparison of index pairs begins, and empty rows.
X, Y = noisy_stream(3, n=90, d=40, density=0.5)
X[[4, 89], :] = 0.0
MIDDLE = 45
LEARNERS = [PassiveAggressive(), AROW()]
each_learner = pytest.mark.parametrize("learner", LEARNERS, ids=repr)


@pytest.fixture(autouse=True)
def looked_at_along(monkeypatch):
    """Check chunks while learning, however short they are; return a list with an entry per such chunk."""
    taken = []

    def note(X):
        rows = validation.checked_later(X)
        taken.extend([1] if isinstance(rows, tuple) and len(rows) == 5 else [])
        return rows

    monkeypatch.setattr(validation, "_FEW_INDICES", -1)
    monkeypatch.setattr(online_classifier, "checked_later", note)
    return taken


def spoilt(kind):
    """Return the stream with one bad row in the middle."""
    matrix = sp.csr_matrix(X)
    start, stop = matrix.indptr[MIDDLE], matrix.indptr[MIDDLE + 1]
    if kind == "negative index":
        matrix.indices[start] = -1
    elif kind == "index too large":
        matrix.indices[stop - 1] = 40
    elif kind == "index too large inside":
        matrix.indices[start + 3] = 2**31 - 1
    elif kind == "indptr that falls":
        matrix.indptr[MIDDLE] = stop + 1
    elif kind == "indptr outside":
        matrix.indptr[MIDDLE] = -3
    else:
        assert kind == "last row too long"
        matrix.indptr[-1] += 5
    return matrix


OUTSIDE = ["negative index", "index too large", "index too large inside"]
LOST = ["indptr that falls", "indptr outside", "last row too long"]


def everything(learner):
    return state(learner), {name: id(value) for name, value in vars(learner).items()}


@each_learner
@pytest.mark.parametrize("kind", OUTSIDE + LOST)
def test_a_bad_row_in_the_middle_changes_nothing(learner, kind, looked_at_along):
    message = "column indices outside 0 to 39$" if kind in OUTSIDE else "indptr decreases or points outside"
    model = clone(learner)
    for method in (model.learn, model.fit):
        with pytest.raises(ValueError, match=message):
            method(spoilt(kind), Y)
        assert vars(model) == vars(clone(learner))
    model.learn(sp.csr_matrix(X), Y)
    kept = everything(model)
    with pytest.raises(ValueError, match=message):
        model.learn(spoilt(kind), Y)
    assert everything(model) == kept
    assert len(looked_at_along) == 4


@each_learner
@pytest.mark.parametrize(("value", "name"), [(np.nan, "NaN"), (-np.inf, "infinity")])
def test_a_value_that_is_not_finite_changes_nothing(learner, value, name):
    bad = sp.csr_matrix(X)
    bad.data[bad.indptr[MIDDLE]] = value
    model = clone(learner).fit(sp.csr_matrix(X), Y)
    kept = everything(model)
    with pytest.raises(ValueError, match=rf"^Input X contains {name} in row {MIDDLE} \(counted from 0\)\.$"):
        model.learn(bad, Y)
    assert everything(model) == kept


@each_learner
@pytest.mark.parametrize("label", [-1, 2])
def test_a_label_that_is_no_class_changes_nothing(learner, label):
    model = clone(learner).fit(sp.csr_matrix(X), np.array(Y, np.int32))
    kept, labels = everything(model), np.array(Y, np.int32)
    labels[MIDDLE] = label
    with pytest.raises(ValueError, match=rf"^label {label} is not one of the classes \[0, 1\]$"):
        model.learn(sp.csr_matrix(X), labels)
    assert everything(model) == kept


@each_learner
def test_labels_are_told_of_before_rows(learner):
    rows, labels = sp.csr_matrix(X), np.array(Y, np.int32)
    model = clone(learner).fit(rows, labels)
    rows.data[0], labels[MIDDLE] = np.nan, 7
    for given in (rows, rows[:3]):
        wrong = labels[: given.shape[0]].copy()
        wrong[-1] = 7
        with pytest.raises(ValueError, match=r"^label 7 is not"):
            model.learn(given, wrong)


@pytest.mark.parametrize("label", [-1, 5])
def test_a_label_that_is_none_of_many_classes_changes_nothing(label):
    rows, labels = noisy_classes(0, density=0.5)
    assert labels.max() == 4
    labels = labels.astype(np.int32)
    model = Perceptron().fit(sp.csr_matrix(rows), labels)
    kept = everything(model)
    labels[MIDDLE] = label
    with pytest.raises(ValueError, match=rf"^label {label} is not one of the classes \[0, 1, 2, 3, 4\]$"):
        model.learn(sp.csr_matrix(rows), labels)
    assert everything(model) == kept


def test_good_rows_whose_scores_overflow_are_learnt():
    rows, codes = sp.csr_matrix(np.full((3, 20), 1e200)), np.array([0, 1, 0], np.int32)
    ours, expected = Perceptron(), Perceptron()
    for learner in (ours, expected):
        learner.begin(np.arange(2), 20)
    scores = ours.learn(rows, codes)
    np.testing.assert_array_equal(scores, expected.learn_rows(as_rows(rows), codes))
    assert not np.isfinite(scores).all()
    assert state(ours) == state(expected)


@each_learner
@pytest.mark.parametrize("place", [0, 4096, 8199])
def test_a_bad_label_or_row_is_found_anywhere_in_a_long_chunk(learner, place):
    rows, labels = sp.csr_matrix(np.tile(X, (92, 1))[:8200]), np.tile(np.array(Y, np.int32), 92)[:8200]
    ours, expected = clone(learner), clone(learner)
    for model in (ours, expected):
        model.begin(np.arange(2), 40)
    np.testing.assert_array_equal(ours.learn(rows, labels), expected.learn_rows(as_rows(rows), labels))
    assert state(ours) == state(expected)
    kept = everything(ours)
    wrong = labels.copy()
    wrong[place] = 2
    with pytest.raises(ValueError, match=r"^label 2 is not"):
        ours.learn(rows, wrong)
    first = rows.indptr[place]
    # If the row is empty, this spoils the next row's first entry instead.
    rows.data[min(first, rows.nnz - 1)] = np.nan
    with pytest.raises(ValueError, match=r"^Input X contains NaN in row"):
        ours.learn(rows, labels)
    assert everything(ours) == kept


@each_learner
def test_rows_that_are_not_canonical_are_made_so(learner):
    plain = sp.csr_matrix(X)
    start, stop = plain.indptr[MIDDLE], plain.indptr[MIDDLE + 1]
    unsorted = plain.copy()
    for part in (unsorted.data, unsorted.indices):
        part[start:stop] = part[start:stop][::-1]
    first = plain.data[start] / 2
    halved = sp.csr_matrix(
        (
            np.insert(np.where(np.arange(plain.nnz) == start, first, plain.data), start, first),
            np.insert(plain.indices, start, plain.indices[start]),
            plain.indptr + (np.arange(91) > MIDDLE),
        ),
        plain.shape,
    )
    for given in (unsorted, halved):
        stored = given.indices.copy()
        ours, expected = clone(learner), clone(learner)
        for _ in range(2):
            assert ours.learn(given, Y).tolist() == expected.learn(plain, Y).tolist()
        assert state(ours) == state(expected)
        assert (given.indices == stored).all()
        ours, expected = (clone(learner).set_params(epochs=2).fit(rows, Y) for rows in (given, plain))
        assert state(ours) == state(expected)


def check_equal_to_learn_rows(learner, rows, labels, size):
    classes = np.unique(labels)
    ours, expected = clone(learner), clone(learner)
    expected.begin(classes, rows.shape[1])
    for start in range(0, len(labels), size):
        part, codes = sp.csr_matrix(rows[start : start + size]), labels[start : start + size]
        scores = ours.learn(part, codes, classes=classes)
        np.testing.assert_array_equal(scores, expected.learn_rows(as_rows(part), codes))
    assert state(ours) == state(expected)


@each_learner
@pytest.mark.parametrize("size", [30, 90])
@pytest.mark.parametrize("dtype", [np.float64, pytest.param(np.float32, marks=pytest.mark.slow)])
def test_good_rows_are_learnt_as_learn_rows_does(learner, size, dtype, looked_at_along):
    check_equal_to_learn_rows(learner, X.astype(dtype), Y, size)
    assert len(looked_at_along) == 90 // size


def test_good_rows_of_many_classes_are_learnt_as_learn_rows_does(looked_at_along):
    check_equal_to_learn_rows(Perceptron(), *noisy_classes(0, density=0.5), 60)
    assert len(looked_at_along) == 2


@pytest.mark.slow
@pytest.mark.parametrize("learner", one_of_each_loop(EVERY_LEARNER, 2), ids=repr)
def test_every_loop_takes_rows_to_check(learner, looked_at_along):
    check_equal_to_learn_rows(learner, X, Y, 90)
    assert len(looked_at_along) == 1
    rows, model = rows_to_check(spoilt("negative index")), clone(learner)
    model.begin(np.arange(2), 40)
    model.learn_rows(rows, np.array(Y, np.int32))
    assert rows[4][0]


def test_which_chunks_are_checked_along(monkeypatch):
    def along(X):
        return len(validation.checked_later(X)) == 5

    matrix = sp.csr_matrix(X)
    assert along(matrix)
    assert not along(X)
    monkeypatch.setattr(validation, "_FEW_INDICES", matrix.nnz)
    assert not along(matrix)
    monkeypatch.setattr(validation, "_FEW_INDICES", -1)
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
    assert not along(matrix)


def test_nothing_is_copied():
    matrix = sp.csr_array(X)
    for part in (matrix.data, matrix.indices, matrix.indptr):
        part.flags.writeable = False
    rows = rows_to_check(matrix)
    parts = zip(rows, (matrix.data, matrix.indices, matrix.indptr), strict=False)
    assert all(np.shares_memory(ours, given) for ours, given in parts)
    PassiveAggressive().learn(matrix, Y)
