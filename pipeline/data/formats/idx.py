"""The idx format of MNIST: a magic number, the dimensions, then bytes."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ...errors import InputError
from ..io.text import open_bytes


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
    with open_bytes(path) as stream:
        content = stream.read()
    # Bytes 0 and 1 are zero, byte 2 the type (8: unsigned byte), byte 3 the number of dimensions, then one
    # big-endian 32-bit size for each.
    if len(content) < 4 or content[:3] != b"\x00\x00\x08" or len(content) < 4 + 4 * content[3]:
        raise InputError(f"{path}: not an idx file of unsigned bytes")
    start = 4 + 4 * content[3]
    shape = tuple(int(size) for size in np.frombuffer(content[4:start], dtype=">u4"))
    if len(content) - start != math.prod(shape):
        raise InputError(
            f"{path}: {len(content) - start:,} bytes follow the header, which promises {math.prod(shape):,}"
        )
    return np.frombuffer(content, dtype=np.uint8, offset=start).reshape(shape)
