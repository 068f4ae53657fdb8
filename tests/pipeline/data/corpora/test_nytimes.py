"""Test the New York Times corpus on a few lines."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from singlepass.pipeline.data.corpora import news
from singlepass.pipeline.data.tables.stream import Table
from singlepass.pipeline.errors import InputError

Write = Callable[[str, str | bytes], Path]
Dense = Callable[[Any], list[list[float]]]


def articles(*rows: dict[str, str]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def test_nytimes(write: Write, dense: Dense) -> None:
    path = write(
        "nytimes.jsonl.gz",
        gzip.compress(
            articles(
                {"text": "goal goal the", "desk": "Sports"},
                {"text": "vote", "section": "A"},
                {"text": "stock", "desk": "Financial", "section": "C"},
            ).encode()
        ),
    )
    table: Table = news.nytimes([path], "desk")
    assert table.classes == ("Financial", "Sports")
    assert table.y.tolist() == [1, 0]
    assert dense(table.X) == [[2.0, 0.0], [0.0, 1.0]]
    with pytest.raises(InputError, match="fewer than two values of 'online'"):
        news.nytimes([path], "online")
    half = articles({"text": "vote", "desk": "A\ud83d"})
    with pytest.raises(InputError, match=r"line 1: the label 'A\\ud83d' contains half of a surrogate pair"):
        news.nytimes([write("half.jsonl", half)], "desk")
    for text, message in [("[]\n", 'line 1: no "text"'), ("{\n", "line 1: not a JSON object")]:
        with pytest.raises(InputError, match=message):
            news.nytimes([write("n.jsonl", text)], "desk")
