"""The bounded cache: one computation for all who wait, failures not kept, the oldest goes first."""

from __future__ import annotations

import threading

import pytest

from singlepass.pipeline.data.io.single_flight import Memo


def test_threads_share_one_computation() -> None:
    memo: Memo[object] = Memo(size=2)
    asked, release = threading.Event(), threading.Event()
    made, got = [], []

    def make() -> object:
        made.append(1)
        asked.set()
        release.wait(10)
        return object()

    threads = [threading.Thread(target=lambda: got.append(memo.get("k", make))) for _ in range(4)]
    threads[0].start()
    assert asked.wait(10)
    for thread in threads[1:]:
        thread.start()
    release.set()
    for thread in threads:
        thread.join()
    assert len(made) == 1
    assert len(got) == 4
    assert len(set(map(id, got))) == 1


def test_a_failure_is_raised_and_not_kept() -> None:
    memo: Memo[int] = Memo(size=2)
    with pytest.raises(ZeroDivisionError):
        memo.get("k", lambda: 1 // 0)
    assert memo.get("k", lambda: 7) == 7


def test_least_recently_used_goes_first() -> None:
    memo: Memo[int] = Memo(size=2)
    memo.get("a", lambda: 1)
    memo.get("b", lambda: 2)
    memo.get("a", lambda: 0)
    memo.get("c", lambda: 3)
    assert memo.get("a", lambda: -1) == 1
    assert memo.get("b", lambda: -2) == -2


def test_clear_forgets() -> None:
    memo: Memo[int] = Memo(size=2)
    memo.get("a", lambda: 1)
    memo.clear()
    assert memo.get("a", lambda: 2) == 2
