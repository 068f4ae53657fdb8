"""Amazon product reviews in the form of Blitzer, Dredze and Pereira (2007): which domain, which sentiment.

The AROW paper (§5.3) takes their features: counts of words and bigrams.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np

from ...errors import InputError
from ..formats.svmlight import read_svmlight
from ..io.text import lines
from ..public.declarations import Family, PublicFile, PublicSet
from ..tables.stream import Table
from .bags import as_csr, counted

LICENCE = "Blitzer, Dredze, Pereira 2007; no licence stated by the distributor, research use is customary"
SENTIMENT = ("negative", "positive")
_ACL_SOURCE = "Blitzer's processed_acl.tar.gz: unpack it in SINGLEPASS_DATA (its files may be gzipped)"
# Digits of a count: float32 holds whole numbers of so many without loss.
_LONGEST_COUNT = 7
# Features of each domain, and the fingerprint of its content.
_ACL = {
    "books": (195_887, "1cda940ff487537e7a28ee1bfb29ee43c8f21f9387c20bc3636a604feb9329da"),
    "dvd": (188_778, "fbd86432d30dabe11a9263379444756d3e016571df1deedf6bd58535bf9c0640"),
    "electronics": (111_407, "1e7a6aad68bd2ce860ba3e06fdaeb88a1d9e2b7c947054374f3fff89dacb90c3"),
    "kitchen": (93_474, "b0f0d7719cb887704273f20e0f1774e4dc8b4911b205ac1093cc9f8f50087f0f"),
}
# Rows (negative, positive) of the test part of each domain, and the fingerprint of its content.
_5000_TEST = {
    "books": (2201, 2264, "eb5da9af9d8f4c0015543aa3550173a22f668830a6e059ab771792a77a35904f"),
    "dvd": (1779, 1807, "98ff45ae8343b293c8a4d36a80951938eb2e8240082173eafaca74f601619fff"),
    "electronics": (2824, 2857, "4ffe0760d8a1f7860e34ee777347296ba51897227776d5445f42b6d872a9d555"),
    "kitchen": (2991, 2954, "1f9a22283a50680d9daf82b5b238c37918bc0b156ed14bb76fecf9a1c4247f44"),
}


def _acl_reviews(path: Path) -> Iterator[dict[str, float]]:
    """Yield the counts of a processed_acl file: ``token:count … #label#:sentiment`` on every line."""
    for number, text in lines(path):
        counts: dict[str, float] = {}
        for field in text.split():
            # A token may hold a colon itself.
            token, colon, count = field.rpartition(":")
            if token == "#label#":
                if count not in SENTIMENT or not path.name.startswith(count):
                    raise InputError(f"{path}, line {number}: label {count!r} in the file {path.name}")
            elif not colon or not count.isdecimal() or len(count) > _LONGEST_COUNT:
                raise InputError(f"{path}, line {number}: {field!r} is not of the form token:count")
            else:
                counts[token] = counts.get(token, 0.0) + float(count)
        yield counts


def _parse_acl_sentiment(paths: Sequence[Path]) -> Table:
    """One domain: its file of positive reviews, then that of negative ones."""
    parts = [list(_acl_reviews(path)) for path in paths]
    y = np.repeat(np.array([1, 0], dtype=np.int32), [len(part) for part in parts])
    return Table(counted(row for part in parts for row in part), y, SENTIMENT)


def _parse_acl_domains(paths: Sequence[Path]) -> Table:
    """All domains, positive and negative files of each in turn; the class is the domain."""
    parts = [list(_acl_reviews(path)) for path in paths]
    codes = np.arange(len(paths), dtype=np.int32) // 2
    y = np.repeat(codes, [len(part) for part in parts])
    return Table(counted(row for part in parts for row in part), y, tuple(_ACL))


def _parse_5000(paths: Sequence[Path]) -> Table:
    table = read_svmlight(paths[0], paths[1], n_features=5000, zero_based=True)
    return Table(as_csr(table.X), table.y, table.classes, as_csr(table.X_test), table.y_test)


def _acl_files(domain: str) -> tuple[PublicFile, ...]:
    return tuple(
        PublicFile(
            f"processed_acl/{domain}/{sentiment}.review",
            also=(f"processed_acl/{domain}/{sentiment}.review.gz",),
        )
        for sentiment in ("positive", "negative")
    )


def named_pairs(domains: Sequence[str]) -> dict[str, str]:
    """Return the task of every pair of domains, by its name."""
    return {f"{a}-vs-{b}": f"pair:{a},{b}" for a, b in combinations(domains, 2)}


ACL_REVIEWS: tuple[PublicSet, ...] = (
    PublicSet(
        name="amazon-acl",
        title="Amazon reviews by domain, Blitzer's features of four domains",
        files=tuple(file for domain in _ACL for file in _acl_files(domain)),
        parse=_parse_acl_domains,
        classes=tuple(_ACL),
        n_features=473_856,
        counts=(2000,) * 4,
        counts_test=(),
        licence=LICENCE,
        note="counts of words and bigrams as distributed, CSR; the reviews of each domain follow each other "
        "(sorted by class): shuffle the rows",
        task_lists={"domains": named_pairs(tuple(_ACL))},
        source=_ACL_SOURCE,
        fingerprints=("556f9a851fdcd01bee325170c1ee724f60cc15a6d78012a2e7405c77d288483b",),
    ),
    *(
        PublicSet(
            name=f"amazon-acl/{domain}",
            title=f"Sentiment of reviews, {domain} (Blitzer's features)",
            files=_acl_files(domain),
            parse=_parse_acl_sentiment,
            classes=SENTIMENT,
            n_features=n_features,
            counts=(1000, 1000),
            counts_test=(),
            licence=LICENCE,
            note="counts of words and bigrams as distributed, CSR; all positive reviews first: shuffle",
            family="amazon-acl-sentiment",
            source=_ACL_SOURCE,
            fingerprints=(fingerprint,),
        )
        for domain, (n_features, fingerprint) in _ACL.items()
    ),
    *(
        PublicSet(
            name=f"amazon-5000/{domain}",
            title=f"Sentiment of reviews, {domain} (5,000 features, Chen et al. 2012)",
            files=tuple(
                PublicFile(
                    f"amazon-5000/{domain}_{part}.svmlight",
                    also=(f"amazon-5000/{domain}_{part}.svmlight.bz2",),
                )
                for part in ("train", "test")
            ),
            parse=_parse_5000,
            classes=("-1", "1"),
            n_features=5000,
            counts=(1000, 1000),
            counts_test=(negative, positive),
            licence=LICENCE,
            note="counts of the 5,000 commonest words and bigrams, CSR; zero-based indices; the test part is "
            "the 'unlabelled' reviews, with their labels; rows mixed",
            family="amazon-5000",
            source="Chen et al. 2012 (also with Ganin's DANN code): put amazon-5000/ in SINGLEPASS_DATA",
            fingerprints=(fingerprint,),
        )
        for domain, (negative, positive, fingerprint) in _5000_TEST.items()
    ),
)

ACL_FAMILIES: tuple[Family, ...] = (
    Family(
        name="amazon-acl-sentiment",
        title="Sentiment of Amazon reviews, a task a domain (Blitzer's features, four domains)",
        task="sentiment",
        members={domain: f"amazon-acl/{domain}" for domain in _ACL},
    ),
    Family(
        name="amazon-5000",
        title="Sentiment of Amazon reviews in 5,000 features, a task a domain",
        task="sentiment",
        members={domain: f"amazon-5000/{domain}" for domain in _5000_TEST},
    ),
)
