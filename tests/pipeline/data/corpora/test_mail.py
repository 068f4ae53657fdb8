"""Test the Enron corpora on small archives: rows, labels, order, and errors."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from singlepass.pipeline.data.corpora import mail
from singlepass.pipeline.errors import InputError

Pack = Callable[..., Path]
Dense = Callable[[Any], list[list[float]]]


def test_enron_spam_runs_by_sequence_number(pack: Pack, dense: Dense) -> None:
    path = pack(
        "enron-spam.tar.gz",
        ("enron-spam/enron1/Summary.txt", b"no message"),
        ("enron-spam/enron1/ham/0001.1999-12-10.farmer.ham.txt", b"Subject: gas"),
        ("enron-spam/enron1/ham/0010.1999-12-14.farmer.ham.txt", b"Subject: gas gas"),
        ("enron-spam/enron1/spam/0006.2003-12-18.GP.spam.txt", b"Subject: win \xff"),
        ("enron-spam/enron2/spam/0002.2003-12-18.GP.spam.txt", b"other"),
    )
    table = mail.spam([path], "enron1")
    assert table.classes == ("ham", "spam")
    assert table.y.tolist() == [0, 1, 0]
    # gas, subject, win, ÿ
    assert dense(table.X) == [[1, 1, 0, 0], [0, 1, 1, 1], [1, 1, 0, 0]]
    with pytest.raises(InputError, match="no messages of enron6"):
        mail.spam([path], "enron6")


def test_enron_folders(pack: Pack) -> None:
    def note(folder: str, number: int, word: str) -> tuple[str, bytes]:
        return f"maildir/farmer-d/{folder}/{number}.", f"Subject: the {word}\n\n{word} body\n".encode()

    path = pack(
        "enron_mail_20150507.tar.gz",
        *(note("inbox", i, "noise") for i in range(9)),
        *(note(f"f{folder:02}", i, "word") for folder in range(11) for i in range(12 - folder)),
        ("maildir/kaminski-v/f00/1.", b"Subject: x\n\ny\n"),
    )
    table = mail.mail_folders([path], "farmer-d")
    # The ten largest; the inbox is not one of the user's making, and "the" is a stop word.
    assert table.classes == tuple(f"f{folder:02}" for folder in range(10))
    assert np.bincount(table.y).tolist() == list(range(12, 2, -1))
    assert table.X.shape[1] == 2
    with pytest.raises(InputError, match="fewer than two folders under maildir/kaminski-v"):
        mail.mail_folders([path], "kaminski-v")
