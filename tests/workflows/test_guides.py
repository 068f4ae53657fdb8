"""Run the code of README and of the pages of docs, and check the commands and settings that they name.

Blocks of code run here, except for those that `NOT_RUN` gives a reason for. Commands are compared with the
command line's parser: many need a cluster, a download, or minutes. Other tests run them on small data.
"""

from __future__ import annotations

import gzip
import importlib.util
import re
import shlex
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import dask.config
import pytest
import yaml
from distributed.cli import dask_scheduler, dask_worker

from singlepass.learners.table import ROWS
from singlepass.pipeline.study.plan import make_plan
from singlepass.pipeline.study.study_file import parse_study
from singlepass.pipeline.workers.cluster import cluster_file
from singlepass.workflows.cli import app
from singlepass.workflows.running.run import run_study
from singlepass.workflows.shipped import find_study

from .conftest import Silent

Call = Callable[..., Any]
ROOT = Path(__file__).parents[2]
PAGES = {
    path.relative_to(ROOT).as_posix(): path.read_text("utf-8")
    for path in sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
    if path.name != "CHANGELOG.md"
}
BLOCK = re.compile(r"^```(\S+)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# Languages, or languages of a page, whose blocks have no test here.
NOT_RUN = {
    "{click}": "the build of the site runs it",
    "{eval-rst}": "the build of the site runs it",
    "{toctree}": "the build of the site runs it",
    "mermaid": "a drawing",
    "dockerfile": "needs Docker and a registry of images",
    "sql": "needs DuckDB",
    "docs/own-data.md text": "test_own_data_page.py reads it",
    "docs/own-data.md toml": "test_own_data_page.py reads it",
}
# Programs of commands that are not checked.
NOT_CHECKED = {
    "helm": "needs Kubernetes",
    "docker": "needs Docker",
    "kubectl": "needs Kubernetes",
    "openssl": "tests/cluster/certificates.py makes the certificates of tests",
    **dict.fromkeys(("mkdir", "cd", "cp", "umask"), "of every shell"),
    "pre-commit": "needs another package",
    "pytest": "these tests",
}
# What words in capitals stand for.
WORDS = {
    "STUDY": "quickstart",
    "RESULTS": "results",
    "ARCHIVE": "a.zip",
    "FILE": "a.csv",
    "PAPER": "projectron",
}
BLOCKS = [
    pytest.param(page, language, content, id=f"{page}-{number}-{language}")
    for page, text in PAGES.items()
    for number, (language, _, content) in enumerate(BLOCK.findall(text))
    if language not in NOT_RUN and f"{page} {language}" not in NOT_RUN
]
# Outputs that a page promises.
PRINTED = {"docs/deploy.md": ("True\n", "Accuracy: 88.40%\n")}
# What fragments of a study lack.
REST: dict[str, Any] = {
    "name": "rest",
    "datasets": [{"name": "gauss", "n_train": 60, "n_test": 30}],
    "algorithms": [{"name": "Perceptron"}],
}
SHORT = """
name = "short"
extends = "quickstart"
seeds = [0]
noise = [0.0]
[[datasets]]
name = "breast-cancer"
bias = true
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def only_block(page: str, language: str) -> str:
    [content] = [content for found, _, content in BLOCK.findall(PAGES[page]) if found == language]
    return str(content)


@pytest.mark.parametrize(("page", "language", "content"), BLOCKS)
def test_a_block_of_code(page: str, language: str, content: str, capsys: pytest.CaptureFixture[str]) -> None:
    {"python": run_python, "toml": check_toml, "yaml": check_settings_of_dask}[language](page, content)
    printed = capsys.readouterr().out
    assert bool(printed) == ("print(" in content)
    assert page not in PRINTED or printed in PRINTED[page]


def run_python(page: str, content: str) -> None:
    if "river" in content:
        pytest.importorskip("river")
    if page == "docs/metrics.md":
        made = {
            "window": 20,
            "fading": 0.9,
            "seeds": 1,
            "protocol": "holdout",
            "metrics": ["test_f1", "kappa_m"],
        }
        run_study(parse_study(REST | made), "results/imbalanced", progress=Silent())
    exec(compile(content, page, "exec"), {"__name__": "block"})


def check_toml(page: str, content: str) -> None:
    found = tomllib.loads(content)
    if "class" in found:
        check_cluster(content)
        return
    if page == "README.md":
        Path("data").mkdir()
        Path("data/mine.csv.gz").write_bytes(gzip.compress(b"a,label\n1,x\n2,y\n3,x\n4,y\n"))
    if "extends" in found:
        Path("study.toml").write_text(content)
        find_study("study.toml")
        return
    study = parse_study(REST | found)
    if page == "README.md":
        assert len(make_plan(study).datasets) == 11


def check_cluster(content: str) -> None:
    """Compare the keys of a cluster file with the parameters of its class, if that is installed."""
    Path("cluster.toml").write_text(content)
    file = cluster_file.read_cluster("cluster.toml")
    if importlib.util.find_spec(file.class_.partition(".")[0]):
        make = cluster_file.class_of(file.class_, "cluster.toml")
        cluster_file._check_kwargs(make, file, "cluster.toml")


def check_settings_of_dask(page: str, content: str) -> None:
    for key in keys_of(yaml.safe_load(content)):
        dask.config.get(key)


def keys_of(table: dict[str, Any], before: str = "") -> Iterator[str]:
    for name, value in table.items():
        if isinstance(value, dict):
            yield from keys_of(value, f"{before}{name}.")
        else:
            yield f"{before}{name}"


def commands() -> Iterator[tuple[str, str]]:
    """Yield indented commands, and those of singlepass within a sentence, with their pages."""
    for page, text in PAGES.items():
        outside = BLOCK.sub("", text)
        for line in re.findall(r"(?<=\n\n)((?:    .*\n)+)", outside):
            yield from ((page, command.partition("  #")[0].strip()) for command in line.splitlines())
        yield from ((page, command) for command in re.findall(r"`((?:dask )?singlepass [^`]+)`", outside))


def test_commands_are_known() -> None:
    checked = set()
    for page, line in commands():
        for command in line.split(" && "):
            program, *arguments = [WORDS.get(word, word) for word in shlex.split(command.split(" > ")[0])]
            if program == "dask":
                program, *arguments = arguments
            checked.add(program)
            try:
                check_command(program, arguments)
            except (click.UsageError, AssertionError) as error:
                pytest.fail(f"{page}: {command}: {error}")
    assert {"singlepass", "scheduler", "worker", "pip", *NOT_CHECKED} >= checked


def check_command(program: str, arguments: list[str]) -> None:
    if program == "singlepass":
        check_arguments(app, [each.replace("NAME…", "gauss") for each in arguments if each != "…"])
    elif program in ("scheduler", "worker"):
        check_arguments({"scheduler": dask_scheduler, "worker": dask_worker}[program].main, arguments)
    elif program == "pip":
        declared = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
        extras = re.findall(r"singlepass\[(\w+)\]", " ".join(arguments))
        assert set(extras) <= set(declared["optional-dependencies"])
    else:
        assert program in NOT_CHECKED, "no known program"


def check_arguments(command: click.Command, arguments: list[str]) -> None:
    """Parse arguments; a command without any may stand for itself in a sentence."""
    context = click.Context(command)
    while isinstance(command, click.Group) and arguments and not arguments[0].startswith("-"):
        name, found, arguments = command.resolve_command(context, arguments)
        assert found is not None, f"no command {name!r}"
        command = found
    if arguments and "--help" not in arguments and "--version" not in arguments:
        command.make_context("singlepass", arguments)


def test_learners_within_sentences_have_these_parameters() -> None:
    made = [
        eval(call, {name: ROWS[name].load()})
        for text in PAGES.values()
        for call, name in re.findall(r"`((\w+)\(\w+=[^`…]*\))`", text)
        if name in ROWS
    ]
    assert made


def test_the_own_learners_of_a_guide_take_part() -> None:
    pytest.importorskip("river")
    Path("mine.py").write_text(only_block("docs/own-learner.md", "python"))
    algorithms = [{"name": "Stubborn"}, {"name": "ScaledLogistic", "l2": 0.1}]
    study = parse_study(REST | {"seeds": 1, "algorithms": algorithms})
    summary = run_study(study, "out", progress=Silent(), plugins=["mine.py"])
    assert (summary.computed, summary.failed) == (2, 0)


def test_ten_minutes_beat_the_reference(singlepass: Call) -> None:
    Path("mine.py").write_text(only_block("docs/beat.md", "python"))
    # A smaller study that has cells of the reference, so that this takes a second.
    Path("short.toml").write_text(SHORT)
    [command] = re.findall(r"^    singlepass (compare .*)$", PAGES["docs/beat.md"], re.MULTILINE)
    done = singlepass(*command.replace("quickstart", "short.toml").split())
    assert done.returncode == 0, done.stderr
    assert "1 cell computed, 44 reused (44 from reference-" in done.stdout
    assert "Mine" in Path("beat/report.html").read_text("utf-8")
    Path("mine.toml").write_text(only_block("docs/comparing.md", "toml").replace("quickstart", "short.toml"))
    [command] = re.findall(r"^    singlepass (run mine.toml .*)$", PAGES["docs/comparing.md"], re.MULTILINE)
    done = singlepass(*command.split())
    assert done.returncode == 0, done.stderr
    # Two points of the grid, and the better one.
    assert "3 cells computed, 44 reused" in done.stdout
