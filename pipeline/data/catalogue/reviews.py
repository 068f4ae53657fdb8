"""Amazon product reviews: which domain, and which sentiment (Blitzer, Dredze and Pereira 2007).

The features are those of Blitzer's files, which the AROW paper (§5.3) takes: counts of words and bigrams.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import InputError
from ..formats.svmlight import read_svmlight
from ..io.archives import tar_texts
from ..io.text import lines
from ..tables.stream import Table
from .bags import ALL_WORDS, as_csr, bag, counted
from .declarations import Family, PublicFile, PublicSet

_LICENCE = "Blitzer, Dredze, Pereira 2007; no licence stated by the distributor, research use is customary"
_SENTIMENT = ("negative", "positive")
_ACL_SOURCE = "Blitzer's processed_acl.tar.gz: unpack it in SINGLEPASS_DATA (its files may be gzipped)"
_FDU_SOURCE = "Liu, Qiu and Huang 2017 (FDU-MTL): put fdu-mtl.tar.gz in SINGLEPASS_DATA"

# The seven domains of the AROW paper's multi-class tasks (§5.4), by the names of its text.
PAPER_DOMAINS = ("apparel", "books", "dvd", "electronics", "kitchen", "music", "video")
# All domains of FDU-MTL: rows (negative, positive) over training and test file together, and the features
# that `bag` finds in them.
_FDU = {
    "apparel": (1000, 1000, 59_356),
    "baby": (900, 1000, 83_421),
    "books": (1000, 1000, 175_462),
    "camera_photo": (998, 999, 94_414),
    "dvd": (1000, 1000, 182_357),
    "electronics": (998, 1000, 101_130),
    "health_personal_care": (1000, 1000, 80_934),
    "kitchen": (1000, 1000, 86_408),
    "magazines": (970, 1000, 89_307),
    "music": (1000, 1000, 136_982),
    "software": (915, 1000, 105_623),
    "sports_outdoors": (1000, 1000, 92_559),
    "toys_games": (1000, 1000, 86_663),
    "video": (1000, 1000, 146_980),
    "imdb": (1006, 994, 232_653),
    "MR": (1014, 986, 34_055),
}
_FDU_NAMES = {"kitchen": "kitchen_housewares"}
# The last two are films, and not from Amazon.
AMAZON_DOMAINS = tuple(_FDU)[:14]
_ACL = {"books": 195_887, "dvd": 188_778, "electronics": 111_407, "kitchen": 93_474}
_5000_TEST = {
    "books": (2201, 2264),
    "dvd": (1779, 1807),
    "electronics": (2824, 2857),
    "kitchen": (2991, 2954),
}


def _acl_reviews(path: Path) -> Iterator[dict[str, float]]:
    """Yield the counts of a processed_acl file: ``token:count … #label#:sentiment`` on every line."""
    for number, text in lines(path):
        counts: dict[str, float] = {}
        for field in text.split():
            # A token may hold a colon itself.
            token, colon, count = field.rpartition(":")
            if token == "#label#":
                if count not in _SENTIMENT or not path.name.startswith(count):
                    raise InputError(f"{path}, line {number}: label {count!r} in the file {path.name}")
            elif not colon or not count.isdecimal():
                raise InputError(f"{path}, line {number}: {field!r} is not of the form token:count")
            else:
                counts[token] = counts.get(token, 0.0) + float(count)
        yield counts


def _parse_acl_sentiment(paths: Sequence[Path]) -> Table:
    """One domain: its file of positive reviews, then that of negative ones."""
    parts = [list(_acl_reviews(path)) for path in paths]
    y = np.repeat(np.array([1, 0], dtype=np.int32), [len(part) for part in parts])
    return Table(counted(row for part in parts for row in part), y, _SENTIMENT)


def _parse_acl_domains(paths: Sequence[Path]) -> Table:
    """All domains, positive and negative files of each in turn; the class is the domain."""
    parts = [list(_acl_reviews(path)) for path in paths]
    codes = np.arange(len(paths), dtype=np.int32) // 2
    y = np.repeat(codes, [len(part) for part in parts])
    return Table(counted(row for part in parts for row in part), y, tuple(_ACL))


def _fdu_reviews(path: Path, domains: Sequence[str]) -> Iterator[tuple[str, int, str]]:
    """Yield (domain, sentiment, text): ``0`` or ``1``, a tab and the text on every line."""
    files = {
        f"{_FDU_NAMES.get(domain, domain)}.task.{part}": domain
        for domain in domains
        for part in ("train", "test")
    }
    found: dict[str, list[tuple[str, int, str]]] = {}
    for name, content in tar_texts(path, lambda name: name.rpartition("/")[2] in files):
        short = name.rpartition("/")[2]
        rows = found[short] = []
        # The files mix UTF-8 and Windows' encoding; latin-1 reads every byte, and the same on every machine.
        for number, line in enumerate(content.decode("latin-1").split("\n"), start=1):
            label, tab, text = line.partition("\t")
            if not line.strip():
                continue
            if not tab or label.strip() not in ("0", "1"):
                raise InputError(f"{path}: {name}, line {number}: no label 0 or 1 before a tab")
            rows.append((files[short], int(label), text))
    for short in files:
        if short not in found:
            raise InputError(f"{path}: the archive has no {short}")
        yield from found[short]


def _parse_fdu_domains(paths: Sequence[Path], domains: Sequence[str]) -> Table:
    """The class is the domain; training and test file of each domain in turn."""
    rows = list(_fdu_reviews(paths[0], domains))
    y = np.array([domains.index(domain) for domain, _, _ in rows], dtype=np.int32)
    return Table(_review_bag([text for _, _, text in rows]), y, tuple(domains))


def _parse_fdu_sentiment(paths: Sequence[Path], domain: str) -> Table:
    """One domain, training file then test file; the class is the sentiment."""
    rows = list(_fdu_reviews(paths[0], [domain]))
    y = np.array([sentiment for _, sentiment, _ in rows], dtype=np.int32)
    return Table(_review_bag([text for _, _, text in rows]), y, _SENTIMENT)


def _review_bag(texts: list[str]) -> Any:
    return bag(texts, binary=False, bigrams=True, words=ALL_WORDS)


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


def _pairs(domains: Sequence[str]) -> dict[str, str]:
    return {f"{a}-vs-{b}": f"pair:{a},{b}" for a, b in combinations(domains, 2)}


def _domain_set(name: str, title: str, domains: tuple[str, ...], n_features: int) -> PublicSet:
    return PublicSet(
        name=name,
        title=title,
        files=(PublicFile("fdu-mtl.tar.gz"),),
        parse=partial(_parse_fdu_domains, domains=domains),
        classes=domains,
        n_features=n_features,
        counts=tuple(sum(_FDU[domain][:2]) for domain in domains),
        counts_test=(),
        licence=_LICENCE,
        note="counts of words and bigrams, CSR; the reviews of each domain follow each other (sorted by "
        "class): shuffle the rows",
        named={"domains": _pairs(domains)},
        source=_FDU_SOURCE,
    )


DOMAIN_SETS: tuple[PublicSet, ...] = (
    _domain_set("amazon", "Amazon reviews by domain, the paper's seven (Amazon 7)", PAPER_DOMAINS, 610_231),
    _domain_set(
        "amazon3", "Amazon reviews: books, DVDs or music (Amazon 3)", ("books", "dvd", "music"), 399_100
    ),
    _domain_set("amazon14", "Amazon reviews by domain, all 14 of FDU-MTL", AMAZON_DOMAINS, 886_372),
    PublicSet(
        name="amazon-acl",
        title="Amazon reviews by domain, Blitzer's features of four domains",
        files=tuple(file for domain in _ACL for file in _acl_files(domain)),
        parse=_parse_acl_domains,
        classes=tuple(_ACL),
        n_features=473_856,
        counts=(2000,) * 4,
        counts_test=(),
        licence=_LICENCE,
        note="counts of words and bigrams as distributed, CSR; the reviews of each domain follow each other "
        "(sorted by class): shuffle the rows",
        named={"domains": _pairs(tuple(_ACL))},
        source=_ACL_SOURCE,
    ),
)

SENTIMENT_SETS: tuple[PublicSet, ...] = (
    *(
        PublicSet(
            name=f"fdu-mtl/{domain}",
            title=f"Sentiment of reviews, {domain} (FDU-MTL)",
            files=(PublicFile("fdu-mtl.tar.gz"),),
            parse=partial(_parse_fdu_sentiment, domain=domain),
            classes=_SENTIMENT,
            n_features=n_features,
            counts=(negative, positive),
            counts_test=(),
            licence=_LICENCE,
            note="counts of words and bigrams, CSR; training file, then test file, each mixed",
            family="fdu-mtl",
            source=_FDU_SOURCE,
        )
        for domain, (negative, positive, n_features) in _FDU.items()
    ),
    *(
        PublicSet(
            name=f"amazon-acl/{domain}",
            title=f"Sentiment of reviews, {domain} (Blitzer's features)",
            files=_acl_files(domain),
            parse=_parse_acl_sentiment,
            classes=_SENTIMENT,
            n_features=n_features,
            counts=(1000, 1000),
            counts_test=(),
            licence=_LICENCE,
            note="counts of words and bigrams as distributed, CSR; all positive reviews first: shuffle",
            family="amazon-acl-sentiment",
            source=_ACL_SOURCE,
        )
        for domain, n_features in _ACL.items()
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
            counts_test=counts_test,
            licence=_LICENCE,
            note="counts of the 5,000 commonest words and bigrams, CSR; zero-based indices; the test part is "
            "the 'unlabelled' reviews, with their labels; rows mixed",
            family="amazon-5000",
            source="Chen et al. 2012 (also with Ganin's DANN code): put amazon-5000/ in SINGLEPASS_DATA",
        )
        for domain, counts_test in _5000_TEST.items()
    ),
)

REVIEW_FAMILIES: tuple[Family, ...] = (
    Family(
        name="amazon-sentiment",
        title="Sentiment of Amazon reviews, a task a domain (14 domains of FDU-MTL)",
        task="sentiment",
        members={domain: f"fdu-mtl/{domain}" for domain in AMAZON_DOMAINS},
        groups={"paper": PAPER_DOMAINS},
    ),
    Family(
        name="fdu-mtl",
        title="Sentiment of reviews, a task a domain (14 of Amazon, IMDB, MR)",
        task="sentiment",
        members={domain: f"fdu-mtl/{domain}" for domain in _FDU},
    ),
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
