"""Read and write small JSON documents with a checksum, which reveals damage that is still valid JSON.

Documents without a checksum are accepted, because earlier versions wrote none.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from typing import Any

# Key under which a document contains its checksum, as the last entry.
_KEY = "crc32"


def seal_document(content: Mapping[str, Any]) -> bytes:
    """Return a JSON document with this content and its checksum."""
    return json.dumps({**content, _KEY: _crc32(content)}, indent=1, ensure_ascii=False).encode()


def open_document(text: bytes) -> dict[str, Any]:
    """Return the content of a document that `seal_document` wrote.

    Raises ValueError if it is damaged or is not a JSON object.
    """
    try:
        content = json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if not isinstance(content, dict):
        raise ValueError("not a JSON object")
    if _KEY in content and content.pop(_KEY) != _crc32(content):
        raise ValueError("wrong checksum")
    return content


def _crc32(content: Mapping[str, Any]) -> str:
    # Compute the checksum of the content, not of the text, so that whitespace and indentation do not matter.
    return f"{zlib.crc32(json.dumps(content).encode()):08x}"
