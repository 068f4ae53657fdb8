"""Bags of words and bigrams as float32 CSR, and the New York Times Annotated Corpus."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import InputError
from ..io.text import lines
from ..public.declarations import PublicFile, PublicSet
from ..tables.stream import Table, int32_csr

# scikit-learn's default: words of two letters or more, without punctuation.
WORDS = r"(?u)\b\w\w+\b"
# Also single letters and digits, since the reviews' bigrams contain them ("a_top").
ALL_WORDS = r"(?u)\b\w+\b"


def bag(
    texts: Iterable[str],
    *,
    binary: bool,
    bigrams: bool = False,
    words: str = WORDS,
    without_stop_words: bool = False,
) -> Any:
    """Return the bag of words of each text as float32 CSR, with the d words in alphabetical order as columns.

    Texts are lower-cased. `binary` stores 1 for each word that occurs, otherwise its count. `bigrams` adds
    pairs of neighbouring words. `words` is a regular expression that matches a word. `without_stop_words`
    removes scikit-learn's list of English stop words. Column indices are int32 and ascend within a row.

    Examples
    --------
    >>> bag(["to be or not to be", "be"], binary=False).toarray().tolist()
    [[2.0, 1.0, 1.0, 2.0], [1.0, 0.0, 0.0, 0.0]]
    """
    from sklearn.feature_extraction.text import CountVectorizer

    vectorizer = CountVectorizer(
        binary=binary,
        ngram_range=(1, 2) if bigrams else (1, 1),
        token_pattern=words,
        stop_words="english" if without_stop_words else None,
        dtype=np.float32,
    )
    texts = list(texts)
    try:
        return as_csr(vectorizer.fit_transform(texts))
    except ValueError:
        # No text has a word. The caller's comparison with the published counts then refuses the set.
        return as_csr(np.zeros((len(texts), 0)))


def counted(rows: Iterable[Mapping[str, float]]) -> Any:
    """Return rows of given word counts in the form of `bag`."""
    from sklearn.feature_extraction import DictVectorizer

    return as_csr(DictVectorizer(dtype=np.float32, sort=True).fit_transform(rows))


def as_csr(X: Any) -> Any:
    """Return a sparse matrix as float32 CSR with int32 indices that ascend within every row."""
    from scipy.sparse import csr_array

    found = int32_csr(csr_array(X, dtype=np.float32))
    found.sort_indices()
    return found


_KEYS = {"desk": "NYTD", "online": "NYTO", "section": "NYTS"}


def _parse(paths: Sequence[Path], key: str) -> Table:
    """Return word counts, without stop words, of the articles that have the label."""
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
                # numpy drops trailing NUL characters from text, which would merge labels.
                raise InputError(f"{paths[0]}, line {number}: the label {label!r} holds a NUL")
            texts.append(article["text"])
            labels.append(label.strip())
    classes, y = np.unique(np.array(labels, dtype=np.str_), return_inverse=True)
    if len(classes) < 2:
        raise InputError(f"{paths[0]}: fewer than two values of {key!r}; a class is needed on each line")
    names = tuple(str(name) for name in classes)
    return Table(bag(texts, binary=False, without_stop_words=True), y.astype(np.int32), names)


NYTIMES: tuple[PublicSet, ...] = tuple(
    PublicSet(
        name=f"nytimes-{key}",
        title=f"New York Times articles by {key} ({letters})",
        files=(
            PublicFile("nytimes.jsonl", also=("nytimes.jsonl.gz", "nytimes.jsonl.bz2", "nytimes.jsonl.xz")),
        ),
        parse=partial(_parse, key=key),
        classes=(),
        n_features=0,
        counts=(),
        counts_test=(),
        licence="Linguistic Data Consortium LDC2008T19, to its licensees alone",
        note="counts of words, stop words removed, CSR; rows in the order of the file",
        source='LDC2008T19; write nytimes.jsonl from it: a JSON object a line with "text" and the labels '
        '"desk", "online", "section" (a string each; leave out what an article lacks)',
    )
    for key, letters in _KEYS.items()
)
