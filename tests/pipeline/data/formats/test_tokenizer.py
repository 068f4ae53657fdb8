"""The svmlight tokenizer reads what Python and scikit-learn read, to the last bit."""

from __future__ import annotations

import io
import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn.datasets import load_svmlight_file

from singlepass.pipeline.data.formats.tokenizer import tokenize


def values_of(text: str) -> list[float]:
    tokens = tokenize(text.encode(), zero_based=False, n_features=0)
    assert tokens is not None
    return tokens.values.tolist()


@given(st.floats(-1e308, 1e308), st.sampled_from(["%r", "%.17g", "%.3e", "%.6f"]))
@example(5e-324, "%r")
@example(1.7976931348623157e308, "%r")
@example(-0.0, "%r")
@example(9007199254740993.0, "%r")
def test_numbers_are_read_as_python_reads_them(value: float, form: str) -> None:
    written = form % value
    (found,) = values_of(f"1 1:{written}\n")
    assert found == float(written)
    assert math.copysign(1.0, found) == math.copysign(1.0, float(written))


@pytest.mark.parametrize(
    "written",
    [
        "1", "+1", "-1", "1.", ".5", "0", "-0", "1e5", "1E+05", "1e-22", "1e22", "1e23", "123456789012345678",
        "0.1234567890123456789", "12345678901234567890", "+12345678901234567890", "00001.50", "1e-400",
        "9007199254740993", "0.000000000000000000000000000123", "2.2250738585072011e-308", "1e0000000000001",
    ],
)  # fmt: skip
def test_forms_of_numbers(written: str) -> None:
    assert values_of(f"1 1:{written}") == [float(written)]
    tokens = tokenize(f"{written} 1:1\n".encode(), zero_based=False, n_features=0)
    assert tokens is not None
    assert tokens.labels.tolist() == [float(written)]


def check(written: list[str]) -> None:
    found = values_of("\n".join(f"1 1:{text}" for text in written))
    expected = [float(text) for text in written]
    wrong = [text for text, a, b in zip(written, found, expected, strict=True) if a != b]
    assert wrong == []
    assert len(found) == len(written)


def test_many_digits_with_any_exponent() -> None:
    rng = np.random.RandomState(0)
    for n_digits in (1, 5, 15, 16, 17, 18, 19, 20, 21, 25, 40):
        digits = rng.randint(0, 10, (3000, n_digits)).astype("U1")
        texts = ["".join(row) for row in digits]
        exponents = rng.randint(-345 - n_digits, 309 - n_digits, len(texts))
        check([f"{text}e{exponent}" for text, exponent in zip(texts, exponents, strict=True)])
        points = rng.randint(0, n_digits + 1, len(texts))
        check([f"{text[:point]}.{text[point:]}" for text, point in zip(texts, points, strict=True)])


def test_half_way_between_two_floats() -> None:
    rng = np.random.RandomState(0)
    written = ["1e23", "9007199254740993", "9007199254740995"]
    for _ in range(3000):
        half = 2 * int(rng.randint(2**52, 2**53)) + 1
        # The same number with zeros after its digits, and its neighbours on either side.
        for zeros in range(5):
            written.append(f"{half * 10**zeros}e-{zeros}")
        written += [f"{half}.{'0' * 10}1", f"{half - 1}.{'9' * 10}", f"{half}.{'0' * 30}1"]
        # Far from 1 the half-way point has many digits: cut short, and one more in the last place.
        exact = str(half << int(rng.randint(1, 300)))
        written += [exact, exact[:-1] + str(int(exact[-1]) + 1), f"{exact[:19]}e{len(exact) - 19}"]
    check(written)


def test_the_ends_of_the_range() -> None:
    largest, smallest = "17976931348623157e292", "22250738585072014e-324"
    check([largest, smallest, "1e308", "1e-307", "1e-323", "4e-324", "1e-340", "0e999", "0.0e-999"])
    assert tokenize(b"1 1:17976931348623159e292", zero_based=False, n_features=0) is None


@pytest.mark.parametrize(
    "line",
    [
        "1 1:", "1 :1", "1 1", "1 1:1e", "1 1:1x", "1 1:0x1", "1 1:1_0", "1 1:--1", "1 1:.", "1 1:nan",
        "1 1:inf", "1 1:1e999", "1 1:-12345678901234567890e999", "x 1:1", "1,2 1:1", "1e999 1:1", "- 1:1",
        "1 0:1", "1 -1:1", "1 2:1 1:1", "1 1:1 1:1", "1 9:1", "1 99999999999999999999:1", "1 +1:1", "1 1 :1",
        "1 1: 1", "1 q:1", "1 1:1\x00", "1 1:\xff",
    ],
)  # fmt: skip
def test_what_is_not_right_is_not_read(line: str) -> None:
    for text in (line, f"1 1:1\n{line}\n1 1:1\n"):
        assert tokenize(text.encode("latin-1"), zero_based=False, n_features=8) is None


def test_blanks_comments_and_queries() -> None:
    text = b"# head\n\n  \t\r\n1 qid:3 1:1# c\r\n\t-1\t2:2 \n2#\n3 #1:x\n 4 qid:x 8:1"
    tokens = tokenize(text, zero_based=False, n_features=8)
    assert tokens is not None
    assert tokens.labels.tolist() == [1, -1, 2, 3, 4]
    assert tokens.row_ends.tolist() == [1, 2, 2, 2, 3]
    assert tokens.indices.tolist() == [0, 1, 7]


def test_zero_based() -> None:
    tokens = tokenize(b"1 0:1 7:2\n", zero_based=True, n_features=8)
    assert tokens is not None
    assert tokens.indices.tolist() == [0, 7]
    assert tokenize(b"1 8:1\n", zero_based=True, n_features=8) is None


def test_nothing() -> None:
    tokens = tokenize(b"", zero_based=False, n_features=0)
    assert tokens is not None
    assert (len(tokens.labels), len(tokens.values)) == (0, 0)


ROW = st.dictionaries(st.integers(1, 40), st.floats(allow_nan=False, allow_infinity=False), max_size=6)


@given(st.lists(st.tuples(st.integers(-3, 3), ROW), min_size=1, max_size=12))
def test_the_same_as_scikit_learn(rows: list[tuple[int, dict[int, float]]]) -> None:
    text = "".join(
        " ".join([str(label), *(f"{index}:{row[index]!r}" for index in sorted(row))]) + "\n"
        for label, row in rows
    ).encode()
    X, y = load_svmlight_file(io.BytesIO(text), n_features=40, zero_based=False)
    tokens = tokenize(text, zero_based=False, n_features=40)
    assert tokens is not None
    np.testing.assert_array_equal(tokens.labels, y)
    np.testing.assert_array_equal(tokens.values, X.data)
    np.testing.assert_array_equal(tokens.indices, X.indices)
    np.testing.assert_array_equal(tokens.row_ends, X.indptr[1:])
