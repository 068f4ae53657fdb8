"""Test names to references, and references to streams."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from singlepass.pipeline import data
from singlepass.pipeline.data import expand, fingerprint, open_stream, scales_apart
from singlepass.pipeline.errors import InputError


def test_digits() -> None:
    assert len(expand(name="digits", task="one-vs-rest")) == 10
    assert len(expand(name="digits", task="pairs")) == 45
    stream = open_stream(expand(name="digits", task="one-vs-rest:3")[0])
    assert stream.X.shape == (1797, 64)
    assert stream.classes == ("rest", "3")
    assert stream.y.sum() == 183
    assert (np.min(stream.X), np.max(stream.X)) == (0.0, 1.0)
    assert stream.X_test is None
    round_digits = open_stream(expand(name="digits", task="round")[0])
    ten = open_stream(expand(name="digits")[0])
    np.testing.assert_array_equal(round_digits.y, np.isin(ten.y, [0, 3, 6, 8, 9]))
    assert round_digits.X is ten.X


def test_breast_cancer_is_standardised() -> None:
    stream = open_stream(expand(name="breast-cancer")[0])
    assert stream.classes == ("malignant", "benign")
    assert np.bincount(stream.y).tolist() == [212, 357]
    X = np.asarray(stream.X)
    np.testing.assert_allclose(X.mean(axis=0), 0.0, atol=1e-13)
    np.testing.assert_allclose(X.std(axis=0), 1.0)
    raw = expand(name="breast-cancer", options={"standardize": False})[0]
    assert np.asarray(open_stream(raw).X).max() > 4000
    assert fingerprint(raw) != stream.fingerprint


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ({"name": "digits", "task": "pair:3,5"}, "aae2ffc2d94e89dc"),
        ({"name": "breast-cancer"}, "5c5b21a107fe0af0"),
        ({"name": "gauss"}, "67eca2d2c3051fc4"),
    ],
)
def test_pinned_fingerprints(entry: dict[str, Any], expected: str) -> None:
    # Stores on disk contain keys made from fingerprints, so they must not change between releases.
    assert fingerprint(expand(**entry)[0])[:16] == expected


@pytest.mark.parametrize("name", ["digits", "breast-cancer", "gauss", "arow-synthetic", "checkerboard"])
def test_streams_carry_the_planned_fingerprint(name: str) -> None:
    ref = expand(name=name, options={"bias": True})[0]
    stream = open_stream(pickle.loads(pickle.dumps(ref)))
    assert stream.fingerprint == fingerprint(ref)
    assert np.asarray(stream.X)[:, -1].tolist() == [1.0] * len(stream.y)
    for array in (stream.X, stream.y):
        assert not array.flags.writeable


def test_streams_are_kept() -> None:
    ref = expand(name="digits", task="pair:1,7")[0]
    assert open_stream(ref, root=1, seed=1) is open_stream(ref, root=2, seed=2)


def test_options_at_their_default_leave_no_trace() -> None:
    assert expand(name="digits", options={"bias": False}) == expand(name="digits")
    assert expand(name="adult", label="a9a") == expand(name="a9a")


def test_labels() -> None:
    assert expand(name="digits", task="round", label="ocr")[0].label == "ocr[round]"


@pytest.mark.parametrize(
    ("entry", "parent"),
    [
        ({"name": "digits", "task": "pairs"}, "digits"),
        ({"name": "digits", "task": "round", "label": "ocr"}, "ocr"),
        ({"name": "adult"}, "adult"),
        ({"name": "amazon-sentiment", "task": "paper", "label": "reviews"}, "reviews"),
    ],
)
def test_tasks_know_the_data_set_they_were_cut_from(entry: dict[str, Any], parent: str) -> None:
    assert {ref.parent for ref in expand(**entry)} == {parent}


@pytest.mark.parametrize(
    ("entry", "line"),
    [
        ({}, "a data set needs a name or a path; known: 20newsgroups, a9a, adult, agrawal"),
        ({"name": "mnits"}, "unknown data set 'mnits'; did you mean 'mnist'?"),
        ({"name": "digits.csv"}, "your own file needs path"),
        (
            {"name": "digits", "task": "binary"},
            "found 10: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9; set task = 'one-vs-rest'",
        ),
        ({"name": "digits", "task": "ruond"}, "unknown task 'ruond'; did you mean 'round'?"),
        ({"name": "digits", "target": "label"}, "has no option 'target'"),
        ({"name": "gauss", "task": "one-vs-rest"}, "has two classes: task = 'binary'"),
        ({"name": "a9a", "options": {"standardise": True}}, "did you mean 'standardize'?"),
    ],
)
def test_error_lines(entry: dict[str, Any], line: str) -> None:
    with pytest.raises(InputError) as error:
        expand(**entry)
    assert line in str(error.value)
    assert "\n" not in str(error.value)


def test_a_reference_from_elsewhere_is_checked_again(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="unknown data set 'digit'"):
        open_stream(data.TaskRef("d", "digit", "binary", "d"))
    with pytest.raises(InputError, match="no such file"):
        open_stream(data.TaskRef("d", str(tmp_path / "gone.csv"), "binary", "d"))


def test_scales_are_those_of_the_file_as_it_is_now(tmp_path: Path) -> None:
    path, said = tmp_path / "mine.csv", []
    for size in (5000, 1, 70000):
        path.write_text("u,v,label\n" + "".join(f"{1 + i % 2},{size + i % 3},{i % 2}\n" for i in range(20)))
        (ref,) = expand(path=path)
        said.append(scales_apart([ref]))
    assert ["5e+03" in said[0]["mine"], said[1], "7e+04" in said[2]["mine"]] == [True, {}, True]
