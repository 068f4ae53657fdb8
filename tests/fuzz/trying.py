"""What all tests of damaged files do: try each, within a time, and look at what came of it."""

from __future__ import annotations

import io
import random
import signal
import tarfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from singlepass.pipeline.errors import InputError

from .mutations import mutated

# Of 20 chunks, the first is among the usual tests, two more are slow, and the others run by hand.
CHUNKS, SLOW, INPUTS = 20, 3, 1000
# A file of some hundred bytes is read within milliseconds. With a damaged size, pyarrow may clear a gigabyte
# of memory first, which takes seconds on a busy machine.
LONGEST_SECONDS = 60.0
chunks = pytest.mark.parametrize(
    "chunk",
    [
        0,
        *(pytest.param(chunk, marks=pytest.mark.slow) for chunk in range(1, SLOW)),
        *(pytest.param(chunk, marks=pytest.mark.faults) for chunk in range(SLOW, CHUNKS)),
    ],
)


def tar_of(members: Sequence[tuple[str, bytes]], mode: Any = "w") -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode=mode, format=tarfile.USTAR_FORMAT) as archive:
        for name, content in members:
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return made.getvalue()


@contextmanager
def _within(seconds: float) -> Iterator[None]:
    def late(number: int, frame: FrameType | None) -> None:
        raise AssertionError(f"took longer than {seconds} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def tried(
    path: Path,
    valid: Sequence[bytes],
    chunk: int,
    read: Callable[[Path], Any],
    check: Callable[[bytes, Any], None],
    tokens: Sequence[bytes] | None = None,
    named: str = "",
) -> None:
    """Read damaged files; some must be right, and some wrong, or nothing was tried."""
    right = wrong = 0
    # What has been read is not read again: an eighth is the valid files themselves.
    seen: dict[bytes, bool] = {}
    for number in range(chunk * INPUTS, (chunk + 1) * INPUTS):
        rng = random.Random(number)
        content = mutated(valid, rng, tokens) if tokens else mutated(valid, rng)
        if content in seen:
            right, wrong = right + seen[content], wrong + (not seen[content])
            continue
        path.write_bytes(content)
        try:
            with _within(LONGEST_SECONDS):
                found = read(path)
        except InputError as error:
            wrong += 1
            line = str(error)
        except Exception as error:
            raise AssertionError((number, content)) from error
        else:
            right, line = right + 1, ""
            try:
                check(content, found)
            except Exception as error:
                raise AssertionError((number, content, found)) from error
        seen[content] = not line
        assert not line or ((named or str(path)) in line and "\n" not in line), (number, content, line)
    assert right > INPUTS // 50
    assert wrong > INPUTS // 10
