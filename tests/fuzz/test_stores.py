"""Stores and prepared data with 20,000 damages each: what was written, or one line; never another figure."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy.sparse import csr_array

from singlepass.pipeline.data.tables.cache import (
    converted_table,
    kept_folder,
    kept_manifest,
)
from singlepass.pipeline.data.tables.stream import Table, content_fingerprint
from singlepass.pipeline.errors import InputError
from singlepass.pipeline.store.folder import Folder
from singlepass.pipeline.store.parts import Parts
from singlepass.pipeline.store.schema import PLAN, SCHEMAS, CellResult
from singlepass.pipeline.store.store import Store

from .mutations import mutated
from .trying import INPUTS, chunks, tried

TOKENS = [b"\x00", b"\xff\xff\xff\xff", b"\x15\x04", b"PAR1", b"mistakes", b"key", b"ok", b"SINGLEPASS-CRC32"]
TEXT = [
    b"0",
    b"1",
    b"9",
    b"-",
    b'"',
    b",",
    b"{",
    b"}",
    b"null",
    b"NaN",
    b"[" * 3000,
    b"\xff",
    b"\\u0000",
    b".",
]


def cell(key: str) -> CellResult:
    texts = {name: name for name in ("parent", "dataset", "source", "task", "algorithm", "learner", "params")}
    row: dict[str, Any] = {"key": key, **texts, "noise": "0.1", "seed": 3, "stage": "run"}
    row |= {"protocol": "prequential", "status": "ok", "mistakes": 7, "n_examples": 10, "test_accuracy": 0.75}
    return CellResult(row, {"t": [5, 10], "mistakes": [4, 7], "mistakes_clean": [3, 5]})


def _has_lost_its_checksum(document: bytes) -> bool:
    try:
        return "crc32" not in json.loads(document)
    except (ValueError, RecursionError, TypeError):
        return False


@pytest.fixture
def store(folder: Path) -> Store:
    made = Store(str(folder / "s"))
    made.prepare()
    made.write([cell("a"), cell("b"), cell("c")])
    rows = [{"key": key, "algorithm": "A", "grid": None, "repetitions": None} for key in "abc"]
    made.write_plan([pa.Table.from_pylist(rows, schema=PLAN)])
    made.write_json("study.json", {"name": "s", "seeds": [20], "noise": [0.0, 0.1], "fading": 0.5})
    return made


@chunks
def test_parts(store: Store, chunk: int) -> None:
    parts = Parts(Folder(store.url))
    # Both tables are read by the same code: every other chunk is of cells.
    within = ("cells", "curves")[chunk % 2]
    (name,) = parts.names()
    columns = SCHEMAS[within].names
    (written,) = parts.read([name], within, columns)
    path = Path(store.root) / within / name
    valid = path.read_bytes()

    def read(path: Path) -> pa.Table:
        (found,) = parts.read([name], within, columns)
        return found

    def check(content: bytes, found: pa.Table) -> None:
        assert found.equals(written)

    tried(path, [valid], chunk, read, check, TOKENS, named=store.url)


@chunks
def test_what_is_set_aside(store: Store, chunk: int) -> None:
    """The next run sets aside just what cannot be read: a hundredth of the damages, for it moves files."""
    parts = Parts(Folder(store.url))
    (name,) = parts.names()
    paths = {within: Path(store.root) / within / name for within in SCHEMAS}
    valid = {within: path.read_bytes() for within, path in paths.items()}
    for number in range(chunk * INPUTS, (chunk + 1) * INPUTS, 100):
        rng = random.Random(number)
        within = rng.choice(list(paths))
        paths[within].write_bytes(mutated([valid[within]], rng, TOKENS))
        try:
            list(parts.read([name], within, SCHEMAS[within].names))
        except InputError:
            assert parts.set_damaged_aside() == [f"{store.url}/cells/{name}"]
            assert parts.names() == []
        else:
            assert parts.set_damaged_aside() == []
        for each, path in paths.items():
            path.write_bytes(valid[each])


@chunks
def test_plans(store: Store, chunk: int) -> None:
    path = Path(store.root) / "plan.parquet"

    valid = store.plan()

    def check(content: bytes, found: pa.Table) -> None:
        assert found == valid

    tried(path, [path.read_bytes()], chunk, lambda path: store.plan(), check, TOKENS)


@chunks
def test_documents(store: Store, chunk: int) -> None:
    path = Path(store.root) / "study.json"
    written = store.read_json("study.json")

    def check(content: bytes, found: dict[str, Any]) -> None:
        # What has lost its checksum is taken for a document from before there were any.
        assert found == written or _has_lost_its_checksum(content)

    tried(path, [path.read_bytes()], chunk, lambda path: store.read_json("study.json"), check, TEXT)


@pytest.mark.slow
@chunks
def test_prepared_data(folder: Path, chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The table equals the prepared one after any damage to a file."""
    monkeypatch.setenv("SINGLEPASS_CACHE", str(folder))
    X = csr_array(np.array([[0.5, 0, 2], [0, 0, 1.5], [7, 0, 0]]))
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    table = Table(X, np.array([1, 0, 1], np.int32), ("no", "yes"), notes=("a note",))
    recipe = {"file": "f", "options": {"header": True}}
    made: list[int] = []

    def parse() -> Table:
        made.append(1)
        return table

    fingerprint = content_fingerprint(converted_table(recipe, parse))
    place = kept_folder(recipe)
    assert place is not None
    valid = {path.name: path.read_bytes() for path in sorted(place.iterdir())}
    made.clear()
    for number in range(chunk * INPUTS, (chunk + 1) * INPUTS):
        rng = random.Random(number)
        name = rng.choice(list(valid))
        content = mutated([valid[name]], rng, TEXT)
        if content == valid[name]:
            continue
        if name.endswith(".npy"):
            # Of another length it is not looked into.
            content = content[: len(valid[name])].ljust(len(valid[name]), b"\x00")
        (place / name).write_bytes(content)
        if name == "manifest.json" and _has_lost_its_checksum(content):
            # Taken for one from before there were checksums.
            (place / name).write_bytes(valid[name])
        for _ in range(2):
            manifest = kept_manifest(recipe)
            if manifest is not None:
                stated = manifest["fingerprint"], tuple(manifest["classes"]), tuple(manifest["notes"])
                assert stated == (fingerprint, table.classes, table.notes), (number, name, content)
            assert content_fingerprint(converted_table(recipe, parse)) == fingerprint, (number, name, content)
        assert manifest is not None
        for each, kept in valid.items():
            (place / each).write_bytes(kept)
    assert INPUTS // 4 < len(made) < INPUTS
