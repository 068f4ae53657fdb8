"""Test archives of results: what they contain, and that verification finds changed cells and bad code."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from singlepass.pipeline.errors import InputError
from singlepass.pipeline.store.archive import unpack
from singlepass.pipeline.store.schema import SCHEMAS
from singlepass.pipeline.store.store import Store
from singlepass.pipeline.store.tables import to_parquet
from singlepass.pipeline.study.study import TUNING_SEED
from singlepass.pipeline.study.study_file import parse_study
from singlepass.workflows.merging import merge_results
from singlepass.workflows.running import recomputation
from singlepass.workflows.running.run import run_study
from singlepass.workflows.submission import Verification, submit, verify
from singlepass.workflows.submission import _unearned as unearned

from .conftest import Silent

Call = Callable[..., Any]
# No learner of the package, whose code each subprocess would compile.
PLUGIN = """
import os

class Submitted:
    def __init__(self, positive=1):
        self.positive = positive
    def partial_fit(self, X, y, classes=None):
        return self
    def predict(self, X):
        return [self.positive] * len(X)
"""
STUDY: dict[str, Any] = {
    "name": "submitted",
    "protocol": "holdout",
    "noise": [0.0, 0.2],
    "seeds": 2,
    "checkpoints": 3,
    "datasets": [{"name": "breast-cancer", "max_examples": 60}],
    "algorithms": [{"name": "Submitted", "positive": [0, 1]}],
}
CELLS = 8


@pytest.fixture(scope="session")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("plugin") / "submitted.py"
    path.write_text(PLUGIN)
    return path


@pytest.fixture(scope="session")
def results(tmp_path_factory: pytest.TempPathFactory, plugin: Path) -> Path:
    out = tmp_path_factory.mktemp("results") / "submitted"
    run_study(parse_study(STUDY), str(out), progress=Silent(), plugins=(str(plugin),))
    return out


@pytest.fixture
def archive(tmp_path: Path, results: Path) -> Path:
    path, cells = submit(str(results), tmp_path / "archive.zip")
    assert cells == CELLS
    return path


def verified(archive: Path, **options: Any) -> Verification:
    given: dict[str, Any] = {"cells": CELLS, "seed": 0, "seconds": 600, "memory": 16, "trusted": True}
    return verify(archive, **given | options)


def answered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let verification compute cells in this process, which has compiled and imported everything."""

    def recomputed(archive: Path, work: Path, seconds: float, memory: float) -> dict[str, Any]:
        task = json.loads((work / recomputation.TASK).read_text())
        # The plug-in is loaded: a second copy of it would have the same name.
        return recomputation.recompute(task, [])

    monkeypatch.setattr("singlepass.workflows.submission._recomputed", recomputed)


def forged(archive: Path, change: Callable[[dict[str, list[dict[str, Any]]]], str]) -> str:
    """Change the tables of an archive, rows by "cells" and "curves", and return what `change` returns."""
    folder = archive.with_suffix("")
    unpack(archive, folder)
    store = Store(str(folder))
    tables = {within: store.own(within) for within in ("cells", "curves")}
    rows = {within: table.to_pylist() for within, table in tables.items()}
    key = change(rows)
    with zipfile.ZipFile(archive) as old:
        files = {name: old.read(name) for name in old.namelist()}
    for within, changed in rows.items():
        table = pa.Table.from_pylist(changed, SCHEMAS[within])
        files[f"{within}/part-own.parquet"] = to_parquet(table)
    with zipfile.ZipFile(archive, "w") as new:
        for name, content in files.items():
            new.writestr(name, content)
    return key


def test_an_archive_has_the_code_and_what_the_output_computed(archive: Path, plugin: Path) -> None:
    with zipfile.ZipFile(archive) as opened:
        assert set(opened.namelist()) == {
            *("study.json", "plan.json", "provenance.json", "plan.parquet", "plugins/submitted.py"),
            *("cells/part-own.parquet", "curves/part-own.parquet"),
        }
        assert opened.read("plugins/submitted.py") == plugin.read_bytes()
        assert str(plugin).encode() not in opened.read("plan.json")


def test_verification_needs_trust(archive: Path) -> None:
    with pytest.raises(InputError, match=r"archive\.zip: verifying runs the code in it, .*then add --trust$"):
        verified(archive, trusted=False)
    with pytest.raises(InputError, match=r": is a folder: give an archive"):
        verified(archive.parent, trusted=False)


@pytest.mark.slow
def test_an_honest_archive_passes_in_a_subprocess(archive: Path) -> None:
    found = verified(archive)
    assert (found.study, found.cells, found.problems) == ("submitted", CELLS, [])
    assert len(found.sample) == CELLS


def test_a_sample_is_drawn_by_its_seed(archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answered(monkeypatch)
    samples = [verified(archive, cells=3, seed=seed).sample for seed in (0, 0, 1)]
    assert samples[0] == samples[1] != samples[2]
    assert [len(sample) for sample in samples] == [3, 3, 3]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("column", "value"),
    [("mistakes", 1), ("n_examples", 59), ("test_accuracy", 1.0), ("test_auc", 1.0), ("test_mistakes", None)],
)
def test_a_forged_cell_is_found_by_a_sample_that_contains_it(
    archive: Path, column: str, value: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered(monkeypatch)

    def change(rows: dict[str, list[dict[str, Any]]]) -> str:
        row = next(row for row in rows["cells"] if row["stage"] == "run")
        row[column] = value
        return str(row["key"])

    key = forged(archive, change)
    for seed in range(6):
        found = verified(archive, cells=3, seed=seed)
        problems = [
            line for line in found.problems if line.startswith(f"cell {key} (Submitted on breast-cancer")
        ]
        assert len(problems) == (key in found.sample)
        assert all(f"): {column} is " in line and line.endswith(" here") for line in problems)
    assert any(f"{column} is" in line for line in verified(archive).problems)


def test_a_forged_curve_and_a_chosen_winner_are_found(archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answered(monkeypatch)

    def change(rows: dict[str, list[dict[str, Any]]]) -> str:
        point = rows["curves"][1]
        point["mistakes_clean"] += 1
        for row in rows["cells"]:
            # Both points of the grid swap their mistakes, so that the other one wins.
            if row["stage"] == "tune" and row["noise"] == "0":
                row["validation_mistakes"] = 60 - row["validation_mistakes"]
        return str(point["key"])

    key = forged(archive, change)
    problems = verified(archive).problems
    assert any(
        f"cell {key} " in line and "mistakes_clean along the learning curve differs" in line
        for line in problems
    )
    assert any("final cells have" in line and "won the grid" in line for line in problems)


def test_a_value_that_an_earlier_version_did_not_store_is_no_difference(
    archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered(monkeypatch)

    def change(rows: dict[str, list[dict[str, Any]]]) -> str:
        for row in rows["cells"]:
            row["test_mistakes"] = None
        return ""

    forged(archive, change)
    assert verified(archive).problems
    monkeypatch.setattr("singlepass.workflows.submission.version", lambda package: "a later one")
    assert verified(archive).problems == []


def test_winners_are_judged_by_the_rule_of_the_study_on_whole_grids() -> None:
    table = {**STUDY, "algorithms": [{"name": "Projectron", "eta": [0.1, 0.5]}], "winner": "sparsest"}
    # The grid is that of the study, whatever the archive says.
    common = {"dataset": "d", "algorithm": "Projectron", "noise": "0", "grid": None}
    grids = [("d", "Projectron", "Projectron", {"eta": [0.1, 0.5]}, ["eta"])]
    common |= {"status": "ok", "seed": TUNING_SEED, "stage": "tune", "n_examples": 100}
    common |= {"validation_mistakes": None, "validation_examples": None}
    rows = pd.DataFrame(
        [
            common | {"params": '{"eta": 0.1}', "mistakes": 20, "support_vectors": 50},
            common | {"params": '{"eta": 0.5}', "mistakes": 21, "support_vectors": 5},
            common | {"params": '{"eta": 0.5}', "seed": 0, "stage": "run"},
        ]
    )
    assert unearned(rows, parse_study(table), grids) == ([], 0)
    problems, _ = unearned(rows, parse_study({**table, "winner": "best"}), grids)
    assert "won the grid" in problems[0]
    # The other point may be in a base, from which the archive has no cells.
    for part in (rows[1:], rows[2:]):
        assert unearned(part, parse_study(table), grids) == ([], 1)
    assert unearned(rows[:2], parse_study(table), grids) == ([], 0)
    # The losing point twice is no whole grid.
    assert unearned(rows.iloc[[0, 0, 2]], parse_study(table), grids) == ([], 1)
    # Another algorithm uses the winner (`tuned_as`).
    follower = pd.concat([rows[:2], rows[2:].assign(algorithm="F", params='{"eta": 0.1}')])
    grids.append(("d", "F", "Projectron", {"eta": [0.1, 0.5]}, ["eta"]))
    problems, _ = unearned(follower, parse_study(table), grids)
    assert problems == [
        'F on d, noise 0: final cells have {"eta": 0.1}, but {"eta": 0.5} won the grid',
    ]
    # One that sets the parameter itself does not.
    grids[1] = ("d", "F", "Projectron", {"eta": [0.1, 0.5]}, [])
    assert unearned(follower, parse_study(table), grids) == ([], 0)


def test_ties_go_to_the_first_point_by_the_sorted_names_of_parameters() -> None:
    table = {**STUDY, "algorithms": [{"name": "Projectron", "gamma": [1.0, 2.0], "eta": [0.1, 0.5]}]}
    grids = [("d", "Projectron", "Projectron", {"gamma": [1.0, 2.0], "eta": [0.1, 0.5]}, ["gamma", "eta"])]
    common = {"dataset": "d", "algorithm": "Projectron", "noise": "0", "grid": None, "status": "ok"}
    common |= {"seed": TUNING_SEED, "stage": "tune", "n_examples": 100, "support_vectors": 5}
    common |= {"validation_mistakes": None, "validation_examples": None}
    points = [json.dumps({"eta": eta, "gamma": gamma}) for eta in (0.1, 0.5) for gamma in (1.0, 2.0)]
    rows = [common | {"params": point, "mistakes": 20} for point in points]
    # The other points tie; of these, the second is the first.
    rows[0]["mistakes"] = 21
    final = common | {"params": points[1], "seed": 0, "stage": "run"}
    assert unearned(pd.DataFrame([*rows, final]), parse_study(table), grids) == ([], 0)


@pytest.mark.parametrize(
    "more",
    [
        {"tune_each": True},
        pytest.param({"order": "given", "noise": 0.0}, marks=pytest.mark.slow),
        pytest.param(
            {
                "datasets": [
                    {"name": "breast-cancer", "max_examples": 40, "parameters": {"S": {"positive": [1, 0]}}}
                ]
            },
            marks=pytest.mark.slow,
        ),
    ],
)
def test_every_kind_of_honest_cell_is_one_of_the_study(
    tmp_path: Path, results: Path, plugin: Path, monkeypatch: pytest.MonkeyPatch, more: dict[str, Any]
) -> None:
    answered(monkeypatch)
    own = {"name": "Submitted"}
    study = {
        **STUDY,
        "baselines": True,
        "datasets": [{"name": "breast-cancer", "max_examples": 40}],
        "algorithms": [
            {**own, "label": "S"} if "datasets" in more else {**own, "label": "S", "positive": [0, 1]},
            {**own, "label": "as S", "tuned_as": "S"},
            {"name": "PassiveAggressive", "C": [0.1, 1.0], "label": "leader", "tune": "leader"},
            {"name": "Perceptron", "label": "reset", "reset": "ddm"},
            {"name": "Perceptron", "query": "selective"},
            {"name": "KernelPerceptron", "gamma": 1.0},
            {"name": "RemoveOldestPerceptron", "gamma": 1.0, "budget": {"support_of": "KernelPerceptron"}},
            {"name": "sklearn.linear_model:SGDClassifier"},
            {**own, "label": "failed", "positive": "no class"},
        ],
        **more,
    }
    run_study(parse_study(study), str(tmp_path / "out"), progress=Silent(), plugins=(str(plugin),))
    submit(str(tmp_path / "out"), tmp_path / "honest.zip")
    found = verified(tmp_path / "honest.zip", cells=1)
    assert (found.problems, found.unjudged, found.missing) == ([], 0, 0)
    assert found.unfinished > 0

    def change(rows: dict[str, list[dict[str, Any]]]) -> str:
        row = next(row for row in rows["cells"] if "budget" in row["params"])
        row["params"] = json.dumps({**json.loads(row["params"]), "budget": 99})
        return str(row["key"])

    key = forged(tmp_path / "honest.zip", change)
    problems = verified(tmp_path / "honest.zip", cells=1).problems
    assert any(
        f"cell {key} (" in line and "budget is 99, but KernelPerceptron has" in line for line in problems
    )


@pytest.mark.parametrize("column", ["seed", "params", "stage"])
def test_cells_that_the_study_does_not_have_are_found_without_drawing_them(
    archive: Path, column: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered(monkeypatch)

    def change(rows: dict[str, list[dict[str, Any]]]) -> str:
        found = [row for row in rows["cells"] if row["stage"] == "run"]
        for row in found:
            row[column] = {"seed": 5, "params": '{"positive": 7}', "stage": "tune"}[column]
        return str(found[0]["key"])

    forged(archive, change)
    found = verified(archive, cells=1)
    assert "the study has no such cell with" in found.problems[0]
    assert "nor has it 3 more cells" in found.problems[0]
    assert (found.missing, found.planned) == (4, CELLS)


def test_missing_and_failed_cells_are_told(
    archive: Path, singlepass: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered(monkeypatch)

    def change(rows: dict[str, list[dict[str, Any]]]) -> str:
        final = [row for row in rows["cells"] if row["stage"] == "run"]
        final[0]["status"] = "failed"
        rows["cells"].remove(final[1])
        return ""

    forged(archive, change)
    told = singlepass("verify", str(archive), "--trust", "--cells", "1").stdout.splitlines()
    assert told[1:] == [
        f"1 of {CELLS} cells of the study are not in the archive",
        "not checked: 1 cell of the archive without a result",
    ]

    def none(rows: dict[str, list[dict[str, Any]]]) -> str:
        rows["cells"].clear()
        return ""

    shutil.rmtree(archive.with_suffix(""))
    forged(archive, none)
    with pytest.raises(InputError, match=r"archive\.zip: no cell of its plan is finished"):
        verified(archive)


@pytest.mark.slow
def test_a_repetition_of_all_seeds_does_not_replace_a_missing_cell(
    tmp_path: Path, plugin: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Merged halves have it twice, each on the seed that computed it."""
    answered(monkeypatch)
    keys = {**STUDY, "protocol": "prequential", "order": "given", "algorithms": [{"name": "Submitted"}]}
    halves = [str(tmp_path / "0"), str(tmp_path / "1")]
    for seed, out in enumerate(halves):
        study = parse_study({**keys, "seeds": [seed]})
        run_study(study, out, progress=Silent(), plugins=(str(plugin),))
    merge_results(halves, str(tmp_path / "merged"), lambda line: None)
    archive, _ = submit(str(tmp_path / "merged"), tmp_path / "archive.zip")
    assert (verified(archive).missing, verified(archive).planned) == (0, 3)

    def change(rows: dict[str, list[dict[str, Any]]]) -> str:
        rows["cells"].remove(next(row for row in rows["cells"] if row["noise"] == "0.2"))
        return ""

    forged(archive, change)
    assert verified(archive).missing == 1


def test_damage_is_told_of_the_archive(archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answered(monkeypatch)
    whole = archive.read_bytes()
    for name in ("cells/part-own.parquet", "plan.parquet", "study.json", "curves/part-own.parquet"):
        with_file(archive, name, b"{nothing")
        with pytest.raises(InputError, match=r"archive\.zip: .*: ask for another copy") as caught:
            verified(archive)
        assert str(caught.value).startswith(f"{archive}: {name}: ")
        assert "run the study" not in str(caught.value)
        archive.write_bytes(whole)
    with_file(archive, "study.json", None)
    with pytest.raises(InputError, match=r"archive\.zip: study\.json is missing: ask for another copy"):
        verified(archive)
    archive.write_bytes(whole)
    for name, content in (("provenance", {"runs": [{"packages": 5}]}), ("plan", {"planned": 8, "data": 5})):
        with_file(archive, f"{name}.json", json.dumps(content).encode())
        with pytest.raises(
            InputError, match=rf"archive\.zip: {name}\.json: damaged, .*: ask for another copy"
        ):
            verified(archive)
        archive.write_bytes(whole)
    for column, text in (("params", "nonsense"), ("params", "[1]"), ("noise", "zz"), ("noise", "class_")):

        def change(rows: dict[str, list[dict[str, Any]]], column: str = column, text: str = text) -> str:
            rows["cells"][0][column] = text
            return ""

        forged(archive, change)
        with pytest.raises(InputError, match=rf"archive\.zip: cells table: {column} of a cell is"):
            verified(archive)
        archive.write_bytes(whole)
        shutil.rmtree(archive.with_suffix(""))


@pytest.mark.parametrize("system", ["linux", "darwin"])
def test_limits_are_at_most_those_of_the_system(system: str, monkeypatch: pytest.MonkeyPatch) -> None:
    resource = pytest.importorskip("resource")
    hard = {resource.RLIMIT_CPU: resource.RLIM_INFINITY, resource.RLIMIT_FSIZE: 1000}
    found: dict[int, tuple[int, int]] = {}
    monkeypatch.setattr("sys.platform", system)
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (0, hard.get(kind, 5)))
    monkeypatch.setattr(resource, "setrlimit", found.__setitem__)
    recomputation._limit(60.0, 16.0)
    cpu = 60 * (os.cpu_count() or 1)
    expected = {resource.RLIMIT_CPU: cpu, resource.RLIMIT_FSIZE: 1000, resource.RLIMIT_CORE: 0}
    # macOS refuses a limit of memory.
    expected |= {resource.RLIMIT_AS: 5} if system == "linux" else {}
    assert found == {kind: (most, most) for kind, most in expected.items()}


@pytest.mark.parametrize(
    ("error", "answer"), [("SystemExit(7)", ", line 1: it ended Python"), ("KeyboardInterrupt(7)", "pt: 7")]
)
def test_code_that_exits_is_an_error_in_the_answer(
    error: str, answer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["", "9", "9"])
    monkeypatch.setattr(recomputation, "_limit", lambda seconds, memory: None)
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins/leaving.py").write_text(f"raise {error}\n")
    task = {"study": STUDY, "base": ".", "data": {}, "cells": [], "drawn": []}
    Path(recomputation.TASK).write_text(json.dumps(task))
    recomputation.main()
    assert answer in json.loads(Path(recomputation.ANSWER).read_text())["error"]


def test_verification_finds_data_files_in_the_current_folder(
    tmp_path: Path, plugin: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered(monkeypatch)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own").mkdir()
    rows = "".join(f"{i % 7},{i % 2}\n" for i in range(40))
    (tmp_path / "own/x.csv").write_text(f"p,class\n{rows}")
    study = parse_study({**STUDY, "datasets": [{"path": "own/x.csv", "target": "class"}]})
    run_study(study, "out", progress=Silent(), plugins=(str(plugin),))
    submit("out", tmp_path / "own.zip")
    assert verified(tmp_path / "own.zip", cells=1).problems == []


def test_other_code_is_told_apart(archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answered(monkeypatch)
    monkeypatch.setattr("singlepass.pipeline.study.cell.CELL_VERSION", 99)
    problems = verified(archive, cells=2).problems
    assert len(problems) == 2
    assert all(
        "has another key here: the code, the data or the plug-in are not those" in line for line in problems
    )


def with_plugin(archive: Path, source: str) -> Path:
    return with_file(archive, "plugins/submitted.py", source.encode())


def with_file(archive: Path, name: str, content: bytes | None) -> Path:
    """Replace a file of an archive, or remove it if `content` is None."""
    with zipfile.ZipFile(archive) as old:
        files = {name: old.read(name) for name in old.namelist()}
    del files[name]
    files |= {} if content is None else {name: content}
    with zipfile.ZipFile(archive, "w") as new:
        for name, content in files.items():
            new.writestr(name, content)
    return archive


@pytest.mark.slow
def test_bad_code_ends_in_one_line(archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "a secret")
    hanging = PLUGIN + "\nimport time\ntime.sleep(600)\n"
    with pytest.raises(InputError, match="the subprocess ended after 15 seconds without an answer"):
        verified(with_plugin(archive, hanging), seconds=15)
    leaving = PLUGIN + "\nos._exit(3)\n"
    with pytest.raises(InputError, match=r"ended with status 3 without an answer \(no message\)$"):
        verified(with_plugin(archive, leaving))
    greedy = PLUGIN + "\nhuge = bytearray(64 << 30)\n"
    with pytest.raises(InputError, match="MemoryError"):
        verified(with_plugin(archive, greedy))
    # Neither the results nor the user's secrets are in its folder or environment.
    curious = PLUGIN + (
        "\nfound = sorted(os.listdir('.')) + sorted(name for name in os.environ if 'AWS' in name)\n"
        "raise ValueError(found)\n"
    )
    with pytest.raises(
        InputError,
        match=r"plugin file plugins/submitted.py.*: \['cache', 'messages.txt', 'plugins', 'task.json'\]",
    ):
        verified(with_plugin(archive, curious))


def test_what_cannot_be_submitted_or_verified_is_one_line(
    tmp_path: Path, results: Path, plugin: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InputError, match="none: no results here"):
        submit(str(tmp_path / "none"), None)
    out = tmp_path / "from-base"
    run_study(parse_study(STUDY), str(out), progress=Silent(), plugins=(str(plugin),), bases=[str(results)])
    with pytest.raises(InputError, match="were read from other results"):
        submit(str(out), None)
    begun = shutil.copytree(results, tmp_path / "begun", ignore=shutil.ignore_patterns("part-*"))
    with pytest.raises(InputError, match="begun: no cell has run here yet: run the study, then submit it"):
        submit(str(begun), None)
    tuned = Store(str(shutil.copytree(results, tmp_path / "tuned")))
    cells, plan = tuned.cells(tuned.plan()["key"].to_pylist()), tuned.plan()
    tuning = set(cells["key"][cells["stage"] == "tune"])
    tuned.write_plan([plan.filter(pa.array([key in tuning for key in plan["key"].to_pylist()]))])
    with pytest.raises(InputError, match="no cells but those of tuning have run here"):
        submit(str(tmp_path / "tuned"), None)
    source = plugin.read_text()
    try:
        plugin.write_text(source + "# changed\n")
        with pytest.raises(
            InputError, match=r"submitted\.py: it has changed since the run: run the study again"
        ):
            submit(str(results), tmp_path / "a.zip")
    finally:
        plugin.write_text(source)
    copy = tmp_path / "copy"
    shutil.copytree(results, copy)
    store = Store(str(copy))
    for name, reason in (
        ("my plug.py", "file names in an archive may have only"),
        ("submitted.py", "another plug-in"),
    ):
        other = tmp_path / "other" / name
        other.parent.mkdir(exist_ok=True)
        other.write_text(source)
        document = store.read_json("plan.json")
        document["plugins"] = {
            str(each): hashlib.sha256(source.encode()).hexdigest() for each in (plugin, other)
        }
        store.write_json("plan.json", document)
        with pytest.raises(InputError, match=rf"other/{name}: {reason}.*: rename it and run the study again"):
            submit(str(copy), tmp_path / "a.zip")
    helped = tmp_path / "helped.py"
    (tmp_path / "sp_helper.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    helped.write_text(f"import sp_helper\n{source}")
    document["plugins"] = {str(helped): hashlib.sha256(helped.read_bytes()).hexdigest()}
    store.write_json("plan.json", document)
    with pytest.raises(InputError, match=r"helped\.py: it imports sp_helper, which the archive cannot"):
        submit(str(copy), tmp_path / "a.zip")
    helped.write_text(
        f"import sp_no_such_helper\ntry:\n    import sp_optional\nexcept ImportError: ...\n{source}"
    )
    document["plugins"] = {str(helped): hashlib.sha256(helped.read_bytes()).hexdigest()}
    store.write_json("plan.json", document)
    with pytest.raises(
        InputError, match=r"helped\.py: it imports sp_no_such_helper, which the archive cannot"
    ):
        submit(str(copy), tmp_path / "a.zip")
    study = store.read_json("study.json")
    own = [{**study["algorithms"][0], "name": "sp_helper:Own"}]
    store.write_json("study.json", {**study, "algorithms": own})
    with pytest.raises(InputError, match="is of the module sp_helper, which is your own or not"):
        submit(str(copy), tmp_path / "a.zip")
    (copy / "study.json").unlink()
    with pytest.raises(InputError, match=r"copy: study\.json is missing: run the study again"):
        submit(str(copy), tmp_path / "a.zip")
    (tmp_path / "no.zip").write_bytes(b"nothing")
    with pytest.raises(InputError, match=r"no\.zip: damaged, or no archive of `singlepass submit`"):
        verified(tmp_path / "no.zip")
    assert not [path for path in os.listdir(tmp_path) if path == "a.zip"]


def test_optional_packages_may_be_missing_here(
    tmp_path: Path, results: Path, plugin: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    find, absent = importlib.util.find_spec, ("river", "capymoa")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name in absent else find(name))
    copy, source = tmp_path / "copy", tmp_path / "with_river.py"
    shutil.copytree(results, copy)
    store = Store(str(copy))
    source.write_text(f"import river\n{plugin.read_text()}")
    document = store.read_json("plan.json")
    document["plugins"] = {str(source): hashlib.sha256(source.read_bytes()).hexdigest()}
    store.write_json("plan.json", document)
    study = store.read_json("study.json")
    moa = {**study["algorithms"][0], "name": "capymoa.classifier:HoeffdingTree", "label": "MOA"}
    store.write_json("study.json", {**study, "algorithms": [*study["algorithms"], moa]})
    assert submit(str(copy), tmp_path / "a.zip")[1] == CELLS


def test_the_command_line(
    singlepass: Call, results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered(monkeypatch)
    done = singlepass("submit", str(results))
    assert done.stdout.startswith(f"submitted.zip: {CELLS} cells, "), done.stderr
    done = singlepass("verify", "submitted.zip", "--trust", "--cells", "4", "--seed", "7")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"submitted: 4 of {CELLS} cells computed again (--seed 7): all results are equal\n"
    assert singlepass("verify", "submitted.zip").returncode == 2
    for to, line in (("s3://bucket/x.zip", "only a local path works here"), ("", "not an empty text")):
        refused = singlepass("submit", str(results), "--to", to)
        assert refused.returncode == 2
        assert line in refused.stderr
    # Other programs add entries for folders.
    with zipfile.ZipFile("submitted.zip", "a") as opened:
        opened.writestr("cells/", "")
    assert singlepass("verify", "submitted.zip", "--trust", "--cells", "1").returncode == 0


def test_a_strangers_texts_give_the_terminal_no_commands(
    singlepass: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = ["cell k (A on \x1b]0;pwn\x07\n)"]
    found = Verification("s", 1, ["k"], lines, 0, planned=1, missing=0, unfinished=0)
    monkeypatch.setattr("singlepass.workflows.submission.verify", lambda *_, **__: found)
    assert singlepass("verify", "a.zip", "--trust").stderr == r"cell k (A on \x1b]0;pwn\x07 )" "\n"
