"""Read Reuters-21578: topics from the SGML files (ModApte split), and the LASVM version of money-fx."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Condition
from typing import Any

import numpy as np
from cachetools import LRUCache, cached

from ...errors import InputError
from ..formats.svmlight import read_svmlight
from ..io.archives import tar_texts
from ..io.checksums import file_sha256
from ..public.declarations import Family, PublicFile, PublicSet
from ..tables.stream import Table
from .bags import as_csr, bag

_LICENCE = "Reuters Ltd. and Carnegie Group; free for research use"
_FILES = (
    PublicFile(
        "reuters21578.tar.gz",
        ("https://kdd.ics.uci.edu/databases/reuters21578",),
    ),
)
# ModApte: the number of indexed training and test documents.
_N_TRAIN, _N_TEST = 9_603, 3_299
# The ten most frequent topics: positive documents in the training and the test part, fingerprint.
_TOPICS = {
    "earn": (2877, 1087, "0088b49b04ffcc5f6674558f74b7bbdf02d28d4d7216e4573f868ccb6edaeac7"),
    "acq": (1650, 719, "bd91d9c7ba369d69990c4b2d527384b17255452aacb1f7abfbbd02672f9c978f"),
    "money-fx": (538, 179, "29c1d24772afc117507863aab096bc5307bfb5f084c05fd7e41a3563504508fc"),
    "grain": (433, 149, "833ca6d21195a06b76978d970b23c9021de1d17cbe19f5ca5c0be098ca1dc7a9"),
    "crude": (389, 189, "cc8fa86181d2ee4819b02caddef5a669c83eea315eabc9a6bd72497b2f111065"),
    "trade": (369, 117, "27a54ace5233109a663b6c505cd6dfb495caaee8ab794a4b0faf0425bc302dc1"),
    "interest": (347, 131, "a1b309863c2f9c7f5687a253606f9e62592919850fa9d00cc742ef78dea64c9d"),
    "wheat": (212, 71, "cda2743d66a7c3e1fbc4da0d5ceb53fe0e32ace1f7a5b23d750510d7aabd74e4"),
    "ship": (197, 89, "0b5b8c930231f8728ac874126b37f1af8f7a23009ef1060a50d3248d6f76c2fb"),
    "corn": (181, 56, "16f32c502314a868738e0941dbe8cb048e5850553c663fe2fbf2481707f9ca0b"),
}
# R8 (Cardoso-Cachopo 2007): documents with a single topic. Only eight of the ten topics have such documents.
_R8 = ("acq", "crude", "earn", "grain", "interest", "money-fx", "ship", "trade")

_DOCUMENT = re.compile(r"<REUTERS([^>]*)>(.*?)</REUTERS>", re.DOTALL)
_ATTRIBUTE = re.compile(r'([A-Z]+)="([^"]*)"')
_TOPIC_LIST = re.compile(r"<TOPICS>(.*?)</TOPICS>", re.DOTALL)
_ITEM = re.compile(r"<D>(.*?)</D>")
_TEXT = re.compile(r"<TEXT[^>]*>(.*?)</TEXT>", re.DOTALL)
_TAG = re.compile(r"</?[A-Z][^>]*>")


@dataclass(frozen=True, eq=False)
class _Corpus:
    """Contain the indexed documents: binary bags of words, topics, and a mask of the test part."""

    X: Any
    topics: tuple[tuple[str, ...], ...]
    test: np.ndarray[Any, np.dtype[np.bool_]]


def _documents(path: Path) -> Iterator[tuple[bool, tuple[str, ...], str]]:
    """Yield (is test, topics, title and body) of the documents of the ModApte split, in file order."""
    for name, content in tar_texts(path, lambda name: name.endswith(".sgm")):
        # The files contain a few non-ASCII bytes in an undeclared encoding.
        for found in _DOCUMENT.finditer(content.decode("latin-1")):
            attributes = dict(_ATTRIBUTE.findall(found[1]))
            for asked in ("LEWISSPLIT", "TOPICS"):
                if asked not in attributes:
                    raise InputError(f"{path}: {name}: a document without {asked}")
            if attributes["TOPICS"] != "YES" or attributes["LEWISSPLIT"] not in ("TRAIN", "TEST"):
                continue
            topics = _TOPIC_LIST.search(found[2])
            text = _TEXT.search(found[2])
            yield (
                attributes["LEWISSPLIT"] == "TEST",
                tuple(_ITEM.findall(topics[1])) if topics else (),
                html.unescape(_TAG.sub(" ", text[1])) if text else "",
            )


# Cached, because ten tasks share one corpus that takes seconds to parse.
@cached(LRUCache(maxsize=1), file_sha256, condition=Condition())
def _corpus(path: Path) -> _Corpus:
    documents = list(_documents(path))
    if not documents:
        raise InputError(f"{path}: the archive has no documents of the ModApte split")
    X = bag([text for *_, text in documents], binary=True)
    test = np.array([is_test for is_test, _, _ in documents])
    return _Corpus(X, tuple(topics for _, topics, _ in documents), test)


def _split(corpus: _Corpus, y: Any, classes: tuple[str, ...]) -> Table:
    """Return the table of the documents whose code is 0 or more."""
    train, test = np.flatnonzero(~corpus.test & (y >= 0)), np.flatnonzero(corpus.test & (y >= 0))
    return Table(as_csr(corpus.X[train]), y[train], classes, as_csr(corpus.X[test]), y[test])


def _parse_topic(paths: Sequence[Path], topic: str) -> Table:
    corpus = _corpus(paths[0])
    y = np.array([topic in topics for topics in corpus.topics], dtype=np.int32)
    return _split(corpus, y, ("rest", topic))


def _parse_r8(paths: Sequence[Path]) -> Table:
    corpus = _corpus(paths[0])
    y = np.array(
        [_R8.index(each[0]) if len(each) == 1 and each[0] in _R8 else -1 for each in corpus.topics],
        dtype=np.int32,
    )
    return _split(corpus, y, _R8)


def _parse_money_fx(paths: Sequence[Path]) -> Table:
    table = read_svmlight(paths[0], paths[1], n_features=8_315)
    return Table(as_csr(table.X), table.y, table.classes, as_csr(table.X_test), table.y_test)


REUTERS: tuple[PublicSet, ...] = (
    *(
        PublicSet(
            name=f"reuters21578/{topic}",
            title=f"Reuters-21578, topic {topic} or not (ModApte split)",
            files=_FILES,
            parse=partial(_parse_topic, topic=topic),
            classes=("rest", topic),
            n_features=34_272,
            counts=(_N_TRAIN - train, train),
            counts_test=(_N_TEST - test, test),
            licence=_LICENCE,
            note="binary bag of words (title and body), CSR; rows in the order of the files, by date",
            family="reuters21578",
            source="UCI KDD archive",
            fingerprints=(fingerprint,),
        )
        for topic, (train, test, fingerprint) in _TOPICS.items()
    ),
    PublicSet(
        name="reuters21578-r8",
        title="Reuters-21578, documents with one of eight topics alone (R8)",
        files=_FILES,
        parse=_parse_r8,
        classes=_R8,
        n_features=34_272,
        counts=(1596, 253, 2840, 41, 190, 206, 108, 251),
        counts_test=(696, 121, 1083, 10, 81, 87, 36, 75),
        licence=_LICENCE,
        note="binary bag of words (title and body), CSR; rows in the order of the files, by date",
        source="UCI KDD archive",
        fingerprints=("822809d0a561e7e7e30a0cfa3054d3c6555a42e94532e1dab39cc526bf51e452",),
    ),
    PublicSet(
        name="reuters-money-fx",
        title="Reuters-21578 money-fx (LASVM version)",
        files=(
            PublicFile("reuters-money-fx.trn", also=("reuters-money-fx.trn.bz2",)),
            PublicFile("reuters-money-fx.tst", also=("reuters-money-fx.tst.bz2",)),
        ),
        parse=_parse_money_fx,
        classes=("-1", "1"),
        n_features=8_315,
        counts=(7232, 538),
        counts_test=(3120, 179),
        licence=_LICENCE,
        note="tf-idf as distributed, CSR, float32; the test part has all positives first",
        source="L. Bottou's LASVM page (reuters.trn, reuters.tst; repeated features removed)",
        fingerprints=("631e68145b62be459fbe3d4a1d5b4f98a6fdc5b9ba5d7ff0052fb4d454f0ad1c",),
    ),
)

REUTERS_FAMILIES: tuple[Family, ...] = (
    Family(
        name="reuters21578",
        title="Reuters-21578, a task a topic (the ten most frequent)",
        task="topics",
        members={topic: f"reuters21578/{topic}" for topic in _TOPICS},
        groups={"four": ("earn", "acq", "money-fx", "grain")},
    ),
)
