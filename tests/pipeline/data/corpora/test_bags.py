"""Test bags of words and of bigrams on a few words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from singlepass.pipeline.data.corpora.bags import ALL_WORDS, bag, counted

Dense = Callable[[Any], list[list[float]]]


def test_bags(dense: Dense) -> None:
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
