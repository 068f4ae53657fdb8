"""Test which workers are refused, which tables the cells of a run read, and which tasks wait."""

from __future__ import annotations

from contextlib import nullcontext
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from singlepass.pipeline import data
from singlepass.pipeline.errors import InputError
from singlepass.pipeline.study.plan import make_plan
from singlepass.pipeline.study.study import Study
from singlepass.pipeline.workers import timeout
from singlepass.pipeline.workers.cluster import on_worker
from singlepass.pipeline.workers.cluster.on_worker import PlannedGuest, Preparation, guest_problem, prepare
from singlepass.workflows.running.workers import guests_of

SGD = "sklearn.linear_model:SGDClassifier"
VERSION = f"scikit-learn {metadata.version('scikit-learn')}"


def test_only_learners_of_other_packages_are_asked_for() -> None:
    table = {"name": "mixed", "datasets": [{"name": "breast-cancer"}]}
    table["algorithms"] = [{"name": "AROW"}, {"name": SGD, "label": "SGD"}]
    guests = guests_of(make_plan(Study.model_validate(table)))
    assert guests == (PlannedGuest(SGD, VERSION, None),)
    assert not guest_problem(guests)


@pytest.mark.parametrize(
    ("guest", "line"),
    [
        (
            (SGD, "scikit-learn 0.1", None),
            f"algorithm '{SGD}': planned with scikit-learn 0.1, but has {VERSION}",
        ),
        (("no_such_module:Class", "theirs 1.0", None), "module 'no_such_module' is not installed"),
        (("Absent", "theirs 1.0", None), "algorithm 'Absent' is unknown"),
    ],
)
def test_a_worker_that_lacks_a_learner_is_refused(guest: tuple[str, str, None], line: str) -> None:
    preparation = Preparation("run", (), (), 60.0, guests=(PlannedGuest(*guest),))
    with pytest.raises(InputError) as caught:
        prepare(preparation)
    assert line in str(caught.value)
    assert str(caught.value).endswith("; give it the client's packages and code, and restart it")


def test_runs_planned_with_different_contents_of_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each reads the content that it was planned with, on a worker that has another file."""
    monkeypatch.setattr(on_worker, "_prepared", {})
    monkeypatch.setattr(on_worker, "ended_when_frozen", lambda seconds: nullcontext())
    file, planned, preparations = tmp_path / "f.csv", {}, []
    for run, content in {"one": "a,y\n1,x\n2,z\n", "two": "a,y\n3,x\n4,z\n", "": "a,y\n5,x\n6,z\n"}.items():
        file.write_text(content)
        [ref] = data.expand(path=file)
        planned[run] = data.fingerprint(ref)
        preparations.append(Preparation(run, (), data.pins_of([ref]), 60.0))
    for each in preparations[:2]:
        assert not prepare(each).lacking
    monkeypatch.setattr(timeout, "run_reading", lambda *_: [data.fingerprint(ref)])
    read: Any = {run: on_worker.run_here(run, (), False, 0) for run in ("one", "two")}
    assert read == {"one": [planned["one"]], "two": [planned["two"]]}
    assert data.fingerprint(ref) == planned[""]


@pytest.fixture
def new_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make this process a worker that knows no run, and on which a second passes with each pause."""
    now = [0.0]
    monkeypatch.setattr(on_worker, "_prepared", {})
    monkeypatch.setattr(on_worker, "_called", set())
    monkeypatch.setattr(on_worker, "_first_tasks", {})
    monkeypatch.setattr(on_worker, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(on_worker._arrived, "wait", lambda seconds: now.append(now.pop() + seconds))


def _waits(run: str) -> float:
    """Run a task of a run for which this worker is not prepared, and return how long it waits in seconds."""
    began = on_worker.time.monotonic()
    with pytest.raises(on_worker.NotPrepared):
        on_worker.run_here(run, (), False, 0)
    return on_worker.time.monotonic() - began


@pytest.mark.usefixtures("new_worker")
def test_tasks_of_an_abandoned_run_do_not_block_other_runs() -> None:
    on_worker._prepared["other"] = on_worker._Prepared(Preparation("other", (), (), 60.0), {}, None)
    assert [_waits("abandoned") <= 31, _waits("abandoned")] == [True, 0]


@pytest.mark.usefixtures("new_worker")
@pytest.mark.parametrize("others", [False, True])
def test_tasks_wait_for_tables_or_while_no_other_run_needs_the_worker(
    monkeypatch: pytest.MonkeyPatch, others: bool
) -> None:
    if others:
        lack = data.Lack(data.Pin("mine.csv", (), "{}"), "mine.csv: no such file")
        monkeypatch.setattr(data, "lacking", lambda pins: [lack])
        on_worker._prepared["other"] = on_worker._Prepared(Preparation("other", (), (), 60.0), {}, None)
        assert prepare(Preparation("live", (), (lack.pin,), 60.0)).lacking == [lack]
    assert min(_waits("live"), _waits("live")) > 119
