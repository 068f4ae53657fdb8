"""Test arrays that grow past memory, and passes over them."""

from __future__ import annotations

import mmap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from singlepass.pipeline.data.io import spill
from singlepass.pipeline.data.io.spill import SpillingArray, linked, release, steps
from singlepass.pipeline.errors import InputError


def mapping(array: Any) -> Any:
    while isinstance(array, np.ndarray) and array.base is not None:
        array = array.base
    return array


@pytest.mark.parametrize("limit", [1, 20, 10**6])
def test_blocks_end_up_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: int) -> None:
    monkeypatch.setattr(spill, "_SPILL_BYTES", limit)
    grown = SpillingArray(np.int32, tmp_path / "new")
    for start in range(0, 12, 3):
        grown.append(np.arange(start, start + 3))
    assert grown.size == 12
    whole = grown.finish((4, 3))
    assert whole.dtype == np.int32
    assert whole.tolist() == np.arange(12).reshape(4, 3).tolist()
    assert isinstance(mapping(whole), mmap.mmap) == (limit < 10**6)
    # The file has no name, so it needs no cleanup.
    assert not list(tmp_path.rglob("*.*"))


def test_a_file_gets_a_name_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spill, "_SPILL_BYTES", 1)
    grown = SpillingArray(np.float64, tmp_path)
    grown.append(np.arange(6))
    whole = grown.finish((3, 2))
    for part in (whole[1:], whole.astype(np.float32), np.arange(6.0)):
        assert not linked(part, tmp_path / "part.npy")
    if not linked(whole, tmp_path / "whole.npy"):
        pytest.skip("this system cannot link unnamed files")
    assert np.load(tmp_path / "whole.npy").tolist() == [[0, 1], [2, 3], [4, 5]]
    assert not linked(whole, tmp_path / "again.npy")
    assert [each.name for each in tmp_path.iterdir()] == ["whole.npy"]
    assert whole.tolist() == [[0, 1], [2, 3], [4, 5]]


def test_what_was_appended_is_copied(tmp_path: Path) -> None:
    buffer = np.zeros(3)
    grown = SpillingArray(np.float64, tmp_path)
    grown.append(buffer)
    buffer[:] = 7
    assert grown.finish().tolist() == [0, 0, 0]
    assert SpillingArray(np.float64, tmp_path).finish().tolist() == []


def test_a_folder_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spill, "_SPILL_BYTES", 1)
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"the cache cannot be written .*set SINGLEPASS_CACHE"):
        SpillingArray(np.float64, tmp_path / "file").append(np.zeros(3))


@pytest.mark.parametrize("shape", [(0,), (5,), (5, 3), (0, 3)])
def test_steps_are_the_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shape: tuple[int, ...]) -> None:
    monkeypatch.setattr(spill, "_STEP_BYTES", 16)
    array = np.arange(float(np.prod(shape))).reshape(shape)
    assert b"".join(steps(array)) == array.tobytes()
    if array.size:
        np.save(tmp_path / "a.npy", array)
        mapped = np.load(tmp_path / "a.npy", mmap_mode="r")
        assert b"".join(steps(mapped)) == array.tobytes()
        # Released pages are read again on use.
        release(mapped)
        np.testing.assert_array_equal(mapped, array)
