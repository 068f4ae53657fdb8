"""Test the reviews of FDU-MTL on a small archive: rows, labels, order, and errors."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from singlepass.pipeline.data.corpora import reviews
from singlepass.pipeline.errors import InputError

Pack = Callable[..., Path]


FDU = (
    ("fdu-mtl/books.task.test", b"1\ta good book\n"),
    ("fdu-mtl/books.task.train", b"0\ta bad \xe9\n1\tgood , good\n"),
    ("fdu-mtl/kitchen_housewares.task.train", b"0\tpan\n"),
    ("fdu-mtl/kitchen_housewares.task.test", b"1\tpot\n"),
)


def test_fdu(pack: Pack) -> None:
    path = pack("fdu-mtl.tar.gz", *FDU)
    table = reviews.fdu_sentiment([path], "books")
    # The training file first, in any order of the archive.
    assert table.y.tolist() == [0, 1, 1]
    assert table.X[[1]].sum() == 3  # good, good, "good good": punctuation is no word
    domains = reviews.fdu_domains([path], ("books", "kitchen"))
    assert domains.classes == ("books", "kitchen")
    assert domains.y.tolist() == [0, 0, 0, 1, 1]
    with pytest.raises(InputError, match=r"the archive has no dvd\.task\.train"):
        reviews.fdu_sentiment([path], "dvd")
    broken = pack("b.tar.gz", FDU[0], ("fdu-mtl/books.task.train", b"0\tx\n2\ty\n"))
    with pytest.raises(InputError, match=r"books\.task\.train, line 2: no label 0 or 1 before a tab"):
        reviews.fdu_sentiment([broken], "books")
