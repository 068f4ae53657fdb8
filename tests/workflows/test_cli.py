"""Test the command line as a user types it: one line and exit status 2 for bad input, never a traceback."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import numba
import pandas as pd
import pytest

from singlepass.learners import registry
from singlepass.pipeline.workers.environment import this_environment
from singlepass.workflows import cli, listing, study_commands

Call = Callable[..., Any]


def assert_one_line(result: Any, *fragments: str) -> None:
    assert result.returncode == 2, result.stderr
    assert "Traceback" not in result.stderr
    lines = [line for line in result.stderr.splitlines() if line.strip()]
    assert len(lines) == 1, result.stderr
    assert lines[0].startswith("singlepass: error: ")
    for fragment in fragments:
        assert fragment in lines[0]


@pytest.mark.slow
def test_the_command_in_a_subprocess(study_file: Path) -> None:
    command = Path(sys.executable).with_name("singlepass")
    result = subprocess.run(
        [command, "run", study_file.name], cwd=study_file.parent, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    assert "28 cells computed" in result.stdout
    result = subprocess.run([command, "run", "quikstart"], capture_output=True, text=True)
    assert_one_line(result, "did you mean 'quickstart'?")


def test_run_report_and_run_again(singlepass: Call, study_file: Path, tmp_path: Path) -> None:
    first = singlepass("run", study_file.name)
    assert first.returncode == 0, first.stderr
    assert "small: 28 cells computed, 0 reused, 0 failed" in first.stdout
    out = tmp_path / "results" / "small"
    for name in ("report.html", "report.md"):
        assert (out / name).stat().st_size > 1000
    assert list((out / "tables").glob("*.csv"))
    assert list((out / "tables").glob("*.tex"))
    again = singlepass("run", study_file.name)
    assert again.returncode == 0
    assert "small: 0 cells computed, 28 reused, 0 failed" in again.stdout
    (out / "report.html").unlink()
    assert singlepass("report", "results/small").returncode == 0
    assert (out / "report.html").exists()
    (tmp_path / "results" / "damaged" / "cells").mkdir(parents=True)
    several = singlepass("report", "results", "--to", "several")
    assert several.stdout == "report: several/index.html\n"
    assert (tmp_path / "several" / "small" / "report.html").exists()
    index = (tmp_path / "several" / "index.html").read_text(encoding="utf-8")
    assert '<a href="small/report.html">small</a>' in index
    assert "damaged: study.json is missing" in index
    elsewhere = singlepass("report", "results/small", "--to", "elsewhere")
    assert elsewhere.returncode == 0
    assert (tmp_path / "elsewhere" / "report.html").exists()


@pytest.mark.parametrize(
    ("command", "line"),
    [
        (["run", "quickstart"], "stopped; stored cells are kept, run the same command to continue"),
        (["list", "studies"], "stopped"),
    ],
)
def test_only_commands_that_run_cells_say_that_cells_are_stored(
    singlepass: Call, monkeypatch: pytest.MonkeyPatch, command: list[str], line: str
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli.app.commands[command[0]], "callback", interrupt)
    result = singlepass(*command)
    assert result.returncode == 130
    assert result.stderr == f"singlepass: {line}\n"


def test_failed_cells_exit_1_and_are_listed(singlepass: Call, tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text(
        "from singlepass.learners import Perceptron as _P\n"
        "class Bad(_P):\n"
        "    def learn_rows(self, X, codes):\n"
        "        raise RuntimeError('always')\n"
    )
    (tmp_path / "s.toml").write_text(
        'name = "s"\nseeds = 2\n[[datasets]]\nname = "breast-cancer"\n'
        '[[algorithms]]\nname = "Bad"\n[[algorithms]]\nname = "Perceptron"\n'
    )
    result = singlepass("run", "s.toml", "--plugin", "bad.py")
    assert result.returncode == 1
    assert "4 cells computed, 0 reused, 2 failed" in result.stdout
    assert (
        "Bad failed in 2 cells (breast-cancer): learn() raised RuntimeError: always (bad.py, line 4)\n"
        in result.stderr
    )
    assert (tmp_path / "results" / "s" / "report.html").exists()


@pytest.mark.parametrize(
    ("arguments", "fragments"),
    [
        (["run", "quikstart"], ["'quikstart'", "did you mean 'quickstart'?"]),
        (["run", "none.toml"], ["none.toml", "no such study file"]),
        (["run"], ["Missing argument 'STUDY'"]),
        (["rum"], ["No such command 'rum'"]),
        (["run", "quickstart", "--threads", "0"], ["--threads", "0 is not in the range"]),
        (["run", "quickstart", "--cell-limit", "nan"], ["'--cell-limit': nan is not in the range 0<x<="]),
        (["run", "quickstart", "--cell-limit", "1e300"], ["--cell-limit", "1e+300 is not in the range"]),
        (["run", "quickstart", "--scheduler", "tcp://127.0.0.1:1", "--patience", "nan"], ["nan is not in"]),
        (["bench", "ingestion", "--size", "nan"], ["'--size': nan is not in the range"]),
        (["bench", "roofline", "--cells", "100"], ["--cells is for cluster: roofline has no such option"]),
        (["verify", "none.zip"], ["none.zip: no such archive: give one that singlepass submit makes"]),
        (["verify", "s3://bucket/a.zip", "--trust"], ["s3://bucket/a.zip: is a URL"]),
        (["verify", "none.zip", "--seconds", "inf"], ["'--seconds': inf is not in the range"]),
        (["verify", "none.zip", "--memory", "nan"], ["'--memory': nan is not in the range"]),
        (["run", "quickstart", "--patience", "3"], ["--patience needs a cluster"]),
        (["run", "quickstart", "--allow-mismatch"], ["--allow-mismatch needs a cluster"]),
        (["run", "quickstart", "--rerun-times"], ["--rerun-times: results/quickstart has no base", "--base"]),
        (["run", "quickstart", "--scheduler", ""], ["--scheduler is empty"]),
        (["doctor", "--cluster", ""], ["--cluster is empty"]),
        (["doctor", "--patience", "3"], ["--patience needs a cluster"]),
        (["report", ""], ["results: the name of the folder or URL is empty"]),
        (["list", "learner"], ["'learner' is not one of"]),
        (["report", "nowhere"], ["nowhere", "no results here"]),
        (["run", "quickstart", "--threads", "2", "--scheduler", "tcp://127.0.0.1:9"], ["--threads is for"]),
        (["run", "quickstart", "--plugin", "none.py"], ["none.py", "does not exist"]),
        (["data", "fetch", "mnits"], ["did you mean 'mnist'?"]),
        (
            ["run", "quickstart", "--scheduler", "tcp://127.0.0.1:abc"],
            ["tcp://127.0.0.1:abc", "'abc'", "tcp://HOST:PORT"],
        ),
        (["run", "quickstart", "--scheduler", "tcp://127.0.0.1:99999"], ["tcp://127.0.0.1:99999", "0-65535"]),
        (["run", "quickstart", "--scheduler", "nonsense"], ["nonsense: Port is missing", "tcp://HOST:PORT"]),
    ],
)
def test_bad_arguments(singlepass: Call, arguments: list[str], fragments: list[str]) -> None:
    assert_one_line(singlepass(*arguments), *fragments)


@pytest.mark.parametrize(
    ("before", "after", "fragments"),
    [
        ('"AROW"', '"AROWW"', ["algorithm 'AROWW' is unknown", "did you mean 'AROW'?"]),
        ('"gauss"', '"gaus"', ["did you mean 'gauss'?"]),
        ("r = [0.1, 1.0, 10.0]", "R = 1.0", ["no parameter 'R'", "did you mean 'r'?"]),
        ("r = [0.1, 1.0, 10.0]", "r = -1.0", ["r must be a finite number > 0, got -1.0"]),
        ("noise = [0.0, 0.2]", "noise = [1.0]", ["small.toml: noise: 1.0 is not a noise rate"]),
        ("seeds = 2", "seed = 2", ["unknown key 'seed'", "did you mean 'seeds'?"]),
    ],
)
def test_bad_studies(
    singlepass: Call, study_file: Path, before: str, after: str, fragments: list[str]
) -> None:
    study_file.write_text(study_file.read_text().replace(before, after))
    result = singlepass("run", study_file.name)
    assert_one_line(result, *fragments)
    assert result.stderr.startswith("singlepass: error: small.toml: ")


@pytest.mark.parametrize(
    ("name", "content", "fragments"),
    [
        ("none.csv", None, ["none.csv"]),
        ("empty.csv", "", ["empty.csv", "empty"]),
        ("ragged.csv", "a,b,label\n1,2,x\n3,y\n", ["ragged.csv", "line 3"]),
        ("text.csv", "a,b,label\n1,2,x\n3,four,y\n", ["text.csv", "line 3", "four"]),
        ("nan.csv", "a,b,label\n1,2,x\n3,nan,y\n", ["nan.csv", "line 3"]),
        ("inf.svmlight", "1 1:2\n-1 1:inf\n", ["inf.svmlight"]),
        ("single.csv", "a,label\n1,x\n2,x\n", ["single.csv", "class"]),
        ("three.csv", "a,label\n1,x\n2,y\n3,z\n", ["two classes", "x, y, z"]),
    ],
)
def test_bad_files(
    singlepass: Call, tmp_path: Path, name: str, content: str | None, fragments: list[str]
) -> None:
    if content is not None:
        (tmp_path / name).write_text(content)
    (tmp_path / "s.toml").write_text(
        f'name = "s"\n[[datasets]]\npath = "{name}"\ntask = "binary"\n[[algorithms]]\nname = "Perceptron"\n'
    )
    result = singlepass("run", "s.toml")
    assert_one_line(result, *fragments)
    assert result.stderr.startswith("singlepass: error: s.toml: ")


def test_an_output_that_cannot_be_written(singlepass: Call, study_file: Path, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    result = singlepass("run", study_file.name, "--out", "taken/here")
    assert_one_line(result, "taken/here", "cannot be written to")


def test_a_scheduler_that_does_not_answer(singlepass: Call, study_file: Path) -> None:
    # Port 9 (discard) has no listener on ordinary machines.
    result = singlepass("run", study_file.name, "--scheduler", "tcp://127.0.0.1:9", "--patience", "1")
    assert_one_line(result, "tcp://127.0.0.1:9", "did not answer")
    result = singlepass("run", study_file.name, "--scheduler-file", "none.json", "--patience", "0")
    assert_one_line(result, "none.json")


def test_a_damaged_part_loses_only_its_own_cells(singlepass: Call, study_file: Path, tmp_path: Path) -> None:
    assert singlepass("run", study_file.name).returncode == 0
    part = next((tmp_path / "results/small/cells").glob("*.parquet"))
    lost = len(pd.read_parquet(part))
    part.write_bytes(part.read_bytes()[:100])
    assert_one_line(singlepass("report", "results/small"), part.name, "damaged")
    again = singlepass("run", study_file.name)
    assert again.returncode == 0
    assert f"{lost} cells computed" in again.stdout
    assert part.name in again.stderr
    assert (tmp_path / "results/small/damaged" / f"cells-{part.name}").exists()


@pytest.mark.parametrize("what", ["learners", "datasets", "studies"])
def test_lists(singlepass: Call, what: str) -> None:
    result = singlepass("list", what)
    assert result.returncode == 0
    # Piped output has one line per row, from its name to its last word.
    heading, *rows = result.stdout.splitlines()
    assert {"learners": "AROW", "datasets": "arow-synthetic", "studies": "quickstart"}[what] in {
        row.split()[0] for row in rows
    }
    assert heading.split()[0] == {"learners": "learner", "datasets": "data", "studies": "study"}[what]
    assert not any(line.startswith(" ") or line.endswith(" ") for line in (heading, *rows))


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [["list", "learners"], ["--help"]], ids=" ".join)
def test_a_closed_output_pipe_is_silent(arguments: list[str]) -> None:
    unread, written = os.pipe()
    os.close(unread)
    command = Path(sys.executable).with_name("singlepass")
    ran = subprocess.run([command, *arguments], stdout=written, stderr=subprocess.PIPE)
    os.close(written)
    assert (ran.returncode, ran.stderr) == (1, b"")


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
def test_an_output_on_a_full_disk_is_one_line() -> None:
    command = Path(sys.executable).with_name("singlepass")
    with open("/dev/full", "w") as full:
        ran = subprocess.run([command, "list", "learners"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert (ran.returncode, ran.stderr) == (2, "singlepass: error: the output: no space left on the disk\n")


@pytest.mark.slow
def test_an_output_in_ascii_has_question_marks() -> None:
    command = Path(sys.executable).with_name("singlepass")
    ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii"}
    ran = subprocess.run([command, "list", "learners", "ALMA"], env=ascii_only, capture_output=True)
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert b"?" in ran.stdout


@pytest.mark.slow
@pytest.mark.parametrize(("out", "folder"), [("~/zz", "home/zz"), ("~none", "~none"), ("x::y", "x::y")])
def test_results_and_their_report_share_a_folder(
    tmp_path: Path, singlepass: Call, monkeypatch: pytest.MonkeyPatch, out: str, folder: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    table = '[[datasets]]\npath = "~rows.csv"\n[[algorithms]]\nname = "Perceptron"\n'
    (tmp_path / "s.toml").write_text(f'name = "s"\nseeds = 1\n{table}')
    (tmp_path / "~rows.csv").write_text("u,label\n" + "1,a\n2,b\n" * 9)
    assert singlepass("run", "s.toml", "--out", out).returncode == 0
    assert {"cells", "report.html"} <= {each.name for each in (tmp_path / folder).iterdir()}
    again = singlepass("run", "s.toml", "--out", "new", "--base", out)
    assert "0 cells computed, 1 reused" in again.stdout
    assert_one_line(singlepass("run", "s.toml", "--out", ""), "--out", "give a folder or URL")


def test_another_broken_pipe_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(**_: object) -> None:
        raise BrokenPipeError("to a worker")

    monkeypatch.setattr(cli, "app", broken)
    with pytest.raises(BrokenPipeError, match="to a worker"):
        cli.main()


def test_details_of_a_data_set(singlepass: Call) -> None:
    result = singlepass("list", "datasets", "checkerboard-noisy", "letter")
    assert result.returncode == 0
    assert "15% of the training labels switched" in result.stdout
    assert "one-vs-rest:CLASS" in result.stdout
    assert "license" in result.stdout
    adult = singlepass("list", "datasets", "adult")
    assert adult.returncode == 0
    assert "a9a, also called adult" in adult.stdout
    domains = singlepass("list", "datasets", "amazon-sentiment")
    assert "sentiment:books" in domains.stdout
    assert "sentiment:books" not in singlepass("list", "datasets").stdout
    assert "one-vs-rest:CLASS" not in singlepass("list", "datasets", "reuters21578").stdout
    assert_one_line(singlepass("list", "datasets", "usp"), "did you mean 'usps'?")
    assert_one_line(singlepass("list", "studies", "quickstart"), "list studies takes no names")


def test_details_of_a_learner(singlepass: Call) -> None:
    result = singlepass("list", "learners", "AROW")
    assert result.returncode == 0
    title, heading, *rows = result.stdout.splitlines()
    assert title.startswith("AROW: Adaptive Regularization of Weights")
    assert heading.split()[:3] == ["parameter", "default", "meaning"]
    by_name = {row.split()[0]: row for row in rows}
    assert by_name["r"].split()[1] == "1.0"
    assert "float: Regularization, > 0" in by_name["r"]
    assert "[0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0] (" in by_name["r"]
    assert "quickstart" in by_name["r"]
    assert_one_line(singlepass("list", "learners", "AROV"), "did you mean 'AROW'?")


def test_details_of_a_strategy(singlepass: Call) -> None:
    result = singlepass("list", "learners", "Greedy")
    assert result.returncode == 0
    assert result.stdout.startswith("Greedy: Ask for one label in every")
    assert "Rows per label" in result.stdout


def test_every_parameter_of_every_learner_is_described() -> None:
    for name, learner in registry.available().items():
        # Other tests of this process may have loaded plug-ins.
        if not learner.__module__.startswith("singlepass."):
            continue
        described = listing._described_parameters(inspect.getdoc(learner) or "")
        assert [key for key in inspect.signature(learner).parameters if not described.get(key)] == [], name


def test_generated_data_are_not_downloaded(singlepass: Call) -> None:
    assert "nothing to download" in singlepass("data", "fetch", "gauss").stdout


@pytest.mark.parametrize("found", [True, False])
def test_report_opens_in_a_browser(
    found: bool, singlepass: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", lambda url: opened.append(url) or found)
    monkeypatch.setattr("singlepass.workflows.report.write_report", lambda *_: [Path("a b/report.html")])
    result = singlepass("report", "results/small", "--open")
    assert opened == [(tmp_path / "a b" / "report.html").as_uri()]
    if not found:
        assert_one_line(result, "no web browser found")


@pytest.mark.slow
def test_a_report_removes_files_of_the_previous_report(
    singlepass: Call, study_file: Path, tmp_path: Path
) -> None:
    singlepass("run", study_file.name, "--out", "out")
    tables = tmp_path / "out" / "tables"
    assert (tables / "grids.csv").exists()
    (tables / "mine.csv").write_text("kept")
    other = study_file.read_text().replace("r = [0.1, 1.0, 10.0]", "r = 1.0").replace('"small"', '"other"')
    (tmp_path / "other.toml").write_text(other)
    result = singlepass("run", "other.toml", "--out", "out")
    assert "out: had results of study 'small'; its cells are kept, its report is replaced" in result.stderr
    assert not (tables / "grids.csv").exists()
    assert (tables / "mine.csv").read_text() == "kept"
    assert (tables / "cost.csv").exists()
    # All cells of this study exist, but the current report shows the other study.
    assert "had results of study 'other'" in singlepass("run", study_file.name, "--out", "out").stderr
    assert (tables / "grids.csv").exists()
    # An edited manifest must not cause removals.
    manifest = tmp_path / "out" / "report-files.txt"
    for content in (b"\xff\n", b"../other.toml\ntables/a\0.csv\nreport.html\n"):
        manifest.write_bytes(content)
        assert singlepass("report", "out").returncode == 0
    assert (tmp_path / "other.toml").exists()


@pytest.mark.slow
def test_a_run_says_that_nothing_is_compiled(
    singlepass: Call, study_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(numba.config, "DISABLE_JIT", 1)
    first, again = (singlepass("run", study_file.name).stderr for _ in range(2))
    assert "NUMBA_DISABLE_JIT is set: most learners of this package fail" in first
    assert "NUMBA_DISABLE_JIT" not in again
    assert this_environment().versions["numba"] == f"{numba.__version__} (NUMBA_DISABLE_JIT)"
    program = "from singlepass.learners import AROW, wrong_predictions"
    subprocess.run([sys.executable, "-c", program], env=os.environ | {"NUMBA_DISABLE_JIT": "1"}, check=True)


def test_a_recorded_command_line_is_utf8(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["singlepass", "run", "u\udce9.toml"])
    with click.Context(study_commands.run, info_name="run"):
        assert study_commands._command_line("run") == "run 'u\ufffd.toml'"


@pytest.mark.parametrize(
    ("statement", "unwanted"),
    [
        ("import singlepass.learners", ["dask", "distributed", "pandas", "pyarrow", "matplotlib"]),
        # scikit-learn itself tries to import pandas.
        ("from singlepass.learners import AROW", ["dask", "distributed", "matplotlib"]),
        # Reading a study needs only the names of learners.
        ("import singlepass.workflows.shipped", ["dask", "distributed", "matplotlib", "numba", "sklearn"]),
        (
            "import singlepass.workflows.cli",
            ["dask", "distributed", "pandas", "pyarrow", "matplotlib", "numba", "sklearn", "numpy"],
        ),
    ],
)
def test_imports_are_lazy(statement: str, unwanted: list[str]) -> None:
    code = f"{statement}\nimport sys\nprint([name for name in {unwanted} if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_bench_refuses_a_size_for_benchmarks_without_files(singlepass: Call) -> None:
    refused = singlepass("bench", "linear", "--size", "0.1")
    assert_one_line(refused, "--size is for roofline, ingestion", "linear")
