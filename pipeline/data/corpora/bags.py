"""Share code between readers of corpora: texts in archives, bags of words, class codes and splits."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..io.archives import tar_texts
from ..tables.stream import Codes, Table, int32_csr

# Pattern of words with two characters or more, without punctuation: scikit-learn's default.
WORDS = r"(?u)\b\w\w+\b"
# Pattern that also matches words of one character, since bigrams of the reviews contain them ("a_top").
ALL_WORDS = r"(?u)\b\w+\b"


def archive_texts(path: Path, pattern: str) -> Iterator[tuple[re.Match[str], str]]:
    """Yield (match of the name, text) for each file of a tar archive whose name matches `pattern` anywhere.

    Corpora use many undeclared encodings. Latin-1 decodes every byte, with the same result on every machine.
    """
    compiled = re.compile(pattern)
    for name, content in tar_texts(path, lambda name: compiled.search(name) is not None):
        found = compiled.search(name)
        assert found is not None
        yield found, content.decode("latin-1")


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
        # No text has a word. Return no columns; the caller then refuses the set, as the features are too few.
        return as_csr(np.zeros((len(texts), 0)))


def counted(rows: Iterable[Mapping[str, float]]) -> Any:
    """Convert rows, each a mapping of words to counts, to float32 CSR with the words' columns in order."""
    from sklearn.feature_extraction import DictVectorizer

    return as_csr(DictVectorizer(dtype=np.float32, sort=True).fit_transform(rows))


def as_csr(X: Any) -> Any:
    """Return a sparse matrix as float32 CSR with int32 indices that ascend within every row."""
    from scipy.sparse import csr_array

    found = int32_csr(csr_array(X, dtype=np.float32))
    found.sort_indices()
    return found


def codes_of(labels: Iterable[str], classes: Sequence[str]) -> Codes:
    """Return the position of each label among the classes, or -1 for a label that is not a class."""
    codes = {name: code for code, name in enumerate(classes)}
    return np.array([codes.get(label, -1) for label in labels], dtype=np.int32)


def split(X: Any, y: Codes, test: Any, classes: Sequence[str]) -> Table:
    """Return a table whose test part is the rows of the mask `test`; leave out rows with class code -1."""
    train, held = np.flatnonzero(~test & (y >= 0)), np.flatnonzero(test & (y >= 0))
    return Table(as_csr(X[train]), y[train], tuple(classes), as_csr(X[held]), y[held])
