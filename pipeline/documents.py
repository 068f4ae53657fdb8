"""Small JSON documents with a checksum: a changed digit would be as good JSON as what was written.

What has no checksum was written before there were any, and is taken as it is.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from typing import Any

# The last key of a document.
_KEY = "crc32"


def seal_document(content: Mapping[str, Any]) -> bytes:
    """Return a JSON document with its checksum."""
    return json.dumps({**content, _KEY: _crc32(content)}, indent=1, ensure_ascii=False).encode()


def open_document(text: bytes) -> dict[str, Any]:
    """Return what `seal_document` was given.

    Raises
    ------
    ValueError
        It is damaged, or no JSON object.

    Examples
    --------
    >>> open_document(seal_document({"planned": 12}))
    {'planned': 12}
    >>> open_document(seal_document({"planned": 12}).replace(b"2,", b"3,"))
    Traceback (most recent call last):
    ValueError: not what was written
    """
    try:
        content = json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if not isinstance(content, dict):
        raise ValueError("no JSON object")
    if _KEY in content and content.pop(_KEY) != _crc32(content):
        raise ValueError("not what was written")
    return content


def _crc32(content: Mapping[str, Any]) -> str:
    # Of what it says, however it is laid out.
    return f"{zlib.crc32(json.dumps(content).encode()):08x}"
