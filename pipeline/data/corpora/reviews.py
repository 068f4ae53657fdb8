"""Product reviews by domain and sentiment, as counts of words and bigrams.

The Amazon reviews of Blitzer, Dredze and Pereira (2007) come as counts, the reviews of FDU-MTL (Liu, Qiu
and Huang 2017) as texts. The features are those of the AROW paper (§5.3).
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
from ..public.declarations import Family, PublicFile, PublicSet
from ..tables.stream import Table
from .bags import ALL_WORDS, as_csr, bag, counted

LICENCE = "Blitzer, Dredze, Pereira 2007; no licence stated by the distributor, research use is customary"
SENTIMENT = ("negative", "positive")
_ACL_SOURCE = "Blitzer's processed_acl.tar.gz: unpack it in SINGLEPASS_DATA (its files may be gzipped)"
# Digits of a count: float32 represents integers of this length exactly.
_LONGEST_COUNT = 7
# Number of features of each domain, and the fingerprint of its content.
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
    """Yield each line's counts from a processed_acl file: ``token:count … #label#:sentiment``."""
    for number, text in lines(path):
        counts: dict[str, float] = {}
        for field in text.split():
            # A token may contain a colon.
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
    """Return the reviews of one domain: the file of positive reviews, then the negative ones."""
    parts = [list(_acl_reviews(path)) for path in paths]
    y = np.repeat(np.array([1, 0], dtype=np.int32), [len(part) for part in parts])
    return Table(counted(row for part in parts for row in part), y, SENTIMENT)


def _parse_acl_domains(paths: Sequence[Path]) -> Table:
    """Return all domains, the positive and then the negative file of each; the class is the domain."""
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
    """Return a task for every pair of domains, by its name."""
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


_FDU_SOURCE = "Liu, Qiu and Huang 2017 (FDU-MTL): put fdu-mtl.tar.gz in SINGLEPASS_DATA"

# The seven domains of the AROW paper's multi-class tasks (§5.4), named as in its text.
PAPER_DOMAINS = ("apparel", "books", "dvd", "electronics", "kitchen", "music", "video")
# All domains of FDU-MTL: rows (negative, positive) of training and test file together, and the number of
# features that `bag` finds.
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
# Fingerprints of their content.
_FDU_FINGERPRINTS = {
    "apparel": "84244d56bd495936b2aeacaf9430b027758dd8982b01e3be84c7c7aa71d4531c",
    "baby": "a1d1382c26663d1c4d2d47e9c0276e7ce4ce9433bac0466dc9920d18a7149184",
    "books": "6bcbcfc6832b5de9ac889bff062ce44fae8243cb47700e29f5f34cca11276d20",
    "camera_photo": "3273dfd0e95aa3b3c7b0405e24ea82cd07545c55766bf3b143f483c96cad9181",
    "dvd": "ef26347783cc008504b0141c3e212225272422cb5c2092ca053f49253d9ec0e8",
    "electronics": "9898aa87be19ec819cb1359807d27623e58a66f02987091847187cdf030bacca",
    "health_personal_care": "041af57dcabf81626720e69fc42a9437718bcbd5654c9e27a11bab44963b1491",
    "kitchen": "3e0353c92c9c597b26a45ca267bdaa621a29c37633545fdaf5754b90838113a6",
    "magazines": "f79ebc1acaf51176b7629468ffd1a40bb83a35156bbc0a38dea1df987e55d4bf",
    "music": "f7fe261bb693aeeeaed9857eddf584dfaf8b80be64e6bb8df550b578975363ee",
    "software": "70e624af56669d42eae8e478086d4d350cb9502c003979ac40e78690f9a06f63",
    "sports_outdoors": "295cc971dd18786ed60c002ac17677060539bd9d08ed8a2f60d7c57040e2a3aa",
    "toys_games": "7e2bc4da972f4473960ed896b214bdf8b744f19faca30f09d80c6ba4f7f57155",
    "video": "395b7fb92d76c69c8ec50660df1b1158ebad8905e0730c4b9f6c21ce8125415e",
    "imdb": "238afd9a799066c8c29aa5e4808f07dc7543961e33eed78bc8c9022d193dd934",
    "MR": "ae79103e1fa5c42c4e857f5c04cd4d963da86bd2af90f6bef96776e114747050",
}
_FDU_NAMES = {"kitchen": "kitchen_housewares"}
# The last two domains are film reviews from other sources than Amazon.
AMAZON_DOMAINS = tuple(_FDU)[:14]


def _fdu_reviews(path: Path, domains: Sequence[str]) -> Iterator[tuple[str, int, str]]:
    """Yield (domain, sentiment, text) from lines of ``0`` or ``1``, a tab and the text."""
    files = {
        f"{_FDU_NAMES.get(domain, domain)}.task.{part}": domain
        for domain in domains
        for part in ("train", "test")
    }
    found: dict[str, list[tuple[str, int, str]]] = {}
    for name, content in tar_texts(path, lambda name: name.rpartition("/")[2] in files):
        short = name.rpartition("/")[2]
        rows = found[short] = []
        # The files mix UTF-8 and Windows' encoding; latin-1 decodes every byte, with the same result on every
        # machine.
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
    """Return the training and then the test file of each domain in turn; the class is the domain."""
    rows = list(_fdu_reviews(paths[0], domains))
    y = np.array([domains.index(domain) for domain, _, _ in rows], dtype=np.int32)
    return Table(_review_bag([text for _, _, text in rows]), y, tuple(domains))


def _parse_fdu_sentiment(paths: Sequence[Path], domain: str) -> Table:
    """Return one domain, its training file and then its test file; the class is the sentiment."""
    rows = list(_fdu_reviews(paths[0], [domain]))
    y = np.array([sentiment for _, sentiment, _ in rows], dtype=np.int32)
    return Table(_review_bag([text for _, _, text in rows]), y, SENTIMENT)


def _review_bag(texts: list[str]) -> Any:
    return bag(texts, binary=False, bigrams=True, words=ALL_WORDS)


def _domain_set(
    name: str, title: str, domains: tuple[str, ...], n_features: int, fingerprint: str
) -> PublicSet:
    return PublicSet(
        name=name,
        title=title,
        files=(PublicFile("fdu-mtl.tar.gz"),),
        parse=partial(_parse_fdu_domains, domains=domains),
        classes=domains,
        n_features=n_features,
        counts=tuple(sum(_FDU[domain][:2]) for domain in domains),
        counts_test=(),
        licence=LICENCE,
        note="counts of words and bigrams, CSR; the reviews of each domain follow each other (sorted by "
        "class): shuffle the rows",
        task_lists={"domains": named_pairs(domains)},
        source=_FDU_SOURCE,
        fingerprints=(fingerprint,),
    )


FDU_REVIEWS: tuple[PublicSet, ...] = (
    _domain_set(
        "amazon",
        "Amazon reviews by domain, the paper's seven (Amazon 7)",
        PAPER_DOMAINS,
        610_231,
        "56f85a70efafbee43a646b0426956f0aabbc1d781b4e226951e709d9a476d0e4",
    ),
    _domain_set(
        "amazon3",
        "Amazon reviews: books, DVDs or music (Amazon 3)",
        ("books", "dvd", "music"),
        399_100,
        "d096afa1b00fcf67baabf3f06ac8fe8f78a4072316a2d7b84270f5b219be5fcf",
    ),
    _domain_set(
        "amazon14",
        "Amazon reviews by domain, all 14 of FDU-MTL",
        AMAZON_DOMAINS,
        886_372,
        "168aea7402b26e0dff379a6dec53cda08e1c5aed528c03807d64939e2d10ad34",
    ),
    *(
        PublicSet(
            name=f"fdu-mtl/{domain}",
            title=f"Sentiment of reviews, {domain} (FDU-MTL)",
            files=(PublicFile("fdu-mtl.tar.gz"),),
            parse=partial(_parse_fdu_sentiment, domain=domain),
            classes=SENTIMENT,
            n_features=n_features,
            counts=(negative, positive),
            counts_test=(),
            licence=LICENCE,
            note="counts of words and bigrams, CSR; training file, then test file, each mixed",
            family="fdu-mtl",
            source=_FDU_SOURCE,
            fingerprints=(_FDU_FINGERPRINTS[domain],),
        )
        for domain, (negative, positive, n_features) in _FDU.items()
    ),
)

FDU_FAMILIES: tuple[Family, ...] = (
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
)
