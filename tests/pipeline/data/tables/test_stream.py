"""Test the content fingerprint of tables, and the layout of sparse ones."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from singlepass.pipeline.data.tables.stream import Table, content_fingerprint, freeze, int32_csr


def test_indices_become_int32() -> None:
    wide = csr_array(np.array([[0.0, 2.0], [3.0, 0.0]]))
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    narrow = int32_csr(wide)
    assert narrow.indices.dtype == narrow.indptr.dtype == np.int32
    assert narrow.toarray().tolist() == wide.toarray().tolist()
    assert wide.indices.dtype == np.int64
    assert np.shares_memory(int32_csr(narrow).indices, narrow.indices)


def test_fingerprints_tell_contents_apart() -> None:
    X, y = np.zeros((2, 3)), np.array([0, 1], dtype=np.int32)
    tables = [
        Table(X, y, ("n", "p")),
        Table(X, y, ("n", "q")),
        Table(X, y[::-1].copy(), ("n", "p")),
        Table(X.astype(np.float32), y, ("n", "p")),
        Table(X.reshape(3, 2), y, ("n", "p")),
        Table(X, y, ("n", "p"), X, y),
    ]
    assert len({content_fingerprint(table) for table in tables}) == len(tables)
    assert content_fingerprint(Table(X.copy(), y.copy(), ("n", "p"))) == content_fingerprint(tables[0])


def test_frozen_arrays_are_read_only() -> None:
    table = freeze(Table(csr_array(np.eye(2)), np.array([0, 1], dtype=np.int32), ("n", "p")))
    assert not table.y.flags.writeable
    assert not table.X.data.flags.writeable
