"""Test sending tables to machines without the files, including those on which a cell fits features."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from singlepass.pipeline.data import (
    chunks,
    expand,
    fingerprint,
    lacking,
    open_stream,
    pinned_to,
    pins_of,
    supply,
)
from singlepass.pipeline.errors import InputError

Write = Callable[[str, str | bytes], Path]


@pytest.mark.parametrize(("test", "tables"), [(False, 2), (True, 1)])
def test_both_tables_of_a_data_set_are_pinned(
    write: Write, new_process: Callable[[], None], test: bool, tables: int
) -> None:
    path = write("f.csv", "a,day,label\n1,mon,x\n?,tue,y\n3,mon,x\n")
    options = {"standardize": True, "missing": "mean", "categorical": ["day"]}
    if test:
        options["test"] = str(write("t.csv", "a,day,label\n1,mon,x\n"))
    refs = expand(path=path, options=options)
    pins = pins_of(refs)
    assert len(pins) == tables
    assert all(sum(len(chunk.content) for chunk in chunks(each)) > 0 for each in pins)
    path.unlink()
    new_process()
    with pinned_to(pins):
        assert not lacking(pins)
        assert np.isfinite(open_stream(refs[0]).X).all()
        if not test:
            raw = np.asarray(open_stream(refs[0], raw=True).X)
            np.testing.assert_array_equal(raw, [[1, 1, 0], [np.nan, 0, 1], [3, 1, 0]])


def test_files_of_a_composition_are_pinned(write: Write, new_process: Callable[[], None]) -> None:
    first, second = write("f.csv", "a,label\n1,x\n2,y\n"), write("g.csv", "a,label\n3,x\n?,y\n")
    parts = [{"path": str(first)}, {"path": str(second), "missing": "mean"}]
    [ref] = expand(label="c", compose=parts)
    pins = pins_of([ref])
    assert len(pins) == 3
    assert all(sum(len(chunk.content) for chunk in chunks(each)) > 0 for each in pins)
    first.unlink()
    second.unlink()
    new_process()
    with pinned_to(pins):
        assert not lacking(pins)
        assert np.asarray(open_stream(ref).X).ravel().tolist() == [1.0, 2.0, 3.0, 2.0]


def test_a_machine_whose_cache_cannot_take_a_table_is_refused(
    write: Write, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise its cells would fail when they parse the machine's own file."""
    refs = expand(path=write("f.csv", "a,label\n1,x\n2,y\n"))
    fingerprint(refs[0])
    pins = pins_of(refs)
    assert sum(each.size for each in pins) > 0
    with monkeypatch.context() as patch:
        patch.setattr(supply, "cache_space", lambda: 1)
        assert not lacking(pins)
        shutil.rmtree(cache)
        with pytest.raises(InputError, match=r"cache .*: 0\.0 MB free, but tables of .* MB are needed"):
            lacking(pins)
    assert not lacking(pins)
    shutil.rmtree(cache)
    cache.write_text("a file")
    with pytest.raises(InputError, match=r"cache .*: cannot be written .*set SINGLEPASS_CACHE"):
        lacking(pins)


def test_a_damaged_table_is_received_again(
    write: Write, new_process: Callable[[], None], cache: Path
) -> None:
    """A machine without the file removes the table, so that the next run finds that it lacks it."""
    path = write("f.csv", "a,label\n1,x\n2,y\n3,x\n")
    [ref] = expand(path=path)
    fingerprint(ref)
    pins = pins_of([ref])
    path.unlink()
    [part] = cache.glob("streams/*/X_dense.npy")
    part.write_bytes(part.read_bytes()[:-1] + b"\x55")
    new_process()
    with pinned_to(pins):
        assert not lacking(pins)
        for _ in range(2):
            with pytest.raises(InputError, match=r"f\.csv: no such file; .* damaged .* with --retry-failed$"):
                open_stream(ref)
        assert [each.pin for each in lacking(pins)] == [*pins]
