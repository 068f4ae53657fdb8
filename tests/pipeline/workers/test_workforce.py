"""Test what a run says if all of its workers are unfit."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from singlepass.pipeline.errors import InputError
from singlepass.pipeline.workers.cluster import workforce
from singlepass.pipeline.workers.cluster.on_worker import Preparation


@pytest.mark.parametrize(
    ("causes", "line"),
    [
        ({"a": "old", "b": "old"}, "worker a and 1 more: old; no worker is left"),
        ({"a": "old", "b": "full"}, "worker a: old; 1 more is unfit, see above; no worker is left"),
        (
            {"a": "old", "b": "full", "c": "old", "d": "bare"},
            "worker a and 1 more: old; 2 more are unfit, see above; no worker is left",
        ),
    ],
)
def test_each_reason_is_given_for_its_workers_only(
    monkeypatch: pytest.MonkeyPatch, causes: dict[str, str], line: str
) -> None:
    monkeypatch.setattr(workforce, "_NOBODY_SECONDS", -1.0)
    found = workforce.Workforce(Preparation("run", (), (), 60.0), False, lambda _: None)
    found._present, found._unfit = set(causes), causes
    client: Any = None
    asyncio.run(found.look(client, causes, 600.0))
    with pytest.raises(InputError) as error:
        asyncio.run(found.look(client, causes, 600.0))
    assert str(error.value) == line


def test_the_longest_wait_with_unfit_workers_only() -> None:
    found = workforce.Workforce(Preparation("run", (), (), 60.0), False, lambda _: None)
    found._present, found._unfit = {"a"}, {"a": "old"}
    client: Any = None
    assert asyncio.run(found.look(client, ["a"], 600.0)) == 10.0
    # Another worker was requested.
    assert asyncio.run(found.look(client, ["a"], 600.0, 2)) == 600.0
    found._had_fit = True
    assert asyncio.run(found.look(client, ["a"], 600.0)) == 600.0


def test_a_full_output_ends_the_run_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[str] = []
    found = workforce.Workforce(Preparation("run", (), (), 60.0), False, lines.append)
    found._present, found._ready, found._writing = {"a", "b"}, {"a", "b"}, {"a", "b"}
    full: dict[str, Exception | None] = {"a": InputError("output out: no space"), "b": None}

    async def ask(_client: Any, address: str, *_: Any) -> Exception | None:
        return full[address]

    monkeypatch.setattr(found, "_ask", ask)
    client: Any = None
    # Another worker can write.
    asyncio.run(found.flush(client))
    assert (found.prepared, len(lines)) == ({"b"}, 1)
    full["b"] = full["a"]
    # Another worker was requested.
    found._awaits = True
    asyncio.run(found.flush(client))
    found._ready = found._writing = {"b"}
    found._awaits = False
    with pytest.raises(
        InputError, match=r"^no worker that can write is left; stored .* kept: output out: no space"
    ):
        asyncio.run(found.flush(client))


def test_workers_that_write_may_still_run_until_the_cells_are_done() -> None:
    found = workforce.Workforce(Preparation("run", (), (), 60.0), False, lambda _: None)
    found._present = found._writing = {"a"}
    # The second connection is lost before a worker is prepared.
    for lost in (True, True, False):
        found.forget(lost=lost)
        assert (found.writes, found.may_write) == (False, lost)
