"""Test RCV1 on small files: rows, labels, and errors that name the line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from singlepass.pipeline.data.corpora import news
from singlepass.pipeline.errors import InputError

GENERAL = ("CCAT", "ECAT", "GCAT", "MCAT")

Write = Callable[[str, str | bytes], Path]


def test_rcv1(write: Write) -> None:
    vectors = [write("train.dat", "5  1:0.5 47236:0.1\n6  2:1\n7 3:1\n"), write("test.dat", "9 2:0.3\n8\n")]
    labels = write("t.qrels", "CCAT 5 1\nC15 5 1\nECAT 6 1\nCCAT 7 1\nMCAT 7 1\nMCAT 9 1\nCCAT 8 1\n")
    names = ("corporate", "economic", "government", "markets")
    table = news.rcv1([*vectors, labels], codes=GENERAL, classes=names)
    # Document 7 has two of the topics; document 8 has no words.
    assert [names[code] for code in table.y] == ["corporate", "economic", "markets", "corporate"]
    assert table.X.shape == (4, 47_236)
    assert table.X[[0], [0, 47_235]].tolist() == [1.0, 1.0]  # type: ignore[index]
    for text, message in [
        ("5 0:1\n", "line 1: after the document number, needs index:value fields"),
        ("5 1:x\n", "line 1: after the document number, needs index:value fields"),
        ("5 1:1 1:2\n", "line 1: after the document number, needs index:value fields"),
        ("5 1.5:1\n", "line 1: after the document number, needs index:value fields"),
        ("5 1 2\n", "line 1: after the document number, needs index:value fields"),
        ("5 1:1e39\n", "line 1: after the document number, needs index:value fields"),
        ("a 1:1\n", "line 1: 'a' is not a document number"),
        ("4 1:1\n", "lists no document of v.dat under exactly one of the codes"),
    ]:
        with pytest.raises(InputError, match=message):
            news.rcv1([write("v.dat", text), labels], codes=GENERAL, classes=names)


def test_vowpal_wabbit_text(write: Write) -> None:
    path = write("a.dat", "-1 |f 1:0.5 3:2\n1 |f 2\n")
    table = news.vowpal_wabbit([path, path])
    assert table.X.shape == (2, 47_236)
    assert table.X[:, :3].toarray().tolist() == [[0.5, 0.0, 2.0], [0.0, 1.0, 0.0]]  # type: ignore[index, union-attr]
    assert table.y.tolist() == [0, 1]
    for text, message in [
        ("0 |f 1:1\n", "no label 1 or -1"),
        ("1 |f 0:1\n", "'0:1' is not a feature 1..47236"),
        ("1 |f 1:x\n", "line 1: 'x' is not a number"),
        ("1 |f 1:nan\n", "line 1: a feature twice, or a value that"),
        ("1 |f 1:1 1:2\n", "line 1: a feature twice, or a value that"),
    ]:
        with pytest.raises(InputError, match=message):
            news.vowpal_wabbit([write("b.dat", text), path])
