"""20 Newsgroups: the messages by date, and LIBSVM's word counts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ...errors import InputError
from ..formats.svmlight import read_svmlight
from ..io.archives import tar_texts
from ..public.declarations import LIBSVM, PublicFile, PublicSet
from ..tables.stream import Codes, Table
from .bags import as_csr, bag

GROUPS = (
    "alt.atheism",
    "comp.graphics",
    "comp.os.ms-windows.misc",
    "comp.sys.ibm.pc.hardware",
    "comp.sys.mac.hardware",
    "comp.windows.x",
    "misc.forsale",
    "rec.autos",
    "rec.motorcycles",
    "rec.sport.baseball",
    "rec.sport.hockey",
    "sci.crypt",
    "sci.electronics",
    "sci.med",
    "sci.space",
    "soc.religion.christian",
    "talk.politics.guns",
    "talk.politics.mideast",
    "talk.politics.misc",
    "talk.religion.misc",
)
# The AROW paper's three pairs of neighbouring groups (§5.3).
_PAIRS = {
    "comp": "pair:comp.sys.ibm.pc.hardware,comp.sys.mac.hardware",
    "sci": "pair:sci.electronics,sci.med",
    "talk": "pair:talk.politics.guns,talk.politics.mideast",
}
# fmt: off
_NEWS20_COUNTS = (
    797, 780, 797, 796, 796, 797, 799, 798, 799, 792, 798, 797, 798, 798, 799, 799, 800, 799, 799, 797,
)
# fmt: on


def _parse_bydate(paths: Sequence[Path]) -> Table:
    """Binary bag of words of every message, header lines included; features of both parts together."""
    texts: list[str] = []
    names: list[tuple[str, str]] = []
    for name, content in tar_texts(paths[0], lambda name: name.count("/") >= 2):
        part, group, _ = name.split("/")[-3:]
        if group not in GROUPS or part not in ("20news-bydate-train", "20news-bydate-test"):
            raise InputError(f"{paths[0]}: {name!r} is not in a folder of one of the 20 newsgroups")
        names.append((part, group))
        # As scikit-learn's own fetcher does: the messages are in many encodings, and none is declared.
        texts.append(content.decode("latin-1"))
    if not texts:
        raise InputError(f"{paths[0]}: the archive holds no messages")
    X = bag(texts, binary=True)
    y: Codes = np.array([GROUPS.index(group) for _, group in names], dtype=np.int32)
    test = np.array([part.endswith("test") for part, _ in names])
    return Table(as_csr(X[~test]), y[~test], GROUPS, as_csr(X[test]), y[test])


def _parse_news20(paths: Sequence[Path]) -> Table:
    table = read_svmlight(paths[0], n_features=62_061)
    # Word counts: small integers, exact in float32.
    return Table(as_csr(table.X), table.y, table.classes)


NEWSGROUPS: tuple[PublicSet, ...] = (
    PublicSet(
        name="20newsgroups",
        title="20 Newsgroups, by date",
        files=(
            PublicFile(
                "20news-bydate.tar.gz",
                checksum="sha256:8f1b2514ca22a5ade8fbb9cfa5727df95fa587f4c87b786e15c759fa66d95610",
                urls=("https://ndownloader.figshare.com/files/5975967",),
            ),
        ),
        parse=_parse_bydate,
        classes=GROUPS,
        n_features=173_762,
        counts=(
            480,
            584,
            591,
            590,
            578,
            593,
            585,
            594,
            598,
            597,
            600,
            595,
            591,
            594,
            593,
            599,
            546,
            564,
            465,
            377,
        ),
        counts_test=(
            319,
            389,
            394,
            392,
            385,
            395,
            390,
            396,
            398,
            397,
            399,
            396,
            393,
            396,
            394,
            398,
            364,
            376,
            310,
            251,
        ),
        licence="posts belong to their authors; collected by K. Lang and J. Rennie; UCI lists CC BY 4.0",
        note="binary bag of words, CSR; sorted by class (a folder a group): shuffle the rows; join = true "
        "puts both parts together, as the paper's 10 folds need (18,846 messages, duplicates removed)",
        task_lists={**{name: {name: task} for name, task in _PAIRS.items()}, "paper": _PAIRS},
        source="J. Rennie's 20Newsgroups page; the copy of scikit-learn's fetcher",
        fingerprints=("be9a15d33fa938c50b1db11023932ad5da2da7e951ab4db2d1cf109c2f7d5127",),
    ),
    PublicSet(
        name="news20",
        title="20 Newsgroups, LIBSVM's word counts (training part)",
        files=(PublicFile("news20.bz2", (f"{LIBSVM}/multiclass",)),),
        parse=_parse_news20,
        classes=tuple(str(label) for label in range(1, 21)),
        n_features=62_061,
        counts=_NEWS20_COUNTS,
        counts_test=(),
        licence="as 20 Newsgroups",
        note="word counts as distributed, CSR; rows run round-robin through the classes: shuffle them",
        source="LIBSVM data page",
        fingerprints=("9696d8f9ea641127d83cb435d99dd9f2edb7a56a48e0ada369a53962e3099ffa",),
    ),
)
