"""Test the user's own files, from a study entry to a stream."""

from __future__ import annotations

import gzip
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

from singlepass.pipeline.data import expand, fingerprint, notes, open_stream
from singlepass.pipeline.data.formats.files import FORMATS, file_format
from singlepass.pipeline.errors import InputError

Write = Callable[[str, str | bytes], Path]
CSV = "a,b,label\n1,2,x\n3,4,y\n5,6,x\n"
TABLE = pa.table({"a": [1.0, 3.0, 5.0], "b": [2.0, 4.0, 6.0], "label": ["x", "y", "x"]})


def test_the_same_content_has_one_fingerprint(write: Write, tmp_path: Path) -> None:
    write("f.csv", CSV)
    write("f.csv.gz", gzip.compress(CSV.encode()))
    write("f.tsv", CSV.replace(",", "\t"))
    parquet.write_table(TABLE, tmp_path / "f.parquet")
    feather.write_feather(TABLE, tmp_path / "f.feather")
    names = ["f.csv", "f.csv.gz", "f.tsv", "f.parquet", "f.feather"]
    refs = [expand(path=name, base=tmp_path)[0] for name in names]
    streams = [open_stream(ref) for ref in refs]
    assert len({fingerprint(ref) for ref in refs}) == 1
    assert {stream.fingerprint for stream in streams} == {fingerprint(refs[0])}
    for stream in streams:
        assert np.asarray(stream.X).tolist() == [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
        assert stream.y.tolist() == [0, 1, 0]
        assert stream.classes == ("x", "y")
        assert stream.name == "f"


def test_the_number_of_features_of_sparse_text() -> None:
    limits = {"max_line": 9, "max_expansion": 9, "max_features": 9}
    for name, options, expected in [
        ("svmlight", {"n_features": 0, "zero_based": False, **limits}, 0),
        ("svmlight", {"n_features": 7, "zero_based": False, **limits}, 7),
        ("vw", {"hash_bits": 3}, 8),
    ]:
        scan = FORMATS[name].scan
        assert scan is not None
        assert scan(options)[1] == expected


def test_pinned_fingerprint(write: Write) -> None:
    # Stores on disk contain keys made from the fingerprint, so it must not change between releases.
    assert fingerprint(expand(path=write("f.csv", CSV))[0])[:16] == "4742d4376103a298"


def test_fingerprints_tell_contents_and_options_apart(write: Write) -> None:
    path = write("f.csv", CSV)
    refs = [
        expand(path=path)[0],
        expand(path=path, options={"bias": True})[0],
        expand(path=path, options={"dtype": "float32"})[0],
        expand(path=path, options={"positive": "x"})[0],
        expand(path=path, options={"test": str(write("t.csv", CSV.replace("1", "2")))})[0],
        expand(path=write("g.csv", CSV.replace("6", "7")))[0],
        expand(path=write("h.csv", CSV.replace("x", "z")))[0],
    ]
    assert len({fingerprint(ref) for ref in refs}) == len(refs)


def test_names_labels_and_paths(write: Write, tmp_path: Path) -> None:
    write("mine.csv.gz", gzip.compress(CSV.encode()))
    ref = expand(path="mine.csv.gz", base=tmp_path)[0]
    assert (ref.label, ref.source, ref.task) == ("mine", str(tmp_path / "mine.csv.gz"), "binary")
    assert expand(name="n", path="mine.csv.gz", base=tmp_path)[0].label == "n"
    assert expand(name="n", path="mine.csv.gz", label="l", base=tmp_path)[0].label == "l"
    assert ref.parent == "mine"


def test_a_test_file_is_the_official_split(write: Write, tmp_path: Path) -> None:
    write("f.csv", CSV)
    write("t.csv", "a,b,label\n7,8,y\n")
    stream = open_stream(expand(path="f.csv", base=tmp_path, options={"test": "t.csv", "bias": True})[0])
    assert np.asarray(stream.X_test).tolist() == [[7.0, 8.0, 1.0]]
    assert stream.y_test is not None
    assert stream.y_test.tolist() == [1]
    write("u.csv", "a,c,label\n7,8,y\n")
    with pytest.raises(
        InputError,
        match=r"u\.csv: .* differ from those of .*f\.csv: only u\.csv has c and only f\.csv has b",
    ):
        expand(path="f.csv", base=tmp_path, options={"test": "u.csv"})


def test_svmlight_takes_its_own_options(write: Write) -> None:
    path = write("f.svm", "1 1:1\n-1 2:1\n")
    stream = open_stream(expand(path=path, options={"n_features": 5, "dense": True, "standardize": True})[0])
    assert stream.X.shape == (2, 5)
    with pytest.raises(InputError, match="has no option 'target'"):
        expand(path=path, target="label")


def test_a_test_file_without_labels(write: Write) -> None:
    path, test = write("f.csv", CSV), str(write("t.csv", "a,b\n1,2\n"))
    for options in ({"test": test}, {"test": test, "dtype": "float64"}):
        with pytest.raises(InputError, match=r"t\.csv: no column is called 'label'; columns: a, b$"):
            expand(path=path, options=options)
    (path.parent / "days").mkdir()
    write("days/1.csv", CSV)
    for header, line in (("a,b", "no column is called 'label'"), ("a,label,y", "set target = 'label'")):
        write("days/2.csv", f"{header}\n1,2{',3' if header.endswith('y') else ''}\n")
        with pytest.raises(InputError, match=rf"2\.csv: .*{line}"):
            expand(path=path.parent / "days")


@pytest.mark.parametrize(("name", "options"), [("f.svm", {}), ("f.vw", {"hash_bits": 2})])
def test_dense_rows_of_sparse_text_have_a_largest_size(
    write: Write, monkeypatch: pytest.MonkeyPatch, name: str, options: dict[str, Any]
) -> None:
    path = write(name, "1 |f a b\n-1 |f c\n" if name == "f.vw" else "1 1:1\n-1 4:1\n")
    ref = expand(path=path, options={**options, "dense": True})[0]
    assert isinstance(open_stream(ref).X, np.ndarray)
    monkeypatch.setattr("singlepass.pipeline.data.tables.features._LARGEST_DENSE", 63)
    with pytest.raises(InputError, match=r"2 x 4 would take 0\.0 GiB; leave out dense = true"):
        expand(path=path, options={**options, "dense": True, "dtype": "float64"})


def test_a_test_file_may_have_another_format(write: Write, tmp_path: Path) -> None:
    parquet.write_table(TABLE, tmp_path / "f.parquet")
    write("t.csv", CSV)
    write("t.svm", "1 1:1\n")
    stream = open_stream(expand(path="f.parquet", base=tmp_path, options={"test": "t.csv"})[0])
    np.testing.assert_array_equal(np.asarray(stream.X_test), np.asarray(stream.X))
    with pytest.raises(InputError, match=r"t\.svm: text of sparse features has no columns, but"):
        expand(path="f.parquet", base=tmp_path, options={"test": "t.svm"})


def test_numbers_of_all_files_decide_the_dtype(tmp_path: Path) -> None:
    exact = [16777217.0, 1e300]
    for name, dtype in (("1", pa.float32()), ("2", pa.float64())):
        values = pa.array([1.0, 2.0] if name == "1" else exact, dtype)
        parquet.write_table(pa.table({"a": values, "label": ["x", "y"]}), tmp_path / f"{name}.parquet")
    X = np.asarray(open_stream(expand(path=tmp_path / "[12].parquet")[0]).X)
    assert X[:, 0].tolist() == [1.0, 2.0, *exact]
    ref = expand(path="1.parquet", base=tmp_path, options={"test": "2.parquet"})[0]
    assert np.asarray(open_stream(ref).X_test)[:, 0].tolist() == exact
    assert open_stream(expand(path=tmp_path / "1.parquet")[0]).X.dtype == np.float32


def test_the_index_of_a_data_frame_is_not_a_feature(tmp_path: Path) -> None:
    frame = TABLE.to_pandas().set_index("b").sample(frac=1, random_state=0)
    frame.to_parquet(tmp_path / "f.parquet")
    ref = expand(path=tmp_path / "f.parquet")[0]
    assert open_stream(ref).X.shape == (3, 1)
    [note] = notes(ref)
    assert note == (
        "column 'b': the index of a data frame, not a feature; reset_index() before writing makes it one"
    )
    ordered = expand(path=tmp_path / "f.parquet", options={"order_by": "b"})[0]
    assert np.asarray(open_stream(ordered).X)[:, 0].tolist() == [1.0, 3.0, 5.0]


def test_tasks_of_a_file_with_three_classes(write: Write) -> None:
    path = write("f.csv", "a,label\n1,x\n2,y\n3,z\n4,x\n")
    assert [ref.label for ref in expand(path=path, task="pairs")] == ["f[x-vs-y]", "f[x-vs-z]", "f[y-vs-z]"]
    stream = open_stream(expand(path=path, task="pair:z,x")[0])
    assert stream.rows is not None
    assert (stream.rows.tolist(), stream.y.tolist()) == ([0, 2, 3], [0, 1, 0])
    with pytest.raises(
        InputError, match="needs two classes, found 3: x, y, z; set task = 'one-vs-rest' or 'pairs'"
    ):
        expand(path=path, task="binary")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.csv", "csv"), ("a.b.CSV.GZ", "csv"), ("a.tsv.xz", "csv"), ("a.svmlight.bz2", "svmlight"),
        ("a.libsvm", "svmlight"), ("a.vw.gz", "vw"),
        ("a.parquet", "parquet"), ("a.arrow", "arrow"), ("a.feather", "arrow"),
    ],
)  # fmt: skip
def test_formats_by_suffix(name: str, expected: str) -> None:
    assert file_format(Path(name)) == expected


def test_tabs_in_upper_case_names(write: Write) -> None:
    assert open_stream(expand(path=write("F.TSV", CSV.replace(",", "\t")))[0]).X.shape == (3, 2)


def test_a_named_format_wins(write: Write) -> None:
    path = write("data.txt.gz", gzip.compress(CSV.replace(",", ";").encode()))
    ref = expand(path=path, options={"format": "csv", "delimiter": ";"})[0]
    assert open_stream(ref).X.shape == (3, 2)


@pytest.mark.parametrize("options", [{}, {"format": "csv"}])
def test_a_file_in_an_archive(tmp_path: Path, cache: Path, options: dict[str, Any]) -> None:
    with zipfile.ZipFile(tmp_path / "f.zip", "w") as archive:
        archive.writestr("f.csv", CSV)
    ref = expand(path=f"zip://f.csv::{tmp_path / 'f.zip'}", options=options)[0]
    assert open_stream(ref).X.shape == (3, 2)


@pytest.mark.parametrize(
    ("name", "options", "line"),
    [
        (
            "data.txt",
            {},
            "the format is not clear from the name; set format = 'svmlight', 'vw', 'csv', 'parquet', 'arrow'",
        ),
        ("usps.bz2", {}, "the format is not clear from the name"),
        (
            "f.zip",
            {},
            'f.zip: is a zip archive: unpack it, or read a file in it by path = "zip://NAME::PATH"',
        ),
        ("f.csv.tar.gz", {"format": "csv"}, "f.csv.tar.gz: is a tar archive: unpack it, or read"),
        ("f.csv", {"format": "cvs"}, "format = 'cvs'; did you mean 'csv'?"),
        ("f.parquet.gz", {}, "parquet files are compressed inside; uncompress this one first"),
        (
            "f.csv",
            {"delimiter": ";;"},
            "delimiter must be one ASCII character except quote, line end and NUL",
        ),
        ("f.csv", {"delimiter": "¬"}, "delimiter must be one ASCII character"),
        ("f.csv", {"delimiter": "\0"}, "delimiter must be one ASCII character"),
        ("f.csv", {"targt": "a"}, "has no option 'targt'; did you mean 'target'?"),
        ("f.csv", {"header": "yes"}, "header must be true or false, not 'yes'"),
        ("none.csv", {}, "no such file"),
        ("none", {}, "no such file or folder"),
    ],
)
def test_error_lines(write: Write, tmp_path: Path, name: str, options: dict[str, Any], line: str) -> None:
    for each in ("f.csv", "data.txt", "usps.bz2", "f.zip"):
        write(each, CSV)
    with pytest.raises(InputError) as error:
        expand(path=name, base=tmp_path, options=options)
    assert line in str(error.value)
    assert "\n" not in str(error.value)
