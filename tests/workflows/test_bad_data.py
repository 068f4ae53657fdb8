"""Test invalid data at the command line: one line of error, exit status 2, and no loss of results."""

from __future__ import annotations

import bz2
import io
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from .test_cli import assert_one_line

Call = Callable[..., Any]
ENTRY = 'name = "s"\n{keys}\n[[datasets]]\n{entry}\n[[algorithms]]\nname = "Perceptron"\n'
CSV = "a,label\n" + "".join(f"{i},{'xy'[i % 2]}\n" for i in range(20))


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SINGLEPASS_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("SINGLEPASS_DATA", raising=False)
    return tmp_path / "cache"


@pytest.fixture
def study(tmp_path: Path) -> Callable[..., str]:
    """Write a study of one data set; return its name."""

    def write(entry: str, keys: str = "") -> str:
        (tmp_path / "s.toml").write_text(ENTRY.format(entry=entry, keys=keys))
        return "s.toml"

    return write


@pytest.mark.parametrize(
    ("content", "options", "fragments"),
    [
        ("1 1:1\n-1 2:1 2:3\n", "", ["line 2: index 2 follows 2; indices must rise along a line"]),
        ("1 1:1\n-1 3:1 2:3\n", "", ["line 2: index 2 follows 3; indices must rise along a line"]),
        ("1 1:1\n-1 0:1\n", "", ["line 2: index 0, but indices start at 1; set zero_based = true"]),
        ("1 1:1\n-1 -1:1\n", "zero_based = true", ["line 2: '-1:1' is not of the form index:number"]),
        ("1 1:1\n-1 4:1\n", "n_features = 3", ["line 2: index 4 exceeds n_features = 3"]),
        ("spam 1:1\nham 2:1\n", "", ["line 1: the label 'spam' is not a number", "in CSV and Parquet files"]),
        ("1 1:1\n-1 2:\xe9\n".encode("latin-1"), "", ["line 2: not UTF-8 text (byte 0xe9 at position 6)"]),
        ("1 1:1\n-1 2:1\n".encode("utf-16"), "", ["line 1: not UTF-8 text (byte 0xff at position 1)"]),
        (
            "".join(f"{i / 7} 1:1\n" for i in range(1, 7)),
            "",
            ["6 different labels in 6 rows, such as 0.14285714285714285", "numbers to predict, not classes"],
        ),
    ],
    ids=["duplicate", "order", "zero", "negative", "past", "text label", "latin-1", "utf-16", "regression"],
)
def test_svmlight(
    singlepass: Call,
    study: Callable[..., str],
    tmp_path: Path,
    content: str | bytes,
    options: str,
    fragments: list[str],
) -> None:
    (tmp_path / "f.svm").write_bytes(content if isinstance(content, bytes) else content.encode())
    result = singlepass("run", study(f'path = "f.svm"\n{options}'))
    assert_one_line(result, str(tmp_path / "f.svm"), *fragments)
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize(
    ("content", "fragments"),
    [
        (b"a,label\n1,x\n2,\xe9t\xe9\n", ["line 3: not UTF-8 text (byte 0xe9 at position 3)"]),
        ("a,label\n1,x\n2,y\n".encode("utf-16"), ["line 1: not UTF-8 text (byte 0xff at position 1)"]),
        (b"a,label\n1,0.1\n2,0.2\n3,0.3\n", ["3 different labels in 3 rows, such as 0.1"]),
        (b"a,label\n1,x\n2,\n3,y\n", ["line 3 (row 2): the label is missing (column 'label')"]),
    ],
    ids=["latin-1", "utf-16", "regression", "no label"],
)
def test_csv(
    singlepass: Call, study: Callable[..., str], tmp_path: Path, content: bytes, fragments: list[str]
) -> None:
    (tmp_path / "f.csv").write_bytes(content)
    assert_one_line(singlepass("run", study('path = "f.csv"')), str(tmp_path / "f.csv"), *fragments)


@pytest.mark.parametrize(
    ("name", "train", "test"),
    [
        ("f.csv", "a,label\n1,x\n2,y\n", "a,label\n3,z\n"),
        ("f.svm", "0 1:1\n1 1:2\n", "2 1:3\n"),
    ],
)
def test_a_class_that_only_the_test_file_has(
    singlepass: Call, study: Callable[..., str], tmp_path: Path, name: str, train: str, test: str
) -> None:
    (tmp_path / name).write_text(train)
    (tmp_path / f"test-{name}").write_text(test)
    result = singlepass("run", study(f'path = "{name}"\ntest = "test-{name}"', 'protocol = "holdout"'))
    unseen = "z" if name.endswith(".csv") else "2"
    assert_one_line(result, f"test-{name}: label {unseen!r} is not a class of {name}: ")


@pytest.mark.parametrize(
    ("keys", "rare", "fragments"),
    [
        ('protocol = "crossval"', 3, ["data set 'f': class 'rare' has 3 of 23 rows, too few for 10 folds"]),
        ('protocol = "holdout"\nseeds = 20', 1, ["data set 'f': class 'rare' has 1 of 21 rows", "test part"]),
    ],
)
def test_a_class_that_a_split_leaves_out(
    singlepass: Call,
    study: Callable[..., str],
    tmp_path: Path,
    keys: str,
    rare: int,
    fragments: list[str],
) -> None:
    (tmp_path / "f.csv").write_text(CSV.replace(",y", ",x") + "5,rare\n" * rare)
    assert_one_line(singlepass("run", study('path = "f.csv"', keys)), *fragments)
    # Refused before anything was computed.
    assert not list((tmp_path / "results").rglob("*.parquet"))


@pytest.mark.slow
def test_what_was_computed_stays(singlepass: Call, study: Callable[..., str], tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_text(CSV)
    assert singlepass("run", study('path = "f.csv"', "seeds = 2")).returncode == 0
    cells = {path: path.read_bytes() for path in (tmp_path / "results").rglob("*.parquet")}
    assert cells
    (tmp_path / "f.csv").write_text(CSV + "20\n")
    assert_one_line(singlepass("run", study('path = "f.csv"', "seeds = 4")), "f.csv, line 22: found 1 col")
    assert {path: path.read_bytes() for path in (tmp_path / "results").rglob("*.parquet")} == cells
    (tmp_path / "f.csv").write_text(CSV)
    again = singlepass("run", study('path = "f.csv"', "seeds = 4"))
    assert "2 cells computed, 2 reused, 0 failed" in again.stdout


@pytest.mark.parametrize("name", ["../../escaped.txt", "/escaped.txt", "a/../../escaped.txt"])
@pytest.mark.parametrize(
    ("dataset", "archive", "mode"),
    [
        ('20newsgroups"\ntask = "paper', "20news-bydate.tar.gz", "w:gz"),
        ("reuters21578", "reuters21578.tar.gz", "w:gz"),
        ("enron-spam", "enron-spam.tar.bz2", "w:bz2"),
    ],
)
def test_archives_with_paths_that_leave_the_folder(
    singlepass: Call,
    study: Callable[..., str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    dataset: str,
    archive: str,
    mode: str,
) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    with tarfile.open(folder / archive, mode) as packed:  # type: ignore[call-overload]
        info = tarfile.TarInfo(name)
        info.size = 4
        packed.addfile(info, io.BytesIO(b"text"))
    monkeypatch.setenv("SINGLEPASS_DATA", str(folder))
    result = singlepass("run", study(f'name = "{dataset}"'))
    assert_one_line(result, archive, repr(name), "leads out of its folder; refused")
    assert not list(tmp_path.parent.rglob("escaped.txt"))
    assert not Path("/escaped.txt").exists()


def test_a_changed_public_file_is_refused(
    singlepass: Call, study: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SINGLEPASS_DATA", str(tmp_path))
    for name in ("usps.bz2", "usps.t.bz2"):
        (tmp_path / name).write_bytes(bz2.compress(b"1 1:1\n2 2:1\n"))
    result = singlepass("run", study('name = "usps"\ntask = "round"'))
    assert_one_line(result, str(tmp_path / "usps.bz2"), "not the public data: 2 rows instead of 7,291")
    (tmp_path / "usps.t.bz2").write_bytes(bz2.compress(b"1 1:1\n" * 99)[:30])
    assert_one_line(
        singlepass("run", study('name = "usps"\ntask = "round"')), str(tmp_path / "usps.t.bz2"), "cut short"
    )


def test_convert_describes_a_file(singlepass: Call, tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_text(CSV.replace("label", "kind"))
    (tmp_path / "g.svm").write_text("1 1:1\n-1 3:1\n")
    (tmp_path / "t.svm").write_text("1 1:2\n-1 3:1\n")
    result = singlepass("data", "convert", "f.csv", "--target", "kind")
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("f: 20 rows, 1 feature, 2 classes (x, y), fingerprint ")
    assert singlepass("data", "convert", "f.csv", "--target", "kind").stdout == result.stdout
    result = singlepass("data", "convert", "g.svm", "digits", "--option", "dtype=float32")
    assert [line.partition(", ")[0] for line in result.stdout.splitlines()] == [
        "g: 2 rows",
        "digits: 1,797 rows",
    ]
    (tmp_path / "days").mkdir()
    (tmp_path / "days" / "a.csv").write_text("a,day,label\n1,mon,x\n?,tue,y\n")
    options = ["--option", 'categorical=["day"]', "--option", "missing=mean"]
    result = singlepass("data", "convert", "days", *options)
    assert result.stdout.startswith("days: 2 rows, 3 features, 2 classes (x, y), fingerprint ")
    assert "  column 'day': 2 categories, a feature each" in result.stdout
    assert "  column 'a': 1 of 2 values missing, replaced by the mean of the training part" in result.stdout
    (tmp_path / "f.txt").write_text(CSV.replace(",", "\t"))
    for delimiter in ("\t", r"\t", r'"\t"'):
        options = ["--option", "format=csv", "--option", f"delimiter={delimiter}"]
        assert singlepass("data", "convert", "f.txt", *options).stdout.startswith("f: 20 rows, 1 feature, ")
    wide = singlepass("data", "convert", "g.svm", "--option", "n_features=9", "--option", "test=t.svm")
    assert wide.stdout.startswith("g: 2 rows and 2 in a test part, 9 features, 2 classes (-1, 1), ")


@pytest.mark.parametrize(
    ("arguments", "fragments"),
    [
        (["none.csv"], ["none.csv: no such file"]),
        (["mnits"], ["unknown data set 'mnits'; did you mean 'mnist'?"]),
        (["adult", "--option", "n_features=3"], ["data set 'adult' has no option 'n_features'"]),
        (["f.csv", "--option", "n_features"], ["--option 'n_features': write KEY=VALUE"]),
        (["f.csv", "--option", "n_features=3"], ["has no option 'n_features'"]),
        (
            ["f.csv", "--target", "a", "--option", "target=label"],
            ["--option 'target=label': target is given twice"],
        ),
        (["f.csv", "--option", "bias=true", "--option", "bias=false"], ["'bias=false': bias is given twice"]),
        (["f.csv", "--target", "z"], ["f.csv: no column is called 'z'; columns: a, label"]),
        ([], ["Missing argument"]),
    ],
)
def test_convert_refuses(
    singlepass: Call, tmp_path: Path, arguments: list[str], fragments: list[str]
) -> None:
    (tmp_path / "f.csv").write_text(CSV)
    assert_one_line(singlepass("data", "convert", *arguments), *fragments)


def _write_columns(path: Path, names: list[str]) -> None:
    """Write a table with these columns and a label, in the format of the suffix."""
    rng = np.random.RandomState(0)
    table = pd.DataFrame({name: rng.uniform(size=30) for name in names} | {"label": list("xy") * 15})
    if path.suffix == ".csv":
        table.to_csv(path, index=False)
    elif path.suffix == ".parquet":
        table.to_parquet(path, index=False)
    else:
        rows = [f"@attribute {name} numeric" for name in names] + ["@attribute label {x,y}", "@data"]
        values = [",".join(map(str, row)) for row in table.itertuples(index=False)]
        path.write_text("\n".join(["@relation r", *rows, *values]) + "\n")


@pytest.mark.parametrize("suffix", ["csv", "parquet", "arff"])
@pytest.mark.parametrize(
    ("columns", "fault"),
    [
        (["Id", "a", "b"], "only test.{0} has Id;"),
        (["a", "Id", "b"], "only test.{0} has Id;"),
        (["a"], "only train.{0} has b;"),
        (["a", "c"], "only test.{0} has c and only train.{0} has b;"),
        (["b", "a"], "another order;"),
    ],
)
def test_a_test_part_with_other_columns(
    singlepass: Call, study: Callable[..., str], tmp_path: Path, suffix: str, columns: list[str], fault: str
) -> None:
    train, test = (tmp_path / f"{part}.{suffix}" for part in ("train", "test"))
    _write_columns(train, ["a", "b"])
    _write_columns(test, columns)
    file = study(f'path = "train.{suffix}"\ntest = "test.{suffix}"', 'protocol = "holdout"')
    fragments = f"{test}: its feature columns differ from those of {train}: ", fault.format(suffix)
    assert_one_line(singlepass("run", file), *fragments)
    convert = singlepass("data", "convert", str(train), "--option", f"test={test}")
    assert convert.returncode == 2
    assert all(fragment in convert.stderr for fragment in fragments)


def test_a_test_file_that_is_the_training_file(
    singlepass: Call, study: Callable[..., str], tmp_path: Path
) -> None:
    (tmp_path / "train.csv").write_text(CSV)
    (tmp_path / "copy.csv").write_text(CSV)
    file = study('path = "train.csv"\ntest = "copy.csv"', 'protocol = "holdout"')
    for command in ("plan", "run"):
        fragments = "copy.csv: the test file has the same content as the training file", "train.csv"
        result = singlepass(command, file)
        assert result.returncode == 2
        assert all(fragment in result.stderr for fragment in fragments)


@pytest.mark.parametrize(
    ("text", "options", "fragment"),
    [
        (CSV.replace(",", ";"), "", "found one column, 'a;label': the delimiter is probably ';'; set delim"),
        (CSV.replace(",", "\t"), "", r'the delimiter is probably \'\t\'; set delimiter = "\t"'),
        (CSV, 'delimiter = ";"', "found one column, 'a,label': the delimiter is probably ','"),
        (
            "a;label\n" + "".join(f"{i},5;{'xy'[i % 2]}\n" for i in range(20)),
            'delimiter = ";"',
            "line 2 (row 1), column 'a': '0,5' is not a number: it has a decimal comma or separates",
        ),
    ],
)
def test_delimiters_and_decimal_commas(
    singlepass: Call, study: Callable[..., str], tmp_path: Path, text: str, options: str, fragment: str
) -> None:
    (tmp_path / "f.csv").write_text(text)
    assert_one_line(singlepass("run", study(f'path = "f.csv"\n{options}')), fragment.replace("\\'", "'"))


@pytest.mark.slow
def test_labels_that_differ_in_case_only_are_named(
    singlepass: Call, study: Callable[..., str], tmp_path: Path
) -> None:
    (tmp_path / "f.csv").write_text(CSV.replace("3,y", "3,X"))
    line = "the labels 'X' and 'x' differ in case only: they are two classes"
    assert f"data set 'f': {line}" in singlepass("run", study('path = "f.csv"')).stderr
    assert line in singlepass("data", "convert", "f.csv").stdout
    assert "values   f: the labels 'X' and 'x'" in singlepass("plan", study('path = "f.csv"')).stdout


def test_a_missing_class_of_a_pair_is_named(singlepass: Call, study: Callable[..., str]) -> None:
    result = singlepass("run", study('name = "digits"\ntask = "pair:3,12"'))
    assert_one_line(result, "task 'pair:3,12': there is no class '12'; classes: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9")


@pytest.mark.parametrize(
    ("entry", "fragment"),
    [
        ('name = "digits"\nseeds = 3', "datasets[1]: 'seeds' is a key of the study: put it above the first"),
        (
            'name = "digits"\n[[algorithms]]\nname = "AROW"\nnoise = 0.1',
            "algorithm 'AROW' has no parameter 'noise': 'noise' is a key of the study: put it above",
        ),
        (
            'name = "digits"\n[[rankings]]\ntitle = "t"\nalgorithms = ["a", "b"]\nmetrics = ["f1"]',
            "rankings[1]: 'metrics' is a key of the study: put it above the first [[…]]",
        ),
        (
            'name = "digits"\n[[algorithms]]\nname = "sklearn.ensemble:RandomForestClassifier"',
            "RandomForestClassifier has no partial_fit: to learn along a stream, a class needs the methods",
        ),
        (
            'name = "digits"\n[[algorithms]]\nname = "nowhere.at.all:Class"',
            "algorithm 'nowhere.at.all:Class': module 'nowhere' is not installed",
        ),
    ],
)
def test_studies_that_cannot_start_are_refused(
    singlepass: Call, study: Callable[..., str], entry: str, fragment: str
) -> None:
    file = study(entry)
    for command in ("plan", "run"):
        assert_one_line(singlepass(command, file), fragment)


def test_a_budget_above_the_number_of_rows_is_named(singlepass: Call, study: Callable[..., str]) -> None:
    entry = 'name = "breast-cancer"\n[[algorithms]]\nname = "Forgetron"\nbudget = {}'
    line = "budget   Forgetron: 600 is more than the 569 rows of breast-cancer, so no support vector is ever"
    assert line in " ".join(singlepass("plan", study(entry.format("[50, 600]"))).stdout.split("\n"))
    assert "budget  " not in singlepass("plan", study(entry.format(569))).stdout
