"""Test ARFF files: dense and sparse rows, and errors that name the line."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from singlepass.pipeline.data import expand, open_stream, stream_blocks
from singlepass.pipeline.data.formats import arff_files
from singlepass.pipeline.errors import InputError

Write = Callable[[str, str | bytes], Path]
WEATHER = """% Weka's own example, shortened
@relation weather
@attribute\toutlook\t{sunny, overcast, 'very rainy'}
@attribute temperature real
@ATTRIBUTE 'relative humidity' integer
@attribute play {yes, no}

@data
sunny,85,85,no
% a remark
overcast,83.5,86.5,yes
'very rainy', 70, 96, yes
"""


def test_nominal_attributes_are_categories_and_labels(write: Write) -> None:
    path = write("w.arff", WEATHER)
    stream = open_stream(expand(path=path, target="play")[0])
    assert stream.classes == ("no", "yes")
    assert stream.y.tolist() == [0, 1, 1]
    # overcast, sunny and very rainy have one feature each; fractions of "integer" attributes are kept.
    assert np.asarray(stream.X).tolist() == [[0, 1, 0, 85, 85], [1, 0, 0, 83.5, 86.5], [0, 0, 1, 70, 96]]


def test_compressed_in_batches_and_in_blocks(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arff_files, "_BATCH_VALUES", 8)
    path = write("w.arff.gz", gzip.compress(WEATHER.encode()))
    stream = open_stream(expand(path=path, target="play")[0])
    blocks = list(stream_blocks(path, rows=2, target="play"))
    assert [len(block.labels) for block in blocks] == [2, 1]
    assert np.vstack([block.X for block in blocks]).tolist() == np.asarray(stream.X).tolist()
    assert [label for block in blocks for label in block.labels] == ["no", "yes", "yes"]


def test_sparse_rows(write: Write) -> None:
    path = write(
        "s.arff",
        "@relation s\n@attribute a numeric\n@attribute b numeric\n@attribute class {n, p}\n@data\n"
        "{0 3, 2 p}\n{1 2.5}\n",
    )
    stream = open_stream(expand(path=path)[0])
    assert np.asarray(stream.X).tolist() == [[3.0, 0.0], [0.0, 2.5]]
    assert stream.y.tolist() == [1, 0]


def test_a_string_that_a_sparse_row_omits_is_missing(write: Write) -> None:
    path = write(
        "s.arff",
        "@relation s\n@attribute a numeric\n@attribute job string\n@attribute class {n, p}\n@data\n"
        "{0 3, 1 cook, 2 p}\n{0 1}\n{ 1 0, 2 p}\n",
    )
    ref = expand(path=path, options={"categorical": ["job"], "missing": "mean"})[0]
    assert np.asarray(open_stream(ref).X).tolist() == [[3, 0, 1], [1, 0, 0], [0, 1, 0]]


def test_a_position_in_quotes_is_not_one_of_the_row(write: Write) -> None:
    path = write(
        "s.arff",
        "@relation s\n@attribute a string\n@attribute job string\n@attribute class {n, p}\n@data\n"
        "{0 'u, 1 v\\', 1 w', 2 p}\n{1 cook}\n{0 \"it's, 1 v\", 1 0}\n",
    )
    ref = expand(path=path, options={"ignore": ["a"], "categorical": ["job"], "missing": "mean"})[0]
    assert np.asarray(open_stream(ref).X).tolist() == [[0, 0], [0, 1], [1, 0]]


HEADER = "not the header of an ARFF file: "


@pytest.mark.parametrize(
    ("before", "after", "line"),
    [
        ("85,85", "85,warm", "line 9 (row 1), column 'relative humidity': 'warm' is not a number"),
        ("overcast,83.5", "rain,83.5", "line 11 (row 2), column 'outlook': 'rain' is not one of the"),
        ("96, yes", "96, maybe", "line 12 (row 3), column 'play': 'maybe' is not one of the declared"),
        ("70, 96, yes", "70, yes", "line 12 (row 3): found 3 values, expected 4 as declared"),
        ("85,85", "?,85", "line 9 (row 1), column 'temperature': no value; every feature must be a finite"),
        ("85,85", "1e999,85", "line 9 (row 1), column 'temperature': inf; every feature must be a finite"),
        ("85,no", "85,?", "line 9 (row 1): the label is missing (column 'play')"),
        ("temperature real", "temperature date", f"line 4: {HEADER}'@attribute temperature date': expected"),
        ("temperature real", "outlook real", "line 4: more than one attribute is called 'outlook'; rename"),
        ("@data", "@dta", f"line 12: {HEADER}expected are @relation"),
        ("temperature real", "temperature string", "column 'temperature': contains string; a feature must"),
    ],
)  # fmt: skip
def test_error_lines(write: Write, before: str, after: str, line: str) -> None:
    path = write("w.arff", WEATHER.replace(before, after, 1))
    with pytest.raises(InputError) as error:
        expand(path=path, target="play")
    assert str(error.value).startswith(str(path))
    assert line in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("", ": the file is empty"),
        (WEATHER.partition("sunny,85")[0], ": no rows below @data"),
        (WEATHER.encode() + b"\xe9,1,2,yes\n", ", line 13: not UTF-8 text"),
    ],
)
def test_files_without_rows_and_with_other_bytes(write: Write, content: str | bytes, line: str) -> None:
    path = write("w.arff", content)
    with pytest.raises(InputError) as error:
        expand(path=path, target="play")
    assert str(error.value).startswith(f"{path}{line}")


def _read(path: Path) -> tuple[str, str]:
    """Return the rows of a file as text, or "" and the error."""
    try:
        blocks = list(stream_blocks(path, target="class", rows=3, options={"missing": "mean"}))
    except InputError as error:
        return "", str(error)
    # As text, NaN is equal to itself.
    return repr([(np.asarray(block.X).tolist(), block.labels.tolist()) for block in blocks]), ""


def test_arrow_reads_what_the_arff_parser_reads(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arff_files, "_BLOCK_BYTES", 40)
    head = "@relation r\n@attribute a real\n@attribute s {red, 'dark blue', 7}\n@attribute class {n, p}\n"
    rows = ["1,red,n", "-2.5e3, 7, p", "?,red,p", "0.1,?,p", " 3 ,red,n", "", "4,7,p\r", "1e-400,red,n"]
    pieces = [
        "'red'",
        "%",
        "{0 1, 2 p}",
        ",",
        "?",
        " ",
        "\t",
        "x",
        "1_0",
        "+1",
        "nan",
        "inf",
        "\r",
        "'dark blue'",
    ]
    rng = np.random.RandomState(0)
    n_read = n_by_arrow = 0
    plain = arff_files.ArffFile._plain_rows
    for _ in range(150):
        chosen = [rows[i] for i in rng.randint(len(rows), size=8)]
        for _ in range(rng.randint(2)):
            at, piece = rng.randint(len(chosen)), pieces[rng.randint(len(pieces))]
            cut = rng.randint(len(chosen[at]) + 1)
            chosen[at] = chosen[at][:cut] + piece + chosen[at][cut + rng.randint(2) :]
        path = write("f.arff", head + "@data\n" + "\n".join(chosen))
        found, error = _read(path)
        n_by_arrow += plain(arff_files.ArffFile(path), chosen[0].encode()) is not None
        with monkeypatch.context() as patch:
            patch.setattr(arff_files.ArffFile, "_plain_rows", lambda self, block: None)
            expected, other = _read(path)
        # Of several wrong lines another one may be found first.
        assert found == expected, chosen
        assert bool(error) == bool(other)
        n_read += bool(found)
    assert n_read > 30
    assert n_by_arrow > 50
