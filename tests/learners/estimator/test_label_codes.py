"""Labels as positions in the classes: copied only if they are not positions already."""

import numpy as np
import pandas as pd
import pytest

from singlepass.learners import AROW, Perceptron
from singlepass.learners.estimator.validation import label_codes

POSITIONS = np.array([0, 2, 1, 2], np.int32)


def test_labels_that_are_positions_are_not_copied():
    assert label_codes(POSITIONS, np.arange(3)) is POSITIONS


@pytest.mark.parametrize(
    "labels",
    [
        POSITIONS.astype(np.int64),
        POSITIONS.astype(np.float64),
        np.repeat(POSITIONS, 2)[::2],
        POSITIONS.astype(">i4"),
    ],
    ids=["64 bits", "float", "strided", "other bytes"],
)
def test_others_become_a_new_array(labels):
    codes = label_codes(labels, np.arange(3))
    assert codes.dtype == np.int32
    assert codes.dtype.isnative
    assert codes.tolist() == POSITIONS.tolist()
    assert not np.shares_memory(codes, labels)


def test_a_read_only_array_is_copied():
    # Otherwise each learner would be compiled for read-only arrays, too.
    labels = POSITIONS.copy()
    labels.flags.writeable = False
    assert label_codes(labels, np.arange(3)).flags.writeable


@pytest.mark.parametrize("classes", [[0.0, 0.5, 2.0], [0, 1, 3], [-1, 1, 2]])
def test_labels_are_looked_up_where_classes_are_no_positions(classes):
    labels = np.array([classes[-1], classes[0]]).astype(np.int32)
    assert label_codes(labels, np.array(classes)).tolist() == [2, 0]


@pytest.mark.parametrize("label", [-1, 2, 7])
def test_a_label_that_is_no_position_is_refused(label):
    with pytest.raises(ValueError, match=rf"^label {label} is not one of the classes \[0, 1\]$"):
        label_codes(np.array([0, label], np.int32), np.arange(2))


@pytest.mark.parametrize("learner", [AROW(), Perceptron()], ids=repr)
def test_what_the_user_writes_later_changes_nothing(learner):
    labels = np.array([0, 1], np.int32)
    learner.fit(np.eye(2), labels)
    before = learner.coef_.copy()
    labels[:] = 1
    assert learner.coef_.tolist() == before.tolist()


@pytest.mark.parametrize("classes", [[0, 1], [-1, 1], [False, True], ["no", "yes"], [0.5, 2.5]])
def test_one_label_has_the_code_that_it_has_among_others(classes):
    classes = np.array(classes)
    several = classes[[1, 0, 1]]
    expected = label_codes(several, classes)
    for i, code in enumerate(expected):
        one = label_codes(several[i : i + 1], classes)
        assert one.dtype == np.int32
        assert one.tolist() == [code]
    with pytest.raises(ValueError, match="is not one of the classes"):
        label_codes(np.array(["maybe"]), classes)


def test_nan_is_no_class():
    with pytest.raises(ValueError, match="AROW: classes contain NaN"):
        AROW().partial_fit([[1.0], [2.0]], [0, 1], classes=[0, 1, np.nan])


@pytest.mark.parametrize("classes", [[0, 1], [0, 1, 2], ["a", "b"]])
@pytest.mark.parametrize("n", [1, 3])
def test_a_missing_value_of_pandas_is_no_class(classes, n):
    labels = pd.Series([pd.NA, "a", "b"][:n], dtype="string").to_numpy()
    with pytest.raises(ValueError, match=r"^label <NA> is not one of the classes"):
        label_codes(labels, np.array(classes))
