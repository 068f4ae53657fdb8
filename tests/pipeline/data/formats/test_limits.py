"""Test that files made to exhaust memory or time are refused quickly, with one line."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from singlepass.pipeline.data.formats.files import file_options, read_files
from singlepass.pipeline.data.tables.options import resolve_options
from singlepass.pipeline.data.tables.stream import Table
from singlepass.pipeline.errors import InputError

MB = 1 << 20


def read(path: Path, **given: int) -> Table:
    return read_files([path], [], resolve_options("hostile", given, file_options(path, given)))


def bomb(path: Path, head: bytes, unit: bytes, size: int = 64 * MB) -> Path:
    # gzip streams may be concatenated, so compress one unit and repeat it.
    stream = gzip.compress(unit * (MB // len(unit)), 9)
    path.write_bytes(gzip.compress(head) + stream * (size // MB))
    return path


# Files that expand enormously: name, beginning, the part that is repeated, and the message.
BOMBS = [
    ("header.csv.gz", b"", b"a,", "line 1: longer than max_line = 16,777,216 bytes"),
    ("rows.csv.gz", b"a,label\n", b"0,1\n1,0\n", "expands more than max_expansion = 250 times"),
    ("line.svm.gz", b"1", b" 1:1", "line 1: longer than max_line = 16,777,216 bytes"),
    ("relation.arff.gz", b"@relation ", b"x", "line 1: longer than max_line = 16,777,216 bytes"),
    ("value.csv.gz", b"a,label\n1,", b"x", "line 2: longer than max_line = 16,777,216 bytes"),
    ("blank.csv.gz", b"a,label\n", b"\n", "expands more than max_expansion = 250 times"),
    ("comment.svm.gz", b"1 1:1\n#", b"#", "line 2: longer than max_line = 16,777,216 bytes"),
    ("blank.svm.gz", b"", b"\n", "expands more than max_expansion = 250 times"),
    ("rows.svm.gz", b"", b"1 1:1\n-1 2:1\n", "expands more than max_expansion = 250 times"),
    ("comments.arff.gz", b"", b"%\n", "expands more than max_expansion = 250 times"),
]


@pytest.mark.parametrize(
    ("name", "head", "unit", "fault"),
    [*BOMBS[:4], *(pytest.param(*each, marks=pytest.mark.slow) for each in BOMBS[4:])],
)
def test_bombs(tmp_path: Path, name: str, head: bytes, unit: bytes, fault: str) -> None:
    path = bomb(tmp_path / name, head, unit)
    # Raise the limit that is not tested, so that the other one refuses the file.
    given = {"max_expansion": 2000} if "max_line" in fault else {}
    with pytest.raises(InputError) as error:
        read(path, **given)
    assert fault in str(error.value)
    assert str(error.value).startswith(str(path))


@pytest.mark.slow
@pytest.mark.parametrize(("suffix", "compress"), [(".bz2", bz2.compress), (".xz", lzma.compress)])
def test_bombs_of_other_kinds(tmp_path: Path, suffix: str, compress: Callable[[bytes], bytes]) -> None:
    path = tmp_path / f"rows.csv{suffix}"
    path.write_bytes(compress(b"a,label\n" + b"0,1\n1,0\n" * MB))
    with pytest.raises(InputError, match="expands more than max_expansion = 250 times"):
        read(path)


def test_what_a_refusal_takes(tmp_path: Path) -> None:
    # 500 MB for the whole process; reading the full file would take eight times this file's size.
    path = bomb(tmp_path / "header.csv.gz", b"", b"a,", 1024 * MB)
    measure = (
        "import resource, subprocess, sys\n"
        "done = subprocess.run(sys.argv[1:])\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\n"
        "sys.exit(done.returncode)"
    )
    program = [str(Path(sys.executable).with_name("singlepass")), "data", "convert", str(path)]
    done = subprocess.run(
        [sys.executable, "-c", measure, *program], capture_output=True, text=True, env=os.environ, check=False
    )
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    unit = 1 if sys.platform == "darwin" else 1024
    assert int(done.stdout) * unit < 500 * MB


def test_limits_can_be_raised(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    path.write_text("a,label\n" + "1,0\n2,1\n" * 30 + f"3,{' ' * 3 * MB}0\n")
    with pytest.raises(InputError, match="line 62: longer than max_line = 1,000,000 bytes"):
        read(path, max_line=1_000_000)
    assert len(read(path).y) == 61
    rows = bomb(tmp_path / "rows.csv.gz", b"a,label\n", b"0,1\n1,0\n", 2 * MB)
    assert len(read(rows, max_expansion=2000).y) == MB // 2
    narrow = tmp_path / "f.csv"
    narrow.write_text("a,b,label\n1,2,x\n3,4,y\n")
    with pytest.raises(InputError, match=r"f\.csv: 2 features, more than max_features = 1; if that is right"):
        read(narrow, max_features=1)
    assert read(narrow, max_features=2).X.shape == (2, 2)
    sparse = tmp_path / "f.svm"
    sparse.write_text("1 2147483646:1\n-1 1:1\n")
    with pytest.raises(InputError, match="line 1: index 2147483646 exceeds max_features = 33,554,432;"):
        read(sparse)
    X = read(sparse, n_features=2147483646).X
    assert X.shape == (2, 2147483646)
    assert read(sparse, max_features=2147483647).X.shape == X.shape


def test_a_value_in_quotes_ends_in_its_line(tmp_path: Path) -> None:
    # Otherwise the text inside the quote would depend on block boundaries.
    path = tmp_path / "f.csv"
    path.write_text('a,label\n1,"x\n2,y\n3,"z"\n')
    with pytest.raises(InputError, match="line 2: a quote is not closed in the line"):
        read(path)


def test_labels_that_differ_by_what_arrays_forget(tmp_path: Path) -> None:
    path = tmp_path / "f.csv"
    path.write_bytes(b"a,label\n1,yes\x00\n2,yes\n3,no\n")
    with pytest.raises(InputError, match=r"the label .yes.x00. contains a NUL"):
        read(path)
