"""The idx format of MNIST: a magic number, the dimensions, then bytes."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ...errors import InputError
from ..io.text import open_text

_BLOCK_BYTES = 1 << 20


def read_idx(path: Path) -> npt.NDArray[np.uint8]:
    """Read an idx file of unsigned bytes, plain or compressed.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    ndarray of uint8
        In the shape that the header gives.

    Raises
    ------
    InputError
        When the header is not one, or the bytes are fewer or more than it says.
    """
    with open_text(path) as (stream, _):
        # Bytes 0 and 1 are zero, byte 2 the type (8: unsigned byte), byte 3 the number of dimensions, then
        # one big-endian 32-bit size for each.
        start = stream.read(4)
        sizes = stream.read(4 * start[3]) if start[:3] == b"\x00\x00\x08" and len(start) == 4 else b""
        if not sizes or len(sizes) < 4 * start[3]:
            raise InputError(f"{path}: not an idx file of unsigned bytes")
        shape = tuple(int(size) for size in np.frombuffer(sizes, dtype=">u4"))
        content = b"".join(iter(lambda: stream.read(_BLOCK_BYTES), b""))
    if len(content) != math.prod(shape):
        raise InputError(
            f"{path}: {len(content):,} bytes follow the header, which promises {math.prod(shape):,}"
        )
    return np.frombuffer(content, dtype=np.uint8).reshape(shape)
