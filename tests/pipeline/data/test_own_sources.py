"""Test folders, patterns, URLs and OpenML data sets: the files they select, and errors."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import fsspec
import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from singlepass.pipeline.data import expand, look, notes, open_stream, remote
from singlepass.pipeline.errors import InputError

Write = Callable[[str, str | bytes], Path]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Write a folder of three Parquet files in Spark's layout."""
    parts = tmp_path / "parts"
    (parts / "more").mkdir(parents=True)
    for number, name in enumerate(("a.parquet", "b.parquet", "more/c.parquet")):
        table = pa.table({"a": [3.0 * number, 3.0 * number + 1], "label": ["x", "y"]})
        parquet.write_table(table, parts / name)
    (parts / "_SUCCESS").write_text("")
    (parts / ".a.parquet.crc").write_text("crc")
    return parts


def column(place: Any, **options: Any) -> list[float]:
    X: Any = open_stream(expand(path=place, options=options)[0]).X
    found: list[float] = X[:, 0].tolist()
    return found


def test_a_folder_is_its_files_one_after_the_other(folder: Path) -> None:
    assert column(folder) == [0, 1, 3, 4, 6, 7]
    assert column(f"{folder}/") == column(folder)
    assert expand(path=folder)[0].label == "parts"


def test_patterns(folder: Path) -> None:
    assert column(f"{folder}/*.parquet") == [0, 1, 3, 4]
    assert column(f"{folder}/**/*.parquet") == [0, 1, 3, 4, 6, 7]
    assert expand(path=f"{folder}/[ab].parquet")[0].label == "parts"
    assert column(f"{folder}/a.parquet", test=f"{folder}/[bc].parquet") == [0, 1]


def test_the_name_of_a_task_has_no_control_character(write: Write) -> None:
    path = write("d.csv", "a,label\n1,x\n2,y\n3,\x1b[31mz\n")
    assert len(expand(path=path)) == 1
    assert expand(path=path, task="pair:x,y")[0].label == "d[x-vs-y]"
    for task in ("one-vs-rest", "pairs", "pair:x,\x1b[31mz"):
        with pytest.raises(InputError, match=r"d\.csv': the class '\\x1b\[31mz' has a control"):
            expand(path=path, task=task)


def test_which_files_train_is_part_of_what_a_table_is(folder: Path) -> None:
    both = expand(path=f"{folder}/[ab].parquet")[0]
    one = expand(path=f"{folder}/a.parquet", options={"test": f"{folder}/b.parquet"})[0]
    assert len(open_stream(both).y) == 4
    assert len(open_stream(one).y) == 2


def test_links_are_followed_and_each_file_is_read_once(write: Write, tmp_path: Path) -> None:
    for name in ("days", "other"):
        (tmp_path / name / "1").mkdir(parents=True)
        write(f"{name}/1/f.csv", f"a,label\n{len(name)},x\n{len(name)},y\n")
    days = tmp_path / "days"
    # A link to a folder outside, to one inside, to a file inside, and to the folder itself.
    for name, place in (("2", "../other/1"), ("0", "1"), ("1/a.csv", "f.csv"), ("self", ".")):
        (days / name).symlink_to(place)
    for place in (days, f"{days}/**/*.csv"):
        assert column(place) == [4, 4, 5, 5]
    # A visible link to a hidden folder, as data versioning tools make them.
    (tmp_path / "other").rename(days / ".store")
    (days / "2").unlink()
    (days / "2").symlink_to(".store/1")
    assert column(days) == [4, 4, 5, 5]


def test_equal_files_that_are_stored_once_are_all_read(write: Write, tmp_path: Path) -> None:
    """git-annex and others store files of equal content once, elsewhere."""
    (tmp_path / "days").mkdir()
    for name, place in (("1.csv", "k.csv"), ("2.csv", "l.csv"), ("3.csv", "k.csv")):
        write(place, f"a,label\n{ord(place[0])},x\n1,y\n")
        (tmp_path / "days" / name).symlink_to(tmp_path / place)
    k, other = ord("k"), ord("l")
    for place in (tmp_path / "days", f"{tmp_path}/days/*.csv"):
        assert column(place) == [k, 1, other, 1, k, 1]


@pytest.mark.parametrize("name", ["2.csv", "2"])
def test_a_link_to_nothing_is_refused(write: Write, tmp_path: Path, name: str) -> None:
    write("1.csv", "a,label\n1,x\n2,y\n")
    (tmp_path / "README.md").symlink_to("none")
    assert column(tmp_path) == [1, 2]
    assert len(open_stream(expand(path=tmp_path, options={"format": "csv"})[0]).y) == 2
    (tmp_path / name).symlink_to("none")
    for place in (tmp_path, f"{tmp_path}/[12]*"):
        with pytest.raises(InputError, match=f"/{name}: is a link to none, which does not exist"):
            column(place)


@pytest.mark.parametrize(
    ("place", "line"),
    [
        ("none/*.parquet", "none/*.parquet: no file matches this pattern"),
        ("parts/more/*.csv", "parts/more/*.csv: no file matches this pattern"),
        ("bare", "bare: no data file in this folder"),
        ("mixed", 'mixed: files of several formats (csv, parquet); select one, such as format = "csv"'),
    ],
)  # fmt: skip
def test_places_without_files_that_can_be_read(folder: Path, write: Write, place: str, line: str) -> None:
    base = folder.parent
    for name in ("bare", "mixed"):
        (base / name).mkdir()
    write("bare/notes.txt", "")
    write("mixed/f.csv", "a,label\n1,x\n2,y\n")
    write("mixed/f.parquet", (folder / "a.parquet").read_bytes())
    with pytest.raises(InputError) as error:
        expand(path=place, base=base)
    assert line in str(error.value)


def test_a_path_that_is_not_utf8_is_one_line() -> None:
    with pytest.raises(InputError, match=r"/lat\\udce9/a.csv: this path is not UTF-8 text: rename the file"):
        expand(path="a.csv", base="/lat\udce9")


def test_a_fault_names_the_file_it_is_in(folder: Path) -> None:
    parquet.write_table(pa.table({"a": [1.0, None], "label": ["x", "y"]}), folder / "more/c.parquet")
    with pytest.raises(InputError, match=r"more/c\.parquet, row 2, column 'a': no value"):
        expand(path=folder)
    parquet.write_table(pa.table({"b": [1.0], "label": ["x"]}), folder / "b.parquet")
    with pytest.raises(
        InputError, match=r"b\.parquet: .* differ from those of .*a\.parquet: only b\.parquet has b and"
    ):
        expand(path=folder)
    parquet.write_table(pa.table({"a": [1.0], "label": ["x"]}), folder / "b.parquet")
    parquet.write_table(pa.table({"a": [2.0], "label": [None]}), folder / "more/c.parquet")
    with pytest.raises(InputError, match=r"more/c\.parquet, row 1: the label is missing \(column 'label'\)"):
        expand(path=folder)


@pytest.fixture
def bucket() -> Iterator[Any]:
    files = fsspec.filesystem("memory")
    yield files
    for name in files.find("/"):
        files.rm(name)


def test_a_url_is_copied_once(bucket: Any, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bucket.pipe("/b/f.csv", b"a,label\n1,x\n2,y\n")
    assert not look(path="memory://b/f.csv").ready
    assert not look(path="memory://b/f.csv").missing
    assert column("memory://b/f.csv") == [1, 2]
    assert expand(path="memory://b/f.csv")[0].label == "f"
    assert look(path="memory://b/f.csv").ready
    assert len(list((cache / "data" / "remote").rglob("f.csv"))) == 1
    bucket.pipe("/b/g.csv", b"a,label\n3,x\n")
    assert column("memory://b/*.csv") == [1, 2, 3]
    bucket.pipe("/c/t.csv", b"a,label\n4,x\n")
    for name in ("/b/.h/x.csv", "/b/_temporary/0/x.csv", "/b/_x.csv"):
        bucket.pipe(name, b"a,label\n9,x\n")
    # The first name of the folder is not that of a data file.
    bucket.pipe("/b/README.md", b"Days")
    assert column("memory://b", test="memory://c/t.csv") == [1, 2, 3]


def test_a_format_selects_files_of_a_folder(bucket: Any, write: Write, tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    for name, text in (("_SUCCESS", ""), ("part-0", "1 1:5\n"), ("part-1", "2 1:6\n")):
        write(f"d/{name}", text)
        bucket.pipe(f"/d/{name}", text.encode())
    for place in (tmp_path / "d", "memory://d"):
        assert column(place, format="svmlight", dense=True) == [5, 6]
    write("d/f.csv", "a,label\n7,x\n8,y\n")
    write("d/f.arff", "")
    assert column(tmp_path / "d", format="csv") == [7, 8]


def test_patterns_of_urls_match_no_hidden_files(bucket: Any) -> None:
    for value, name in enumerate(("e.csv", "s/f.csv", ".h/g.csv", ".d.csv", "s/.i/d.csv", ".h/.d.csv")):
        bucket.pipe(f"/.p/{name}", f"a,label\n{value},x\n{value},y\n".encode())
    assert column("memory://.p/*.csv") == [0, 0]
    assert column("memory://.p/**/*.csv") == [0, 0, 1, 1]
    assert column("memory://.p/.h/*.csv") == [2, 2]
    assert column("memory://.p/.[d]*.csv") == [3, 3]


def test_a_changed_file_of_a_web_server_is_copied_again(
    server: Any, cache: Path, new_process: Callable[[], None]
) -> None:
    pytest.importorskip("aiohttp")
    url = f"{server.url}/f.csv"
    # Two contents of one length differ in the header ETag only. The last one is there already.
    contents = {1: b"a,label\n1,x\n1,y\n", 2: b"a,label\n2,x\n2,y\n", 3: b"a,label\n3,x\n3,y\n3,y\n"}
    for value in (1, 2, 3, 1):
        server.files["/f.csv"] = contents[value]
        new_process()
        remote.look_again()
        assert set(column(url)) == {value}
        # What a plan describes is what the last run has read.
        (copy,) = remote.copies(url, remote.names_at(url, download=False), download=False)
        assert copy.read_bytes() == contents[value]
    assert len(list((cache / "data" / "remote").rglob("f.csv"))) == 3


def test_a_compressed_file_that_a_web_server_sends_as_an_encoding(server: Any) -> None:
    pytest.importorskip("aiohttp")
    for name in ("/encoded.csv.gz", "/plain.csv.gz"):
        server.files[name] = gzip.compress(b"a,label\n1,x\n2,y\n")
    server.encoded.add("/encoded.csv.gz")
    for name in server.files:
        assert column(f"{server.url}{name}") == [1, 2]


def test_a_look_copies_no_test_part(bucket: Any, cache: Path, tmp_path: Path) -> None:
    bucket.pipe("/c/t.csv", b"a,label\n4,x\n")
    train, test = tmp_path / "f.csv", {"test": "memory://c/t.csv"}
    assert look(path=str(train), options=test).missing
    train.write_text("a,label\n1,x\n2,y\n")
    assert look(path=str(train), options=test).state == "to be downloaded"
    assert not list((cache / "data").rglob("t.csv"))


def test_urls_that_cannot_be_read(bucket: Any) -> None:
    for place, line in (
        ("memory://b/none.csv", "memory://b/none.csv: no such file"),
        ("s4://b/f.csv", "s4://b/f.csv: cannot be read (Protocol not known: s4)"),
        ("gs://b/f.csv", "gs://b/f.csv: "),
    ):
        with pytest.raises(InputError) as error:
            expand(path=place)
        assert str(error.value).startswith(line)
    bucket.pipe("/b/f.csv", b"a,label\n1,x\nz,y\n")
    with pytest.raises(InputError, match=r"^memory://b/f\.csv, line 3 \(row 2\), column 'a': 'z' is not a "):
        expand(path="memory://b/f.csv")


ARFF = """@relation toy
@attribute id numeric
@attribute day {mon, tue}
@attribute price real
@attribute class {UP, DOWN}
@data
1,mon,0.5,UP
2,tue,0.25,DOWN
3,tue,0.125,UP
"""


@pytest.fixture
def openml(server: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Replace OpenML by a server on this machine, with one data set."""
    monkeypatch.setenv("SINGLEPASS_MIRROR", server.url)

    def serve(content: str = ARFF, **changes: Any) -> None:
        told = {
            "id": "151",
            "name": "toy",
            "version": "2",
            "format": "ARFF",
            "licence": "Public",
            "url": "https://api.openml.org/data/v1/download/2419/toy.arff",
            "default_target_attribute": "class",
            "row_id_attribute": "id",
            "md5_checksum": hashlib.md5(content.encode()).hexdigest(),
            **changes,
        }
        described = {key: value for key, value in told.items() if value is not None}
        server.files = {
            "/api/v1/json/data/151": json.dumps({"data_set_description": described}).encode(),
            "/data/v1/download/2419/toy.arff": content.encode(),
        }

    serve()
    return serve


def test_openml_by_number(openml: Callable[..., None], server: Any, new_process: Callable[[], None]) -> None:
    assert look(openml=151).state == "to be downloaded"
    ref = expand(openml=151)[0]
    assert (ref.label, ref.source) == ("openml-151", "openml:151")
    stream = open_stream(ref)
    # The description names the target and the column of row numbers.
    assert np.asarray(stream.X).tolist() == [[1, 0, 0.5], [0, 1, 0.25], [0, 1, 0.125]]
    assert stream.classes == ("DOWN", "UP")
    assert notes(ref)[0].startswith("OpenML 151: toy, version 2, md5 ")
    # From now on the set is pinned and needs no server.
    server.files = {}
    new_process()
    assert open_stream(expand(name="openml:151", label="openml-151")[0]).fingerprint == stream.fingerprint
    assert len(server.requests) == 2
    other = expand(openml=151, target="day", options={"ignore": ["class"], "categorical": ["id"]})[0]
    assert open_stream(other).classes == ("mon", "tue")
    assert open_stream(other).X.shape == (3, 4)


def test_a_described_column_that_the_file_lacks_is_not_ignored(openml: Callable[..., None]) -> None:
    openml(ignore_attribute=["gone", "day"])
    assert np.asarray(open_stream(expand(openml=151)[0]).X).tolist() == [[0.5], [0.25], [0.125]]
    with pytest.raises(InputError, match="ignore has an unknown column 'gone'"):
        expand(openml=151, options={"ignore": ["gone"]})


def test_a_changed_copy_of_openml_is_refused(openml: Callable[..., None], cache: Path) -> None:
    expand(openml=151)
    (kept,) = (cache / "data" / "openml-151").glob("*.arff")
    kept.write_text(ARFF.replace("0.25", "0.35"))
    with pytest.raises(InputError, match=r"not the file that was downloaded from OpenML 151 .* remove "):
        expand(openml=151)
    kept.unlink()
    expand(openml=151)
    assert kept.is_file()
    kept.unlink()
    openml(ARFF.replace("0.25", "0.35"))
    with pytest.raises(InputError, match=r"OpenML 151 \(toy\): the download failed \(.*checksum sha256:"):
        expand(openml=151)


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"md5_checksum": "0" * 32}, "OpenML 151 (toy): the download failed ("),
        ({"format": "Parquet"}, "OpenML 151 (toy): its file is Parquet; only ARFF can be read"),
        ({"url": None}, "OpenML 151: the answer does not describe a data set (KeyError: 'url')"),
        ({"default_target_attribute": "clas"}, "toy.arff: no column is called 'clas'"),
        ({"url": "https://api.openml.org/gone.arff"}, "OpenML 151 (toy): the download failed ("),
        (
            {"content": ARFF.replace("2,tue,0.25", "2,wed,0.25")},
            "toy.arff, line 8 (row 2), column 'day': 'wed' is not one of the declared values: mon, tue",
        ),
    ],
)
def test_what_can_be_wrong_with_openml(
    openml: Callable[..., None], cache: Path, changes: dict[str, Any], line: str
) -> None:
    openml(**changes)
    with pytest.raises(InputError) as error:
        expand(openml=151)
    assert line in str(error.value)
    assert "\n" not in str(error.value)
    assert not list(cache.rglob(".unfinished-*"))


def test_a_number_that_openml_does_not_have(openml: Callable[..., None]) -> None:
    with pytest.raises(InputError, match=r"OpenML 9: its description cannot be downloaded \(.*HTTP 404\)"):
        expand(openml=9)
    with pytest.raises(InputError, match="'x' is not a number of an OpenML data set"):
        expand(name="openml:x")
