"""Data sets: names and paths to streams. This is the only door.

`expand` turns a study entry into task references, `fingerprint` names their content, `open_stream` opens one
wherever it is needed. `describe` lists what there is; `fetch` downloads and `convert` parses ahead of a run.
Inside `watched`, files that are downloaded or parsed tell how far they are. `stream_blocks` reads a file in
its order without conversion, `stream_rows` an opened stream, both in bounded memory.
"""

from __future__ import annotations

from .descriptions import convert, describe, fetch
from .formats.blocks import Block, stream_blocks, stream_rows
from .io.progress import watched
from .resolve import expand, fingerprint, open_stream
from .sources import DatasetRow
from .tables.stream import Stream
from .tables.tasks import TaskRef

__all__ = [
    "Block",
    "DatasetRow",
    "Stream",
    "TaskRef",
    "convert",
    "describe",
    "expand",
    "fetch",
    "fingerprint",
    "open_stream",
    "stream_blocks",
    "stream_rows",
    "watched",
]
