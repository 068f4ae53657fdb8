"""Data sets: names and paths to streams. This is the only door.

`expand` turns a study entry into task references, `fingerprint` names their content, `open_stream` opens one
wherever it is needed, `describe` lists what there is and `fetch` downloads ahead of a run.
"""

from __future__ import annotations

from .opening import expand, fingerprint, open_stream
from .overview import DatasetRow, describe, fetch
from .stream import Stream
from .tasks import TaskRef

__all__ = ["DatasetRow", "Stream", "TaskRef", "describe", "expand", "fetch", "fingerprint", "open_stream"]
