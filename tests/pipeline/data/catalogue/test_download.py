"""Test downloads from a local server: files are verified or refused, cached, and never partial."""

from __future__ import annotations

import bz2
import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from singlepass.pipeline.data import describe, expand, fetch, open_stream
from singlepass.pipeline.data.catalogue.download import retrieve
from singlepass.pipeline.data.catalogue.public import CATALOGUE, PublicFile, PublicSet, StandIn
from singlepass.pipeline.data.formats.sparse_text import read_sparse, svmlight_scan
from singlepass.pipeline.data.tables.stream import Table
from singlepass.pipeline.errors import InputError

TRAIN = bz2.compress(b"1 1:1\n-1 2:1\n-1 1:2\n" * 20)
TEST = bz2.compress(b"1 1:1\n-1 2:1\n" * 20)


def parse(paths: Sequence[Path]) -> Table:
    return read_sparse(paths[:1], paths[1:], svmlight_scan(n_features=3), n_features=3)


@pytest.fixture
def toy(server: Any, monkeypatch: pytest.MonkeyPatch) -> PublicSet:
    """Serve a public set of 60 + 40 rows from this machine; one of its files has a known checksum."""
    server.files = {"/toy.bz2": TRAIN, "/toy.t.bz2": TEST}
    entry = PublicSet(
        name="toy",
        title="toy",
        files=(
            PublicFile("toy.bz2", (server.url,), "md5:" + hashlib.md5(TRAIN).hexdigest()),
            PublicFile("toy.t.bz2", (server.url,)),
        ),
        parse=parse,
        classes=("-1", "1"),
        n_features=3,
        counts=(40, 20),
        counts_test=(20, 20),
        licence="none",
        note="none",
    )
    monkeypatch.setitem(CATALOGUE, "toy", entry)
    return entry


def kept(cache: Path) -> list[str]:
    return sorted(path.name for path in (cache / "data" / "toy").iterdir())


def state(name: str) -> str:
    return next(row.state for row in describe() if row.name == name)


def test_downloaded_on_demand_once(
    toy: PublicSet, server: Any, cache: Path, new_process: Callable[[], None]
) -> None:
    assert state("toy") == "can be fetched"
    assert server.requests == []
    stream = open_stream(expand(name="toy")[0])
    assert stream.X.shape == (60, 3)
    assert stream.X_test is not None
    assert kept(cache) == ["toy.bz2", "toy.t.bz2"]
    new_process()
    assert open_stream(expand(name="toy")[0]).fingerprint == stream.fingerprint
    assert sorted(server.requests) == ["/toy.bz2", "/toy.t.bz2"]
    assert state("toy") == "present (cache)"


def test_fetch_reports_progress_and_paths(toy: PublicSet, cache: Path) -> None:
    seen: list[tuple[str, int, int]] = []
    paths = fetch(["toy", "digits"], lambda *report: seen.append(report))
    assert paths == [cache / "data" / "toy" / "toy.bz2", cache / "data" / "toy" / "toy.t.bz2"]
    assert ("toy.bz2", len(TRAIN), len(TRAIN)) in seen
    assert ("toy.t.bz2", len(TEST), len(TEST)) in seen


def test_the_users_folder_comes_first(
    toy: PublicSet, server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Recompressing changes the checksum, but a copy is accepted as long as its content is right.
    (tmp_path / "toy.bz2").write_bytes(bz2.compress(bz2.decompress(TRAIN), 1))
    (tmp_path / "toy.t.bz2").write_bytes(TEST)
    assert (tmp_path / "toy.bz2").read_bytes() != TRAIN
    monkeypatch.setenv("SINGLEPASS_DATA", str(tmp_path))
    assert open_stream(expand(name="toy")[0]).X.shape == (60, 3)
    assert server.requests == []
    assert state("toy") == "present"


def test_only_what_is_missing_is_downloaded(
    toy: PublicSet, server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "toy.bz2").write_bytes(TRAIN)
    monkeypatch.setenv("SINGLEPASS_DATA", str(tmp_path))
    assert [path.parent.name for path in fetch(["toy"])] == [tmp_path.name, "toy"]
    assert server.requests == ["/toy.t.bz2"]


def test_wrong_checksum(toy: PublicSet, server: Any, cache: Path) -> None:
    server.files["/toy.bz2"] = bz2.compress(bz2.decompress(TRAIN), 1)
    with pytest.raises(InputError, match=r"toy\.bz2 is not in .* does not have the checksum md5:"):
        fetch(["toy"])
    assert kept(cache) == []


@pytest.mark.parametrize("checksum", [None, "md5:0"])
def test_a_wrong_header_is_named(cache: Path, monkeypatch: pytest.MonkeyPatch, checksum: str | None) -> None:
    monkeypatch.setattr("pooch.retrieve", lambda *given, **options: int("five"))
    path, (reason,) = retrieve("toy.t.bz2", ["http://host/toy.t.bz2"], checksum, cache)
    assert path is None
    assert reason == "host: invalid literal for int() with base 10: 'five'"


def test_wrong_counts_without_a_checksum(toy: PublicSet, server: Any, cache: Path) -> None:
    server.files["/toy.t.bz2"] = bz2.compress(b"1 1:1\n-1 2:1\n" * 19)
    with pytest.raises(
        InputError, match=r"a download was refused: .*toy\.t\.bz2: not the public data: 38 rows inst"
    ):
        fetch(["toy"])
    # The other file has the right checksum, so it is kept.
    assert kept(cache) == ["toy.bz2"]


def test_wrong_class_counts(toy: PublicSet, server: Any) -> None:
    server.files["/toy.t.bz2"] = bz2.compress(b"1 1:1\n-1 2:1\n" * 19 + b"1 1:1\n1 1:1\n")
    with pytest.raises(InputError, match=r"class counts \(19, 21\) instead of \(20, 20\)"):
        fetch(["toy"])


def test_cut_short_on_the_server(toy: PublicSet, server: Any, cache: Path) -> None:
    server.files["/toy.t.bz2"] = TEST[:-10]
    with pytest.raises(InputError, match=r"a download was refused: .*toy\.t\.bz2: .*cut short"):
        fetch(["toy"])
    assert kept(cache) == ["toy.bz2"]


def test_an_interrupted_download_leaves_nothing_and_goes_on_next_time(
    toy: PublicSet, server: Any, cache: Path
) -> None:
    server.cut = {"/toy.t.bz2"}
    with pytest.raises(InputError, match=r"toy\.t\.bz2 is not in .* the connection broke off"):
        fetch(["toy"])
    assert kept(cache) == ["toy.bz2"]
    server.cut = set()
    server.requests.clear()
    assert len(fetch(["toy"])) == 2
    assert server.requests == ["/toy.t.bz2"]


def test_the_next_mirror_is_tried(toy: PublicSet, server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    bases = (f"{server.url}/gone", server.url)
    files = tuple(PublicFile(file.name, bases, file.checksum) for file in toy.files)
    monkeypatch.setitem(CATALOGUE, "toy", PublicSet(**{**vars(toy), "files": files}))
    assert len(fetch(["toy"])) == 2
    assert "/gone/toy.bz2" in server.requests


def test_a_named_mirror_stands_in_for_every_server(
    toy: PublicSet, server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = tuple(PublicFile(file.name, ("http://127.0.0.1:9/nobody",), file.checksum) for file in toy.files)
    monkeypatch.setitem(CATALOGUE, "toy", PublicSet(**{**vars(toy), "files": files}))
    monkeypatch.setenv("SINGLEPASS_MIRROR", f"{server.url}/")
    assert len(fetch(["toy"])) == 2


def test_no_server_and_no_file(toy: PublicSet, server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SINGLEPASS_MIRROR", "http://127.0.0.1:9")
    with pytest.raises(InputError) as error:
        open_stream(expand(name="toy")[0])
    assert str(error.value) == (
        "data set 'toy': toy.bz2 is not in SINGLEPASS_DATA (not set), and the download failed "
        f"(127.0.0.1:9: no connection); get it from {server.url}/toy.bz2 and set SINGLEPASS_DATA to its "
        "folder"
    )


def test_not_found_on_the_server(toy: PublicSet, server: Any) -> None:
    server.files.clear()
    with pytest.raises(InputError, match="HTTP 404"):
        fetch(["toy"])


def test_a_set_that_cannot_be_downloaded(toy: PublicSet, monkeypatch: pytest.MonkeyPatch) -> None:
    files = tuple(PublicFile(file.name, ()) for file in toy.files)
    monkeypatch.setitem(CATALOGUE, "toy", PublicSet(**{**vars(toy), "files": files}))
    assert state("toy") == "needs your copy: put toy.bz2, toy.t.bz2 in SINGLEPASS_DATA"
    with pytest.raises(InputError, match="and it cannot be downloaded; get a copy and set SINGLEPASS_DATA"):
        fetch(["toy"])


def test_a_server_that_calls_the_file_something_else(
    toy: PublicSet, server: Any, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.files = {"/files/5976": TRAIN, "/toy.t.bz2": TEST}
    # The first address is tried first; the file is stored under its public name.
    train = PublicFile("toy.bz2", (server.url,), urls=(f"{server.url}/files/5976",))
    monkeypatch.setitem(CATALOGUE, "toy", PublicSet(**{**vars(toy), "files": (train, toy.files[1])}))
    assert [path.name for path in fetch(["toy"])] == ["toy.bz2", "toy.t.bz2"]
    assert server.requests[:2] == ["/toy.bz2", "/files/5976"]


def test_a_file_under_another_name(
    toy: PublicSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: Any
) -> None:
    (tmp_path / "part").mkdir()
    (tmp_path / "part" / "toy.svm").write_bytes(bz2.decompress(TRAIN))
    (tmp_path / "toy.t.bz2").write_bytes(TEST)
    train = PublicFile("toy.bz2", (server.url,), also=("part/toy.svm",))
    stood_in = {"part/toy.svm": StandIn((40, 20), "unpacked")}
    entry = PublicSet(**{**vars(toy), "files": (train, toy.files[1]), "stand_ins": stood_in})
    monkeypatch.setitem(CATALOGUE, "toy", entry)
    monkeypatch.setenv("SINGLEPASS_DATA", str(tmp_path))
    assert open_stream(expand(name="toy")[0]).X.shape == (60, 3)
    assert state("toy") == "present (unpacked)"
    assert server.requests == []


def test_content_that_is_not_the_known_one(
    toy: PublicSet, server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = PublicSet(**{**vars(toy), "fingerprints": ("0" * 64,)})
    monkeypatch.setitem(CATALOGUE, "toy", known)
    # One of the two files has no public checksum, so nothing confirms it.
    with pytest.raises(InputError, match=r"a download was refused: .*but the content is not \(fingerprint "):
        fetch(["toy"])
    test = PublicFile("toy.t.bz2", (server.url,), "sha256:" + hashlib.sha256(TEST).hexdigest())
    vouched = PublicSet(**{**vars(known), "files": (toy.files[0], test)})
    monkeypatch.setitem(CATALOGUE, "toy", vouched)
    assert open_stream(expand(name="toy")[0]).X.shape == (60, 3)


def test_a_data_folder_that_is_not_there(
    toy: PublicSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SINGLEPASS_DATA", str(tmp_path / "none"))
    with pytest.raises(InputError, match=r"SINGLEPASS_DATA = '.*none' is not a folder"):
        fetch(["toy"])


def test_a_server_that_unpacks_is_asked_not_to(toy: PublicSet, server: Any) -> None:
    fetch(["toy"])
    assert server.encodings == {"identity"}


def test_unknown_name() -> None:
    with pytest.raises(InputError, match="unknown data set 'mnits'; did you mean 'mnist'"):
        fetch(["digits", "mnits"])
