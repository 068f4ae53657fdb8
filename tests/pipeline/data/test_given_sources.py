"""Test rows in memory: they equal the table of a file with the same rows, and errors are one line."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import coo_matrix, csr_array

from singlepass.pipeline import data
from singlepass.pipeline.errors import InputError

ROWS = np.random.RandomState(0).standard_normal((40, 3))
LABELS = np.where(ROWS[:, 0] > 0, "yes", "no")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SINGLEPASS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def given(*arrays: Any, **options: Any) -> data.TaskRef:
    missing = "missing" in options
    name = data.keep_arrays(data.array_table("data set 'mine'", *arrays, missing=missing))
    [ref] = data.expand(name=name, label="mine", options=options)
    return ref


def in_frame(frame: pd.DataFrame, y: Any = None, **options: Any) -> data.TaskRef:
    table, target = data.frame_table("data set 'mine'", frame, y)
    [ref] = data.expand(name=data.keep_frame(table), label="mine", target=target or "label", options=options)
    return ref


def in_file(frame: pd.DataFrame, folder: Path, **options: Any) -> data.TaskRef:
    path = folder / "mine.parquet"
    frame.to_parquet(path)
    [ref] = data.expand(path=path, target="label", options=options)
    return ref


def framed(X: Any, y: Any) -> pd.DataFrame:
    return pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])]).assign(label=y)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int16", "bool"])
@pytest.mark.parametrize("labels", ["text", "number", "truth", "object", "category"])
def test_arrays_and_frames_are_the_file_with_their_rows(tmp_path: Path, dtype: str, labels: str) -> None:
    X = (10 * ROWS).astype(dtype)
    y: Any = {
        "text": LABELS,
        "number": np.sign(ROWS[:, 1]),
        "truth": ROWS[:, 0] > 0,
        "object": pd.Series((ROWS[:, 0] > 0).astype(object)),
        "category": pd.Categorical(LABELS),
    }[labels]
    ref = in_file(framed(X, y), tmp_path)
    expected = data.open_stream(ref)
    for other in (given(X, y), given(X, list(y)), in_frame(framed(X, y)), in_frame(pd.DataFrame(X), y)):
        stream = data.open_stream(other)
        assert data.fingerprint(other) == data.fingerprint(ref)
        assert stream.classes == expected.classes
        np.testing.assert_array_equal(stream.X, expected.X)
        np.testing.assert_array_equal(stream.y, expected.y)


@pytest.mark.parametrize(
    "categories",
    [pd.cut([1.0, 3.0], 2).categories, pd.period_range("2020", periods=2, freq="D")],
    ids=["intervals", "periods"],
)
def test_intervals_and_periods_are_categories(categories: Any) -> None:
    codes = [0, 1, 0, -1]
    frame = pd.DataFrame(
        {3: pd.Categorical.from_codes(codes, categories), "x": range(4), "label": list("pqpq")}
    )
    X = data.open_stream(in_frame(frame, missing="mean")).X
    assert np.asarray(X).tolist() == [[code == 0, code == 1, i] for i, code in enumerate(codes)]
    assert data.open_stream(in_frame(frame, ignore=["3"])).X.shape == (4, 1)


@pytest.mark.parametrize("missing", ["mean", "indicator"])
@pytest.mark.parametrize("options", [{}, {"standardize": True, "bias": True, "dtype": "float32"}])
def test_features_are_changed_as_those_of_files(tmp_path: Path, missing: str, options: Any) -> None:
    X = ROWS.copy()
    X[[3, 5], [0, 2]] = np.nan
    asked = {"missing": missing, **options}
    ref, other = in_file(framed(X, LABELS), tmp_path, **asked), given(X, LABELS, **asked)
    assert data.fingerprint(other) == data.fingerprint(ref)
    for raw in (False, True):
        np.testing.assert_array_equal(data.open_stream(other, raw=raw).X, data.open_stream(ref, raw=raw).X)


def test_sparse_rows_are_the_svmlight_file(tmp_path: Path) -> None:
    dense = np.round(np.where(ROWS > 0.5, ROWS, 0.0), 3)
    text = "".join(
        f"{y} {' '.join(f'{j + 1}:{float(v)!r}' for j, v in enumerate(row) if v)}\n"
        for y, row in zip(np.sign(ROWS[:, 0]).astype(int), dense, strict=True)
    )
    (tmp_path / "mine.svmlight").write_text(text)
    [ref] = data.expand(path=tmp_path / "mine.svmlight")
    stored = csr_array(dense)
    # The form does not matter, nor stored zeros, nor the order of columns in a row.
    other = coo_matrix(
        (
            np.r_[stored.tocoo().data[::-1], 0.0],
            (np.r_[stored.tocoo().row[::-1], 0], np.r_[stored.tocoo().col[::-1], 0]),
        )
    )
    for X in (stored, other):
        assert data.fingerprint(given(X, np.sign(ROWS[:, 0]))) == data.fingerprint(ref)


def test_a_test_part_is_the_data_sets_own() -> None:
    ref = given(ROWS[:30], LABELS[:30], ROWS[30:], LABELS[30:])
    assert data.has_test(ref)
    stream = data.open_stream(ref)
    assert stream.X_test is not None
    assert (stream.X.shape, stream.X_test.shape) == ((30, 3), (10, 3))
    assert not data.has_test(given(ROWS, LABELS))


def test_another_version_of_parsers_does_not_lose_the_only_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    ref = given(ROWS, LABELS)
    monkeypatch.setattr("singlepass.pipeline.data.tables.cache.CONVERTER_VERSION", 99)
    np.testing.assert_array_equal(data.open_stream(ref).X, ROWS)


def test_the_users_arrays_stay_writeable() -> None:
    X, y = ROWS.copy(), LABELS.copy()
    sparse = csr_array(X)
    data.open_stream(given(X, y))
    data.open_stream(given(sparse, y))
    X[0, 0], y[0], sparse.data[0] = 7.0, "no", 7.0


def test_frames_may_hold_categories(tmp_path: Path) -> None:
    frame = pd.DataFrame({"job": list("abcb"), "age": [1, 2, 3, 4], "label": list("xyxy")})
    ref = in_frame(frame, categorical=("job",))
    assert data.open_stream(ref).X.shape == (4, 4)
    assert data.fingerprint(ref) == data.fingerprint(in_file(frame, tmp_path, categorical=("job",)))
    typed = frame.astype({"job": "category"})
    assert data.fingerprint(in_frame(typed)) == data.fingerprint(ref)


def test_the_same_rows_are_kept_once(cache: Path) -> None:
    refs = {given(ROWS, LABELS), given(ROWS.tolist(), list(LABELS))}
    assert len(refs) == 1
    frames = {in_frame(framed(ROWS, LABELS)), in_frame(framed(ROWS, LABELS))}
    assert len(frames) == 1
    assert len(list((cache / "frames").iterdir())) == 1


@pytest.mark.parametrize("make", [given, lambda X, y: in_frame(framed(X, y))])
def test_rows_that_have_gone_are_asked_for_again(cache: Path, make: Any) -> None:
    ref = make(ROWS * 2, LABELS)
    shutil.rmtree(cache)
    with pytest.raises(InputError, match="given in memory and are no longer in the cache; give them again"):
        data.fingerprint(ref)


def test_a_machine_that_lacks_the_rows_is_brought_them(cache: Path) -> None:
    ref = given(ROWS * 3, LABELS, standardize=True)
    expected = data.fingerprint(ref)
    pins = data.pins_of([ref])
    carried = [(each, list(data.chunks(each))) for each in pins]
    assert data.lacking(pins) == []
    shutil.rmtree(cache)
    assert {lack.pin for lack in data.lacking(pins)} == set(pins)
    for each, pieces in carried:
        for piece in pieces:
            data.receive("a", piece)
        data.complete("a", each)
    with data.pinned_to(pins):
        assert data.fingerprint(ref) == expected
        assert data.open_stream(ref).X.shape == ROWS.shape


BAD = ROWS.copy()
BAD[2, 1] = np.nan
HUGE = csr_array(np.where(np.arange(120).reshape(40, 3) == 7, np.inf, 0.0))


@pytest.mark.parametrize(
    ("arrays", "line"),
    [
        ((ROWS, LABELS[1:]), "data set 'mine': X has 40 rows and y 39 labels"),
        ((BAD, LABELS), "data set 'mine': X, row 3, column 2: nan; every feature must be a finite number"),
        ((HUGE, LABELS), "data set 'mine': X, row 3, column 2: inf; every feature must be finite"),
        ((np.ma.masked_less(ROWS, 0), LABELS), "data set 'mine': X has masked values; fill them in"),
        ((ROWS[:, 0], LABELS), "data set 'mine': X must have rows and columns; its shape is (40,)"),
        ((ROWS[:0], LABELS[:0]), "X must have rows and columns; its shape is (0, 3)"),
        ((ROWS.astype(complex), LABELS), "X must contain numbers, not complex128"),
        (([["a"], ["b"]], LABELS[:2]), "X must contain numbers, not <U1"),
        (([[1], [2, 3]], LABELS[:2]), "data set 'mine': X cannot be converted to an array"),
        (
            (ROWS, np.full(40, "a")),
            "data set 'mine': y: all 40 labels are 'a'; two classes or more are needed",
        ),
        ((ROWS, ROWS), "data set 'mine': y must be one column of labels; its shape is (40, 3)"),
        ((ROWS, [None, *LABELS[1:]]), "data set 'mine': y, row 1: the label is missing"),
        ((ROWS[:2], pd.array([1, None], "Int64")), "data set 'mine': y, row 2: the label is missing"),
        ((ROWS, ["a\ud800", *LABELS[1:]]), "data set 'mine': y: the label 'a\\ud800' has a lone surrogate"),
        ((ROWS, np.array(["\ud800", *LABELS[1:]], object)), "the label '\\ud800' has a lone surrogate"),
        ((ROWS, ROWS[:, 0]), "data set 'mine': y: 40 different labels in 40 rows"),
        ((ROWS, LABELS, ROWS), "X_test is given without y_test"),
        ((ROWS, LABELS, ROWS[:, :2], LABELS), "X has 3 columns and X_test has 2"),
        ((ROWS, LABELS, csr_array(ROWS), LABELS), "X and X_test must both be sparse"),
        ((ROWS, LABELS, ROWS, ["maybe", *LABELS[1:]]), "y_test: label 'maybe' is not a class of"),
    ],
)
def test_what_is_wrong_with_arrays_is_one_line(arrays: Any, line: str) -> None:
    with pytest.raises(InputError) as error:
        given(*arrays)
    assert line in str(error.value)
    assert "\n" not in str(error.value)


def test_a_frame_has_no_delimiter() -> None:
    table, _ = data.frame_table("data set 'mine'", pd.DataFrame({"a": [1, 2]}))
    with pytest.raises(InputError, match=r"which column is the label.*; columns: a$"):
        data.expand(name=data.keep_frame(table))


@pytest.mark.parametrize(
    ("frame", "y", "line"),
    [
        (pd.DataFrame({"a": [1, 2]}), ["x"], "data set 'mine': X has 2 rows and y 1 labels"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), ["x"], "the frame cannot be read (Duplicate column"),
        (pd.DataFrame({"a": [object(), 2]}), ["x", "y"], "data set 'mine': the frame cannot be read"),
        (pd.Series([1, 2]), ["x", "y"], "data set 'mine': a Series is one column: give a frame"),
        (pd.DataFrame({"a": [1, 2]}), ["x", "\ud800"], "'mine': y has a label with a lone surrogate"),
        (pd.DataFrame({"a": [1, 2]}), [1j, 2j], "data set 'mine': y has labels of type complex128: give"),
    ],
)
def test_what_is_wrong_with_a_frame_is_one_line(frame: Any, y: Any, line: str) -> None:
    with pytest.raises(InputError) as error:
        in_frame(frame, y)
    assert line in str(error.value)
    assert "\n" not in str(error.value)
