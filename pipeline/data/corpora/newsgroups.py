"""Messages: 20 Newsgroups by date, spam of six users (Enron-Spam), and folders of two users (Enron)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from email import policy
from email.parser import BytesParser
from functools import partial
from pathlib import Path

import numpy as np

from ...errors import InputError
from ..formats.svmlight import read_svmlight
from ..io.archives import tar_texts
from ..public.declarations import LIBSVM, Family, PublicFile, PublicSet
from ..tables.stream import Codes, Table
from .bags import ALL_WORDS, as_csr, bag

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
    """Return binary bags of words of messages with their headers; both parts share one vocabulary."""
    texts: list[str] = []
    names: list[tuple[str, str]] = []
    for name, content in tar_texts(paths[0], lambda name: name.count("/") >= 2):
        part, group, _ = name.split("/")[-3:]
        if group not in GROUPS or part not in ("20news-bydate-train", "20news-bydate-test"):
            raise InputError(f"{paths[0]}: {name!r} is not in a folder of one of the 20 newsgroups")
        names.append((part, group))
        # Decode as scikit-learn's fetcher does: the messages use many undeclared encodings.
        texts.append(content.decode("latin-1"))
    if not texts:
        raise InputError(f"{paths[0]}: the archive holds no messages")
    X = bag(texts, binary=True)
    y: Codes = np.array([GROUPS.index(group) for _, group in names], dtype=np.int32)
    test = np.array([part.endswith("test") for part, _ in names])
    return Table(as_csr(X[~test]), y[~test], GROUPS, as_csr(X[test]), y[test])


def _parse_news20(paths: Sequence[Path]) -> Table:
    table = read_svmlight(paths[0], n_features=62_061)
    # Word counts are small integers, which are exact in float32.
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


_KINDS = ("ham", "spam")
# Per user: rows (ham, spam) as Metsis et al. publish them, number of features that `bag` finds, fingerprint.
_USERS = {
    "enron1": (3672, 1500, 50_504, "5007cc624db4f266b551e91f52b42c96da58b890572385d315fb609261965092"),
    "enron2": (4361, 1496, 40_188, "997fe90ed53d550666ece0b277e976829cb71bb02e30d9346880f8f2667dad02"),
    "enron3": (4012, 1500, 53_811, "59f883e960afef9dd1254920dc2bc8bdd2aede65c7aa56098f23baba78543f77"),
    "enron4": (1500, 4500, 69_470, "437af40cf0f7706ad2e92bb21bcce7a55b207b7dad72084e8171cc70bec59ddb"),
    "enron5": (1500, 3675, 42_225, "ca09d91ad219d7e4c55d5c866f26447a763c4d20e62f6f68aced310b46c258f2"),
    "enron6": (1500, 4500, 71_523, "e2ed924168afb153bd0a83b5f2950fee69e15c43262dd784b70240fd31c59a37"),
}
# Folders that mail programs create, not users (§5.4: "excluding non-archival email folders").
_NOT_ARCHIVAL = {
    "all_documents",
    "calendar",
    "contacts",
    "deleted_items",
    "discussion_threads",
    "inbox",
    "notes_inbox",
    "sent",
    "sent_items",
    "_sent_mail",
    "sent_mail",
}
_LARGEST_FOLDERS = 10


def _parse_user(paths: Sequence[Path], user: str) -> Table:
    """Return the binary bag of words of a user's messages, in the order of their sequence numbers."""
    pattern = re.compile(rf"(?:^|/){user}/(ham|spam)/(\d+)\.[^/]*\.txt$")
    messages = []
    for name, content in tar_texts(paths[0], lambda name: pattern.search(name) is not None):
        found = pattern.search(name)
        assert found is not None
        # Spam uses any encoding; latin-1 decodes every byte, with the same result on every machine.
        messages.append((int(found[2]), name, _KINDS.index(found[1]), content.decode("latin-1")))
    if not messages:
        raise InputError(f"{paths[0]}: the archive has no messages of {user}")
    messages.sort(key=lambda message: message[:2])
    y = np.array([kind for _, _, kind, _ in messages], dtype=np.int32)
    return Table(bag([text for *_, text in messages], binary=True, words=ALL_WORDS), y, _KINDS)


def _parse_folders(paths: Sequence[Path], user: str) -> Table:
    """Return the binary bag of words, without stop words, of the messages in a user's ten largest folders."""
    pattern = re.compile(rf"(?:^|/)maildir/{user}/([^/]+)/")
    parser = BytesParser(policy=policy.compat32)
    messages: list[tuple[str, str]] = []
    for name, content in tar_texts(paths[0], lambda name: pattern.search(name) is not None):
        found = pattern.search(name)
        assert found is not None
        if found[1] not in _NOT_ARCHIVAL:
            message = parser.parsebytes(content)
            body = message.get_payload(decode=True)
            text = body.decode("latin-1") if isinstance(body, bytes) else ""
            messages.append((found[1], f"{message.get('Subject', '')}\n{text}"))
    sizes = Counter(folder for folder, _ in messages)
    # Sort by size, then by name, so that folders of equal size have a fixed order.
    largest = sorted(sizes, key=lambda folder: (-sizes[folder], folder))[:_LARGEST_FOLDERS]
    if len(largest) < 2:
        raise InputError(f"{paths[0]}: the archive has no two folders under maildir/{user}")
    classes = tuple(sorted(largest))
    kept = [(folder, text) for folder, text in messages if folder in classes]
    y = np.array([classes.index(folder) for folder, _ in kept], dtype=np.int32)
    return Table(bag([text for _, text in kept], binary=True, without_stop_words=True), y, classes)


MAIL: tuple[PublicSet, ...] = (
    *(
        PublicSet(
            name=f"enron-spam/{user}",
            title=f"Spam or ham, {user} (Enron-Spam)",
            files=(PublicFile("enron-spam.tar.bz2", also=("enron-spam.tar.gz",)),),
            parse=partial(_parse_user, user=user),
            classes=_KINDS,
            n_features=n_features,
            counts=(ham, spam),
            counts_test=(),
            licence="Enron mail released by FERC; corpus free for research (Metsis et al. 2006)",
            note="binary bag of words (subject line and body), CSR; rows by the corpus' sequence number, "
            "which mixes ham and spam",
            family="enron-spam",
            source="Metsis, Androutsopoulos and Paliouras 2006, preprocessed form: folders "
            "enron1 … enron6 in one archive enron-spam.tar.bz2",
            fingerprints=(fingerprint,),
        )
        for user, (ham, spam, n_features, fingerprint) in _USERS.items()
    ),
    *(
        PublicSet(
            name=name,
            title=f"E-mail folders of {user} (Enron {letter})",
            files=(PublicFile("enron_mail_20150507.tar.gz"),),
            parse=partial(_parse_folders, user=user),
            classes=(),
            n_features=0,
            counts=(),
            counts_test=(),
            licence="Enron mail released by FERC; collected by W. Cohen (CMU)",
            note="ten largest folders a user made; binary bag of words, stop words removed, CSR; sorted by "
            "class (a folder after the other): shuffle the rows",
            source="the CMU Enron e-mail dataset, version of May 2015 (folders maildir/<user>/<folder>/)",
        )
        for name, user, letter in (("enron-a", "farmer-d", "A"), ("enron-b", "kaminski-v", "B"))
    ),
)

MAIL_FAMILIES: tuple[Family, ...] = (
    Family(
        name="enron-spam",
        title="Spam or ham, a task a user (Enron-Spam)",
        task="users",
        members={user: f"enron-spam/{user}" for user in _USERS},
    ),
)
