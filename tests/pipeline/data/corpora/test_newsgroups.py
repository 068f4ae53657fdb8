"""Test 20 Newsgroups on a small archive: parts, classes, and errors."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from singlepass.pipeline.data.catalogue.public import CATALOGUE
from singlepass.pipeline.data.corpora import mail
from singlepass.pipeline.errors import InputError

GROUPS = CATALOGUE["20newsgroups"].classes

Pack = Callable[..., Path]
Dense = Callable[[Any], list[list[float]]]


def test_newsgroups(pack: Pack, dense: Dense) -> None:
    def message(part: str, group: str, number: int, text: bytes) -> tuple[str, bytes]:
        return f"20news-bydate-{part}/{group}/{number}", text

    path = pack(
        "20news-bydate.tar.gz",
        message("test", "sci.med", 1, b"heart heart"),
        message("train", "alt.atheism", 2, b"From: x\n\nbelief \xe9"),
        message("train", "sci.med", 3, b"heart rate"),
    )
    table = mail.newsgroups([path], GROUPS)
    assert [GROUPS[code] for code in table.y] == ["alt.atheism", "sci.med"]
    assert [GROUPS[code] for code in table.y_test] == ["sci.med"]  # type: ignore[union-attr]
    assert table.X_test is not None
    # belief, from, heart, rate
    assert dense(table.X) == [[1, 1, 0, 0], [0, 0, 1, 1]]
    assert dense(table.X_test) == [[0, 0, 1, 0]]
    wrong = pack("w.tar.gz", message("train", "alt.cats", 1, b"x"))
    with pytest.raises(InputError, match=r"'20news-bydate-train/alt\.cats/1' is not in a folder of one of"):
        mail.newsgroups([wrong], GROUPS)
    with pytest.raises(InputError, match="contains no messages"):
        mail.newsgroups([pack("e.tar.gz")], GROUPS)
