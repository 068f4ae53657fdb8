"""Read messages: 20 Newsgroups by date, spam of six users (Enron-Spam), and mail folders (Enron)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from email import message_from_bytes
from pathlib import Path

import numpy as np

from ...errors import InputError
from ..tables.stream import Table
from .bags import ALL_WORDS, archive_texts, bag, codes_of, split

_PARTS = ("20news-bydate-train", "20news-bydate-test")
_KINDS = ("ham", "spam")
# Names of folders that mail programs create, not users; they are not read (AROW paper, §5.4: "excluding
# non-archival email folders").
_NOT_ARCHIVAL = {
    "all_documents", "calendar", "contacts", "deleted_items", "discussion_threads", "inbox", "notes_inbox",
    "sent", "sent_items", "_sent_mail", "sent_mail",
}  # fmt: skip
_LARGEST_FOLDERS = 10


def newsgroups(paths: Sequence[Path], classes: Sequence[str]) -> Table:
    """Return binary bags of words of messages with headers; training and test part share one vocabulary."""
    found = list(archive_texts(paths[0], r"(?s)([^/]*)/([^/]*)/[^/]*\Z"))
    for name, _ in found:
        if name[2] not in classes or name[1] not in _PARTS:
            raise InputError(
                f"{paths[0]}: {name.string!r} is not in a folder of one of the {len(classes)} newsgroups"
            )
    if not found:
        raise InputError(f"{paths[0]}: the archive contains no messages")
    test = np.array([name[1] == _PARTS[1] for name, _ in found])
    y = codes_of([name[2] for name, _ in found], classes)
    return split(bag([text for _, text in found], binary=True), y, test, classes)


def spam(paths: Sequence[Path], user: str) -> Table:
    """Return the binary bag of words of a user's messages, in the order of their sequence numbers."""
    pattern = rf"(?:^|/){user}/(ham|spam)/(\d+)\.[^/]*\.txt$"
    found = list(archive_texts(paths[0], pattern))
    if not found:
        raise InputError(f"{paths[0]}: the archive has no messages of {user}")
    found.sort(key=lambda each: (int(each[0][2]), each[0].string))
    y = codes_of([name[1] for name, _ in found], _KINDS)
    return Table(bag([text for _, text in found], binary=True, words=ALL_WORDS), y, _KINDS)


def mail_folders(paths: Sequence[Path], user: str) -> Table:
    """Return the binary bag of words, without stop words, of the messages in a user's ten largest folders."""
    messages: list[tuple[str, str]] = []
    for name, text in archive_texts(paths[0], rf"(?:^|/)maildir/{user}/([^/]+)/"):
        if name[1] not in _NOT_ARCHIVAL:
            message = message_from_bytes(text.encode("latin-1"))
            body = message.get_payload(decode=True)
            content = body.decode("latin-1") if isinstance(body, bytes) else ""
            messages.append((name[1], f"{message.get('Subject', '')}\n{content}"))
    sizes = Counter(folder for folder, _ in messages)
    # Sort folders by size, then by name, so that folders of equal size have a fixed order.
    classes = tuple(sorted(sorted(sizes, key=lambda folder: (-sizes[folder], folder))[:_LARGEST_FOLDERS]))
    if len(classes) < 2:
        raise InputError(f"{paths[0]}: the archive has fewer than two folders under maildir/{user}")
    kept = [(folder, text) for folder, text in messages if folder in classes]
    X = bag([text for _, text in kept], binary=True, without_stop_words=True)
    return Table(X, codes_of([folder for folder, _ in kept], classes), classes)
