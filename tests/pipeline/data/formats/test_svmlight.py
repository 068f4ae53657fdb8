"""svmlight text: sparse and dense, and the line that says what is wrong."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import dump_svmlight_file

from singlepass.pipeline.data.formats.svmlight import read_svmlight
from singlepass.pipeline.errors import InputError

Write = Callable[[str, str | bytes], Path]
GOOD = "+1 1:0.5 3:2 # a comment\n-1 qid:7 2:1\n"


def test_sparse_by_default(write: Write) -> None:
    table = read_svmlight(write("f.svm", GOOD))
    assert isinstance(table.X, csr_array)
    assert table.X.indices.dtype == table.X.indptr.dtype == np.int32
    assert table.X.toarray().tolist() == [[0.5, 0.0, 2.0], [0.0, 1.0, 0.0]]
    assert table.classes == ("-1", "1")
    assert table.y.tolist() == [1, 0]


def test_dense_and_compressed(write: Write) -> None:
    table = read_svmlight(write("f.svm.gz", gzip.compress(GOOD.encode())), dense=True, n_features=4)
    assert isinstance(table.X, np.ndarray)
    assert table.X.tolist() == [[0.5, 0.0, 2.0, 0.0], [0.0, 1.0, 0.0, 0.0]]
    assert table.X.flags.c_contiguous


def test_the_test_file_has_the_same_features(write: Write) -> None:
    table = read_svmlight(write("f.svm", GOOD), write("t.svm", "-1 5:1\n"))
    assert table.X.shape == (2, 5)
    assert table.X_test is not None
    assert table.X_test.shape == (1, 5)
    assert table.y_test is not None
    assert table.y_test.tolist() == [0]


def test_zero_based(write: Write) -> None:
    table = read_svmlight(write("f.svm", "1 0:3\n2 1:4\n"), zero_based=True, dense=True)
    assert np.asarray(table.X).tolist() == [[3.0, 0.0], [0.0, 4.0]]


def test_round_trip(tmp_path: Path) -> None:
    rng = np.random.RandomState(0)
    X = csr_array(rng.standard_normal((30, 7)) * (rng.random_sample((30, 7)) < 0.3))
    y = rng.randint(0, 3, 30)
    dump_svmlight_file(X, y, str(tmp_path / "f.svm"), zero_based=False)
    table = read_svmlight(tmp_path / "f.svm", n_features=7)
    np.testing.assert_allclose(table.X.toarray(), X.toarray(), rtol=1e-15)  # type: ignore[union-attr]
    np.testing.assert_array_equal(table.y, y)


def test_rows_without_features(write: Write) -> None:
    assert read_svmlight(write("f.svm", "1\n-1\n"), n_features=3).X.shape == (2, 3)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", ": the file is empty"),
        ("# only a comment\n", ": the file has no rows"),
        ("1 1:1\nspam 1:2\n", ", line 2: the label 'spam' is not a number"),
        ("1 1:1\nnan 1:2\n", ", line 2: the label 'nan' is not a number"),
        ("1 1:1\n1,2 1:2\n", ", line 2: the label '1,2' is not a number"),
        ("1 1:1\n\n-1 1:one\n", ", line 3: '1:one' is not of the form index:number"),
        ("1 1:1\n-1 12\n", ", line 2: '12' is not of the form index:number"),
        ("1 1:1\n-1 2:1 1:3\n", ", line 2: index 1 follows 2; indices must rise along a line"),
        ("1 1:1 1:2\n-1 1:1\n", ", line 1: index 1 follows 1; indices must rise along a line"),
        ("1 1:1\n-1 0:1\n", ", line 2: index 0, but indices start at 1; set zero_based = true"),
        ("1 1:1\n-1 9:1\n", ", line 2: index 9 is past n_features = 4"),
        ("1 1:1\n-1 2:nan\n", ", line 2: feature 2 is nan; every feature must be a finite number"),
        ("1 1:1\n-1 2:-inf\n", ", line 2: feature 2 is -inf; every feature must be a finite number"),
        ("1 1:1\n1 1:2\n", ": all 2 labels are '1'; two classes or more are needed"),
    ],
)
def test_error_lines(write: Write, text: str, line: str) -> None:
    path = write("f.svm", text)
    with pytest.raises(InputError) as error:
        read_svmlight(path, n_features=4)
    assert str(error.value).startswith(f"{path}{line}")
    assert "\n" not in str(error.value)


def test_not_utf8(write: Write) -> None:
    with pytest.raises(InputError, match=r"line 2: not UTF-8 text \(byte 0xff"):
        read_svmlight(write("f.svm", b"1 1:1\n-1 1:\xff\n"))


def test_missing_test_file(write: Write, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.svm: no such file"):
        read_svmlight(write("f.svm", GOOD), tmp_path / "none.svm")
