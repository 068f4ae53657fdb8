"""The New York Times Annotated Corpus: the desk, online section or printed section of an article."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

from ...errors import InputError
from ..io.text import lines
from ..public.declarations import PublicFile, PublicSet
from ..tables.stream import Table
from .bags import bag

_KEYS = {"desk": "NYTD", "online": "NYTO", "section": "NYTS"}


def _parse(paths: Sequence[Path], key: str) -> Table:
    """Counts of words, stop words removed, of the articles that have the label."""
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
                # An array of texts forgets it where it ends one.
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
