"""Test categories, words, missing values and sorting: features, and errors that name the line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from sklearn.feature_extraction import FeatureHasher

from singlepass.pipeline.data import cautions, expand, notes, open_stream
from singlepass.pipeline.data.formats import sorting
from singlepass.pipeline.data.formats.encoding import Encoder, _Column
from singlepass.pipeline.errors import InputError

Write = Callable[[str, str | bytes], Path]
JOBS = """when,age,job,note,label
2024-01-03,30,clerk,good work,a
2024-01-01,?,cook,bad  food Food,b
2024-01-02,50,?,,a
"""
OPTIONS: dict[str, Any] = {"categorical": ["job"], "text": ["note"], "ignore": ["when"], "missing": "mean"}


def rows_of(path: Path, **options: Any) -> list[list[float]]:
    X: Any = open_stream(expand(path=path, options={**OPTIONS, **options})[0]).X
    found: list[list[float]] = (X if isinstance(X, np.ndarray) else X.toarray()).tolist()
    return found


def test_one_feature_for_each_value_and_word(write: Write) -> None:
    path = write("f.csv", JOBS)
    # Columns: age; clerk, cook; bad, food, good, work. The mean replaces a missing age.
    assert rows_of(path) == [
        [30, 1, 0, 0, 0, 1, 1],
        [40, 0, 1, 1, 2, 0, 0],
        [50, 0, 0, 0, 0, 0, 0],
    ]
    assert notes(expand(path=path, options=OPTIONS)[0]) == (
        "column 'job': 2 categories, a feature each",
        "column 'note': 4 words, a feature each",
        "column 'age': 1 of 3 values missing, replaced by the mean of the training part",
        "column 'job': 1 of 3 values missing: these rows have no feature of the column",
        "column 'note': 1 of 3 values missing: these rows have no feature of the column",
    )


def test_gaps_of_a_column_that_is_scaled_online(write: Write) -> None:
    ref = expand(path=write("f.csv", JOBS), options=OPTIONS | {"standardize": "online"})[0]
    open_stream(ref)
    assert "column 'age': 1 of 3 values missing, replaced by 0, the mean so far" in notes(ref)


def test_missing_values_are_marked(write: Write) -> None:
    found = rows_of(write("f.csv", JOBS), missing="indicator")
    # The marks of age, job and note, in this order, at the end.
    assert [row[7:] for row in found] == [[0, 0, 0], [1, 0, 0], [0, 1, 1]]
    assert [row[:7] for row in found] == rows_of(write("f.csv", JOBS))


def test_hashed_as_scikit_learn_does_it(write: Write) -> None:
    path = write("f.csv", JOBS)
    ref = expand(path=path, options={**OPTIONS, "one_hot": 1, "hash_bits": 5, "missing": "indicator"})[0]
    X: Any = open_stream(ref).X
    assert not isinstance(X, np.ndarray)
    assert X.indices.dtype == np.int32
    # age, three marks, 32 hashed features: signed, MurmurHash3 with seed 0.
    assert X.shape == (3, 36)
    hashed = FeatureHasher(32).transform(
        [
            {"job=clerk": 1, "note=good": 1, "note=work": 1},
            {"job=cook": 1, "note=bad": 1, "note=food": 2},
            {},
        ]
    )
    assert X[:, 4:].toarray().tolist() == hashed.toarray().tolist()
    assert X[:, :4].toarray().tolist() == [[30, 0, 0, 0], [40, 1, 0, 0], [50, 0, 1, 1]]
    assert "column 'job': categories hashed into 32 features, signed (MurmurHash3, seed 0)" in notes(ref)
    assert rows_of(path, one_hot=1, hash_bits=5, hash_seed=1) != rows_of(path, one_hot=1, hash_bits=5)


def test_hashed_rows_are_dense_on_request(write: Write) -> None:
    path = write("f.csv", JOBS)
    options = {"one_hot": 1, "hash_bits": 3}
    sparse = rows_of(path, **options)
    dense = open_stream(expand(path=path, options={**OPTIONS, **options, "dense": True})[0]).X
    assert isinstance(dense, np.ndarray)
    assert dense.tolist() == sparse
    with pytest.raises(InputError, match="is sparse: standardize would make it dense"):
        expand(path=path, options={**OPTIONS, **options, "standardize": True})


def test_the_test_file_has_the_features_of_the_training_file(write: Write) -> None:
    path, test = write("f.csv", JOBS), write("t.csv", "when,age,job,note,label\n1,?,baker,new food,b\n")
    stream = open_stream(expand(path=path, options={**OPTIONS, "test": str(test)})[0])
    # The mean is that of the training part; a job and a word that it lacks have no feature.
    assert np.asarray(stream.X_test).tolist() == [[40, 0, 0, 0, 1, 0, 0]]


def test_categories_in_another_spelling_are_named(write: Write) -> None:
    path = write("f.csv", "store,z,label\n1,0,a\n2,1,b\n1,2,b\n")
    test = write("t.csv", "store,z,label\n1.0,0,a\n2.0,1,b\n,1,b\n1,1,b\n")
    given = {"categorical": ["store"], "missing": "mean"}
    refs = expand(path=path, options=given | {"test": str(test)})
    line = "column 'store': 2 of 3 test values have no feature, because they are not in the training part"
    assert cautions(refs) == [("f", line)]
    assert notes(refs[0]) == ("column 'store': 2 categories, a feature each", line)
    hashed = expand(
        path=path, options=given | {"categorical": ["store", "z"], "one_hot": 2, "test": str(test)}
    )
    assert not isinstance(open_stream(hashed[0]).X, np.ndarray)
    assert cautions(hashed) == [("f", line)]
    few = expand(path=test, options=given | {"test": str(path)})
    same = "column 'store': '1' and '1.0' are equal as numbers, but two categories; if they mean the same, "
    assert cautions(few) == [("t", f"{same}write them in one form")]
    assert notes(few[0])[2:-1] == (
        "column 'store': 1 of 3 test values have no feature, because they are not in the training part",
    )


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("1.10", "1.1", True),
        ("9007199254740993", "9007199254740992", False),
        ("01", "1", False),
        ("1_0", "10", False),
        ("nan", "NaN", False),
        ("1e99999999999999999999", "1e99999999999999999998", False),
    ],
)
def test_categories_that_are_equal_as_numbers(write: Write, one: str, other: str, same: bool) -> None:
    path = write("f.csv", f"version,label\n{one},a\n{other},b\n")
    found = cautions(expand(path=path, options={"categorical": ["version"]}))
    assert [line for _, line in found if "are equal as numbers" in line] == [line for _, line in found]
    assert bool(found) == same


def test_known_categories_are_counted_without_hashed_features() -> None:
    columns = (
        _Column("z", "number"),
        _Column("store", "category", ("a", "b"), marked=True),
        _Column("name", "text"),
    )
    encoder = Encoder(columns, n_hashed=1 << 30, seed=0)
    batch = [np.array([np.inf, 1.0]), pa.array(["b", "c"]), pa.array(["x", "y z"])]
    assert encoder.known(encoder.encode(batch, np.float64)) == {"store": 1}


def test_standardised_after_gaps_are_filled(write: Write) -> None:
    found = np.array(rows_of(write("f.csv", JOBS), standardize=True))
    np.testing.assert_allclose(found.mean(axis=0), 0.0, atol=1e-15)
    assert found[1, 0] == 0.0


def test_rows_sorted_by_a_column(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sorting, "_STEP", 2)
    path = write("f.csv", JOBS)
    options = {**OPTIONS, "order_by": "when", "ignore": ["note", "job"], "text": [], "categorical": []}
    stream = open_stream(expand(path=path, options=options)[0])
    assert np.asarray(stream.X).tolist() == [[40.0], [50.0], [30.0]]
    assert stream.y.tolist() == [1, 0, 0]
    # Numbers sort by value, and rows with equal ones keep their order.
    numbers = write("n.csv", "t,a,label\n10,1,x\n9,2,y\n9,3,x\n")
    assert np.asarray(open_stream(expand(path=numbers, options={"order_by": "t"})[0]).X).tolist() == [
        [2.0], [3.0], [1.0]
    ]  # fmt: skip


def test_times_in_parquet(tmp_path: Path) -> None:
    times = pa.array([3_000, 1_000, 2_000], type=pa.timestamp("ms"))
    table = pa.table({"t": times, "a": [3.0, 1.0, 2.0], "label": ["x", "y", "x"]})
    parquet.write_table(table, tmp_path / "f.parquet")
    stream = open_stream(expand(path=tmp_path / "f.parquet", options={"order_by": "t"})[0])
    assert np.asarray(stream.X).tolist() == [[1.0], [2.0], [3.0]]


@pytest.mark.parametrize(
    "values",
    [
        pa.array([2**60 + 3, 2**60 + 1, 2**60 + 2]),
        pa.array([2**63 - 1, -(2**63), 2**63 - 2]),
        pa.array([2**64 - 1, 0, 2**64 - 2], pa.uint64()),
        pa.array([2**60 + 3, 2**60 + 1, 2**60 + 2], pa.timestamp("ns")),
        pa.array([3, 1, 2], pa.date32()),
        ["1700000000.123456789", "1700000000.123456787", "1700000000.123456788"],
        [str(2**60 + 3), str(2**60 + 1), str(2**60 + 2)],
        ["2024-01-01T00:00:00.000000003", "2024-01-01T00:00:00.000000001", "2024-01-01T00:00:00.000000002"],
    ],
    ids=str,
)
def test_rows_are_sorted_by_all_digits(tmp_path: Path, values: Any) -> None:
    table = pa.table({"t": values, "a": [3.0, 1.0, 2.0], "label": ["x", "y", "x"]})
    parquet.write_table(table, tmp_path / "f.parquet")
    stream = open_stream(expand(path=tmp_path / "f.parquet", options={"order_by": "t"})[0])
    assert np.asarray(stream.X).tolist() == [[1.0], [2.0], [3.0]]


def test_files_are_sorted_together(write: Write, tmp_path: Path) -> None:
    write("1.csv", "t,a,label\n2024-01-04,4,x\n2024-01-02,2,y\n")
    write("2.csv", "t,a,label\n2024-01-03T12:00,3,x\n20240101,1,y\n")
    with pytest.raises(
        InputError, match=r"2\.csv, line 3 \(row 2\), column 't': '20240101' .* earlier rows have dates or"
    ):
        expand(path=tmp_path / "[12].csv", options={"order_by": "t"})
    write("2.csv", "t,a,label\n2024-01-03T12:00,3,x\n2024-01-01,1,y\n")
    stream = open_stream(expand(path=tmp_path / "[12].csv", options={"order_by": "t"})[0])
    assert np.asarray(stream.X).tolist() == [[1.0], [2.0], [3.0], [4.0]]
    for name, values in (("1", pa.array([0, 2], pa.timestamp("s"))), ("2", ["1970-01-01T00:00:01"] * 2)):
        parquet.write_table(
            pa.table({"t": values, "a": [1.0, 3.0], "label": ["x", "y"]}), tmp_path / f"{name}.parquet"
        )
    stream = open_stream(expand(path=tmp_path / "*.parquet", options={"order_by": "t"})[0])
    assert np.asarray(stream.X).tolist() == [[1.0], [1.0], [3.0], [3.0]]


def test_sparse_rows_are_sorted_too(write: Write) -> None:
    path = write("f.csv", JOBS)
    plain = rows_of(path, one_hot=0, hash_bits=4)
    given = {**OPTIONS, "one_hot": 0, "hash_bits": 4, "ignore": [], "order_by": "when"}
    X: Any = open_stream(expand(path=path, options=given)[0]).X
    assert X.toarray().tolist() == [plain[1], plain[2], plain[0]]


def test_categories_of_parquet(tmp_path: Path) -> None:
    table = pa.table(
        {
            "kind": pa.array(["u", "v", None]).dictionary_encode(),
            "size": pa.array([1, None, 3]),
            "code": [7, 8, 7],
            "label": ["x", "y", "x"],
        }
    )
    parquet.write_table(table, tmp_path / "f.parquet")
    ref = expand(path=tmp_path / "f.parquet", options={"missing": "indicator", "categorical": ["code"]})[0]
    assert np.asarray(open_stream(ref).X).tolist() == [
        [1, 0, 1, 1, 0, 0, 0],
        [0, 1, 2, 0, 1, 0, 1],
        [0, 0, 3, 1, 0, 1, 0],
    ]


def test_columns_without_header_have_numbers(write: Write) -> None:
    path = write("f.data", "1,red,x\n2,blue,y\n")
    options = {"format": "csv", "header": False, "categorical": [2]}
    stream = open_stream(expand(path=path, target=3, options=options)[0])
    assert np.asarray(stream.X).tolist() == [[1, 0, 1], [2, 1, 0]]


def test_a_first_line_with_numbers_that_is_read_as_data_is_named(write: Write) -> None:
    path = write("f.csv", "class,2019,2020\na,1,2\nb,2,3\n")
    hint = (
        "line 1 is read as data because its field '2019' is a number; if it has names, set header = true, "
        "otherwise header = false"
    )
    for target, options, fault in (
        ("class", {}, "no column is called 'class'; columns: 1, 2, 3; "),
        (3, {}, "'class' is not"),
        (1, {"categorical": ["2019"]}, "categorical has an unknown column '2019'; "),
    ):
        with pytest.raises(InputError, match=fault) as error:
            open_stream(expand(path=path, target=target, options=options)[0])
        assert str(error.value).endswith(hint)
    assert notes(expand(path=path, target=1)[0]) == (hint,)
    for header, target in ((True, "class"), (False, 1)):
        assert notes(expand(path=path, target=target, options={"header": header})[0]) == ()
    numbered = write("n.csv", "0,1,2\n5,6,0\n7,8,1\n")
    assert notes(expand(path=numbered, target=3)[0]) == (hint.replace("2019", "0"),)
    for header, rows in ((True, 2), (False, 3)):
        ref = expand(path=numbered, target=2 if header else 3, options={"header": header})[0]
        assert (notes(ref), len(open_stream(ref).y)) == ((), rows)
    for text, target in (("0,1,3\n5,6,0\n7,8,1\n", 3), ("0,1\n5,6\n7,0\n", 2)):
        assert notes(expand(path=write("n.csv", text), target=target)[0]) == ()
    for start in ("1,?,red,x", "?,3,red,x", "NA,3,red,x"):
        gap = write("g.csv", f"{start}\n2,3,blue,y\n")
        with pytest.raises(InputError, match="'red' is not a number") as error:
            expand(path=gap, target=4, options={"missing": "mean"})
        assert "header" not in str(error.value)
        assert 'set categorical = ["3"]' in str(error.value)
    # Data frames with numbers as names and one or two indexes without a name, written by pandas.
    for n, text in ((1, ",2019,1,label\n0,0.5,0.7,a\n"), (2, ",,2019,1,label\n0,0,0.5,0.7,a\n")):
        frame = write("h.csv", text)
        with pytest.raises(InputError, match="'label' is not a number") as error:
            expand(path=frame, target=n + 2, options={"missing": "mean"})
        assert f'set categorical = ["{n + 3}"]' in str(error.value)
        assert str(error.value).endswith(hint)
        with pytest.raises(InputError, match="no value") as error:
            expand(path=frame, target=n + 3)
        assert str(error.value).endswith(hint)


@pytest.mark.parametrize(
    ("text", "options", "line"),
    [
        (JOBS, {"categorical": ["jb"]}, ": categorical has an unknown column 'jb'; did you mean 'job'?"),
        (JOBS, {"categorical": ["note"]}, ", column 'note': is both categorical and text"),
        (JOBS, {"ignore": ["label"]}, ", column 'label': is both target and ignore"),
        (JOBS, {"order_by": "tme"}, ": order_by has an unknown column 'tme'"),
        (
            JOBS,
            {"categorical": [], "text": [], "missing": "error"},
            ", line 2 (row 1), column 'job': 'clerk' is not a number; for categories, set categorical = "
            '["job", "note"], or name them in text or ignore',
        ),
        (
            JOBS,
            {"missing": "error"},
            ", line 3 (row 2), column 'age': '?' is not a number; if it marks a missing value, "
            'set missing = "mean"',
        ),
        (
            JOBS.replace("?,cook", "1,"),
            {"missing": "error"},
            ", line 3 (row 2), column 'job': no value; every feature must be a finite number, or set missing",
        ),
        (
            JOBS.replace("2024-01-02", "soon"),
            {"ignore": [], "order_by": "when"},
            ", line 4 (row 3), column 'when': 'soon' cannot be sorted by (order_by): neither a number nor a",
        ),
        (
            JOBS.replace("2024-01-02", ""),
            {"ignore": [], "order_by": "when"},
            ", line 4 (row 3), column 'when': no value to sort by (order_by)",
        ),
        (JOBS.replace("50", "inf"), {}, ", line 4 (row 3), column 'age': inf; every feature must be"),
        (JOBS.replace("50", "old"), {}, ", line 4 (row 3), column 'age': 'old' is not a number"),
        (
            JOBS.replace("30", "?").replace("50", "NA"),
            {},
            ", column 'age': all values are missing; set ignore = [\"age\"]",
        ),
        (
            JOBS.replace("age", ""),
            {},
            ': column 2 has no name, like the row numbers that pandas writes; set ignore = [""] to skip it',
        ),
        (JOBS.replace("job,note", "note,note"), {}, ": more than one column is called 'note' (3 and 4); "),
        (
            JOBS,
            {"ignore": ["when", "age", "job", "note"], "categorical": [], "text": []},
            ": no column remains for features; columns: ",
        ),
    ],
)  # fmt: skip
def test_error_lines(write: Write, text: str, options: dict[str, Any], line: str) -> None:
    path = write("f.csv", text)
    with pytest.raises(InputError) as error:
        expand(path=path, options={**OPTIONS, **options})
    assert str(error.value).startswith(f"{path}{line}")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("rows", "options"),
    [("...,x\n!!!,y\n", {"text": ["t"]}), (",x\n,y\n", {"categorical": ["t"], "missing": "mean"})],
)
def test_columns_without_features_are_refused(write: Write, rows: str, options: dict[str, Any]) -> None:
    path = write("f.csv", f"t,label\n{rows}")
    with pytest.raises(
        InputError, match=r"f\.csv: no features: no column has a word or value \(columns: t\)"
    ):
        expand(path=path, options=options)
    if "missing" in options:
        with pytest.raises(InputError, match=r"line 2 \(row 1\), column 't': no value; "):
            expand(path=path, options={**options, "missing": "error"})


def test_a_column_without_a_name_can_be_ignored(write: Write) -> None:
    path = write("f.csv", ",a,label\n0,3,x\n1,4,y\n")
    assert open_stream(expand(path=path, options={"ignore": [""]})[0]).X.tolist() == [[3], [4]]


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"missing": "meen"}, "missing = 'meen'; did you mean 'mean'?"),
        ({"hash_bits": 31}, "hash_bits must be a whole number in 1 to 30, not 31"),
        ({"categorical": [1.5]}, "categorical must be a list of columns, not [1.5]"),
        ({"ignore": ["a", "a"]}, "ignore names 'a' twice"),
    ],
)
def test_options_that_make_no_sense(write: Write, options: dict[str, Any], line: str) -> None:
    with pytest.raises(InputError, match=r".*") as error:
        expand(path=write("f.csv", JOBS), options=options)
    assert line in str(error.value)


def test_values_that_do_not_fit_the_dtype(write: Write) -> None:
    path = write("f.csv", "a,b,label\n1,2,x\n1,1e300,y\n")
    with pytest.raises(
        InputError, match=r"f\.csv, line 3 \(row 2\), column 'b': 1e\+300 does not fit float32"
    ):
        expand(path=path, options={"dtype": "float32"})
    with pytest.raises(InputError, match="feature 2 has values too large to be standardized"):
        expand(path=path, options={"standardize": True})
    svm = write("f.svm", "1 1:1\n-1 2:1e300\n")
    with pytest.raises(InputError, match=r"row 2, feature 2 \(counted from 1\): 1e\+300 does not fit"):
        expand(path=svm, options={"dtype": "float32"})
