"""Record what a Python process writes, unpickles and listens on, if this folder is on its path.

An event is a line of JSON in the file named by WATCHED: its kind, its object, and the calling modules.
"""

from __future__ import annotations

import json
import os
import sys
from types import FrameType
from typing import Any

_LOG = os.open(os.environ["WATCHED"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_TRUNC
# Positions of arguments that are changed paths, by event.
_CHANGED = {
    "os.mkdir": (0,),
    "os.remove": (0,),
    "os.rmdir": (0,),
    "os.rename": (0, 1),
    "os.link": (1,),
    "os.symlink": (1,),
    "os.truncate": (0,),
    "os.chmod": (0,),
    "os.chown": (0,),
    "os.utime": (0,),
    "shutil.rmtree": (0,),
    "sqlite3.connect": (0,),
}


def _note(kind: str, what: str) -> None:
    frame: FrameType | None = sys._getframe(2)
    callers = []
    while frame is not None:
        callers.append(frame.f_globals.get("__name__", ""))
        frame = frame.f_back
    os.write(_LOG, (json.dumps([kind, what, callers]) + "\n").encode())


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open":
        path, _, flags = arguments
        if not isinstance(path, int) and flags & _WRITING:
            _note("write", os.path.abspath(os.fsdecode(path)))
    elif event in ("os.remove", "os.rmdir") and arguments[-1] >= 0:
        # A call within an open folder comes from `shutil.rmtree`, which has its own event.
        return
    elif event in _CHANGED:
        for path in (arguments[place] for place in _CHANGED[event]):
            if not isinstance(path, int):
                _note("write", os.path.abspath(os.fsdecode(path)))
    elif event == "pickle.find_class":
        _note("unpickle", ".".join(map(str, arguments)))
    elif event == "socket.bind":
        # An address without a host is a path in the local file system.
        _note("bind", str(arguments[1][0]) if isinstance(arguments[1], tuple) else "")


sys.addaudithook(_hook)
