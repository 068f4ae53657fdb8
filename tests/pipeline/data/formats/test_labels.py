"""Test labels of files: names, order, codes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from singlepass.pipeline.data.formats.labels import CodedLabels, LabelCollector, encode_labels, is_number
from singlepass.pipeline.data.io import spill
from singlepass.pipeline.errors import InputError

PATH = Path("f.csv")


def coded(labels: Any) -> CodedLabels:
    return CodedLabels(*np.unique(labels, return_inverse=True))


@pytest.mark.parametrize(
    ("labels", "classes", "codes"),
    [
        (["+1", "-1", "1.0"], ("-1", "1"), [1, 0, 1]),
        ([1.0, -1.0], ("-1", "1"), [1, 0]),
        ([10, 9, 10], ("9", "10"), [1, 0, 1]),
        (["10", "9"], ("9", "10"), [1, 0]),
        ([0.5, 1.5], ("0.5", "1.5"), [0, 1]),
        ([True, False], ("false", "true"), [1, 0]),
        (["spam", " ham", "spam "], ("ham", "spam"), [1, 0, 1]),
        (["1", "one"], ("1", "one"), [0, 1]),
        (["9007199254740993", "9007199254740992"], ("9007199254740992", "9007199254740993"), [1, 0]),
    ],
)
def test_names_and_codes(labels: list[Any], classes: tuple[str, ...], codes: list[int]) -> None:
    found, y, y_test = encode_labels(coded(labels), PATH)
    assert found == classes
    assert y.tolist() == codes
    assert y.dtype == np.int32
    assert y_test is None


@pytest.mark.parametrize(("step", "refused"), [(0.5, True), (1.0, False)])
def test_measurements_are_no_classes(step: float, refused: bool) -> None:
    labels = np.arange(1000) % 101 * step
    if refused:
        with pytest.raises(InputError, match=r"101 different labels in 1,000 rows, such as 0\.5"):
            encode_labels(coded(labels), PATH)
    else:
        assert len(encode_labels(coded(labels), PATH)[0]) == 101
    # Ratings in halves are classes, and a test part may have a few rows of many classes.
    ratings = np.arange(1000) % 11 * 0.5
    classes, _, y_test = encode_labels(coded(ratings), PATH, coded([0.5, 1.5, 2.5]), Path("t.csv"))
    assert len(classes) == 11
    assert y_test is not None
    assert y_test.tolist() == [1, 3, 5]


@given(st.lists(st.integers(-5, 5), min_size=2).filter(lambda labels: len(set(labels)) > 1))
def test_text_and_numbers_are_the_same_labels(labels: list[int]) -> None:
    as_numbers = encode_labels(coded(np.array(labels, dtype=float)), PATH)
    as_text = encode_labels(coded([f"{label:+d}" for label in labels]), PATH)
    assert as_numbers[0] == as_text[0] == tuple(str(label) for label in sorted(set(labels)))
    np.testing.assert_array_equal(as_numbers[1], as_text[1])


def test_the_test_part_uses_the_training_classes() -> None:
    classes, _, y_test = encode_labels(coded(["a", "b", "c"]), PATH, coded(["c", "c"]), Path("t.csv"))
    assert classes == ("a", "b", "c")
    assert y_test is not None
    assert y_test.tolist() == [2, 2]
    with pytest.raises(InputError, match=r"t\.csv: label 'z' is not a class of f\.csv: a, b"):
        encode_labels(coded(["a", "b"]), PATH, coded(["a", "z"]), Path("t.csv"))


@pytest.mark.parametrize(
    ("labels", "line"),
    [
        (["a", "a"], "f.csv: all 2 labels are 'a'; two classes or more are needed"),
        (["a", "", "b"], "f.csv, row 2: the label is missing"),
        ([1.0, float("nan")], "f.csv, row 2: the label is missing"),
        ([], "f.csv: the file has no rows"),
        (
            [0.5, 1.25, 3.75, 4.0],
            "f.csv: 4 different labels in 4 rows, such as 0.5: these are numbers to predict, not classes; "
            "convert them to classes first, such as 0 and 1",
        ),
    ],
)
def test_wrong_labels(labels: list[Any], line: str) -> None:
    with pytest.raises(InputError) as error:
        encode_labels(coded(labels), PATH)
    assert str(error.value) == line


@pytest.mark.parametrize(
    ("text", "answer"), [("1e3", True), ("-.5", True), ("nan", True), ("1_0", False), ("", False)]
)
def test_numbers(text: str, answer: bool) -> None:
    assert is_number(text) is answer


def test_many_labels_are_stored_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spill, "_SPILL_BYTES", 100)
    labels = LabelCollector(tmp_path)
    for values in ([2.0, -1.0], [-1.0], [3.0, 2.0]):
        labels.append(values, np.arange(100) % len(values))
    values, codes = labels.finish()
    classes, y, _ = encode_labels(CodedLabels(np.array(values), codes), PATH)
    assert classes == ("-1", "2", "3")
    assert y.tolist() == [1, 0] * 50 + [0, 0] * 50 + [2, 1] * 50
    assert isinstance(y, np.memmap)
