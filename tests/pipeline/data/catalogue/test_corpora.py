"""Every text corpus, from small files in its own layout: rows, labels, order, and the line that is wrong."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from singlepass.pipeline.data.catalogue import (
    acl_reviews,
    fdu_reviews,
    mail,
    newsgroups,
    nytimes,
    rcv1,
    reuters,
)
from singlepass.pipeline.data.catalogue.bags import ALL_WORDS, bag, counted
from singlepass.pipeline.data.tables.stream import Table
from singlepass.pipeline.errors import InputError

Write = Callable[[str, str | bytes], Path]
Pack = Callable[..., Path]


def dense(X: Any) -> list[list[float]]:
    assert X.dtype == np.float32
    assert X.indices.dtype == X.indptr.dtype == np.int32
    assert X.has_sorted_indices
    found: list[list[float]] = X.toarray().tolist()
    return found


def test_bags() -> None:
    texts = ["a cat, a CAT!", "dog"]
    assert dense(bag(texts, binary=False)) == [[2.0, 0.0], [0.0, 1.0]]
    assert dense(bag(texts, binary=True)) == [[1.0, 0.0], [0.0, 1.0]]
    # a, a cat, cat, cat a, dog
    assert dense(bag(texts, binary=False, bigrams=True, words=ALL_WORDS)) == [
        [2, 2, 2, 1, 0],
        [0, 0, 0, 0, 1],
    ]
    assert bag(["the cat"], binary=True, without_stop_words=True).shape == (1, 1)
    assert dense(counted([{"b": 2.0}, {"a": 1.0, "b": 3.0}])) == [[0.0, 2.0], [1.0, 3.0]]


def acl(write: Write, positive: str, negative: str) -> list[Path]:
    return [
        write("positive.review.gz", gzip.compress(positive.encode())),
        write("negative.review.gz", gzip.compress(negative.encode())),
    ]


def test_processed_acl(write: Write) -> None:
    paths = acl(write, "a_b:2 c:d:1 #label#:positive\n", "a_b:1 #label#:negative\nz:3 #label#:negative\n")
    table = acl_reviews._parse_acl_sentiment(paths)
    # Columns a_b, c:d and z.
    assert dense(table.X) == [[2, 1, 0], [1, 0, 0], [0, 0, 3]]
    assert table.y.tolist() == [1, 0, 0]
    assert table.classes == ("negative", "positive")
    domains = acl_reviews._parse_acl_domains(paths * 2)
    assert domains.y.tolist() == [0, 0, 0, 1, 1, 1]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("a:1 #label#:negative", "line 2: label 'negative' in the file positive.review.gz"),
        ("a:1 b #label#:positive", "line 2: 'b' is not of the form token:count"),
        ("a:one #label#:positive", "line 2: 'a:one' is not of the form token:count"),
    ],
)
def test_processed_acl_errors(write: Write, line: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        acl_reviews._parse_acl_sentiment(acl(write, f"a:1 #label#:positive\n{line}\n", "a:1\n"))


FDU = (
    ("fdu-mtl/books.task.test", b"1\ta good book\n"),
    ("fdu-mtl/books.task.train", b"0\ta bad \xe9\n1\tgood , good\n"),
    ("fdu-mtl/kitchen_housewares.task.train", b"0\tpan\n"),
    ("fdu-mtl/kitchen_housewares.task.test", b"1\tpot\n"),
)


def test_fdu(pack: Pack) -> None:
    path = pack("fdu-mtl.tar.gz", *FDU)
    table = fdu_reviews._parse_fdu_sentiment([path], "books")
    # The training file first, whatever the archive's order.
    assert table.y.tolist() == [0, 1, 1]
    assert table.X[1].sum() == 3  # good, good, "good good": punctuation is no word
    domains = fdu_reviews._parse_fdu_domains([path], ("books", "kitchen"))
    assert domains.classes == ("books", "kitchen")
    assert domains.y.tolist() == [0, 0, 0, 1, 1]
    with pytest.raises(InputError, match=r"the archive has no dvd\.task\.train"):
        fdu_reviews._parse_fdu_sentiment([path], "dvd")
    broken = pack("b.tar.gz", FDU[0], ("fdu-mtl/books.task.train", b"0\tx\n2\ty\n"))
    with pytest.raises(InputError, match=r"books\.task\.train, line 2: no label 0 or 1 before a tab"):
        fdu_reviews._parse_fdu_sentiment([broken], "books")


def test_newsgroups(pack: Pack) -> None:
    def message(part: str, group: str, number: int, text: bytes) -> tuple[str, bytes]:
        return f"20news-bydate-{part}/{group}/{number}", text

    path = pack(
        "20news-bydate.tar.gz",
        message("test", "sci.med", 1, b"heart heart"),
        message("train", "alt.atheism", 2, b"From: x\n\nbelief \xe9"),
        message("train", "sci.med", 3, b"heart rate"),
    )
    table = newsgroups._parse_bydate([path])
    assert [newsgroups.GROUPS[code] for code in table.y] == ["alt.atheism", "sci.med"]
    assert [newsgroups.GROUPS[code] for code in table.y_test] == ["sci.med"]  # type: ignore[union-attr]
    assert table.X_test is not None
    # belief, from, heart, rate
    assert dense(table.X) == [[1, 1, 0, 0], [0, 0, 1, 1]]
    assert dense(table.X_test) == [[0, 0, 1, 0]]
    wrong = pack("w.tar.gz", message("train", "alt.cats", 1, b"x"))
    with pytest.raises(InputError, match=r"'20news-bydate-train/alt\.cats/1' is not in a folder of one of"):
        newsgroups._parse_bydate([wrong])
    with pytest.raises(InputError, match="holds no messages"):
        newsgroups._parse_bydate([pack("e.tar.gz")])


def test_enron_spam_runs_by_sequence_number(pack: Pack) -> None:
    path = pack(
        "enron-spam.tar.gz",
        ("enron-spam/enron1/Summary.txt", b"no message"),
        ("enron-spam/enron1/ham/0001.1999-12-10.farmer.ham.txt", b"Subject: gas"),
        ("enron-spam/enron1/ham/0010.1999-12-14.farmer.ham.txt", b"Subject: gas gas"),
        ("enron-spam/enron1/spam/0006.2003-12-18.GP.spam.txt", b"Subject: win \xff"),
        ("enron-spam/enron2/spam/0002.2003-12-18.GP.spam.txt", b"other"),
    )
    table = mail._parse_user([path], "enron1")
    assert table.classes == ("ham", "spam")
    assert table.y.tolist() == [0, 1, 0]
    # gas, subject, win, ÿ
    assert dense(table.X) == [[1, 1, 0, 0], [0, 1, 1, 1], [1, 1, 0, 0]]
    with pytest.raises(InputError, match="no messages of enron6"):
        mail._parse_user([path], "enron6")


def test_enron_folders(pack: Pack) -> None:
    def note(folder: str, number: int, word: str) -> tuple[str, bytes]:
        return f"maildir/farmer-d/{folder}/{number}.", f"Subject: the {word}\n\n{word} body\n".encode()

    path = pack(
        "enron_mail_20150507.tar.gz",
        *(note("inbox", i, "noise") for i in range(9)),
        *(note(f"f{folder:02}", i, "word") for folder in range(11) for i in range(12 - folder)),
        ("maildir/kaminski-v/f00/1.", b"Subject: x\n\ny\n"),
    )
    table = mail._parse_folders([path], "farmer-d")
    # The ten largest; the inbox is not one of the user's making, and "the" is a stop word.
    assert table.classes == tuple(f"f{folder:02}" for folder in range(10))
    assert np.bincount(table.y).tolist() == list(range(12, 2, -1))
    assert table.X.shape[1] == 2
    with pytest.raises(InputError, match="no two folders under maildir/kaminski-v"):
        mail._parse_folders([path], "kaminski-v")


def sgml(split: str, topics: list[str], text: str, used: str = "YES") -> str:
    listed = "".join(f"<D>{topic}</D>" for topic in topics)
    return (
        f'<REUTERS TOPICS="{used}" LEWISSPLIT="{split}" CGISPLIT="TRAINING-SET" NEWID="1">\n'
        f"<TOPICS>{listed}</TOPICS><PLACES><D>usa</D></PLACES>\n"
        f'<TEXT TYPE="NORM">&#2;\n<TITLE>{text}</TITLE><BODY>AT&amp;T body\n&#3;</BODY></TEXT>\n</REUTERS>\n'
    )


def test_reuters21578(pack: Pack) -> None:
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
    table = reuters._parse_topic([path], "earn")
    assert table.classes == ("rest", "earn")
    assert table.y.tolist() == [1, 0, 0]
    assert table.y_test.tolist() == [1, 0]  # type: ignore[union-attr]
    assert reuters._parse_topic([path], "wheat").y.tolist() == [0, 1, 0]
    # at, body, harvest, merger, no, profit, topic: entities are decoded, tags and other fields are not text.
    assert dense(table.X)[0] == [1, 1, 0, 0, 0, 1, 0]
    single = reuters._parse_r8([path])
    assert [single.classes[code] for code in single.y] == ["earn"]
    assert [single.classes[code] for code in single.y_test] == ["acq"]  # type: ignore[union-attr]
    empty = pack("e.tar.gz", ("reut2-000.sgm", documents[1].encode()))
    with pytest.raises(InputError, match="no documents of the ModApte split"):
        reuters._parse_topic([empty], "earn")


def test_rcv1(write: Write) -> None:
    vectors = [write("train.dat", "5  1:0.5 47236:0.1\n6  2:1\n7 3:1\n"), write("test.dat", "9 2:0.3\n8\n")]
    labels = write("t.qrels", "CCAT 5 1\nC15 5 1\nECAT 6 1\nCCAT 7 1\nMCAT 7 1\nMCAT 9 1\nCCAT 8 1\n")
    names = ("corporate", "economic", "government", "markets")
    table = rcv1._parse([*vectors, labels], codes=rcv1._GENERAL, classes=names, binary=True)
    # Document 7 has two of the topics; 8 has no words.
    assert [names[code] for code in table.y] == ["corporate", "economic", "markets", "corporate"]
    assert table.X.shape == (4, 47_236)
    assert table.X[[0], [0, 47_235]].tolist() == [1.0, 1.0]  # type: ignore[index]
    for text, message in [
        ("5 0:1\n", "line 1: not of the form document index:value"),
        ("5 1:x\n", "line 1: not of the form document index:value"),
        ("a 1:1\n", "line 1: 'a' is not a document number"),
        ("4 1:1\n", "names no document of v.dat with one of"),
    ]:
        with pytest.raises(InputError, match=message):
            rcv1._parse([write("v.dat", text), labels], codes=rcv1._GENERAL, classes=names, binary=True)


def test_vowpal_wabbit_text(write: Write) -> None:
    path = write("a.dat", "-1 |f 1:0.5 3:2\n1 |f 2\n")
    table = rcv1._parse_vw([path, path])
    assert table.X.shape == (2, 47_236)
    assert table.X[:, :3].toarray().tolist() == [[0.5, 0.0, 2.0], [0.0, 1.0, 0.0]]  # type: ignore[index, union-attr]
    assert table.y.tolist() == [0, 1]
    for text, message in [("0 |f 1:1\n", "no label 1 or -1"), ("1 |f 0:1\n", "'0:1' is no feature 1..47236")]:
        with pytest.raises(InputError, match=message):
            rcv1._parse_vw([write("b.dat", text), path])


def articles(*rows: dict[str, str]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def test_nytimes(write: Write) -> None:
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
    table: Table = nytimes._parse([path], "desk")
    assert table.classes == ("Financial", "Sports")
    assert table.y.tolist() == [1, 0]
    assert dense(table.X) == [[2.0, 0.0], [0.0, 1.0]]
    with pytest.raises(InputError, match="fewer than two values of 'online'"):
        nytimes._parse([path], "online")
    for text, message in [("[]\n", 'line 1: no "text"'), ("{\n", "line 1: not a JSON object")]:
        with pytest.raises(InputError, match=message):
            nytimes._parse([write("n.jsonl", text)], "desk")
