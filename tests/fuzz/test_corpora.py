"""Corpora on 20,000 damaged files each: labels and words that a plain reader finds too, or one line."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from singlepass.pipeline.data.catalogue.public import CATALOGUE
from singlepass.pipeline.data.tables.stream import Table

from .trying import chunks, tar_of, tried

WORDS = re.compile(r"(?u)\b\w\w+\b")
GROUPS = CATALOGUE["20newsgroups"].classes
ALL_WORDS = re.compile(r"(?u)\b\w+\b")


def widths(X: object) -> list[int]:
    """Return how many words there are in each row."""
    counted: list[int] = np.diff(X.indptr).tolist()  # type: ignore[attr-defined]
    assert np.isfinite(X.data).all()  # type: ignore[attr-defined]
    return counted


@pytest.mark.slow
@chunks
def test_newsgroups(folder: Path, chunk: int) -> None:
    corpus = CATALOGUE["20newsgroups"]
    where = "20news-bydate-{}/{}/1"

    def read(path: Path) -> Table:
        # What an archive holds is damaged here, not the archive.
        text = path.read_bytes()
        lines = text.partition(b"\n")
        group = lines[0].decode("latin-1")
        members = [(where.format("train", "sci.med"), b"heart rate"), (where.format("test", group), text)]
        try:
            packed = tar_of(members)
        except (ValueError, UnicodeError):
            # No archive can hold such a name.
            packed = tar_of([(where.format("train", "alt.none"), b"")])
        path.write_bytes(packed)
        return corpus.parse([path])

    def check(content: bytes, table: Table) -> None:
        text = content.decode("latin-1")
        assert [GROUPS[code] for code in table.y] == ["sci.med"]
        assert table.y_test is not None
        if "\0" in text.partition("\n")[0]:
            # Where a name of an archive ends.
            return
        group = text.partition("\n")[0].rstrip("/")
        assert [GROUPS[code] for code in table.y_test] == [group]
        assert widths(table.X_test) == [len(set(WORDS.findall(text.lower())))]

    valid = [b"sci.space\n\nAn orbit, an ORBIT\n", b"alt.atheism\nFrom: x\n\nbelief \xe9t\xe9\n"]
    tried(folder / "f.tar", valid, chunk, read, check)


@pytest.mark.slow
@chunks
def test_enron_spam(folder: Path, chunk: int) -> None:
    corpus = CATALOGUE["enron-spam/enron1"]
    members = [
        (f"enron1/{kind}/{i:04}.1999-12-10.x.{kind}.txt", f"Subject: {kind} {'gas ' * i}".encode())
        for i, kind in enumerate(["ham", "spam", "ham", "spam"], start=1)
    ]

    def check(content: bytes, table: Table) -> None:
        assert len(table.y) == len(widths(table.X)) <= len(members)
        assert set(table.y.tolist()) <= {0, 1}

    tokens = [b"spam", b"ham", b"enron2", b"0009", b"\x00", b"../", b"1", b"2", b"\xff"]
    tried(
        folder / "f.tar",
        [tar_of(members), tar_of(members, "w:bz2")],
        chunk,
        lambda path: corpus.parse([path]),
        check,
        tokens,
    )


RCV1_VECTORS = [
    b"5  1:0.5 47236:0.1\n6  2:1\n7 3:1\n8 9:0.25 10:0.5\n",
    b"6 1:1e-2 2:3 3:4\n\n9 2:0.3\n5\n",
]
RCV1_TOPICS = [
    b"CCAT 5 1\nC15 5 1\nECAT 6 1\nCCAT 7 1\nMCAT 7 1\nMCAT 9 1\nGCAT 8 1\n",
    b"GCAT 5 1\nGCAT 6 1\n\nM11 6 1\nMCAT 8 1\n",
]
GENERAL = (b"CCAT", b"ECAT", b"GCAT", b"MCAT")


def check_rcv1(vectors: bytes, topics: bytes, table: Table) -> None:
    found: dict[int, set[int]] = {}
    named_twice = Counter()
    for line in topics.decode("utf-8-sig").split("\n"):
        fields = line.split()
        if fields and fields[0].encode() in GENERAL:
            found.setdefault(int(fields[1]), set()).add(GENERAL.index(fields[0].encode()))
            named_twice[int(fields[1])] += 1
    codes, rows = [], []
    for line in vectors.decode("utf-8-sig").split("\n"):
        if line.strip():
            document, _, rest = line.partition(" ")
            if len(found.get(int(document), ())) == 1 and named_twice[int(document)] == 1:
                codes += found[int(document)]
                rows.append({int(float(each.split(":")[0])) - 1 for each in rest.split()})
    assert table.y.tolist() == codes
    X = table.X
    cut = zip(X.indptr[:-1], X.indptr[1:], strict=True)  # type: ignore[union-attr]
    assert [set(X.indices[a:b].tolist()) for a, b in cut] == rows  # type: ignore[union-attr]
    assert set(X.data.tolist()) <= {1.0}


@chunks
def test_rcv1_vectors(folder: Path, chunk: int) -> None:
    topics = folder / "t.qrels"
    topics.write_bytes(RCV1_TOPICS[0])
    corpus = CATALOGUE["rcv1"]
    tried(
        folder / "v.dat",
        RCV1_VECTORS,
        chunk,
        lambda path: corpus.parse([path, topics]),
        lambda content, table: check_rcv1(content, RCV1_TOPICS[0], table),
        named="v.dat",
    )


@chunks
def test_rcv1_topics(folder: Path, chunk: int) -> None:
    vectors = folder / "v.dat"
    vectors.write_bytes(RCV1_VECTORS[0])
    corpus = CATALOGUE["rcv1"]
    tried(
        folder / "t.qrels",
        RCV1_TOPICS,
        chunk,
        lambda path: corpus.parse([vectors, path]),
        lambda content, table: check_rcv1(RCV1_VECTORS[0], content, table),
    )


@chunks
def test_vowpal_wabbit_text(folder: Path, chunk: int) -> None:
    corpus = CATALOGUE["rcv1-small"]

    def check(content: bytes, table: Table) -> None:
        rows, labels = [], []
        for line in content.decode("utf-8-sig").split("\n"):
            if line.strip():
                label, _, rest = line.partition("|")
                pairs = [field.split(":", 1) for field in rest.split()[1:]]
                labels.append(int(label.strip()) == 1)
                rows.append({int(pair[0]) - 1: float(pair[1]) if pair[1:] else 1.0 for pair in pairs})
        assert table.y.tolist() == labels
        X = table.X
        for row, expected in enumerate(rows):
            part = slice(X.indptr[row], X.indptr[row + 1])  # type: ignore[union-attr]
            held = dict(zip(X.indices[part].tolist(), X.data[part].tolist(), strict=True))  # type: ignore[union-attr]
            assert held == {index: float(np.float32(value)) for index, value in expected.items()}

    valid = [b"-1 |f 1:0.5 3:2\n1 |f 2\n", b"1 | 5:1e-3 9:7\n\n1 |f 47236:1\n-1 |f\n"]
    tried(folder / "f.dat", valid, chunk, lambda path: corpus.parse([path, path]), check)


@chunks
def test_reviews_of_blitzer(folder: Path, chunk: int) -> None:
    corpus = CATALOGUE["amazon-acl/books"]
    other = folder / "negative.review"
    other.write_bytes(b"bad:1 #label#:negative\n")

    def check(content: bytes, table: Table) -> None:
        rows = []
        for line in content.decode("utf-8-sig").split("\n"):
            if line.strip():
                pairs = [field.rpartition(":") for field in line.split()]
                counts: Counter[str] = Counter()
                for token, _, count in pairs:
                    if token != "#label#":
                        counts[token] += int(count)
                rows.append(counts)
        assert table.y.tolist() == [1] * len(rows) + [0]
        assert table.X.sum(axis=1).tolist() == [*(sum(row.values()) for row in rows), 1]

    valid = [b"a_b:2 c:d:1 #label#:positive\n", b"z:3 #label#:positive\ny:1 a_b:12 #label#:positive\n"]
    tried(folder / "positive.review", valid, chunk, lambda path: corpus.parse([path, other]), check)


@pytest.mark.slow
@chunks
def test_reviews_of_fdu(folder: Path, chunk: int) -> None:
    corpus = CATALOGUE["fdu-mtl/books"]

    def read(path: Path) -> Table:
        files = [("f/books.task.train", path.read_bytes()), ("f/books.task.test", b"1\ta good book\n")]
        path.write_bytes(tar_of(files))
        return corpus.parse([path])

    def check(content: bytes, table: Table) -> None:
        lines = [line for line in content.decode("latin-1").split("\n") if line.strip()]
        assert table.y.tolist() == [*(int(line.partition("\t")[0]) for line in lines), 1]
        n_words = [len(ALL_WORDS.findall(line.partition("\t")[2].lower())) for line in lines]
        # Words and pairs of neighbours.
        assert table.X.sum(axis=1).tolist()[:-1] == [n + max(n - 1, 0) for n in n_words]

    valid = [b"0\ta bad \xe9\n1\tgood , good\n", b"1\tbest\n0\tworst of it all\n"]
    tried(
        folder / "f.tar", valid, chunk, read, check, [b"\t", b"\n", b"0\t", b"2\t", b"\x00", b"\xff", b" x "]
    )


@chunks
def test_nytimes(folder: Path, chunk: int) -> None:
    corpus = CATALOGUE["nytimes-desk"]

    def check(content: bytes, table: Table) -> None:
        articles = [json.loads(line) for line in content.decode("utf-8-sig").split("\n") if line.strip()]
        labels = [article.get("desk") for article in articles]
        expected = [label.strip() for label in labels if isinstance(label, str) and label.strip()]
        assert [table.classes[code] for code in table.y] == expected
        assert len(widths(table.X)) == len(expected)

    valid = [
        b'{"text": "goal goal", "desk": "Sports"}\n{"text": "vote", "section": "A"}\n'
        b'{"text": "stock", "desk": "Financial"}\n',
        b'{"desk": "A", "text": "one"}\n\n{"desk": "B", "text": "two \\u00e9"}\n{"desk": "A", "text": ""}\n',
    ]
    tokens = [b'"', b"{", b"}", b"[" * 3000, b"null", b"1e999", b"\\u0000", b"\\ud800", b"\n", b"\xff", b":"]
    tried(folder / "f.jsonl", valid, chunk, lambda path: corpus.parse([path]), check, tokens)
