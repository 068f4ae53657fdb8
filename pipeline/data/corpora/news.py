"""Read news: Reuters-21578 (ModApte split), RCV1-v2 (LYRL2004), and the New York Times Annotated Corpus."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Condition
from typing import Any

import numpy as np
from cachetools import LRUCache, cached

from ...errors import InputError
from ..io.reading import file_sha256, lines
from ..tables.stream import Table
from .bags import archive_texts, as_csr, bag, codes_of, split

_DOCUMENT = re.compile(r"<REUTERS([^>]*)>(.*?)</REUTERS>", re.DOTALL)
_ATTRIBUTE = re.compile(r'([A-Z]+)="([^"]*)"')
_TOPIC_LIST = re.compile(r"<TOPICS>(.*?)</TOPICS>", re.DOTALL)
_ITEM = re.compile(r"<D>(.*?)</D>")
_TEXT = re.compile(r"<TEXT[^>]*>(.*?)</TEXT>", re.DOTALL)
_TAG = re.compile(r"</?[A-Z][^>]*>")


@dataclass(frozen=True, eq=False)
class _Corpus:
    """Contain the documents of Reuters-21578: binary bags of words, topics, and a mask of the test part."""

    X: Any
    topics: tuple[tuple[str, ...], ...]
    test: np.ndarray[Any, np.dtype[np.bool_]]


def reuters_topic(paths: Sequence[Path], topic: str) -> Table:
    """Return all documents of Reuters-21578; the class is whether a document has the topic."""
    corpus = _reuters(paths[0])
    y = np.array([topic in topics for topics in corpus.topics], dtype=np.int32)
    return split(corpus.X, y, corpus.test, ("rest", topic))


def reuters_r8(paths: Sequence[Path], classes: Sequence[str]) -> Table:
    """Return the documents of Reuters-21578 with a single topic, if that is one of the classes."""
    corpus = _reuters(paths[0])
    y = codes_of([topics[0] if len(topics) == 1 else "" for topics in corpus.topics], classes)
    return split(corpus.X, y, corpus.test, classes)


# The parsed corpus is cached, because ten tasks use it and parsing takes seconds.
@cached(LRUCache(maxsize=1), file_sha256, condition=Condition())
def _reuters(path: Path) -> _Corpus:
    documents = list(_documents(path))
    if not documents:
        raise InputError(f"{path}: the archive has no documents of the ModApte split")
    X = bag([text for *_, text in documents], binary=True)
    test = np.array([is_test for is_test, _, _ in documents])
    return _Corpus(X, tuple(topics for _, topics, _ in documents), test)


def _documents(path: Path) -> Iterator[tuple[bool, tuple[str, ...], str]]:
    """Yield (is test, topics, text) of the documents of the ModApte split, in file order."""
    for name, content in archive_texts(path, r"\.sgm\Z"):
        for found in _DOCUMENT.finditer(content):
            attributes = dict(_ATTRIBUTE.findall(found[1]))
            for key in ("LEWISSPLIT", "TOPICS"):
                if key not in attributes:
                    raise InputError(f"{path}: {name.string}: a document without {key}")
            if attributes["TOPICS"] != "YES" or attributes["LEWISSPLIT"] not in ("TRAIN", "TEST"):
                continue
            topics = _TOPIC_LIST.search(found[2])
            text = _TEXT.search(found[2])
            yield (
                attributes["LEWISSPLIT"] == "TEST",
                tuple(_ITEM.findall(topics[1])) if topics else (),
                html.unescape(_TAG.sub(" ", text[1])) if text else "",
            )


_N_FEATURES = 47_236


def rcv1(paths: Sequence[Path], codes: Sequence[str], classes: Sequence[str]) -> Table:
    """Return binary rows of RCV1's documents with exactly one of the topic `codes`, which is the class.

    The last path is the file that lists the topics of documents; the others contain the documents.
    """
    wanted = _labelled(paths[-1], codes)
    rows = [row for path in paths[:-1] for row in _vectors(path, wanted)]
    if not rows:
        raise InputError(
            f"{paths[-1]}: lists no document of {paths[0].name} under exactly one of the codes "
            f"{', '.join(codes)}"
        )
    y = np.array([wanted[document] for document, _ in rows], dtype=np.int32)
    X = _csr([indices for _, indices in rows], [np.ones(len(indices)) for _, indices in rows])
    return Table(X, y, tuple(classes))


def _csr(indices: Sequence[Any], values: Sequence[Any]) -> Any:
    """Return a CSR matrix, given the column indices and the values of each row."""
    from scipy.sparse import csr_array

    ends = np.cumsum([0, *map(len, indices)])
    flat = [np.concatenate([np.empty(0), *parts]) for parts in (values, indices)]
    return as_csr(csr_array((flat[0], flat[1].astype(np.int64), ends), shape=(len(indices), _N_FEATURES)))


def _labelled(path: Path, codes: Sequence[str]) -> dict[int, int]:
    """Map the number of each document with exactly one of the topic `codes` to the position of that code."""
    found: dict[int, int] = {}
    several: set[int] = set()
    for number, text in lines(path):
        fields = text.split()
        if len(fields) < 2 or not fields[1].isdecimal():
            raise InputError(f"{path}, line {number}: expected a topic code, a document number and 1")
        document = int(fields[1])
        if fields[0] in codes:
            if document in found:
                several.add(document)
            found[document] = codes.index(fields[0])
    return {document: code for document, code in found.items() if document not in several}


def _vectors(path: Path, wanted: dict[int, int]) -> Iterator[tuple[int, Any]]:
    """Read lines ``document  index:value …``; yield each wanted document's number and its indices from 0."""
    for number, text in lines(path):
        document, _, fields = text.partition(" ")
        if not document.isdecimal():
            raise InputError(f"{path}, line {number}: {document!r} is not a document number")
        if int(document) not in wanted:
            continue
        try:
            flat = np.array(fields.replace(":", " ").split(), dtype=np.float64)
        except ValueError:
            flat = np.zeros(1)
        pairs = fields.split()
        formed = len(flat) == 2 * len(pairs) and all(pair.count(":") == 1 for pair in pairs)
        if not formed or not _is_row(flat[::2], flat[1::2]):
            raise InputError(
                f"{path}, line {number}: after the document number, needs index:value fields with distinct "
                f"indices from 1 to {_N_FEATURES:,} and finite values"
            )
        yield int(document), flat[::2].astype(np.int64) - 1


def _is_row(indices: Any, values: Any) -> bool:
    """Return whether the indices of a row are distinct features of RCV1 and its values finite in float32."""
    return bool(
        ((indices >= 1) & (indices <= _N_FEATURES) & (indices == np.floor(indices))).all()
        and len(np.unique(indices)) == len(indices)
        and (np.abs(values) <= np.finfo(np.float32).max).all()
    )


def vowpal_wabbit(paths: Sequence[Path]) -> Table:
    """Read RCV1 from a training and a test file of Vowpal Wabbit text: ``label |namespace index:value …``."""
    X, y = _vowpal_wabbit(paths[0])
    return Table(X, y, ("-1", "1"), *_vowpal_wabbit(paths[1]))


def _vowpal_wabbit(path: Path) -> tuple[Any, Any]:
    rows, row_values, labels = [], [], []
    for number, text in lines(path):
        label, bar, features = text.partition("|")
        if not bar or label.strip() not in ("1", "-1"):
            raise InputError(f"{path}, line {number}: no label 1 or -1 before '|'")
        indices, values = [], []
        for field in features.split()[1:]:
            index, colon, value = field.partition(":")
            if not index.isdecimal() or not 1 <= int(index) <= _N_FEATURES:
                raise InputError(f"{path}, line {number}: {field!r} is not a feature 1..{_N_FEATURES}")
            indices.append(int(index) - 1)
            try:
                values.append(float(value) if colon else 1.0)
            except ValueError:
                raise InputError(f"{path}, line {number}: {value!r} is not a number") from None
        if not _is_row(np.array(indices) + 1, np.array(values)):
            raise InputError(f"{path}, line {number}: a feature twice, or a value that is not finite")
        rows.append(indices)
        row_values.append(values)
        labels.append(label.strip())
    return _csr(rows, row_values), codes_of(labels, ("-1", "1"))


def nytimes(paths: Sequence[Path], key: str) -> Table:
    """Return word counts, without stop words, of the articles whose JSON field `key` has a label."""
    texts, labels = [], []
    for number, line in lines(paths[0]):
        try:
            article = json.loads(line)
        except (ValueError, RecursionError):
            raise InputError(f"{paths[0]}, line {number}: not a JSON object") from None
        if not isinstance(article, dict) or not isinstance(article.get("text"), str):
            raise InputError(f'{paths[0]}, line {number}: no "text" in the JSON object')
        label = article.get(key)
        if isinstance(label, str) and label.strip():
            if "\0" in label:
                # NumPy drops NUL characters at the end of text, which would make different labels equal.
                raise InputError(f"{paths[0]}, line {number}: the label {label!r} contains a NUL character")
            if any("\ud800" <= char <= "\udfff" for char in label):
                raise InputError(
                    f"{paths[0]}, line {number}: the label {label!r} contains half of a surrogate pair, "
                    "which is not a character; correct the label"
                )
            texts.append(article["text"])
            labels.append(label.strip())
    classes = tuple(sorted(set(labels)))
    if len(classes) < 2:
        raise InputError(f"{paths[0]}: fewer than two values of {key!r}; two classes or more are needed")
    return Table(bag(texts, binary=False, without_stop_words=True), codes_of(labels, classes), classes)
