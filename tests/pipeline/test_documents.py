"""Test small documents: what is written is read back, and a changed digit is found."""

from __future__ import annotations

import pytest

from singlepass.pipeline.documents import open_document, seal_document


def test_a_changed_digit_is_found() -> None:
    written = seal_document({"planned": 12})
    assert open_document(written) == {"planned": 12}
    with pytest.raises(ValueError, match="wrong checksum"):
        open_document(written.replace(b"2,", b"3,"))
