"""Read product reviews as counts of words and bigrams: Amazon's (Blitzer et al. 2007), and FDU-MTL's."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import InputError
from ..io.reading import lines
from ..tables.stream import Table
from .bags import ALL_WORDS, archive_texts, bag, codes_of, counted

_SENTIMENT = ("negative", "positive")
# Largest number of digits of a count, since float32 represents integers of this length exactly.
_LONGEST_COUNT = 7
# Names that the files of FDU-MTL use for domains that have another name here.
_FDU_NAMES = {"kitchen": "kitchen_housewares"}


def acl_sentiment(paths: Sequence[Path]) -> Table:
    """Return the reviews of one domain: first the file of positive reviews, then that of negative ones."""
    return _acl_table(paths, [1, 0], _SENTIMENT)


def acl_domains(paths: Sequence[Path], classes: Sequence[str]) -> Table:
    """Return the reviews of all domains, each domain's positive file and then its negative file.

    The class of a review is its domain.
    """
    return _acl_table(paths, [position // 2 for position in range(len(paths))], classes)


def _acl_table(paths: Sequence[Path], codes: Sequence[int], classes: Sequence[str]) -> Table:
    """Return the rows of all files; `codes` has the class code of each file."""
    parts = [list(_acl_reviews(path)) for path in paths]
    y = np.repeat(np.array(codes, dtype=np.int32), [len(part) for part in parts])
    return Table(counted(row for part in parts for row in part), y, tuple(classes))


def _acl_reviews(path: Path) -> Iterator[dict[str, float]]:
    """Yield the counts of tokens in each line ``token:count … #label#:sentiment`` of a processed_acl file."""
    for number, text in lines(path):
        counts: dict[str, float] = {}
        for field in text.split():
            # Split at the last colon, since a token may contain colons.
            token, colon, count = field.rpartition(":")
            if token == "#label#":
                if count not in _SENTIMENT or not path.name.startswith(count):
                    raise InputError(f"{path}, line {number}: the file's name does not allow label {count!r}")
            elif not colon or not count.isdecimal() or len(count) > _LONGEST_COUNT:
                raise InputError(f"{path}, line {number}: {field!r} is not of the form token:count")
            else:
                counts[token] = counts.get(token, 0.0) + float(count)
        yield counts


def fdu_sentiment(paths: Sequence[Path], domain: str) -> Table:
    """Return one domain's reviews, its training file and then its test file; the class is the sentiment."""
    rows = list(_fdu_reviews(paths[0], [domain]))
    y = np.array([sentiment for _, sentiment, _ in rows], dtype=np.int32)
    return Table(_fdu_bag(rows), y, _SENTIMENT)


def fdu_domains(paths: Sequence[Path], classes: Sequence[str]) -> Table:
    """Return the reviews of all domains, each domain's training file and then its test file.

    The class of a review is its domain.
    """
    rows = list(_fdu_reviews(paths[0], classes))
    return Table(_fdu_bag(rows), codes_of([domain for domain, _, _ in rows], classes), tuple(classes))


def _fdu_bag(rows: Sequence[tuple[str, int, str]]) -> Any:
    return bag([text for _, _, text in rows], binary=False, bigrams=True, words=ALL_WORDS)


def _fdu_reviews(path: Path, domains: Sequence[str]) -> Iterator[tuple[str, int, str]]:
    """Yield (domain, sentiment, text) of each review; its line is ``0`` or ``1``, a tab and the text."""
    files = {
        f"{_FDU_NAMES.get(domain, domain)}.task.{part}": domain
        for domain in domains
        for part in ("train", "test")
    }
    found: dict[str, list[tuple[str, int, str]]] = {}
    for name, content in archive_texts(path, rf"(?:^|/)({'|'.join(map(re.escape, files))})\Z"):
        rows = found[name[1]] = []
        for number, line in enumerate(content.split("\n"), start=1):
            label, tab, text = line.partition("\t")
            if not line.strip():
                continue
            if not tab or label.strip() not in ("0", "1"):
                raise InputError(f"{path}: {name.string}, line {number}: no label 0 or 1 before a tab")
            rows.append((files[name[1]], int(label), text))
    for short in files:
        if short not in found:
            raise InputError(f"{path}: the archive has no {short}")
        yield from found[short]
