"""Test studies that extend another study."""

from __future__ import annotations

from pathlib import Path

import pytest

from singlepass.pipeline.errors import InputError
from singlepass.pipeline.study.study import Study
from singlepass.pipeline.study.study_file import extension, read_study

BASE = """
name = "base"
title = "Its title"
noise = [0.0, 0.1]
seeds = 3
[[datasets]]
name = "gauss"
[[datasets]]
path = "own.csv"
test = "test.csv"
protocol = "holdout"
[[algorithms]]
name = "Perceptron"
[[algorithms]]
name = "AROW"
r = 1.0
"""
MINE = """
name = "mine"
extends = "base.toml"
seeds = 2
[[algorithms]]
name = "NHERD"
[[algorithms]]
name = "AROW"
r = [0.1, 1.0]
"""


def write(folder: Path, mine: str = MINE, base: str = BASE) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "base.toml").write_text(base)
    (folder / "mine.toml").write_text(mine)
    return folder / "mine.toml"


def read(path: Path) -> Study:
    return read_study(path, {"shipped": path.parent / "base.toml"})


def test_keys_and_algorithms(tmp_path: Path) -> None:
    path = write(tmp_path)
    study = read(path)
    assert (study.name, study.title, study.extends) == ("mine", "", "base.toml")
    assert study.seeds == [0, 1]
    assert [noise.rate for noise in study.noise] == [0.0, 0.1]
    assert [each.label for each in study.datasets] == ["gauss", "own"]
    assert [each.label for each in study.algorithms] == ["Perceptron", "AROW", "NHERD"]
    assert study.algorithms[1].grid == {"r": [0.1, 1.0]}
    assert extension(path, {}) == "mine extends base.toml: adds NHERD; replaces AROW; overrides seeds"
    # Paths in the same folder are left as they are.
    assert study.datasets[1].path == "own.csv"


def test_paths_start_at_the_file_that_names_them(tmp_path: Path) -> None:
    write(tmp_path / "theirs")
    path = tmp_path / "mine.toml"
    path.write_text(MINE.replace("base.toml", "theirs/base.toml"))
    own = read(path).datasets[1]
    assert own.path == str(tmp_path / "theirs" / "own.csv")
    assert own.options["test"] == str(tmp_path / "theirs" / "test.csv")


def test_a_shipped_study_and_a_chain(tmp_path: Path) -> None:
    path = write(tmp_path, MINE.replace("base.toml", "shipped"))
    assert read(path).name == "mine"
    last = tmp_path / "last.toml"
    last.write_text('name = "last"\nextends = "mine.toml"\n[[algorithms]]\nname = "NoChange"\n')
    study = read_study(last, {"shipped": tmp_path / "base.toml"})
    assert [each.label for each in study.algorithms] == ["Perceptron", "AROW", "NHERD", "NoChange"]
    assert study.seeds == [0, 1]


@pytest.mark.parametrize(
    ("mine", "line"),
    [
        (
            MINE.replace("base.toml", "shiped"),
            "study 'shiped' is neither shipped nor a TOML file: did you mean",
        ),
        (MINE.replace("base.toml", "none.toml"), r"none\.toml: no such study file"),
        (MINE.replace("base.toml", "mine.toml"), r"mine\.toml: extends: 'mine\.toml' extends itself"),
        (MINE.replace('name = "mine"\n', ""), r"mine\.toml: name: this key is required; it names the folder"),
        (
            MINE.replace('"base.toml"', "true"),
            "extends: True should be the name or file of a study, in quotes",
        ),
        (MINE.replace('"NHERD"', '"AROW"'), "algorithms: two entries are called 'AROW'"),
        (MINE.replace("seeds", "seed"), "unknown key 'seed': did you mean 'seeds'"),
    ],
)
def test_errors_are_one_line(tmp_path: Path, mine: str, line: str) -> None:
    with pytest.raises(InputError, match=line):
        read(write(tmp_path, mine))


def test_a_byte_order_mark_is_ignored(tmp_path: Path) -> None:
    assert read(write(tmp_path, f"\ufeff{MINE}")).name == "mine"


def test_a_study_that_is_read_back_is_not_extended_again(tmp_path: Path) -> None:
    study = read(write(tmp_path))
    assert Study.model_validate(study.model_dump(mode="json")) == study
    # A report prints the study with all its keys.
    plain = tmp_path / "plain.toml"
    plain.write_text('extends = ""\n' + BASE)
    assert read(plain).name == "base"
