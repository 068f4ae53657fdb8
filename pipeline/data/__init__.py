"""Open data sets by name or path as streams. Other packages import only from this module.

`expand` turns a study entry into task references, `fingerprint` identifies the content of a task's data, and
`open_stream` opens a task's rows on any machine. `describe` lists the named data sets; `fetch` downloads them
ahead of a run; `look` previews an entry without downloading or parsing it.

`base_set` names the collection that a source is a part of; statistical tests count the sets of one collection
as a single data set.

`feature_fit` says which rows give the statistics by which features are standardized or filled. If a protocol
splits off test rows itself, `fitted` changes the features with statistics of the training rows. For features
that are standardized online there are `along_stream` and `standardised`. `has_test` says whether the data
have an official test part, `notes` how columns were turned into features. `rows_by_number` draws rows of a
long generated stream one range at a time.

Inside `watched`, downloads and conversions report their progress. `pins_of` identifies the parsed tables that
a study needs, `lacking` lists those that a machine does not have, `chunks` and `receive` transfer them.
`array_table` and `frame_table` turn rows in memory into a table; `keep_arrays` and `keep_frame` store it in
the cache under a name. `sparse_tokens` with `svmlight_scan` parses svmlight text without a table.
"""

from __future__ import annotations

from .catalogue.download import mirrored, retrieve
from .formats.arrays import array_table, check_test_pair, frame_table
from .formats.labels import class_name
from .formats.sparse_text import sparse_tokens, svmlight_scan
from .given_sources import ArraySource, FrameSource, frame_path, keep_arrays, keep_frame
from .io.folders import cache_folder, cache_space
from .io.progress import watched
from .pins import Pin, pinned_to
from .preview import Outlook, describe, fetch, look
from .remote import absolute, look_again
from .resolve import (
    along_stream,
    base_set,
    cautions,
    dataset_names,
    differs_by_seed,
    expand,
    feature_fit,
    fingerprint,
    fitted,
    has_test,
    is_drawn,
    is_here,
    is_standardized,
    label_of,
    main_name,
    notes,
    open_stream,
    rows_by_number,
    scales_apart,
    standardised,
    task_classes,
)
from .sources import DatasetRow
from .supply import Lack, chunks, complete, lacking, parcel, pins_of, receive
from .tables.stream import Stream, matrix_bytes
from .tables.tasks import TaskRef

__all__ = [
    "ArraySource",
    "DatasetRow",
    "FrameSource",
    "Lack",
    "Outlook",
    "Pin",
    "Stream",
    "TaskRef",
    "absolute",
    "along_stream",
    "array_table",
    "base_set",
    "cache_folder",
    "cache_space",
    "cautions",
    "check_test_pair",
    "chunks",
    "class_name",
    "complete",
    "dataset_names",
    "describe",
    "differs_by_seed",
    "expand",
    "feature_fit",
    "fetch",
    "fingerprint",
    "fitted",
    "frame_path",
    "frame_table",
    "has_test",
    "is_drawn",
    "is_here",
    "is_standardized",
    "keep_arrays",
    "keep_frame",
    "label_of",
    "lacking",
    "look",
    "look_again",
    "main_name",
    "matrix_bytes",
    "mirrored",
    "notes",
    "open_stream",
    "parcel",
    "pinned_to",
    "pins_of",
    "receive",
    "retrieve",
    "rows_by_number",
    "scales_apart",
    "sparse_tokens",
    "standardised",
    "svmlight_scan",
    "task_classes",
    "watched",
]
