"""Test error messages for common mistakes: one line, the same from every command, and no traceback."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Call = Callable[..., Any]

STUDY = """
name = "own"
seeds = 1
[[datasets]]
path = "mine.csv"
{data}
[[algorithms]]
name = "{name}"
"""
ROWS = "u,v,label\n" + "".join(f"{i % 7},{i % 5},{'ab'[i % 2]}\n" for i in range(40))


@pytest.fixture(autouse=True)
def own_rows(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text(ROWS)


def study(tmp_path: Path, name: str = "AROW", data: str = "", first: str = "") -> None:
    (tmp_path / "own.toml").write_text(first + STUDY.format(name=name, data=data))


def one_error(result: Any) -> str:
    assert result.returncode == 2, result.stdout + result.stderr
    errors = [line for line in result.stderr.splitlines() if line.startswith("singlepass: error: ")]
    assert len(errors) == 1, result.stderr
    assert "Traceback" not in result.stderr
    return str(errors[0])


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ('[[datasets]]\nname = "airlines"', "airlines"),
        ('[[datasets]]\npath = "gone.csv"', "gone.csv: no such file"),
        ('[[datasets]]\nname = "gauss"\ntask = "no"', "unknown task"),
    ],
)
def test_a_plan_reports_the_error_of_the_run(tmp_path: Path, singlepass: Call, data: str, words: str) -> None:
    study(tmp_path, data=data)
    planned, ran = singlepass("plan", "own.toml"), singlepass("run", "own.toml")
    assert one_error(planned) == one_error(ran)
    assert words in one_error(planned)
    assert "planned" in planned.stdout


def test_a_plan_checks_splits_of_parsed_data(tmp_path: Path, singlepass: Call) -> None:
    (tmp_path / "mine.csv").write_text(ROWS + "1,1,c\n")
    study(tmp_path, first='protocol = "crossval"\nfolds = 5\n')
    assert singlepass("data", "convert", "own.toml").returncode == 0
    planned, ran = singlepass("plan", "own.toml"), singlepass("run", "own.toml")
    assert "too few for 5 folds" in one_error(planned)
    assert one_error(ran).endswith(one_error(planned).removeprefix("singlepass: error: "))


PLUGIN = """
class Willing:
    def partial_fit(self, X, y, classes=None):
        return self
    def predict(self, X):
        return [0] * len(X)

class Lazy:
    def predict(self, X):
        return [0] * len(X)
"""


def test_a_plugin_class_that_does_not_learn_is_named(tmp_path: Path, singlepass: Call) -> None:
    (tmp_path / "mine.py").write_text(PLUGIN)
    study(tmp_path, name="Willing")
    result = singlepass("run", "own.toml", "--plugin", "mine.py")
    assert result.returncode == 0, result.stderr
    [line] = [line for line in result.stderr.splitlines() if "Lazy" in line]
    assert "mine.py: left out: Lazy has no partial_fit" in line
    study(tmp_path, name="Lazy")
    assert "mine.py: Lazy has no partial_fit" in one_error(
        singlepass("run", "own.toml", "--plugin", "mine.py")
    )


@pytest.mark.parametrize(
    ("key", "hint"), [("n_worker", "n_workers"), ("memory_limt", "memory_limit"), ("local_dir", "")]
)
def test_an_unknown_key_of_a_cluster_is_named(tmp_path: Path, singlepass: Call, key: str, hint: str) -> None:
    study(tmp_path)
    (tmp_path / "cluster.toml").write_text(f'class = "distributed.LocalCluster"\n[kwargs]\n{key} = 1\n')
    line = one_error(singlepass("run", "own.toml", "--cluster", "cluster.toml"))
    assert f"cluster.toml: [kwargs]: distributed.LocalCluster takes no '{key}'" in line
    assert hint in line
    result = singlepass("doctor", "--cluster", "cluster.toml")
    assert result.returncode == 1
    assert f"takes no '{key}'" in result.stdout


@pytest.mark.parametrize("option", ["", "standardize = true", 'ignore = ["u"]', "bias = true"])
def test_data_converted_with_a_studys_options_are_ready(
    tmp_path: Path, singlepass: Call, monkeypatch: pytest.MonkeyPatch, option: str
) -> None:
    monkeypatch.setenv("SINGLEPASS_CACHE", str(tmp_path / "cache"))
    study(tmp_path, data=option, first='protocol = "holdout"\n')
    before = singlepass("doctor", "own.toml")
    assert "not yet parsed with the options of this study" in before.stdout
    assert "singlepass data convert own.toml" in before.stdout
    # Conversion with other options gives another table.
    assert singlepass("data", "convert", "mine.csv", "--option", "dtype=float32").returncode == 0
    assert "to be parsed" in singlepass("doctor", "own.toml").stdout
    converted = singlepass("data", "convert", "own.toml")
    assert converted.returncode == 0, converted.stderr
    assert "40 rows" in converted.stdout
    after = singlepass("doctor", "own.toml")
    assert "data mine" in after.stdout
    assert "to be parsed" not in after.stdout
    assert "leave --option and --target out" in one_error(
        singlepass("data", "convert", "own.toml", "--option", "bias=true")
    )


WARNING = """
import warnings
class Warner:
    def partial_fit(self, X, y, classes=None):
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.warn("divide by\\nzero", RuntimeWarning)
            warnings.warn("another", UserWarning)
        return self
    def predict(self, X):
        return [0] * len(X)
"""


def test_a_warning_is_shown_once(tmp_path: Path, singlepass: Call) -> None:
    (tmp_path / "mine.py").write_text(WARNING)
    study(tmp_path, name="Warner")
    result = singlepass("run", "own.toml", "--plugin", "mine.py")
    assert result.returncode == 0, result.stderr
    lines = [line for line in result.stderr.splitlines() if "arning" in line]
    assert len(lines) == 2, result.stderr
    assert lines[0].startswith("warning: RuntimeWarning: divide by zero (")
    assert lines[1].startswith("warning: UserWarning: another (")


def test_a_doctor_gives_no_advice_to_run_again(singlepass: Call) -> None:
    result = singlepass("doctor", "--scheduler", "tcp://127.0.0.1:9", "--patience", "0")
    assert result.returncode == 1
    assert "did not answer" in result.stdout
    assert "run again" not in result.stdout


@pytest.mark.slow
def test_a_plan_counts_one_repetition_if_seeds_change_nothing(tmp_path: Path, singlepass: Call) -> None:
    study(tmp_path, data='target = "label"', first='order = "given"\nnoise = [0.0, 0.1]\n')
    text = (tmp_path / "own.toml").read_text().replace("seeds = 1", "seeds = 3")
    (tmp_path / "own.toml").write_text(text)
    # One cell without noise, and one per seed with noise.
    assert "4 cells computed" in singlepass("run", "own.toml", "--out", "out").stdout
    planned = singlepass("plan", "own.toml", "--out", "out")
    line = next(line for line in planned.stdout.splitlines() if line.startswith("evaluation"))
    assert line.split()[1:] == ["4", "4", "0", "0"], planned.stdout


def test_a_study_refuses_a_strategy_as_learner(tmp_path: Path, singlepass: Call) -> None:
    study(tmp_path, "RandomQueries", 'target = "label"')
    error = one_error(singlepass("plan", "own.toml"))
    assert error.endswith("algorithm 'RandomQueries' is a strategy: name the learner, with query = 'random'")


def test_the_doctor_names_files_that_a_run_lacks(tmp_path: Path, singlepass: Call) -> None:
    study(tmp_path, "capymoa.classifier:NaiveBayes", 'target = "label"')
    if importlib.util.find_spec("capymoa"):
        pytest.skip("CapyMOA is installed")
    looked = singlepass("doctor", "own.toml")
    assert looked.returncode == 1, looked.stdout
    assert "singlepass[capymoa]" in looked.stdout + looked.stderr
    assert "all is well" not in looked.stdout
