"""Test that coroutines run to their end with and without a loop in this thread, and pass on exceptions."""

from __future__ import annotations

import asyncio

import pytest

from singlepass.pipeline.workers.cluster.connection import run_to_its_end


async def fail(seen: list[str]) -> None:
    await asyncio.sleep(0)
    seen.append("here")
    raise ValueError("said")


async def within_a_loop(seen: list[str]) -> None:
    run_to_its_end(fail(seen))


@pytest.mark.parametrize("inside", [False, True])
def test_a_coroutine_is_run_to_its_end(inside: bool) -> None:
    seen: list[str] = []
    call = (lambda: asyncio.run(within_a_loop(seen))) if inside else (lambda: run_to_its_end(fail(seen)))
    with pytest.raises(ValueError, match="said"):
        call()
    assert seen == ["here"]
