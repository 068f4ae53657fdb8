"""Test Vowpal Wabbit's text: features hashed as there, numbers, and errors that name the line."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.utils import murmurhash3_32

from singlepass.pipeline.data.formats import sparse_text
from singlepass.pipeline.data.formats.files import file_options, read_files
from singlepass.pipeline.data.formats.sparse_text import Tokens, vowpal_scan
from singlepass.pipeline.data.io.reading import SPARE_BYTES
from singlepass.pipeline.data.tables.options import resolve_options
from singlepass.pipeline.data.tables.stream import Table
from singlepass.pipeline.errors import InputError

Write = Callable[[str, str | bytes], Path]
Row = dict[int, float]


def rows_of(tokens: Tokens) -> list[tuple[float, Row]]:
    """Return the label and the features of every row; assert that indices rise."""
    rows, start = [], 0
    for label, end in zip(tokens.labels.tolist(), tokens.ends.tolist(), strict=True):
        indices = tokens.indices[start:end].tolist()
        assert indices == sorted(set(indices))
        rows.append((label, dict(zip(indices, tokens.values[start:end].tolist(), strict=True))))
        start = end
    return rows


def block_of(text: bytes) -> npt.NDArray[np.uint8]:
    return np.frombuffer(bytearray(text + b"9" * SPARE_BYTES), np.uint8)[: len(text)]


def scanned(text: str, hash_bits: int = 18) -> list[tuple[float, Row]]:
    """Return the rows of a text; assert that the slow reader finds the same."""
    scan = vowpal_scan(hash_bits=hash_bits)
    found = rows_of(scan(Path("f.vw"), 1, block_of(text.encode())))
    assert rows_of(sparse_text._vowpal_lines(Path("f.vw"), 1, text.encode(), hash_bits)) == found
    return found


def murmur(name: str, seed: int = 0) -> int:
    return int(murmurhash3_32(name.encode(), seed=seed % 2**32, positive=True))


def read(path: Path, **given: int) -> Table:
    return read_files([path], [], resolve_options("vw", given, file_options(path, given)))


@pytest.mark.slow
def test_names_are_hashed() -> None:
    mask, a = 2**18 - 1, murmur("a")
    text = "1 | height:1.5 length\n-1 |a height:-2 7:3 |b x\n"
    assert scanned(text) == [
        (1.0, {murmur("height") & mask: 1.5, murmur("length") & mask: 1.0}),
        (-1.0, {murmur("height", a) & mask: -2.0, (7 + a) & mask: 3.0, murmur("x", murmur("b")) & mask: 1.0}),
    ]


@pytest.mark.slow
def test_numbers_are_their_own_names_modulo_the_bits() -> None:
    assert scanned("1 | 5 1030:2 3:4", hash_bits=10) == [(1.0, {5: 1.0, 6: 2.0, 3: 4.0})]
    assert scanned("1 |3 5:2") == [(1.0, {8: 2.0})]


def test_equal_indices_are_added_and_zeros_left_out() -> None:
    assert scanned("1 | 5:1 3:2 5:0.5 9:0 4:1 4:-1") == [(1.0, {3: 2.0, 5: 1.5})]


def test_tags_weights_and_features_without_a_name() -> None:
    text = "1 'first|a:2 x:3 y\n1 1.0 tag|a x\n-1 1 | 4\n2 |a :3 :4\n\n \t\n1 |a|b x\r\n"
    a, b, mask = murmur("a"), murmur("b"), 2**18 - 1
    assert scanned(text) == [
        (1.0, {murmur("x", a) & mask: 6.0, murmur("y", a) & mask: 2.0}),
        (1.0, {murmur("x", a) & mask: 1.0}),
        (-1.0, {4: 1.0}),
        (2.0, {a & mask: 3.0, (a + 1) & mask: 4.0}),
        (1.0, {murmur("x", b) & mask: 1.0}),
    ]


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("| a", "no label; write one and a blank before |"),
        ("1| a", "no label; write one and a blank before |"),
        ("spam | a", "the label 'spam' is not a number"),
        ("nan | a", "the label 'nan' is not a number"),
        ("1 2.5 | a", "'2.5' after the label"),
        ("1 1 0.5 | a", "'1' after the label"),
        ("1 ", "no |; write"),
        ("1 a", "no |; write"),
        ("1 | a:x", "'a:x' is not of the form name:number"),
        ("1 | a:1:2", "'a:1:2' is not of the form name:number"),
        ("1 | a:1_0", "'a:1_0' is not of the form name:number"),
        ("1 | a:nan", "nan is not finite; every feature must be a finite number"),
        ("1 | a:1e999", "1e999 is not finite; every feature must be a finite number"),
        ("1 | a:", "'a:' is not of the form name:number"),
        # Full-width digits, and a no-break space.
        ("\uff11 | a", "the label '\uff11' is not a number"),
        ("1 \uff11 | a", "'\uff11' after the label"),
        ("1 | a:\uff11", "'a:\uff11' is not of the form name:number"),
        ("\xa01 | a", r"the label '\xa01' is not a number"),
    ],
)
def test_wrong_lines(write: Write, line: str, fault: str) -> None:
    path = write("f.vw", f"1 | a\n-1 | b\n{line}\n")
    with pytest.raises(InputError, match=rf"^{re.escape(str(path))}, line 3: ") as error:
        read(path)
    assert fault in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("line", [0, 1])
def test_names_are_bytes_in_any_encoding(write: Write, line: int) -> None:
    lines = [b"1 | a", b"-1 | b"]
    lines[line] = lines[line] + b" caf\xe9"
    X: Any = read(write("f.vw", b"\n".join(lines))).X
    assert np.diff(X.indptr).tolist() == [2 - line, 1 + line]


def test_a_table(write: Write) -> None:
    table = read(write("f.vw", "1 | 5:2\n-1 | 3\n"), hash_bits=4)
    assert table.X.shape == (2, 16)
    assert table.classes == ("-1", "1")
    assert table.X.toarray()[0].tolist() == [0, 0, 0, 0, 0, 2] + [0] * 10  # type: ignore[union-attr]


@given(st.binary(max_size=60), st.integers(0, 10**6))
def test_any_line_is_the_same_for_both_readers(noise: bytes, place: int) -> None:
    good = b"1 'tag|name:2 a:1.5 b:2e-3 |other 7:1 8\n-1 | c d:12345678901234567890\n"
    cut = place % len(good)
    text = good[:cut] + noise + good[cut:]
    found = []
    readers: list[Callable[[], Tokens]] = [
        lambda: vowpal_scan(hash_bits=12)(Path("f.vw"), 1, block_of(text)),
        lambda: sparse_text._vowpal_lines(Path("f.vw"), 1, text, 12),
    ]
    for read_lines in readers:
        try:
            found.append(rows_of(read_lines()))
        except InputError as error:
            found.append(str(error))
    assert found[0] == found[1]


@pytest.mark.slow
def test_the_same_features_as_vowpal_wabbit(tmp_path: Path) -> None:
    pytest.importorskip("vowpalwabbit")
    from vowpalwabbit import Workspace

    line = "1 'x|user id=7 age:3.5 12:2 |item été |9 4:2 b"
    workspace = Workspace(arg_list=["--quiet", "-b", "18", "--noconstant"])
    example = workspace.parse(line)
    theirs = dict(example.iter_features())
    workspace.finish_example(example)
    workspace.finish()
    ((_, ours),) = scanned(line)
    assert ours == pytest.approx(theirs)
