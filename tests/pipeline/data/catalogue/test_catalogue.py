"""Test the declarations of the public sets, and the sets themselves if SINGLEPASS_DATA has them."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import lzma
import shutil
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from singlepass.pipeline.data import describe, expand, open_stream
from singlepass.pipeline.data.catalogue import public
from singlepass.pipeline.data.catalogue.public import CATALOGUE, FAMILIES, _text
from singlepass.pipeline.data.tables.features import with_layout
from singlepass.pipeline.data.tables.stream import Matrix, Table
from singlepass.pipeline.data.tables.tasks import name_tasks
from singlepass.pipeline.errors import InputError


def need(folder: Path, name: str) -> None:
    entry = CATALOGUE[name]
    for file in entry.files:
        if not any((folder / each).is_file() for each in (file.name, *file.also)):
            pytest.skip(f"SINGLEPASS_DATA has no {file.name}")


@pytest.mark.parametrize("name", sorted(CATALOGUE))
def test_declarations_are_consistent(name: str) -> None:
    entry = CATALOGUE[name]
    assert entry.name == name
    assert len(entry.counts) in (0, len(entry.classes))
    assert len(entry.counts_test) in (0, len(entry.classes))
    assert len({file.name for file in entry.files}) == len(entry.files)
    if entry.counts_test and len(entry.files) > 1:
        assert len(entry.files) % 2 == 0
    reader = entry.parse
    assert isinstance(reader, partial)
    if reader.func is _text:
        # The second file is read as the test part.
        assert entry.official_split == (len(entry.files) == 2 or "last" in reader.keywords)
    for file in entry.files:
        assert all(address.startswith("https://") for address in file.addresses)
        assert not any(base.endswith("/") for base in file.bases)
        assert not {each for each in (file.name, *file.also) if each.startswith(("/", ".")) or ".." in each}
        # For a file that cannot be downloaded, the error names the file and its source.
        assert file.addresses or entry.source
    for members in entry.groupings.values():
        assert set(members) < set(entry.classes)
    assert set(entry.stand_ins) <= {each for file in entry.files for each in file.also}
    assert all(len(each.counts) == len(entry.classes) for each in entry.stand_ins.values())
    assert entry.licence
    assert entry.note
    assert entry.title
    for task in entry.task_lists:
        assert name_tasks(name, entry.classes, task, task_lists=entry.task_lists)


def test_every_known_content_belongs_to_one_set() -> None:
    prints = [each for entry in CATALOGUE.values() for each in entry.fingerprints]
    assert len(set(prints)) == len(prints)
    assert all(len(each) == 64 for each in prints)
    # Every set with published counts has a fingerprint.
    assert {name for name, entry in CATALOGUE.items() if entry.counts and not entry.fingerprints} == set()


@pytest.mark.parametrize("name", sorted(FAMILIES))
def test_families_expand_to_a_task_a_part(name: str) -> None:
    family = FAMILIES[name]
    for task in ("auto", family.task):
        refs = expand(name=name, task=task)
        assert [ref.label for ref in refs] == [f"{name}[{part}]" for part in family.members]
        assert [ref.source for ref in refs] == list(family.members.values())
        assert {ref.parent for ref in refs} == {name}
    part = next(iter(family.members))
    for task in (part, f"{family.task}:{part}"):
        assert expand(name=name, task=task) == refs[:1]
    for group, parts in family.groups.items():
        labels = [ref.label for ref in expand(name=name, task=group)]
        assert labels == [f"{name}[{part}]" for part in parts]
    with pytest.raises(InputError, match=f"unknown task '{part}x'; did you mean '{part}'"):
        expand(name=name, task=f"{part}x")


def test_the_papers_tasks_have_their_names() -> None:
    def labels(name: str, task: str) -> list[str]:
        return [ref.label for ref in expand(name=name, task=task)]

    assert labels("20newsgroups", "paper") == [
        "20newsgroups[comp]",
        "20newsgroups[sci]",
        "20newsgroups[talk]",
    ]
    assert labels("20newsgroups", "sci") == ["20newsgroups[sci]"]
    assert len(labels("amazon", "domains")) == 21
    assert "amazon[books-vs-dvd]" in labels("amazon", "domains")
    assert labels("amazon-sentiment", "sentiment:books") == ["amazon-sentiment[books]"]
    assert len(labels("amazon-sentiment", "paper")) == 7
    assert labels("enron-spam", "users")[0] == "enron-spam[enron1]"
    turned = expand(name="enron-spam", task="users", options={"positive": "ham"})
    assert {ref.task for ref in turned} == {"binary:ham"}


def test_published_sizes() -> None:
    sizes = {name: (sum(entry.counts), sum(entry.counts_test)) for name, entry in CATALOGUE.items()}
    published = {
        "mnist": (60_000, 10_000), "usps": (7_291, 2_007), "a9a": (32_561, 16_281), "covtype": (581_012, 0),
        "dna": (2_000, 1_186), "banana": (5_300, 0), "waveform": (5_000, 0), "ringnorm": (7_400, 0),
        "twonorm": (7_400, 0), "letter": (15_000, 5_000), "ijcnn1": (49_990, 91_701),
        "shuttle": (43_500, 14_500), "satimage": (4_435, 2_000), "vehicle": (846, 0), "spambase": (4_601, 0),
        "20newsgroups": (11_314, 7_532), "news20": (15_935, 0), "reuters-money-fx": (7_770, 3_299),
        "reuters21578-r8": (5_485, 2_189), "rcv1-small": (1_000, 500), "amazon": (13_998, 0),
    }  # fmt: skip
    assert {name: sizes[name] for name in published} == published
    spam = [sum(CATALOGUE[name].counts) for name in FAMILIES["enron-spam"].members.values()]
    assert sum(spam) == 33_716


LARGE = {
    "criteo": 51_882_752, "criteo-1tb": 4_373_472_329, "avazu-app": 16_315_441, "avazu-site": 28_690_990,
    "kdd2010-algebra": 8_918_054, "kdd2010-bridge": 20_012_498, "kdd2012": 149_639_105, "url": 2_396_130,
    "webspam-unigram": 350_000, "webspam-trigram": 350_000, "higgs": 11_000_000,
}  # fmt: skip


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[] if name in ("kdd2012", "higgs") else pytest.mark.slow) for name in LARGE],
)
def test_large_sets_are_read_from_files_of_their_format(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SINGLEPASS_DATA", str(tmp_path))
    entry = CATALOGUE[name]
    row = next(row for row in describe() if row.name == name)
    assert row.shape == (LARGE[name], entry.n_features)
    if name == "higgs":
        monkeypatch.setitem(CATALOGUE[name].parse.keywords, "last", 2)  # type: ignore[attr-defined]
        text = "".join(f"{i % 2}.0e+00,{','.join(['0.5e+00'] * 28)}\n" for i in range(6))
    else:
        negative = "-1" if "-1" in entry.classes else "0"
        text = "".join(f"{'1' if i % 2 else negative} 3:0.5 {entry.n_features}:1\n" for i in range(4))
    for file in entry.files:
        path = tmp_path / file.name
        path.parent.mkdir(exist_ok=True)
        opened = {".bz2": bz2.open, ".xz": lzma.open, ".gz": gzip.open}.get(path.suffix, open)
        with opened(path, "wt") as out:
            out.write(text)
    rows = 6 if name == "higgs" else 4 * len(entry.files)
    with pytest.raises(
        InputError,
        match=rf"not the public data: {rows} rows instead of .*Set verify = false to accept it",
    ):
        open_stream(expand(name=name, task="auto")[0])
    stream = open_stream(expand(name=name, task="auto", options={"verify": False})[0])
    assert stream.X.shape == (4, entry.n_features)
    assert stream.y.tolist() == [0, 1, 0, 1]
    assert (stream.y_test is not None) == entry.official_split
    assert entry.official_split == (name.partition("-")[0] not in {"kdd2012", "url", "webspam"})


_HANDS = {
    name: "".join(f"{'1,2,' * 5}{label}\n" for label in labels)
    for name, labels in [
        ("poker-hand-training-true.data", (*range(8), 9)),
        ("poker-hand-testing.data", (0, 9)),
    ]
}
_FLIGHTS = "Airline,Flight,AirportFrom,AirportTo,DayOfWeek,Time,Length,Delay\n"


@pytest.mark.parametrize(
    ("name", "files", "fault"),
    [
        ("poker", _HANDS, "9 classes instead of 10"),
        ("url", {"url_combined": "-1 1:1\n+1 2:1\n0 3:1\n"}, "3 classes instead of 2"),
        (
            "airlines",
            {
                "airlines.csv": _FLIGHTS.replace("Length", "Length,Year")
                + "1,2,3,4,5,6,7,8,0\n1,2,3,4,5,6,7,8,1\n"
            },
            "8 features instead of 7",
        ),
    ],
)
def test_files_of_other_classes_or_features_are_refused(
    name: str, files: dict[str, str], fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SINGLEPASS_DATA", str(tmp_path))
    for file, text in files.items():
        (tmp_path / file).write_text(text)
    for verify in (True, False):
        with pytest.raises(InputError, match=f"not the public data: {fault}"):
            open_stream(expand(name=name, options={"verify": verify})[0])


def test_class_names_are_compared_unless_the_user_takes_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SINGLEPASS_DATA", str(tmp_path))
    monkeypatch.setitem(CATALOGUE, "airlines", replace(CATALOGUE["airlines"], n_rows=2))
    path = tmp_path / "airlines.csv"
    path.write_text(_FLIGHTS + "1,2,3,4,5,6,7,1\n1,2,3,4,5,6,7,2\n")
    with pytest.raises(InputError, match=r"classes 1, 2 instead of 0, 1; .*Set verify = false to accept it"):
        open_stream(expand(name="airlines")[0])
    assert open_stream(expand(name="airlines", options={"verify": False})[0]).classes == ("0", "1")
    # Some copies of two-class sets call the negative class -1 and not 0.
    path.write_text(_FLIGHTS + "1,2,3,4,5,6,7,1\n1,2,3,4,5,6,7,-1\n")
    assert open_stream(expand(name="airlines")[0]).y.tolist() == [1, 0]


def test_classes_declared_in_another_order_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "airlines.csv"
    path.write_text(_FLIGHTS + "1,2,3,4,5,6,7,0\n1,2,3,4,5,6,7,1\n")
    entry = CATALOGUE["airlines"]
    assert entry.read([path], verify=False).y.tolist() == [0, 1]
    for counts in ((), (1, 1)):
        turned = replace(entry, classes=("1", "0"), counts=counts)
        line = "'airlines': its declaration has the classes 1, 0, but its reader codes them as 0, 1; declare"
        with pytest.raises(InputError, match=line):
            turned.read([path], verify=False)


def test_every_file_of_sets_is_read() -> None:
    names = {path.stem for path in Path(public.__file__).with_name("sets").glob("*.toml")}
    assert names == set(public._FILES), "name each file of sets/ in _FILES (public.py), in the order of lists"


def test_real_sample_of_covtype_says_so(real: Path) -> None:
    need(real, "covtype")
    row = next(row for row in describe() if row.name == "covtype")
    if (real / "covtype.sample92962.data.gz").is_file():
        assert row.shape == (92_962, 54)
        assert row.state == "present (a stratified 16 % sample: 92,962 of the 581,012 rows)"


def test_real_join_appends_the_test_part(real: Path) -> None:
    need(real, "dna")
    apart = open_stream(expand(name="dna", task="multiclass")[0])
    joined = open_stream(expand(name="dna", task="multiclass", options={"join": True})[0])
    assert joined.X_test is None
    assert joined.y.tolist() == [*apart.y.tolist(), *apart.y_test.tolist()]  # type: ignore[union-attr]
    np.testing.assert_array_equal(joined.X[2000:].toarray(), apart.X_test.toarray())  # type: ignore[union-attr]
    need(real, "vehicle")
    with pytest.raises(InputError, match="'vehicle' has no official test part; leave join out"):
        open_stream(expand(name="vehicle", options={"join": True})[0])


@pytest.mark.slow
def test_real_corpora_are_refused_dense(real: Path) -> None:
    need(real, "fdu-mtl/MR")
    small = open_stream(expand(name="fdu-mtl", task="MR", options={"dense": True})[0])
    assert isinstance(small.X, np.ndarray)
    need(real, "amazon-acl/kitchen")
    sparse = expand(name="amazon-acl-sentiment", task="kitchen")[0]
    table = CATALOGUE["amazon-acl/kitchen"]
    assert open_stream(sparse).X.shape == (2000, table.n_features)
    wide = Table(csr_array((20_000, 60_000), dtype=np.float32), np.zeros(20_000, np.int32), ("n", "p"))
    with pytest.raises(
        InputError, match=r"'wide': 20,000 x 60,000 would take 4\.5 GiB; leave out dense = true"
    ):
        with_layout("wide", wide, dense=True)


@pytest.mark.slow
def test_real_scaling_and_layout(real: Path) -> None:
    def layout(name: str) -> tuple[str, np.dtype, float, float]:
        X: Matrix = open_stream(expand(name=name, task="auto")[0]).X
        return type(X).__name__, X.dtype, float(X.min()), float(X.max())

    for name in ("mnist", "usps", "a9a"):
        need(real, name)
    assert layout("mnist") == ("ndarray", np.float32, 0.0, 1.0)
    assert layout("usps") == ("ndarray", np.float64, -1.0, 1.0)
    assert layout("adult") == layout("a9a") == ("csr_array", np.float64, 0.0, 1.0)


def test_real_sets_of_different_scales_are_standardized_by_default(real: Path) -> None:
    need(real, "spambase")
    default, given, raw = (
        open_stream(expand(name="spambase", options=options)[0]).X
        for options in ({}, {"standardize": True}, {"standardize": False})
    )
    assert np.array_equal(default, given)
    assert np.allclose(default.std(axis=0), 1.0)
    assert raw.std(axis=0).max() > 1000 * raw.std(axis=0).min()


def test_real_pairs_share_one_mapped_matrix(real: Path) -> None:
    need(real, "mnist")
    refs = expand(name="mnist", task="pairs")
    assert len(refs) == 45
    streams = [open_stream(ref) for ref in refs]
    counts = CATALOGUE["mnist"].counts
    assert len({id(stream.X) for stream in streams}) == 1
    assert len({stream.fingerprint for stream in streams}) == 45
    # Every digit occurs in nine pairs.
    assert sum(len(stream.y) for stream in streams) == 9 * sum(counts)
    three_five = streams[[ref.label for ref in refs].index("mnist[3-vs-5]")]
    assert three_five.classes == ("5", "3")
    assert np.bincount(three_five.y).tolist() == [counts[5], counts[3]]
    assert three_five.rows is not None
    assert three_five.rows[three_five.y == 1][0] == 7  # The first 3 of MNIST is its eighth image.


def test_real_round_digits(real: Path) -> None:
    need(real, "usps")
    stream = open_stream(expand(name="usps", task="round")[0])
    counts = CATALOGUE["usps"].counts
    assert stream.y.sum() == sum(counts[digit] for digit in (0, 3, 6, 8, 9))
    assert stream.rows is None


def test_real_mnist_pixels(real: Path) -> None:
    need(real, "mnist")
    X = np.asarray(open_stream(expand(name="mnist", task="multiclass")[0]).X)
    pixels = np.round(X * 255).astype(np.uint8)
    # md5 of the original uncompressed file: 16 bytes of header, then these pixels.
    header = bytes.fromhex("00000803 0000ea60 0000001c 0000001c")
    assert hashlib.md5(header + pixels.tobytes()).hexdigest() == "6bbc9ace898e44ae57da46a324031adb"


@pytest.mark.parametrize("keep", [100, 1_999])
def test_a_tampered_copy_is_refused_by_name(
    real: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keep: int
) -> None:
    need(real, "dna")
    text = (real / "dna.scale").read_bytes().splitlines(keepends=True)
    (tmp_path / "dna.scale").write_bytes(b"".join(text[:keep]))
    shutil.copy(real / "dna.scale.t", tmp_path)
    monkeypatch.setenv("SINGLEPASS_DATA", str(tmp_path))
    with pytest.raises(
        InputError, match=rf"{tmp_path}/dna\.scale: not the public data: {keep:,} rows instead of 2,000"
    ):
        open_stream(expand(name="dna")[0])


def test_a_reordered_copy_is_refused_unless_the_user_takes_it(
    real: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need(real, "vehicle")
    text = (real / "vehicle.scale").read_bytes().splitlines(keepends=True)
    (tmp_path / "vehicle.scale").write_bytes(b"".join([*text[1:], text[0]]))
    monkeypatch.setenv("SINGLEPASS_DATA", str(tmp_path))
    with pytest.raises(
        InputError,
        match=rf"{tmp_path}/vehicle\.scale: not the public data: rows, features and class counts are right, "
        r"but the content is not .*Set verify = false to accept it",
    ):
        open_stream(expand(name="vehicle")[0])
    taken = open_stream(expand(name="vehicle", options={"verify": False})[0])
    assert len(taken.y) == 846


def test_a_changed_value_is_refused(real: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    need(real, "vehicle")
    text = (real / "vehicle.scale").read_bytes()
    (tmp_path / "vehicle.scale").write_bytes(text.replace(b":0.1", b":0.2", 1))
    monkeypatch.setenv("SINGLEPASS_DATA", str(tmp_path))
    with pytest.raises(
        InputError, match=r"vehicle\.scale: not the public data: rows, .*changed or reordered"
    ):
        open_stream(expand(name="vehicle")[0])


SET = """[[sets]]
name = "mine"
title = "t"
licence = "l"
note = "n"
files = []
reader = { name = "delimited" }
"""


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ('"delimited"', '"delimitd"', "'delimitd' is a missing key or an unknown reader"),
        ("reader =", "readr =", "'reader' is a missing key or an unknown reader"),
        ("note =", "nte =", "data set 'mine': 'note': Field required"),
        ("files = []", "files = 1", "data set 'mine': 'files': Input should be a valid tuple"),
        ("[[sets]]", "[[sets]", ".*line 1"),
    ],
)
def test_a_mistake_in_a_declaration_is_one_line(
    old: str, new: str, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sets").mkdir()
    (tmp_path / "sets" / "mine.toml").write_text(SET.replace(old, new))
    monkeypatch.setattr(public, "package_files", lambda package: tmp_path)
    monkeypatch.setattr(public, "_FILES", ("mine",))
    with pytest.raises(InputError, match=rf"^sets/mine\.toml: {line}"):
        public._read()
