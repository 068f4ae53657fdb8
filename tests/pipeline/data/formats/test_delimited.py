"""Test CSV and TSV files: rows, and errors that name the line."""

from __future__ import annotations

import bz2
import csv
import gzip
import lzma
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from singlepass.pipeline.data.formats.columns import Asked
from singlepass.pipeline.data.formats.delimited import DelimitedFile
from singlepass.pipeline.data.formats.labelled_columns import LabelledColumns, read_columns
from singlepass.pipeline.errors import InputError

Write = Callable[[str, str | bytes], Path]
GOOD = "a,b,label\n1,2,x\n3,4,y\n5,6,x\n"


def read_delimited(
    path: Path, *, delimiter: str = ",", target: str = "", header: bool | None = None
) -> LabelledColumns:
    return read_columns([DelimitedFile(path, delimiter=delimiter, header=header)], Asked(target))


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        GOOD.replace("\n", "\r\n"),
        "\ufeff" + GOOD,
        "\n\n" + GOOD.replace("\n", "\n\n"),
        GOOD.rstrip("\n"),
        GOOD.replace(",", ", "),
        GOOD.replace("x", '"x"'),
    ],
    ids=["plain", "crlf", "byte-order mark", "blank lines", "no final newline", "spaces", "quotes"],
)
def test_dialects(write: Write, text: str) -> None:
    columns = read_delimited(write("f.csv", text))
    assert columns.features == ("a", "b")
    assert columns.X.tolist() == [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
    assert columns.X.dtype == np.float64
    assert columns.X.flags.c_contiguous
    found = columns.labels.values[columns.labels.codes]
    assert [label.strip() for label in found] == ["x", "y", "x"]


@pytest.mark.parametrize(
    ("suffix", "pack"), [(".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)]
)
def test_compression(write: Write, suffix: str, pack: Callable[[bytes], bytes]) -> None:
    assert read_delimited(write(f"f.csv{suffix}", pack(GOOD.encode()))).X.shape == (3, 2)
    with pytest.raises(InputError, match=r"cut short"):
        read_delimited(write(f"cut.csv{suffix}", pack(GOOD.encode() * 2000)[:-20]))
    with pytest.raises(InputError, match=rf"bad\.csv\{suffix}: damaged or not a \{suffix} file"):
        read_delimited(write(f"bad.csv{suffix}", b"hello"))


@pytest.mark.parametrize(("suffix", "pack"), [(".bz2", bz2.compress), (".xz", lzma.compress)])
def test_a_damaged_stream_after_the_first(write: Write, suffix: str, pack: Callable[[bytes], bytes]) -> None:
    streams = [pack(GOOD.encode()), bytes(4), pack(b"7,8,y\n"), pack(b"9,0,x\n"), bytes(4)]
    whole, start = b"".join(streams), len(streams[0]) + 4
    assert read_delimited(write(f"f.csv{suffix}", whole)).X[:, 0].tolist() == [1, 3, 5, 7, 9]
    for place in (start, start + 3, start + 8, start + 20):
        damaged = bytearray(whole)
        damaged[place] ^= 0xFF
        with pytest.raises(InputError, match=rf"f\.csv\{suffix}: damaged or not a \{suffix} file"):
            read_delimited(write(f"f.csv{suffix}", bytes(damaged)))
    with pytest.raises(InputError, match="cut short"):
        read_delimited(write(f"f.csv{suffix}", whole[: start + 20]))


@given(
    st.lists(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=3, max_size=3), min_size=1)
)
def test_numbers_are_read_exactly(tmp_path_factory: pytest.TempPathFactory, rows: list[list[float]]) -> None:
    path = tmp_path_factory.mktemp("exact") / "f.csv"
    path.write_text("a,b,c,label\n" + "".join(f"{','.join(map(repr, row))},k\n" for row in rows))
    assert read_delimited(path).X.tolist() == rows


def test_without_header_columns_have_numbers(write: Write) -> None:
    path = write("f.csv", "1,x,2\n3,y,4\n")
    assert read_delimited(path, target="2").X.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    numeric = write("n.csv", "a,1\n2,0\n")
    assert read_delimited(numeric, header=True, target="1").X.tolist() == [[2.0]]
    with pytest.raises(
        InputError, match=r"which column is the label\? set target = '3' or another; columns: 1, 2, 3"
    ):
        read_delimited(path)


@pytest.mark.parametrize("name", ["label", "Target", " class", "Y"])
def test_the_usual_names_are_the_label(write: Write, name: str) -> None:
    assert read_delimited(write("f.csv", f"{name},b\nx,2\ny,4\n")).X.tolist() == [[2.0], [4.0]]


def test_other_delimiters(write: Write) -> None:
    assert read_delimited(write("f.tsv", GOOD.replace(",", "\t")), delimiter="\t").X.shape == (3, 2)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", ": the file is empty"),
        (" \n\n", ": the file is empty"),
        ("a,b,label\n", ": no rows below the header"),
        ("a,b,label\n1,2,x\n\n3,4,y,9\n", ", line 4: found 4 columns, expected 3 as in line 1"),
        ("a,b,label\n1,2,x\n3\n", ", line 3: found 1 columns, expected 3 as in line 1"),
        ("a,b,label\n1,2,x\n3,four,y\n", ", line 3 (row 2), column 'b': 'four' is not a number"),
        ("a,b,label\n1,2,x\n3,4_0,y\n", ", line 3 (row 2), column 'b': '4_0' is not a number"),
        ("a,b,label\n1,2,x\n\n,4,y\n", ", line 4 (row 2), column 'a': no value"),
        (
            "a,b,label\n1,2,x\n3,nan,y\n",
            ", line 3 (row 2), column 'b': nan; every feature must be a finite number, or set missing =",
        ),
        ("a,b,label\n-inf,2,x\n", ", line 2 (row 1), column 'a': -inf; every feature must"),
        ("a,b,label\n1,1e999,x\n", ", line 2 (row 1), column 'b': 1e999; every feature must"),
        ("1,2\n3,x\n", ": which column is the label? set target = '2'"),
        ("a,b\n1,2\n", ": which column is the label? set target = 'b' or another; columns: a, b"),
        ("a,b,\n1,2,\n", ": which column is the label? set target = 'b' or another; columns: a, b, "),
        ('a,label\n"1.000,5",x\n', ", line 2 (row 1), column 'a': '1.000,5' is not a number: it has a"),
        ('a,label\n"1,2,3",x\n', ", line 2 (row 1), column 'a': '1,2,3' is not a number; for categories,"),
        ('a,label\n"1,5",x\n', ", line 2 (row 1), column 'a': '1,5' is not a number: it has a decimal comma"),
        (
            'a,label\n"1,234",x\n',
            ", line 2 (row 1), column 'a': '1,234' is not a number: it has a decimal comma or separates",
        ),
        ("y,class\n1,2\n", ": which column is the label?"),
        ("a;label\n1;x\n", ", line 1: found one column, 'a;label': the delimiter is probably ';'; set"),
        ("label\nx\n", ": the label 'label' is the only column"),
        ("a,b,label\n1,2,x\n3,4, ?\n", ", line 3 (row 2): the label is missing (column 'label')"),
        ("a,b,label\n1,2,x\n3,4, NaN\n", ", line 3 (row 2): the label is missing, ' NaN' (column 'label')"),
        ("a,b,label\n1,2,x\n  \n3,4,y\n", ", line 3: found 1 columns, expected 3 as in line 1"),
        ("a,b,label\n1,2,x\n\xa03,4,y\n", ", line 3 (row 2), column 'a': '\\xa03' is not a number"),
        ("a,b,label\n1,\x0c2,x\n", ", line 2 (row 1), column 'b': '\\x0c2' is not a number"),
        ('"a\n(EUR)",b,label\n1,2,x\n', ", line 1: a quote is not closed in the line; values must not"),
        ("a,b,label\r1,2,x\r3,4,y\r", ", line 1: lines end in CR alone; end them in LF or CRLF"),
    ],
)  # fmt: skip
def test_error_lines(write: Write, text: str, line: str) -> None:
    path = write("f.csv", text)
    with pytest.raises(InputError) as error:
        read_delimited(path)
    assert str(error.value).startswith(f"{path}{line}")
    assert "\n" not in str(error.value)


def test_marks_of_missing_values_have_no_spaces_around(write: Write) -> None:
    path = write("f.csv", "a,b,label\n1, NA,x\nNAN,2,x\n3,NA ,y\n")
    with pytest.raises(
        InputError, match=r"line 4 \(row 3\), column 'b': 'NA ' is not read as missing; remove"
    ):
        read_columns([DelimitedFile(path)], Asked(missing="mean"))


def test_a_row_of_empty_fields_is_counted(write: Write) -> None:
    path = write("f.tsv", "a\tlabel\n \t \n")
    with pytest.raises(InputError, match=r"line 2 \(row 1\): the label is missing"):
        read_columns([DelimitedFile(path, delimiter="\t")], Asked(missing="mean"))


def test_target_that_is_not_there(write: Write) -> None:
    with pytest.raises(InputError, match=r"no column is called 'c'; columns: a, b, label"):
        read_delimited(write("f.csv", GOOD), target="c")
    with pytest.raises(InputError, match=r"more than one column is called 'a'"):
        read_delimited(write("f.csv", "a,a\n1,2\n"), target="a")


def test_not_utf8(write: Write) -> None:
    with pytest.raises(InputError, match=r"f\.csv, line 2: not UTF-8 text \(byte 0xe9 at position 5\)"):
        read_delimited(write("f.csv", b"a,b,label\n1,2,\xe9t\xe9\n3,4,x\n"))


def test_missing_file_and_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.csv: no such file"):
        read_delimited(tmp_path / "none.csv")
    with pytest.raises(InputError, match="is a folder, not a file"):
        read_delimited(tmp_path)


def test_a_field_longer_than_the_default_limit_of_the_csv_module(write: Write) -> None:
    before = csv.field_size_limit(1 << 17)
    long = "x" * 140_000
    try:
        path = write("f.csv", f'{long},"{long},{long}",label\n1,2,p\n3,4,q\n')
        assert read_delimited(path).features == (long, f"{long},{long}")
        csv.field_size_limit(1 << 17)
        path = write("f.csv", f"a,note,label\n1,{long},p\n2,{long},p\nthree,{long},q\n")
        with pytest.raises(InputError, match=r"line 4 \(row 3\), column 'a': 'three' is not a number"):
            read_columns([DelimitedFile(path)], Asked(text=("note",)))
        path = write("f.csv", f"a,label\n1,p\n{long},q\n")
        with pytest.raises(InputError, match=r"line 3 \(row 2\), column 'a': 'x{60}' is not a number"):
            read_delimited(path)
    finally:
        csv.field_size_limit(before)
