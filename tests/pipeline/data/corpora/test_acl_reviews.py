"""Test Blitzer's review files on a few lines: rows, labels, and errors that name the line."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from singlepass.pipeline.data.corpora import reviews
from singlepass.pipeline.errors import InputError

Write = Callable[[str, str | bytes], Path]
Dense = Callable[[Any], list[list[float]]]


def acl(write: Write, positive: str, negative: str) -> list[Path]:
    return [
        write("positive.review.gz", gzip.compress(positive.encode())),
        write("negative.review.gz", gzip.compress(negative.encode())),
    ]


def test_processed_acl(write: Write, dense: Dense) -> None:
    paths = acl(write, "a_b:2 c:d:1 #label#:positive\n", "a_b:1 #label#:negative\nz:3 #label#:negative\n")
    table = reviews.acl_sentiment(paths)
    # Columns a_b, c:d and z.
    assert dense(table.X) == [[2, 1, 0], [1, 0, 0], [0, 0, 3]]
    assert table.y.tolist() == [1, 0, 0]
    assert table.classes == ("negative", "positive")
    domains = reviews.acl_domains(paths * 2, ("books", "dvd"))
    assert domains.y.tolist() == [0, 0, 0, 1, 1, 1]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("a:1 #label#:negative", "line 2: the file's name does not allow label 'negative'"),
        ("a:1 b #label#:positive", "line 2: 'b' is not of the form token:count"),
        ("a:12345678 #label#:positive", "line 2: 'a:12345678' is not of the form token:count"),
        ("a:one #label#:positive", "line 2: 'a:one' is not of the form token:count"),
    ],
)
def test_processed_acl_errors(write: Write, line: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        reviews.acl_sentiment(acl(write, f"a:1 #label#:positive\n{line}\n", "a:1\n"))
