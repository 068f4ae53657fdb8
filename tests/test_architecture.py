"""The house: imports run one way between rooms, private names stay in theirs, rooms and files stay small."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# From the ground up; a room may import from those that it names, and each of them stands above it here.
# (`pipeline` and `learners` are the modules in those folders themselves.)
_LOWER = ("learners/numeric", "learners/estimator")
_KERNEL = (*_LOWER, "learners/kernel/values", "learners/kernel/support")
_TABLES = ("learners/numeric", "pipeline", "pipeline/data/io", "pipeline/data/tables")
_FORMATS = (*_TABLES, "pipeline/data/formats")
_RUN = (
    "learners",
    "learners/guests",
    "pipeline/noise",
    "pipeline",
    "pipeline/data",
    "pipeline/study",
    "pipeline/store",
)
_WORKERS = (*_RUN, "pipeline/run")
_PAGE = (
    "pipeline/noise",
    "pipeline",
    "pipeline/analysis",
    "workflows/report/words",
    "workflows/report/plots",
    "workflows/report/page",
)
_PAPER = (
    *_PAGE,
    "pipeline/study",
    "pipeline/run",
    "workflows/reproduce",
    "workflows/report/parts",
    "workflows/report/sections",
)
ROOMS: dict[str, tuple[str, ...]] = {
    "learners/numeric": (),
    "learners/estimator": ("learners/numeric",),
    "learners/linear/parts": _LOWER,
    "learners/linear": (*_LOWER, "learners/linear/parts"),
    "learners/linear/gradient": (*_LOWER, "learners/linear/parts", "learners/linear"),
    "learners/kernel/values": ("learners/numeric",),
    "learners/kernel/support": ("learners/numeric", "learners/kernel/values"),
    "learners/kernel": _KERNEL,
    "learners/svm/solvers": _KERNEL,
    "learners/svm": (*_KERNEL, "learners/kernel", "learners/svm/solvers"),
    "learners/guests": _LOWER,
    "learners": (
        *_LOWER,
        "learners/linear",
        "learners/linear/gradient",
        "learners/kernel",
        "learners/svm",
        "learners/guests",
    ),
    "learners/deployment": (*_LOWER, "learners/linear", "learners"),
    "pipeline/noise": (),
    "pipeline": ("pipeline/noise",),
    "pipeline/data/io": ("pipeline",),
    "pipeline/data/tables": _TABLES,
    "pipeline/data/formats": _TABLES,
    "pipeline/data/corpora": _FORMATS,
    "pipeline/data/catalogue": ("pipeline/noise", *_FORMATS, "pipeline/data/corpora"),
    "pipeline/data": (*_FORMATS, "pipeline/data/catalogue"),
    "pipeline/study": ("learners", "learners/guests", "pipeline/noise", "pipeline", "pipeline/data"),
    "pipeline/store": ("pipeline", "pipeline/data"),
    "pipeline/run": _RUN,
    "pipeline/workers": _WORKERS,
    "pipeline/workers/cluster": (*_WORKERS, "pipeline/workers"),
    "pipeline/analysis": ("pipeline/noise", "pipeline", "pipeline/data", "pipeline/study", "pipeline/store"),
    "workflows/report/words": ("pipeline/noise", "pipeline", "pipeline/analysis"),
    "workflows/report/plots": ("pipeline/noise", "pipeline", "pipeline/analysis", "workflows/report/words"),
    "workflows/report/page": _PAGE,
    "workflows/report/parts": _PAGE,
    "workflows/report/sections": (
        *_PAGE,
        "learners",
        "pipeline/study",
        "pipeline/run",
        "workflows/report/parts",
    ),
    "workflows/report": (*_PAGE, "workflows/report/parts", "workflows/report/sections"),
    "workflows/running": (*_WORKERS, "pipeline/workers", "pipeline/workers/cluster", "pipeline/analysis"),
    "workflows/reproduce": (
        *_PAGE,
        "pipeline/store",
        "pipeline/study",
        "pipeline/run",
        "workflows/report/parts",
        "workflows/report",
    ),
    # Exhibits are made of what reports are made of.
    "workflows/reproduce/papers/arow": _PAPER,
    "workflows/reproduce/papers/ramp_loss": _PAPER,
    "workflows/reproduce/papers": (
        *_PAPER,
        "workflows/reproduce/papers/arow",
        "workflows/reproduce/papers/ramp_loss",
    ),
    "workflows/bench": (
        *_RUN,
        "learners/numeric",
        "learners/kernel/values",
        "pipeline/run",
        "workflows/running",
    ),
    "workflows": (
        *_RUN,
        "pipeline/workers",
        "pipeline/workers/cluster",
        "pipeline/analysis",
        "workflows/running",
        "workflows/report/words",
        "workflows/report",
        "workflows/reproduce",
        "workflows/reproduce/papers",
        "workflows/bench",
    ),
    # What a notebook imports stands above: `workflows/__init__.py` finds it by name when it is asked for.
    "workflows/notebook": (
        *_PAGE,
        "learners",
        "learners/guests",
        "pipeline/data",
        "pipeline/study",
        "workflows/report/parts",
        "workflows/running",
        "workflows",
    ),
}
MOST_LINES = 600


def sources() -> list[Path]:
    return sorted(
        path for top in ("learners", "pipeline", "workflows") for path in (ROOT / top).rglob("*.py")
    )


def room_of(path: Path) -> str:
    return path.parent.relative_to(ROOT).as_posix()


def imports(path: Path, text: str) -> Iterator[tuple[int, str, str]]:
    """Yield line, room and name of everything that a module imports from the project."""
    here = path.parent.relative_to(ROOT).parts
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            for name in (alias.name for alias in node.names if alias.name.startswith("singlepass.")):
                base = ROOT.joinpath(*name.split(".")[1:])
                yield node.lineno, (base if base.is_dir() else base.parent).relative_to(ROOT).as_posix(), name
            continue
        if not isinstance(node, ast.ImportFrom):
            continue
        named = (node.module or "").split(".")
        if node.level:
            base = ROOT.joinpath(*here[: len(here) - node.level + 1], *named)
        elif named[0] == "singlepass":
            base = ROOT.joinpath(*named[1:])
        else:
            continue
        for alias in node.names:
            # A package, a module, or a name within a module or a package.
            package, within = base / alias.name, base if base.is_dir() else base.parent
            room = package if package.is_dir() else within
            yield node.lineno, room.relative_to(ROOT).as_posix(), f"{node.module or ''}.{alias.name}"


def climbing(path: Path, text: str) -> list[str]:
    """Return a line for each import that leaves its room for one that the room may not know."""
    own = room_of(path)
    return [
        f"{path.relative_to(ROOT)}:{line}: {own} may not import {name} from {room}"
        for line, room, name in imports(path, text)
        if room != own and room not in ROOMS[own]
    ]


def prying(path: Path, text: str) -> list[str]:
    """Return a line for each underscore name that is imported from another module."""
    return [
        f"{path.relative_to(ROOT)}:{line}: {name} is private"
        for line, room, name in imports(path, text)
        if any(part.startswith("_") and part != "__init__" for part in name.split("."))
    ]


def test_every_folder_is_a_room() -> None:
    assert {room_of(path) for path in sources()} == set(ROOMS)


def test_rooms_name_only_rooms_below_them() -> None:
    known: set[str] = set()
    for room, below in ROOMS.items():
        assert set(below) - {room} <= known, room
        known.add(room)


@pytest.mark.parametrize("check", [climbing, prying])
def test_imports_run_one_way(check) -> None:
    problems = [line for path in sources() for line in check(path, path.read_text(encoding="utf-8"))]
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize(
    ("place", "planted", "line"),
    [
        (
            "learners/numeric/rows.py",
            "from ..registry import available",
            "learners/numeric/rows.py:2: learners/",
        ),
        ("pipeline/counts.py", "from .data import expand", "may not import data.expand from pipeline/data"),
        (
            "pipeline/study/plan.py",
            "def f():\n    from ..run import task",
            "plan.py:3: pipeline/study may not",
        ),
        (
            "learners/kernel/norma.py",
            "from ..linear.parts.classes import block",
            "from learners/linear/parts",
        ),
        ("pipeline/counts.py", "from singlepass.learners.registry import available", "from learners"),
        ("pipeline/data/io/reading.py", "import singlepass.pipeline.run.task", "from pipeline/run"),
        (
            "pipeline/store/store.py",
            "from ..run.task import run_cell",
            "pipeline/store may not import run.task",
        ),
    ],
)
def test_an_upward_import_is_named(place: str, planted: str, line: str) -> None:
    found = climbing(ROOT / place, f"import os\n{planted}\n")
    assert len(found) == 1
    assert line in found[0]


def test_a_private_name_is_named() -> None:
    found = prying(
        ROOT / "pipeline/run/task.py", "from ..store.store import _hidden\nfrom .splits import split\n"
    )
    assert found == ["pipeline/run/task.py:1: store.store._hidden is private"]


def test_no_module_is_long() -> None:
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in sources()}
    assert {path.relative_to(ROOT).as_posix(): n for path, n in lengths.items() if n > MOST_LINES} == {}


def test_no_two_classes_have_one_name() -> None:
    names = [
        node.name
        for path in sources()
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef)
    ]
    assert sorted({name for name in names if names.count(name) > 1}) == []
