"""Data sets: names and paths to streams. This is the only door.

`expand` turns a study entry into task references, `fingerprint` names their content, `open_stream` opens one
wherever it is needed. `describe` lists what there is; `fetch` downloads and `convert` parses ahead of a run;
`look` says what is known of an entry without either.
What is computed of training rows (`feature_fit`), where those are cut by a protocol, is computed by
`fitted`, along a stream by `along_stream` and `standardised`; `has_test` says whether the data have a test
part of their own, `notes` how features were made.
Inside `watched`, files that are downloaded or parsed tell how far they are. `stream_blocks` reads a file in
its order without conversion, `stream_rows` an opened stream, both in bounded memory. `pins_of` says which
tables a study is about, `lacking` which of them a machine has not, `chunks` and `receive` bring them there.
Rows in memory become a table (`array_table`, `frame_table`) that the cache keeps under a name (`keep_arrays`,
`keep_frame`).
"""

from __future__ import annotations

from .descriptions import convert, describe, fetch
from .formats.arrays import array_table, frame_table
from .formats.blocks import Block, stream_blocks, stream_rows
from .formats.labels import class_name
from .given_sources import ArraySource, FrameSource, frame_path, keep_arrays, keep_frame
from .io.progress import watched
from .outlook import Outlook, look
from .pins import Pin, pin, unpin
from .references import (
    along_stream,
    feature_fit,
    fitted,
    has_test,
    is_drawn,
    notes,
    standardised,
    task_classes,
)
from .resolve import dataset_names, expand, fingerprint, label_of, main_name, open_stream
from .sources import DatasetRow
from .supply import Chunk, Lack, chunks, complete, lacking, parcel, pins_of, receive
from .tables.cache import cache_folder
from .tables.stream import Stream
from .tables.tasks import TaskRef

__all__ = [
    "ArraySource",
    "Block",
    "Chunk",
    "DatasetRow",
    "FrameSource",
    "Lack",
    "Outlook",
    "Pin",
    "Stream",
    "TaskRef",
    "along_stream",
    "array_table",
    "cache_folder",
    "chunks",
    "class_name",
    "complete",
    "convert",
    "dataset_names",
    "describe",
    "expand",
    "feature_fit",
    "fetch",
    "fingerprint",
    "fitted",
    "frame_path",
    "frame_table",
    "has_test",
    "is_drawn",
    "keep_arrays",
    "keep_frame",
    "label_of",
    "lacking",
    "look",
    "main_name",
    "notes",
    "open_stream",
    "parcel",
    "pin",
    "pins_of",
    "receive",
    "standardised",
    "stream_blocks",
    "stream_rows",
    "task_classes",
    "unpin",
    "watched",
]
