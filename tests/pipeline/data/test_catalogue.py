"""The public sets as declared, and as they are where SINGLEPASS_DATA holds them."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import numpy as np
import pytest

from singlepass.pipeline.data import expand, fingerprint, open_stream
from singlepass.pipeline.data.catalogue import CATALOGUE
from singlepass.pipeline.data.stream import Matrix
from singlepass.pipeline.errors import InputError


@pytest.fixture(scope="module")
def shared_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One cache for the module: MNIST takes a second to parse."""
    return tmp_path_factory.mktemp("real")


@pytest.fixture
def real(real_data: Path, shared_cache: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of real data, in use."""
    monkeypatch.setenv("SINGLEPASS_DATA", str(real_data))
    monkeypatch.setenv("SINGLEPASS_CACHE", str(shared_cache))
    return real_data


def need(folder: Path, name: str) -> None:
    missing = [file.name for file in CATALOGUE[name].files if not (folder / file.name).is_file()]
    if missing:
        pytest.skip(f"SINGLEPASS_DATA has no {missing[0]}")


@pytest.mark.parametrize("name", sorted(CATALOGUE))
def test_declarations_are_consistent(name: str) -> None:
    entry = CATALOGUE[name]
    assert entry.name == name
    assert len(entry.counts) == len(entry.classes) == len(entry.counts_test)
    assert len({file.name for file in entry.files}) == len(entry.files)
    assert len(entry.files) % 2 == 0
    for file in entry.files:
        assert all(base.startswith("https://") and not base.endswith("/") for base in file.bases)
    for members in entry.groupings.values():
        assert set(members) < set(entry.classes)
    assert entry.licence
    assert entry.note


def test_published_sizes() -> None:
    sizes = {name: (sum(entry.counts), sum(entry.counts_test)) for name, entry in CATALOGUE.items()}
    assert sizes == {"mnist": (60_000, 10_000), "usps": (7_291, 2_007), "a9a": (32_561, 16_281)}


@pytest.mark.parametrize("name", sorted(CATALOGUE))
def test_real_sets_open(name: str, real: Path) -> None:
    need(real, name)
    entry = CATALOGUE[name]
    ref = expand(name=name, task="multiclass")[0]
    stream = open_stream(ref)
    assert stream.fingerprint == fingerprint(ref)
    assert stream.y_test is not None
    assert np.bincount(stream.y).tolist() == list(entry.counts)
    assert np.bincount(stream.y_test).tolist() == list(entry.counts_test)
    assert stream.X.shape[1] == entry.n_features


def test_real_scaling_and_layout(real: Path) -> None:
    def layout(name: str) -> tuple[str, np.dtype, float, float]:
        X: Matrix = open_stream(expand(name=name, task="auto")[0]).X
        return type(X).__name__, X.dtype, float(X.min()), float(X.max())

    for name in CATALOGUE:
        need(real, name)
    assert layout("mnist") == ("ndarray", np.float32, 0.0, 1.0)
    assert layout("usps") == ("ndarray", np.float64, -1.0, 1.0)
    assert layout("adult") == layout("a9a") == ("csr_array", np.float64, 0.0, 1.0)


def test_real_pairs_share_one_mapped_matrix(real: Path) -> None:
    need(real, "mnist")
    refs = expand(name="mnist", task="pairs")
    assert len(refs) == 45
    streams = [open_stream(ref) for ref in refs]
    counts = CATALOGUE["mnist"].counts
    assert len({id(stream.X) for stream in streams}) == 1
    assert len({stream.fingerprint for stream in streams}) == 45
    # Every digit is in nine pairs.
    assert sum(len(stream.y) for stream in streams) == 9 * sum(counts)
    three_five = streams[[ref.label for ref in refs].index("mnist[3-vs-5]")]
    assert three_five.classes == ("5", "3")
    assert np.bincount(three_five.y).tolist() == [counts[5], counts[3]]
    assert three_five.rows is not None
    assert three_five.rows[three_five.y == 1][0] == 7  # The first 3 of MNIST is its eighth image.


def test_real_round_digits(real: Path) -> None:
    need(real, "usps")
    stream = open_stream(expand(name="usps", task="round")[0])
    counts = CATALOGUE["usps"].counts
    assert stream.y.sum() == sum(counts[digit] for digit in (0, 3, 6, 8, 9))
    assert stream.rows is None


def test_real_mnist_pixels(real: Path) -> None:
    need(real, "mnist")
    X = np.asarray(open_stream(expand(name="mnist", task="multiclass")[0]).X)
    pixels = np.round(X * 255).astype(np.uint8)
    # md5 of the original uncompressed file: 16 bytes of header, then these pixels.
    header = bytes.fromhex("00000803 0000ea60 0000001c 0000001c")
    assert hashlib.md5(header + pixels.tobytes()).hexdigest() == "6bbc9ace898e44ae57da46a324031adb"


@pytest.mark.parametrize("keep", [100, 7_290])
def test_a_tampered_copy_is_refused_by_name(
    real: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keep: int
) -> None:
    import bz2

    need(real, "usps")
    text = bz2.decompress((real / "usps.bz2").read_bytes()).splitlines(keepends=True)
    (tmp_path / "usps.bz2").write_bytes(bz2.compress(b"".join(text[:keep]), 1))
    shutil.copy(real / "usps.t.bz2", tmp_path)
    monkeypatch.setenv("SINGLEPASS_DATA", str(tmp_path))
    with pytest.raises(
        InputError, match=rf"{tmp_path}/usps\.bz2: not the public data: {keep:,} rows instead of 7,291"
    ):
        open_stream(expand(name="usps", task="pair:3,5")[0])
