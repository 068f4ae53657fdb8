"""Test svmlight text: sparse and dense rows, numbers exact to the last bit, errors that name the line."""

from __future__ import annotations

import gzip
import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.datasets import dump_svmlight_file

from singlepass.pipeline.data.formats import sparse_text
from singlepass.pipeline.data.formats.files import file_options, read_files
from singlepass.pipeline.data.formats.sparse_text import read_sparse, sparse_tokens, svmlight_scan
from singlepass.pipeline.data.io.reading import SPARE_BYTES, USUAL
from singlepass.pipeline.data.tables.options import resolve_options
from singlepass.pipeline.data.tables.stream import Table
from singlepass.pipeline.errors import InputError

Write = Callable[[str, str | bytes], Path]
GOOD = "+1 1:0.5 3:2 # a comment\n-1 qid:7 2:1\n"
LARGEST = 2**31 - 1


def read(
    path: Path, *, n_features: int = 0, zero_based: bool = False
) -> tuple[list[float], list[list[tuple[int, float]]]]:
    """Return the label and the (index, value) pairs of every row, from the blocks of a file."""
    labels, rows = [], []
    scan = svmlight_scan(n_features=n_features, zero_based=zero_based)
    for tokens in sparse_tokens(path, scan, USUAL):
        assert tokens.indices.dtype == np.int32
        assert tokens.values.dtype == tokens.labels.dtype == np.float64
        pairs = list(zip(tokens.indices.tolist(), tokens.values.tolist(), strict=True))
        labels += tokens.labels.tolist()
        rows += [pairs[start:stop] for start, stop in pairwise([0, *tokens.ends.tolist()])]
    return labels, rows


def read_svmlight(paths: list[Path], *, n_features: int = 0, zero_based: bool = False) -> Table:
    scan = svmlight_scan(n_features=n_features, zero_based=zero_based)
    return read_sparse(paths[:1], paths[1:], scan, n_features=n_features)


def same(found: float, expected: float) -> bool:
    return found == expected and math.copysign(1.0, found) == math.copysign(1.0, expected)


def test_sparse_by_default(write: Write) -> None:
    table = read_svmlight([write("f.svm", GOOD)])
    assert isinstance(table.X, csr_array)
    assert table.X.indices.dtype == table.X.indptr.dtype == np.int32
    assert table.X.toarray().tolist() == [[0.5, 0.0, 2.0], [0.0, 1.0, 0.0]]
    assert table.classes == ("-1", "1")
    assert table.y.tolist() == [1, 0]


def test_dense_and_compressed(write: Write) -> None:
    path = write("f.svm.gz", gzip.compress(GOOD.encode()))
    given = {"dense": True, "n_features": 4}
    table = read_files([path], [], resolve_options("f", given, file_options(path, given)))
    assert isinstance(table.X, np.ndarray)
    assert table.X.tolist() == [[0.5, 0.0, 2.0, 0.0], [0.0, 1.0, 0.0, 0.0]]
    assert table.X.flags.c_contiguous


def test_the_test_file_has_the_same_features(write: Write) -> None:
    table = read_svmlight([write("f.svm", GOOD), write("t.svm", "-1 5:1\n")])
    assert table.X.shape == (2, 5)
    assert table.X_test is not None
    assert table.X_test.shape == (1, 5)
    assert table.y_test is not None
    assert table.y_test.tolist() == [0]


def test_zero_based(write: Write) -> None:
    table = read_svmlight([write("f.svm", "1 0:3\n2 1:4\n")], zero_based=True)
    assert csr_array(table.X).toarray().tolist() == [[3.0, 0.0], [0.0, 4.0]]


def test_round_trip(tmp_path: Path) -> None:
    rng = np.random.RandomState(0)
    X = csr_array(rng.standard_normal((30, 7)) * (rng.random_sample((30, 7)) < 0.3))
    y = rng.randint(0, 3, 30)
    dump_svmlight_file(X, y, str(tmp_path / "f.svm"), zero_based=False)
    table = read_svmlight([tmp_path / "f.svm"], n_features=7)
    np.testing.assert_allclose(table.X.toarray(), X.toarray(), rtol=1e-15)  # type: ignore[union-attr]
    np.testing.assert_array_equal(table.y, y)


def test_rows_without_features(write: Write) -> None:
    assert read_svmlight([write("f.svm", "1\n-1\n")], n_features=3).X.shape == (2, 3)
    with pytest.raises(InputError, match=r"f\.svm: no line has a feature; write index:number"):
        read_svmlight([write("f.svm", "1\n-1\n")])


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
        ("1 1:1\n-1 9:1\n", ", line 2: index 9 exceeds n_features = 4"),
        ("1 1:1\n-1 2:nan\n", ", line 2: feature 2 is nan; every feature must be a finite number"),
        ("1 1:1\n-1 2:-inf\n", ", line 2: feature 2 is -inf; every feature must be a finite number"),
        ("1 1:1\n-9007199254740993 1:2\n", ", row 2: the label -9.0072e+15 is too large: from 2^53 on"),
        ("1 1:1\n1 1:2\n", ": all 2 labels are '1'; two classes or more are needed"),
    ],
)
def test_error_lines(write: Write, text: str, line: str) -> None:
    path = write("f.svm", text)
    with pytest.raises(InputError) as error:
        read_svmlight([path], n_features=4)
    assert str(error.value).startswith(f"{path}{line}")
    assert "\n" not in str(error.value)


def test_not_utf8(write: Write) -> None:
    with pytest.raises(InputError, match=r"line 2: not UTF-8 text \(byte 0xff"):
        read_svmlight([write("f.svm", b"1 1:1\n-1 1:\xff\n")])


def test_missing_test_file(write: Write, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.svm: no such file"):
        read_svmlight([write("f.svm", GOOD), tmp_path / "none.svm"])


@given(st.floats(-1e308, 1e308), st.sampled_from(["%r", "%.17g", "%.3e", "%.6f"]))
@example(5e-324, "%r")
@example(1.7976931348623157e308, "%r")
@example(-0.0, "%r")
@example(9007199254740993.0, "%r")
def test_numbers_are_read_as_python_reads_them(write: Write, value: float, form: str) -> None:
    written = form % value
    (label,), (((_, found),),) = read(write("f.svm", f"{written} 1:{written}\n"))
    assert same(found, float(written))
    assert same(label, float(written))


@pytest.mark.parametrize(
    "written",
    [
        "1", "+1", "-1", "1.", ".5", "0", "-0", "1e5", "1E+05", "1e-22", "1e22", "1e23", "123456789012345678",
        "0.1234567890123456789", "12345678901234567890", "+12345678901234567890", "00001.50", "1e-400",
        "9007199254740993", "0.000000000000000000000000000123", "2.2250738585072011e-308", "1e0000000000001",
        "17976931348623157e292", "22250738585072014e-324", "1e-323", "4e-324", "0e999", "0.0e-999",
    ],
)  # fmt: skip
def test_forms_of_numbers(write: Write, written: str) -> None:
    expected = [float(written)], [[(0, float(written))]]
    assert read(write("f.svm", f"{written} 1:{written}")) == expected


@pytest.mark.parametrize(
    "line",
    [
        "1 1:", "1 :1", "1 1", "1 1:1e", "1 1:1x", "1 1:0x1", "1 1:1_0", "1 1:--1", "1 1:.", "1 1:nan",
        "1 1:inf", "1 1:1e999", "1 1:-12345678901234567890e999", "x 1:1", "1,2 1:1", "1e999 1:1", "- 1:1",
        "1 0:1", "1 -1:1", "1 2:1 1:1", "1 1:1 1:1", "1 9:1", "1 99999999999999999999:1", "1 +1:1", "1 1 :1",
        "1 1: 1", "1 q:1", "1 1:1\x00", "1 1:\xff",
        "1_0 1:1", "nan 1:1", "1 1_0:1", "1 qid 1:1", "1 qidx:3 1:1", "1 1:17976931348623159e292", "1 -0:1",
        "1 1:1\x1c", "1 \x001:1 # a comment", "1 2147483649:1", f"1 {'9' * 5000}:1", "1:1", "qid:3 1 1:1",
        "1 1:1 # \xff\n1 1:\xc3\xa9", "\xd9\xa1 1:1", "1 \xd9\xa1:1", "1 1:\xd9\xa1", "1 1:1\xc2\xa02:1",
    ],
)  # fmt: skip
def test_what_is_not_right_is_not_read(write: Write, line: str) -> None:
    last = 1 + line.count("\n")
    for before in (0, 1):
        path = write("f.svm", ("1 1:1\n" * before + f"{line}\n1 1:1\n").encode("latin-1"))
        with pytest.raises(InputError, match=rf"f\.svm, line {last + before}: "):
            read(path, n_features=8)


def test_blanks_comments_and_queries(write: Write) -> None:
    text = b"# head\n\n  \t\r\n1 qid:3 1:1# c\r\n\t-1\t2:2 \n2#\n3 #1:x\n 4 qid:x 8:1"
    expected = [1, -1, 2, 3, 4], [[(0, 1)], [(1, 2)], [], [], [(7, 1)]]
    assert read(write("f.svm", text), n_features=8) == expected
    assert read(write("f.svm", b"\xef\xbb\xbf" + text), n_features=8) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 2:1 qid:3 4:1 qid:4", [(1, 1), (3, 1)]),
        ("1 qid:1_0 1:1", [(0, 1)]),
        ("1 1:1 # a_b qidx +1:2", [(0, 1)]),
        ("1 1:1 #\x00 2:1", [(0, 1)]),
        ("1 qid:\x00 1:1 # 2:1", [(0, 1)]),
        ("1 1:1 # \xff", [(0, 1)]),
        ("1 0001:1", [(0, 1)]),
        ("1 1:0 2:-0.0", [(0, 0), (1, -0.0)]),
        ("1\r", []),
        ("1 1:1\x0b2:2\x0c3:3\r4:4", [(0, 1), (1, 2), (2, 3), (3, 4)]),
    ],
)
def test_what_only_looks_wrong_is_read(write: Write, text: str, expected: list[tuple[int, float]]) -> None:
    path = write("f.svm", f"{text}\n-1 5:0.1\n".encode("latin-1"))
    assert read(path) == ([1.0, -1.0], [expected, [(4, 0.1)]])


@pytest.mark.parametrize("text", ["# only a comment\n", " \n\t\r\n", "\n# a\n\n#b"])
def test_no_rows(write: Write, text: str) -> None:
    assert read(write("f.svm", text)) == ([], [])


@pytest.mark.parametrize("zero_based", [False, True])
def test_the_first_and_the_last_index(write: Write, zero_based: bool) -> None:
    first = 0 if zero_based else 1
    for n_features, width, bound in (
        (8, 8, "n_features = 8"),
        (LARGEST, LARGEST, f"n_features = {LARGEST}"),
        (0, 1 << 25, "max_features = 33,554,432"),
    ):
        last = width - 1 + first
        path = write("f.svm", f"1 {first}:1 {last}:2\n")
        expected = [1], [[(0, 1), (width - 1, 2)]]
        assert read(path, n_features=n_features, zero_based=zero_based) == expected
        path = write("f.svm", f"1 1:1\n1 {last + 1}:2\n")
        with pytest.raises(InputError, match=rf"line 2: index {last + 1} exceeds {bound};"):
            read(path, n_features=n_features, zero_based=zero_based)


ROW = st.dictionaries(st.integers(1, 40), st.floats(allow_nan=False, allow_infinity=False), max_size=6)


@given(st.lists(st.tuples(st.integers(-3, 3), ROW), min_size=1, max_size=12), st.sampled_from([9, 1 << 18]))
def test_the_same_as_python(write: Write, rows: list[tuple[int, dict[int, float]]], block_bytes: int) -> None:
    text = "".join(
        " ".join([str(label), *(f"{index}:{row[index]!r}" for index in sorted(row))]) + "\n"
        for label, row in rows
    )
    labels, pairs = [], []
    for line in text.splitlines():
        label, *fields = line.split()
        labels.append(float(label))
        split = [field.split(":") for field in fields]
        pairs.append([(int(index) - 1, float(value)) for index, value in split])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sparse_text, "_BLOCK_BYTES", block_bytes)
        assert read(write("f.svm", text)) == (labels, pairs)
        # Suspicious blocks are read line by line, with the same result.
        assert read(write("f.svm", text.replace("\n", " qid:_\n"))) == (labels, pairs)


def test_what_is_right_is_not_read_line_by_line(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(sparse_text, "_svmlight_lines")
    assert read(write("f.svm", "+1 1:-1e-05 3:+2 # a_b\n-1 qid:7 2:1\n"))[0] == [1, -1]


@pytest.mark.parametrize(
    "end", ["\n-1 2:0.5\n", *(pytest.param(end, marks=pytest.mark.slow) for end in ("", "\n"))]
)
def test_a_line_much_longer_than_a_block(write: Write, end: str) -> None:
    n = 1_000_000
    text = "+1 " + " ".join(f"{index}:{index % 97}.25" for index in range(1, n + 1)) + end
    assert len(text) > 20 * sparse_text._BLOCK_BYTES
    labels, rows = read(write("wide.svm", text))
    further = [[(1, 0.5)]] if "-1" in end else []
    assert labels == [1.0, -1.0][: 1 + len(further)]
    assert rows == [[(index - 1, index % 97 + 0.25) for index in range(1, n + 1)], *further]


def test_many_files_at_once(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sparse_text, "_BLOCK_BYTES", 64)
    rng = np.random.RandomState(0)
    values = [rng.standard_normal(300).tolist() for _ in range(6)]
    paths = [
        write(f"{k}.svm", "".join(f"{k} {i % 7 + 1}:{value!r}\n" for i, value in enumerate(column)))
        for k, column in enumerate(values)
    ]
    with ThreadPoolExecutor(6) as pool:
        for k, (labels, rows) in enumerate(pool.map(read, paths)):
            assert labels == [k] * 300
            assert rows == [[(i % 7, value)] for i, value in enumerate(values[k])]


@pytest.mark.parametrize("n_threads", [1, 3])
def test_the_number_of_threads_does_not_matter(
    write: Write, monkeypatch: pytest.MonkeyPatch, n_threads: int
) -> None:
    monkeypatch.setattr("joblib.cpu_count", lambda: n_threads)
    monkeypatch.setattr(sparse_text, "_BLOCK_BYTES", 100)
    rng = np.random.RandomState(0)
    values = rng.standard_normal(2000).tolist()
    path = write("f.svm", "".join(f"{i % 2} {i % 7 + 1}:{value!r}\n" for i, value in enumerate(values)))
    assert read(path) == ([i % 2 for i in range(2000)], [[(i % 7, value)] for i, value in enumerate(values)])
    # The first wrong line is named, although a later block may be scanned before it.
    lines = path.read_text().splitlines()
    lines[700], lines[720] = "1 x:1", "1 y:1"
    with pytest.raises(InputError, match=r"line 701: 'x:1'"):
        read(write("g.svm", "\n".join(lines)))


def test_several_files_are_read_as_one(write: Write) -> None:
    paths = [write(f"{k}.svm", text) for k, text in enumerate(("1 1:1\n-1 9:2\n", "1 3:4", "-1 12:1\n"))]
    options = resolve_options("files", {}, file_options(paths[0], {}))
    table = read_files(paths[:2], paths[2:], options)
    assert table.X.shape == (3, 12)
    assert table.X.nonzero()[1].tolist() == [0, 8, 2]
    assert table.X_test is not None
    assert table.X_test.nonzero()[1].tolist() == [11]
    with pytest.raises(InputError, match=r"f\.vw: is not of the format of the training file, svmlight"):
        read_files([paths[0], write("f.vw", "1 | a")], [], options)


def _outcome(block: bytes, *, slowly: bool) -> object:
    scan, spare = svmlight_scan(), b"9" * SPARE_BYTES
    try:
        tokens = (
            sparse_text._svmlight_lines(Path("f"), 1, block, 1 << 25, 1, "max_features = 33,554,432")
            if slowly
            else scan(Path("f"), 1, np.frombuffer(bytearray(block + spare), np.uint8)[: len(block)])
        )
    except InputError as error:
        return str(error)
    return [array.tobytes() for array in tokens]


def mutated_files(n: int, seed: int) -> int:
    """Compare both readers on `n` mutated texts; return how many were read."""
    rng = np.random.RandomState(seed)
    line = b"%d qid:3 1:%r 7:%.17g 12:%.4f 100:1e-%d # c\n"
    good = b"".join(line % (k % 3 - 1, k / 7, k / 11, k / 13, k) for k in range(9))
    pieces = [b"9" * 20, b"nan", b"qid", *(bytes([each]) for each in b"\n :10#e-+._\xff")]
    n_read = 0
    for _ in range(n):
        text = bytearray(good[: rng.randint(1, len(good))])
        for _ in range(rng.randint(1, 4)):
            at, piece = rng.randint(len(text) + 1), pieces[rng.randint(len(pieces))]
            text[at : at + rng.randint(3)] = piece
        fast, slow = (_outcome(bytes(text), slowly=slowly) for slowly in (False, True))
        assert fast == slow, bytes(text)
        n_read += isinstance(fast, list)
    return n_read


def test_mutated_files() -> None:
    assert 100 < mutated_files(1000, 0) < 900


@pytest.mark.slow
def test_many_mutated_files() -> None:
    assert 5000 < mutated_files(50_000, 1) < 45_000
