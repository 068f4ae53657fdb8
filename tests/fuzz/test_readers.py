"""Readers on 20,000 damaged files each: what a second reader has too, or one line that names the file."""

from __future__ import annotations

import csv
import gzip
import io
import math
import random
import re
import struct
import tarfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import ipc
from pyarrow import parquet as pq

from singlepass.learners.guests.returned import (
    GuestError,
    checked_codes,
    checked_scores,
    scores_of_probabilities,
)
from singlepass.pipeline.data.catalogue.public import CATALOGUE
from singlepass.pipeline.data.formats.arrays import read_idx
from singlepass.pipeline.data.formats.files import file_options, read_files
from singlepass.pipeline.data.io.archives import tar_texts
from singlepass.pipeline.data.tables.options import resolve_options
from singlepass.pipeline.data.tables.stream import Table
from singlepass.pipeline.study.study_file import read_study

from .trying import INPUTS, chunks, tar_of, tried

SVMLIGHT = [
    b"1 1:0.5 3:-2\n-1 2:1e-3\n1 1:7 2:8 3:9\n-1\n",
    b"+1 qid:3 1:1 # said\n-1 qid:4 2:2.5\r\n\n# nothing\n+1 4:1\n",
    b"0 10:1 20:2\n3 5:4\n12 7:1.25 20:-0\n",
]
CSV = [
    b"a,b,label\n0.5,1,yes\n-2,1e3,no\n7,8,yes\n",
    b'x,y,class\n1,2,0\n3,"4",1\n\n5,6,0\n',
    b"label,v\r\nred,1\r\nblue,-2.5\r\nred,3\r\n",
]
ARFF = [
    b"@relation r\n@attribute a numeric\n@attribute class {no,yes}\n@data\n1,yes\n-2.5,no\n3,yes\n",
    b"% said\n@RELATION r\n@ATTRIBUTE a REAL\n@ATTRIBUTE b integer\n@ATTRIBUTE class {0,1}\n"
    b"@DATA\n1,2,0\n3,4,1\n",
    b"@relation r\n@attribute a numeric\n@attribute b numeric\n@attribute class {0,1}\n"
    b"@data\n{0 1,2 1}\n{1 2}\n",
]
STUDY = [
    b'name = "s"\nseeds = 2\nnoise = [0.0, 0.1]\n[[datasets]]\nname = "digits"\ntask = "round"\n'
    b'[[algorithms]]\nname = "AROW"\nr = [0.1, 1.0]\n',
    b'name = "t"\nprotocol = "holdout"\nmetrics = ["test_auc"]\n[[datasets]]\npath = "f.csv"\nlabel = "f"\n'
    b'[[algorithms]]\nname = "PassiveAggressive"\nvariant = "PA-I"\nlabel = "PA-I"\n'
    b'[[rankings]]\nname = "r"\n',
]
STUDY_TOKENS = [
    *(
        b"[[datasets]]\n",
        b"[datasets]\n",
        b"seeds = -1\n",
        b"noise = nan\n",
        b"noise = 1e999\n",
        b'"',
        b"[",
        b"]",
    ),
    *(
        b"name = 3\n",
        b"seeds = 99999999999999999999\n",
        b"= ",
        b"{",
        b"}",
        b"\xff",
        b"\x00",
        b"\n",
        b"\\u0000",
    ),
    *(b"1979-05-27T07:32:00Z", b"inf", b"true", b"''''''", b"a.b.c = 1\n", b"[" * 2000, b"window = 0\n"),
]


def _parquet() -> list[bytes]:
    table = pa.table({"a": [0.5, -2.0, 7.0, 1.0], "b": [1, 2, 3, 4], "label": ["no", "yes", "no", "yes"]})
    plain, coded = io.BytesIO(), io.BytesIO()
    pq.write_table(table, plain, compression="none", write_page_checksum=True)
    pq.write_table(table.append_column("c", pa.array([1.5, 2, 3, 4], pa.float32())), coded, row_group_size=2)
    return [plain.getvalue(), coded.getvalue()]


def _arrow() -> list[bytes]:
    table = pa.table({"a": [0.5, -2.0, 7.0, 1.0], "b": [1, 2, 3, 4], "label": ["no", "yes", "no", "yes"]})
    whole, stream = io.BytesIO(), io.BytesIO()
    with ipc.new_file(whole, table.schema) as writer:
        writer.write_table(table)
    with ipc.new_stream(stream, table.schema) as writer:
        writer.write_table(table, max_chunksize=2)
    return [whole.getvalue(), stream.getvalue()]


_MAIL = [
    (f"maildir/farmer-d/{folder}/{i}.", f"Subject: {word}\nTo: a\n\n{word} of gas {i}\n".encode())
    for folder, word in (("logistics", "meter"), ("personal", "supper"))
    for i in range(3)
]


def _table(path: Path) -> Table:
    return read_files([path], [], resolve_options("fuzz", {}, file_options(path, {})))


def _dense(table: Table) -> Any:
    X: Any = table.X
    return np.asarray(X) if isinstance(X, np.ndarray) else X.toarray()


def _check_labels(table: Table, said: Sequence[str]) -> None:
    # Numbers that are written differently are one class.
    found = [table.classes[code] for code in table.y]
    for name, text in zip(found, said, strict=True):
        assert name == text.strip() or float(name) == float(text), (name, text)


def _check_svmlight(content: bytes, table: Table) -> None:
    rows, labels = [], []
    for line in content.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        fields = line.partition(b"#")[0].split()
        if fields:
            labels.append(fields[0].decode())
            pairs = [field.split(b":") for field in fields[1:] if not field.startswith(b"qid:")]
            rows.append({int(index) - 1: float(value) for index, value in pairs})
    X = _dense(table)
    expected = np.zeros_like(X)
    for row, values in enumerate(rows):
        for feature, value in values.items():
            expected[row, feature] = value
    np.testing.assert_array_equal(X, expected)
    _check_labels(table, labels)


@chunks
def test_svmlight(folder: Path, chunk: int) -> None:
    # An index is at most 10,000 here, or the second reader's matrix is too large.
    def read(path: Path) -> Table:
        given = {"max_features": 10_000}
        return read_files([path], [], resolve_options("fuzz", given, file_options(path, given)))

    # The first file compiles the reader, which may take longer than a file may.
    (folder / "f.svm").write_bytes(SVMLIGHT[0])
    read(folder / "f.svm")
    tried(folder / "f.svm", SVMLIGHT, chunk, read, _check_svmlight)


def _check_csv(content: bytes, table: Table) -> None:
    text = content.decode("utf-8-sig")
    rows = [
        row
        for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        for row in csv.reader([line])
        if any(field.strip() for field in row)
    ]
    names = [name.strip() for name in rows[0]]
    label = next(i for i, name in enumerate(names) if name.lower() in ("label", "class", "target", "y"))
    features = [i for i in range(len(names)) if i != label]
    expected = np.array([[float(row[i]) for i in features] for row in rows[1:]])
    np.testing.assert_array_equal(_dense(table), expected)
    _check_labels(table, [row[label].strip() for row in rows[1:]])


@chunks
def test_csv(folder: Path, chunk: int) -> None:
    tried(folder / "f.csv", CSV, chunk, _table, _check_csv)


def _check_gzip(content: bytes, table: Table) -> None:
    _check_csv(gzip.decompress(content), table)


@chunks
def test_gzip(folder: Path, chunk: int) -> None:
    valid = [gzip.compress(each, mtime=0) for each in CSV]
    tried(folder / "f.csv.gz", valid, chunk, _table, _check_gzip, [b"\x00", b"\xff", b"\x1f\x8b\x08", b"ab"])


def _check_arff(content: bytes, table: Table) -> None:
    # Its reader is the one that is tested: what it may have misread are numbers.
    text = content.decode("utf-8-sig")
    data = re.split(r"(?im)^\s*@data", text, maxsplit=1)[1].split("\n")[1:]
    rows = [line.strip() for line in data if line.strip() and not line.strip().startswith("%")]
    assert len(rows) == len(table.y)
    X = _dense(table)
    for row, line in enumerate(rows):
        if line.startswith("{") or "'" in line or '"' in line or "\\" in line:
            continue
        fields = [field.strip() for field in line.split(",")]
        numbers = [float(field) for field in fields if _is_number(field)]
        assert set(X[row].tolist()) <= {*numbers, 0.0, 1.0}


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


@chunks
def test_arff(folder: Path, chunk: int) -> None:
    tried(folder / "f.arff", ARFF, chunk, _table, _check_arff)


def _check_frame(frame: pd.DataFrame, table: Table) -> None:
    label = next(name for name in frame.columns if name.strip().lower() in ("label", "class", "target", "y"))
    expected = frame.drop(columns=label).to_numpy(np.float64)
    np.testing.assert_array_equal(_dense(table), expected)
    _check_labels(table, [each.decode() if isinstance(each, bytes) else str(each) for each in frame[label]])


@pytest.mark.slow
@chunks
def test_parquet(folder: Path, chunk: int) -> None:
    def check(content: bytes, table: Table) -> None:
        try:
            second = pq.ParquetFile(io.BytesIO(content)).read()
        except OSError:
            # What it reads of statistics and the like may be damaged where no value is.
            return
        _check_frame(second.to_pandas(), table)

    tried(folder / "f.parquet", _parquet(), chunk, _table, check)


@chunks
def test_arrow(folder: Path, chunk: int) -> None:
    def check(content: bytes, table: Table) -> None:
        opened = ipc.open_file if content.startswith(b"ARROW1") else ipc.open_stream
        _check_frame(opened(io.BytesIO(content)).read_all().to_pandas(), table)

    tried(folder / "f.arrow", _arrow(), chunk, _table, check)


@chunks
def test_idx(folder: Path, chunk: int) -> None:
    valid = [
        b"\x00\x00\x08\x03" + struct.pack(">III", 2, 2, 3) + bytes(range(12)),
        b"\x00\x00\x08\x01" + struct.pack(">I", 5) + bytes(range(5)),
    ]

    def check(content: bytes, found: Any) -> None:
        shape = struct.unpack_from(f">{content[3]}I", content, 4)
        assert found.shape == shape
        assert found.tobytes() == content[4 + 4 * content[3] :]

    tried(
        folder / "f-idx3-ubyte",
        valid,
        chunk,
        read_idx,
        check,
        [b"\x00", b"\xff\xff\xff\xff", b"\x08", b"ab"],
    )


@chunks
def test_tar(folder: Path, chunk: int) -> None:
    members = [("a/b.txt", b"words of one"), ("a/c.txt", b""), ("d.txt", b"x" * 600)]
    valid = [tar_of(members), tar_of(members, "w:gz")]

    def read(path: Path) -> list[tuple[str, bytes]]:
        return list(tar_texts(path, lambda name: True))

    def check(content: bytes, found: list[tuple[str, bytes]]) -> None:
        with tarfile.open(fileobj=io.BytesIO(content)) as archive:
            files = [member for member in archive if member.isfile()]
            expected = [(each.name, archive.extractfile(each).read()) for each in files]  # type: ignore[union-attr]
        assert found == expected
        assert not any(name.startswith("/") or ".." in name.split("/") for name, _ in found)

    tokens = [b"../", b"/etc/x", b"\x00", b"0000777", b"9" * 12, b"2", b"1", b"L", b"x", b"\xff"]
    tried(folder / "f.tar", valid, chunk, read, check, tokens)


@pytest.mark.slow
@chunks
def test_mail(folder: Path, chunk: int) -> None:
    part = CATALOGUE["enron-a"]

    def read(path: Path) -> Table:
        return part.parse([path])

    def check(content: bytes, table: Table) -> None:
        assert table.X.shape[0] == len(table.y)
        assert set(table.y.tolist()) <= set(range(len(table.classes)))

    tokens = [
        b"\n\n",
        b"Content-Transfer-Encoding: base64\n",
        b"Content-Type: multipart/mixed\n",
        b"\x00",
        b"=?x?=",
    ]
    tried(folder / "f.tar", [tar_of(_MAIL)], chunk, read, check, tokens)


_REUTERS = b"".join(
    b'<!DOCTYPE lewis>\n<REUTERS TOPICS="YES" LEWISSPLIT="%s" NEWID="%d">\n<TOPICS><D>%s</D></TOPICS>\n'
    b"<TEXT>&#2;\n<TITLE>%s PRICES</TITLE>\n<BODY>The price of %s &lt;rose&gt; &amp; fell.</BODY></TEXT>\n"
    b"</REUTERS>\n" % (split, number, topic, topic.upper(), topic)
    for number, (split, topic) in enumerate(
        [
            (b"TRAIN", b"wheat"),
            (b"TRAIN", b"corn"),
            (b"TEST", b"wheat"),
            (b"TEST", b"corn"),
            (b"NOT-USED", b"acq"),
        ]
    )
)


@pytest.mark.slow
@chunks
def test_reuters(folder: Path, chunk: int) -> None:
    part = CATALOGUE["reuters21578/wheat"]
    # What an archive holds is damaged here, not the archive.
    valid = [_REUTERS]

    def read(path: Path) -> Table:
        path.write_bytes(tar_of([("reut2-000.sgm", path.read_bytes())]))
        return part.parse([path])

    def check(content: bytes, table: Table) -> None:
        n = len(table.y) + len(table.y_test if table.y_test is not None else ())
        assert n <= len(re.findall(rb"</REUTERS>", content))
        assert set(table.y.tolist()) <= {0, 1}

    tokens = [
        b"<REUTERS>",
        b"</REUTERS>",
        b"<D>",
        b"</D>",
        b"&#9999999999;",
        b"&#xD800;",
        b"&",
        b"<",
        b'"',
        b"\x00",
    ]
    tried(folder / "f.tar", valid, chunk, read, check, tokens)


@chunks
def test_what_guests_return(chunk: int) -> None:
    """No value that a foreign learner returns becomes a NaN score or an internal error."""
    right = wrong = 0
    for number in range(chunk * INPUTS, (chunk + 1) * INPUTS):
        rng = random.Random(number)
        n, n_classes = rng.randrange(1, 4), rng.randrange(2, 5)
        found = _returned(rng, n, n_classes)
        for checked in (checked_scores, checked_codes, scores_of_probabilities):
            try:
                scores = checked(found, "predict", n, n_classes)
            except GuestError as error:
                wrong, line = wrong + 1, str(error)
            else:
                right, line = right + 1, ""
                assert scores.shape in ((n,), (n, n_classes)), (number, found)
                assert np.isfinite(scores).all(), (number, found)
                if checked is checked_codes:
                    assert set(scores.tolist()) <= set(range(n_classes)), (number, found)
            assert "\n" not in line, (number, found)
    assert right > INPUTS // 10
    assert wrong > INPUTS // 10


def _returned(rng: random.Random, n: int, n_classes: int) -> Any:
    """Return scores, labels or probabilities of n rows, often of another shape, or something else."""
    odd = [
        math.nan,
        math.inf,
        -math.inf,
        None,
        "yes",
        "1",
        1e308,
        -1e308,
        True,
        2**70,
        b"0",
        [],
        {},
        0.5,
        -0.0,
        1j,
    ]
    usual = rng.choice(([0, 1], list(range(n_classes)), [0.0, 1.0], [-1.5, 0.25, 3.0]))
    shape = rng.choice(((n,), (n, n_classes), (n, n_classes), (n + 1,), (n, 1), ()))
    size = math.prod(shape)
    values = [rng.choice(odd) if rng.random() < 0.1 else rng.choice(usual) for _ in range(size)]
    if rng.random() < 0.1:
        return rng.choice(odd)
    array = np.empty(shape, dtype=object)
    for place, value in zip(np.ndindex(*shape), values, strict=True):
        array[place] = value
    return rng.choice((array, array.tolist()))


@chunks
def test_studies(folder: Path, chunk: int) -> None:
    def check(content: bytes, study: Any) -> None:
        again = type(study).model_validate(study.model_dump())
        # A parameter that is NaN is itself, though it is not equal to itself.
        assert repr(again) == repr(study)

    tried(folder / "study.toml", STUDY, chunk, read_study, check, STUDY_TOKENS)
