"""Bags of words and of bigrams, by scikit-learn's text tools, as float32 CSR."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ..tables.stream import int32_csr

# scikit-learn's own default: words of two letters or more, punctuation apart.
WORDS = r"(?u)\b\w\w+\b"
# Single letters and digits as well: the reviews' bigrams have them ("a_top").
ALL_WORDS = r"(?u)\b\w+\b"


def bag(
    texts: Iterable[str],
    *,
    binary: bool,
    bigrams: bool = False,
    words: str = WORDS,
    without_stop_words: bool = False,
) -> Any:
    """Return the bag of words of each text.

    Parameters
    ----------
    texts : iterable of str
        n texts; lower-cased here.
    binary : bool
        1 for every word that occurs, else the number of its occurrences.
    bigrams : bool, default=False
        Pairs of neighbouring words besides the words.
    words : str, default=WORDS
        What a word is, as a regular expression.
    without_stop_words : bool, default=False
        Leave out scikit-learn's list of English stop words.

    Returns
    -------
    scipy.sparse.csr_array of shape (n, d), float32
        Columns in alphabetical order of the d words; int32 indices, rising along a row.

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
        # None of the texts has a word: a set that is compared with what is published is refused for that.
        return as_csr(np.zeros((len(texts), 0)))


def counted(rows: Iterable[Mapping[str, float]]) -> Any:
    """Return rows of words that come with their counts, as `bag` does."""
    from sklearn.feature_extraction import DictVectorizer

    return as_csr(DictVectorizer(dtype=np.float32, sort=True).fit_transform(rows))


def as_csr(X: Any) -> Any:
    """Return a sparse matrix as float32 CSR with int32 indices that rise along every row."""
    from scipy.sparse import csr_array

    found = int32_csr(csr_array(X, dtype=np.float32))
    found.sort_indices()
    return found
