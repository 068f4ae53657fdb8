"""Test Reuters-21578 on a small archive: the split, topics, and errors."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from singlepass.pipeline.data.corpora import news
from singlepass.pipeline.errors import InputError

R8 = ("acq", "crude", "earn", "grain", "interest", "money-fx", "ship", "trade")

Pack = Callable[..., Path]
Dense = Callable[[Any], list[list[float]]]


def sgml(split: str, topics: list[str], text: str, used: str = "YES") -> str:
    listed = "".join(f"<D>{topic}</D>" for topic in topics)
    return (
        f'<REUTERS TOPICS="{used}" LEWISSPLIT="{split}" CGISPLIT="TRAINING-SET" NEWID="1">\n'
        f"<TOPICS>{listed}</TOPICS><PLACES><D>usa</D></PLACES>\n"
        f'<TEXT TYPE="NORM">&#2;\n<TITLE>{text}</TITLE><BODY>AT&amp;T body\n&#3;</BODY></TEXT>\n</REUTERS>\n'
    )


def test_reuters21578(pack: Pack, dense: Dense) -> None:
    documents = [
        sgml("TRAIN", ["earn"], "profit"),
        sgml("TRAIN", [], "nothing", used="NO"),
        sgml("TEST", ["acq", "earn"], "merger profit"),
        sgml("TRAIN", ["grain", "wheat"], "harvest"),
        sgml("NOT-USED", ["earn"], "unused"),
        sgml("TRAIN", [], "no topic"),
        sgml("TEST", ["acq"], "merger"),
    ]
    path = pack("reuters21578.tar.gz", ("reut2-000.sgm", "".join(documents).encode()))
    table = news.reuters_topic([path], "earn")
    assert table.classes == ("rest", "earn")
    assert table.y.tolist() == [1, 0, 0]
    assert table.y_test.tolist() == [1, 0]  # type: ignore[union-attr]
    assert news.reuters_topic([path], "wheat").y.tolist() == [0, 1, 0]
    # at, body, harvest, merger, no, profit, topic: entities are decoded; tags and other fields are not text.
    assert dense(table.X)[0] == [1, 1, 0, 0, 0, 1, 0]
    single = news.reuters_r8([path], R8)
    assert [single.classes[code] for code in single.y] == ["earn"]
    assert [single.classes[code] for code in single.y_test] == ["acq"]  # type: ignore[union-attr]
    empty = pack("e.tar.gz", ("reut2-000.sgm", documents[1].encode()))
    with pytest.raises(InputError, match="no documents of the ModApte split"):
        news.reuters_topic([empty], "earn")
