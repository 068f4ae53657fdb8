"""Compare every public set in SINGLEPASS_DATA with its published numbers; damaged copies are refused."""

from __future__ import annotations

import bz2
import gzip
import io
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from singlepass.pipeline.data import expand, fingerprint, open_stream
from singlepass.pipeline.data.catalogue.public import CATALOGUE, PublicSet
from singlepass.pipeline.data.own_sources import PublicSource
from singlepass.pipeline.data.tables.features import with_layout
from singlepass.pipeline.data.tables.options import resolve_options
from singlepass.pipeline.data.tables.stream import Table, is_sparse
from singlepass.pipeline.errors import InputError

pytestmark = pytest.mark.slow

# Training rows, test rows, features and classes, as the distributors publish them.
PUBLISHED = {
    "mnist": (60_000, 10_000, 784, 10),
    "usps": (7_291, 2_007, 256, 10),
    "a9a": (32_561, 16_281, 123, 2),
    "covtype": (92_962, 0, 54, 7),
    "dna": (2_000, 1_186, 180, 3),
    "banana": (5_300, 0, 2, 2),
    "waveform": (5_000, 0, 21, 3),
    "ringnorm": (7_400, 0, 20, 2),
    "twonorm": (7_400, 0, 20, 2),
    "letter": (15_000, 5_000, 16, 26),
    "ijcnn1": (49_990, 91_701, 22, 2),
    "shuttle": (43_500, 14_500, 9, 7),
    "satimage": (4_435, 2_000, 36, 6),
    "vehicle": (846, 0, 18, 4),
    "spambase": (4_601, 0, 57, 2),
    "news20": (15_935, 0, 62_061, 20),
    "reuters-money-fx": (7_770, 3_299, 8_315, 2),
    "amazon-acl/books": (2_000, 0, 195_887, 2),
    "amazon-acl/dvd": (2_000, 0, 188_778, 2),
    "amazon-acl/electronics": (2_000, 0, 111_407, 2),
    "amazon-acl/kitchen": (2_000, 0, 93_474, 2),
    "amazon-5000/books": (2_000, 4_465, 5_000, 2),
    "amazon-5000/dvd": (2_000, 3_586, 5_000, 2),
    "amazon-5000/electronics": (2_000, 5_681, 5_000, 2),
    "amazon-5000/kitchen": (2_000, 5_945, 5_000, 2),
}
# Text corpora, whose features this project computes.
PUBLISHED_ROWS = {
    "20newsgroups": (11_314, 7_532),
    "reuters21578/earn": (9_603, 3_299),
    "rcv1-small": (1_000, 500),
    "amazon-acl": (8_000, 0),
    "fdu-mtl/baby": (1_900, 0),
    "fdu-mtl/camera_photo": (1_997, 0),
    "fdu-mtl/magazines": (1_970, 0),
    "fdu-mtl/MR": (2_000, 0),
    "enron-spam/enron1": (5_172, 0),
    "enron-spam/enron2": (5_857, 0),
    "enron-spam/enron3": (5_512, 0),
    "enron-spam/enron4": (6_000, 0),
    "enron-spam/enron5": (5_175, 0),
    "enron-spam/enron6": (6_000, 0),
}
# Up to this size a full dense copy is compared, above it only some rows.
_COMPARED_BYTES = 1 << 26


def names_of_files(folder: Path, entry: PublicSet) -> list[str]:
    """Return the names of a set's files in a folder; skip the test if one is missing."""
    found = []
    for file in entry.files:
        here = [name for name in (file.name, *file.also) if (folder / name).is_file()]
        if not here:
            pytest.skip(f"SINGLEPASS_DATA has no {file.name}")
        found.append(here[0])
    return found


def table_fingerprint(name: str) -> str:
    source = PublicSource(CATALOGUE[name])
    return source.content(resolve_options(name, {"standardize": False}, source.options({})))


def plain(X: Any) -> Any:
    return X.toarray() if is_sparse(X) else X


def by_archive() -> list[list[str]]:
    """Return the sets one by one, but those that share an archive that is slow to uncompress together."""
    found: dict[str, list[str]] = {}
    for name in sorted(CATALOGUE):
        file = CATALOGUE[name].files[0].name
        found.setdefault(file if file.endswith(".tar.bz2") else name, []).append(name)
    return list(found.values())


# One test for each set, because parsing takes most of the time and test processes do not share caches.
@pytest.mark.parametrize("names", by_archive(), ids=lambda names: names[0])
def test_content_and_layouts(
    names: list[str], real: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in names:
        check_rows_features_and_classes(name, real)
        assert table_fingerprint(name) in CATALOGUE[name].fingerprints
        check_dense_and_sparse(name)
        if name is names[0] is not names[-1]:
            # The others read the archive uncompressed.
            path = copy_set(real, tmp_path, names_of_files(real, CATALOGUE[name]))
            path.write_bytes(unpacked(path))
            monkeypatch.setenv("SINGLEPASS_DATA", str(tmp_path))


def check_rows_features_and_classes(name: str, real: Path) -> None:
    entry = CATALOGUE[name]
    names_of_files(real, entry)
    ref = expand(name=name, task="multiclass")[0]
    stream = open_stream(ref)
    assert stream.fingerprint == fingerprint(ref)
    n_test = 0 if stream.y_test is None else len(stream.y_test)
    accepted = [entry.counts, *(each.counts for each in entry.stand_ins.values())]
    assert tuple(np.bincount(stream.y).tolist()) in accepted
    assert stream.X.shape == (len(stream.y), entry.n_features)
    assert stream.classes == entry.classes
    if entry.counts_test:
        assert stream.y_test is not None
        assert stream.X_test is not None
        assert tuple(np.bincount(stream.y_test).tolist()) == entry.counts_test
        assert stream.X_test.shape == (n_test, entry.n_features)
    if name in PUBLISHED and (name != "covtype" or "sample" in names_of_files(real, entry)[0]):
        assert (len(stream.y), n_test, entry.n_features, len(stream.classes)) == PUBLISHED[name]
    if name in PUBLISHED_ROWS:
        assert (len(stream.y), n_test) == PUBLISHED_ROWS[name]


@pytest.mark.parametrize(
    "name", ["a9a", "banana", "dna", "letter", "vehicle", "shuttle", "amazon-5000/dvd", "fdu-mtl/MR"]
)
def test_another_conversion_gives_the_same_fingerprint(
    name: str,
    real: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    new_process: Callable[[], None],
) -> None:
    names_of_files(real, CATALOGUE[name])
    first = table_fingerprint(name)
    monkeypatch.setenv("SINGLEPASS_CACHE", str(tmp_path / "another"))
    new_process()
    assert table_fingerprint(name) == first
    assert (tmp_path / "another" / "streams").is_dir()


def check_dense_and_sparse(name: str) -> None:
    """Check that the dense and the sparse form of a set have the same values."""
    # Standardized rows are dense.
    stream = open_stream(expand(name=name, task="multiclass", options={"standardize": False})[0])
    other = is_sparse(stream.X)
    size = stream.X.shape[0] * stream.X.shape[1] * stream.X.dtype.itemsize
    if size > 2 << 30:
        with pytest.raises(InputError, match=f"data set {name!r}: .* GiB; leave out dense = true"):
            with_layout(name, Table(stream.X, stream.y, stream.classes), dense=True)
    if size > _COMPARED_BYTES:
        some: Any = stream.X[:50]
        turned = with_layout(name, Table(some, stream.y[:50], stream.classes), dense=other).X
        assert is_sparse(turned) != other
        np.testing.assert_array_equal(plain(turned), plain(some))
        return
    again = open_stream(
        expand(name=name, task="multiclass", options={"standardize": False, "dense": other})[0]
    )
    assert is_sparse(again.X) != other
    sparse: Any = again.X if is_sparse(again.X) else stream.X
    assert sparse.indices.dtype == sparse.indptr.dtype == np.int32
    # Not assert_array_equal, which takes several times as long for its message.
    assert np.array_equal(plain(again.X), plain(stream.X))
    assert np.array_equal(again.y, stream.y)
    if stream.X_test is not None:
        assert np.array_equal(plain(again.X_test), plain(stream.X_test))


def copy_set(real: Path, folder: Path, names: list[str]) -> Path:
    """Copy the files of a set with their folders; return the first one."""
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(real / name, folder / name)
    return folder / names[0]


def first_of_each_file() -> list[str]:
    """Return one set for every distinct first file."""
    return list({entry.files[0].name: name for name, entry in reversed(CATALOGUE.items())}.values())


@pytest.mark.parametrize("name", first_of_each_file())
def test_a_truncated_file_is_refused_by_name(
    name: str, real: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = copy_set(real, tmp_path, names_of_files(real, CATALOGUE[name]))
    content = path.read_bytes()
    # The end of an archive is missing wherever it is cut; texts before it take long to uncompress.
    path.write_bytes(content[: len(content) // 10 * (1 if ".tar" in path.name else 9)])
    monkeypatch.setenv("SINGLEPASS_DATA", str(tmp_path))
    with pytest.raises(InputError) as error:
        table_fingerprint(name)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


def unpacked(path: Path) -> bytes:
    opener = {".gz": gzip.open, ".bz2": bz2.open}.get(path.suffix)
    if opener is None:
        return path.read_bytes()
    with opener(path) as stream:
        return stream.read()


def rewrite(path: Path, change: Callable[[bytes], bytes]) -> None:
    """Change the content of a file, or of every text of an archive, and pack it again in the same format."""
    content = unpacked(path)
    if ".tar" in path.name:
        changed = io.BytesIO()
        with tarfile.open(fileobj=io.BytesIO(content)) as old, tarfile.open(fileobj=changed, mode="w") as new:
            for member in old:
                text = old.extractfile(member)
                if text is not None:
                    member.size = len(data := change(text.read()))
                    new.addfile(member, io.BytesIO(data))
        content = changed.getvalue()
    else:
        content = change(content)
    packers: dict[str, Callable[[bytes], bytes]] = {
        ".gz": lambda data: gzip.compress(data, 1),
        ".bz2": lambda data: bz2.compress(data, 1),
    }
    path.write_bytes(packers.get(path.suffix, bytes)(content))


def rotated(text: bytes) -> bytes:
    """Move the second line to the end (the first may be a header)."""
    lines = text.splitlines(keepends=True)
    return b"".join([lines[0], *lines[2:], lines[1]])


def turned_images(content: bytes) -> bytes:
    """Move the first image of 28 x 28 pixels to the end, after 16 bytes of header."""
    return content[:16] + content[16 + 784 :] + content[16 : 16 + 784]


def changed_pixel(content: bytes) -> bytes:
    return content[:-300] + bytes([content[-300] ^ 1]) + content[-299:]


def changed_digit(text: bytes) -> bytes:
    """Change one digit of a value in the middle."""
    at = text.index(b".", len(text) // 2) + 1
    return text[:at] + (b"7" if text[at : at + 1] != b"7" else b"3") + text[at + 1 :]


def changed_count(text: bytes) -> bytes:
    """Repeat a word of the first review."""
    return text.replace(b":1 ", b":2 ", 1)


def changed_word(text: bytes) -> bytes:
    return text.replace(b" the ", b" thee ", 1)


REORDERED = [
    ("mnist", turned_images),
    *((name, rotated) for name in ("a9a", "banana", "covtype", "letter", "satimage", "shuttle", "vehicle")),
    *((name, rotated) for name in ("rcv1-small", "spambase", "amazon-acl/kitchen")),
    *((name, rotated) for name in ("amazon-5000/dvd", "fdu-mtl/MR", "waveform")),
]
TAMPERED = [
    ("mnist", changed_pixel),
    *((name, changed_digit) for name in ("banana", "letter", "rcv1-small", "vehicle", "waveform")),
    ("amazon-acl/kitchen", changed_count),
    ("fdu-mtl/MR", changed_word),
]


@pytest.mark.parametrize("name", list(dict.fromkeys(name for name, _ in [*REORDERED, *TAMPERED])))
def test_a_reordered_or_changed_file_is_refused_by_name(
    name: str,
    real: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = copy_set(real, tmp_path, names_of_files(real, CATALOGUE[name]))
    rewrite(path, lambda content: content)
    monkeypatch.setenv("SINGLEPASS_DATA", str(tmp_path))
    # Packed again, the content is still the known one.
    assert table_fingerprint(name) in CATALOGUE[name].fingerprints
    packed = path.read_bytes()
    for change in [change for each, change in [*REORDERED, *TAMPERED] if each == name]:
        path.write_bytes(packed)
        rewrite(path, change)
        with pytest.raises(InputError) as error:
            table_fingerprint(name)
        assert str(path) in str(error.value)
        # A new word may also add a feature.
        right = "" if change is changed_word else "rows, features and class counts are right"
        assert f"not the public data: {right}" in str(error.value)
        assert "\n" not in str(error.value)
