"""E-mail: spam or ham for each of six users (Enron-Spam), and the folders of two users (Enron)."""

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
from ..io.archives import tar_texts
from ..public.declarations import Family, PublicFile, PublicSet
from ..tables.stream import Table
from .bags import ALL_WORDS, bag

_KINDS = ("ham", "spam")
# Rows (ham, spam) of each user, as Metsis et al. publish them, the features that `bag` finds, fingerprint.
_USERS = {
    "enron1": (3672, 1500, 50_504, "5007cc624db4f266b551e91f52b42c96da58b890572385d315fb609261965092"),
    "enron2": (4361, 1496, 40_188, "997fe90ed53d550666ece0b277e976829cb71bb02e30d9346880f8f2667dad02"),
    "enron3": (4012, 1500, 53_811, "59f883e960afef9dd1254920dc2bc8bdd2aede65c7aa56098f23baba78543f77"),
    "enron4": (1500, 4500, 69_470, "437af40cf0f7706ad2e92bb21bcce7a55b207b7dad72084e8171cc70bec59ddb"),
    "enron5": (1500, 3675, 42_225, "ca09d91ad219d7e4c55d5c866f26447a763c4d20e62f6f68aced310b46c258f2"),
    "enron6": (1500, 4500, 71_523, "e2ed924168afb153bd0a83b5f2950fee69e15c43262dd784b70240fd31c59a37"),
}
# Folders that mail programs make, not users (§5.4: "excluding non-archival email folders").
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
    """Binary bag of words of a user's messages, in the order of their sequence numbers."""
    pattern = re.compile(rf"(?:^|/){user}/(ham|spam)/(\d+)\.[^/]*\.txt$")
    messages = []
    for name, content in tar_texts(paths[0], lambda name: pattern.search(name) is not None):
        found = pattern.search(name)
        assert found is not None
        # Spam is in any encoding; latin-1 reads every byte, and the same on every machine.
        messages.append((int(found[2]), name, _KINDS.index(found[1]), content.decode("latin-1")))
    if not messages:
        raise InputError(f"{paths[0]}: the archive has no messages of {user}")
    messages.sort(key=lambda message: message[:2])
    y = np.array([kind for _, _, kind, _ in messages], dtype=np.int32)
    return Table(bag([text for *_, text in messages], binary=True, words=ALL_WORDS), y, _KINDS)


def _parse_folders(paths: Sequence[Path], user: str) -> Table:
    """Binary bag of words, stop words removed, of the messages in a user's ten largest folders."""
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
    # By size, then by name, so that folders of one size come in one order.
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
