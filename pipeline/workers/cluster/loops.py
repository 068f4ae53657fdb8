"""Coroutines run to their end, also where a loop runs already, as one does in a notebook's thread."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any


def run_to_its_end(coroutine: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine in a loop of its own, in another thread where this one has a loop that runs.

    Raises
    ------
    BaseException
        What the coroutine raises; a KeyboardInterrupt when it has been cancelled because of that.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        asyncio.run(coroutine)
        return
    running: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]]] = []

    async def held() -> None:
        task = asyncio.current_task()
        assert task is not None
        running.append((asyncio.get_running_loop(), task))
        await coroutine

    with ThreadPoolExecutor(1, thread_name_prefix="singlepass-cluster") as pool:
        future = pool.submit(lambda: asyncio.run(held()))
        try:
            future.result()
        except KeyboardInterrupt:
            # Told to the thread that waits; what runs is in the other one, and may have ended by now.
            for loop, task in running:
                with contextlib.suppress(RuntimeError):
                    loop.call_soon_threadsafe(task.cancel)
            raise
