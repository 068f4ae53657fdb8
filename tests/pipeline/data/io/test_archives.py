"""Test that archives are read in memory, and refused if malformed or malicious."""

from __future__ import annotations

import gzip
import tarfile
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from singlepass.pipeline.data.io.archives import tar_texts
from singlepass.pipeline.errors import InputError

Pack = Callable[..., Path]


def link(name: str, kind: bytes) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type = kind
    info.linkname = "/etc/passwd"
    return info


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_texts_in_the_order_of_the_archive(tmp_path: Path, pack: Pack, mode: str) -> None:
    path = pack("a.tar", ("d/b.txt", b"two"), ("d/a.txt", b"one"), ("d/c.md", b""), mode=mode)
    found = list(tar_texts(path, lambda name: name.endswith(".txt")))
    assert found == [("d/b.txt", b"two"), ("d/a.txt", b"one")]


@pytest.mark.parametrize(
    "name", ["../out.txt", "a/../../out.txt", "/etc/out.txt", "C:/out.txt", "..\\out.txt"]
)
def test_names_that_leave_the_folder_are_refused(tmp_path: Path, pack: Pack, name: str) -> None:
    path = pack("a.tar.gz", ("a.txt", b"x"), (name, b"x"))
    # The archive is refused whether or not the bad member is wanted.
    with pytest.raises(InputError, match=r"a\.tar\.gz: the archive's .* leads out of its folder; refused"):
        list(tar_texts(path, lambda name: name == "a.txt"))
    assert [each.name for each in tmp_path.iterdir()] == ["a.tar.gz"]


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE])
def test_links_and_devices_are_refused(tmp_path: Path, pack: Pack, kind: bytes) -> None:
    path = pack("a.tar.gz", link("a.txt", kind))
    with pytest.raises(InputError, match="is a link or a device; refused"):
        list(tar_texts(path, lambda name: True))


def test_a_member_of_absurd_size_is_refused(tmp_path: Path) -> None:
    info = tarfile.TarInfo("big.txt")
    info.size = 1 << 40
    (tmp_path / "a.tar").write_bytes(info.tobuf())
    with pytest.raises(
        InputError, match=r"'big\.txt' has 1,099,511,627,776 bytes, which is more than .*; refused"
    ):
        list(tar_texts(tmp_path / "a.tar", lambda name: True))


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_an_archive_cut_short(tmp_path: Path, pack: Pack, mode: str) -> None:
    content = bytes(range(256)) * 400
    path = pack("a.tar", ("a.txt", content), mode=mode)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 3])
    with pytest.raises(InputError, match=r"a\.tar: (damaged|a\.txt is cut short)"):
        list(tar_texts(path, lambda name: True))


@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda tar: tar[:1172] + b"000000" + tar[1178:], "bad checksum"),
        (lambda tar: tar[:1300], "truncated header"),
        (lambda tar: tar[:2048], "empty header"),
        (lambda tar: tar[:1024] + bytes(512) + tar[1024:], "a block of zeros before the end"),
    ],
)
def test_an_archive_damaged_or_cut_at_a_later_header(
    pack: Pack, damage: Callable[[bytes], bytes], reason: str, zipped: bool
) -> None:
    # The header of the second member is in bytes 1024 to 1535.
    path = pack("a.tar", ("a.txt", b"one"), ("b.txt", b"two"), mode="w")
    damaged = damage(path.read_bytes())
    path.write_bytes(gzip.compress(damaged) if zipped else damaged)
    with pytest.raises(InputError, match=rf"a\.tar: damaged, cut short .*\({reason}\)"):
        list(tar_texts(path, lambda name: True))


def test_a_lone_block_of_zeros_ends_an_archive(pack: Pack) -> None:
    path = pack("a.tar", ("a.txt", b"one"), mode="w")
    path.write_bytes(path.read_bytes()[:1536])
    assert list(tar_texts(path, lambda name: True)) == [("a.txt", b"one")]


@pytest.mark.parametrize("size", [3, 100_000])
@pytest.mark.parametrize("mode", ["w:gz", "w:bz2", "w:xz"])
def test_a_wrong_checksum_at_the_end_of_the_compressed_data(pack: Pack, mode: str, size: int) -> None:
    path = pack("a.tar", ("a.txt", bytes(i * i % 251 for i in range(size))), mode=mode)
    stored = bytearray(path.read_bytes())
    stored[-6] ^= 0xFF
    path.write_bytes(stored)
    with pytest.raises(InputError, match=r"a\.tar: damaged, cut short"):
        list(tar_texts(path, lambda name: True))


def test_not_an_archive(tmp_path: Path) -> None:
    (tmp_path / "a.tar.gz").write_bytes(b"no archive")
    with pytest.raises(InputError, match="not a tar archive"):
        list(tar_texts(tmp_path / "a.tar.gz", lambda name: True))
    with pytest.raises(InputError, match=r"none\.tar: no such file"):
        list(tar_texts(tmp_path / "none.tar", lambda name: True))


@pytest.mark.parametrize("mode", ["w:gz", "w:bz2", "w:xz"])
@pytest.mark.parametrize("asked", [True, False])
def test_bombs(tmp_path: Path, pack: Pack, mode: str, asked: bool) -> None:
    # The compressed file is small compared with its content; it is refused whether or not that member is
    # wanted.
    path = pack("a.tar", ("a.txt", bytes(8 << 20)), ("b.txt", b"x"), mode=mode)
    with pytest.raises(InputError, match=r"a\.tar: expands more than max_expansion = 250 times"):
        list(tar_texts(path, lambda name: asked or name == "b.txt"))


@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.GNUTYPE_LONGNAME])
def test_a_header_that_is_a_bomb(tmp_path: Path, kind: bytes) -> None:
    # tarfile reads the whole name before the caller can check it.
    info = tarfile.TarInfo("x")
    info.type, info.size = kind, 1 << 40
    with gzip.open(tmp_path / "a.tar.gz", "wb") as packed:
        packed.write(info.tobuf(tarfile.GNU_FORMAT))
        for _ in range(64):
            packed.write(bytes(1 << 20))
    tracemalloc.start()
    with pytest.raises(InputError, match=r"a\.tar\.gz: expands more than max_expansion = 250 times"):
        list(tar_texts(tmp_path / "a.tar.gz", lambda name: True))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 48 << 20
