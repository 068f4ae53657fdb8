"""The user's own files: which format a path is in, and what options that format takes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ...errors import InputError, did_you_mean
from ..io.text import COMPRESSED
from ..tables.options import FEATURE_OPTIONS, Option, Options
from ..tables.stream import Table
from .arrow_files import read_arrow
from .delimited import read_delimited
from .labelled_columns import combine
from .svmlight import read_svmlight

FORMATS = ("svmlight", "csv", "parquet", "arrow")

_SUFFIXES = {
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
    ".svm": "svmlight",
    ".csv": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
}

_ANY: dict[str, Option] = {
    "format": Option("text", "", choices=FORMATS),
    "test": Option("text", ""),
    **FEATURE_OPTIONS,
}
# `target`, `header` and `delimiter` are found out when not given.
_OF_FORMAT: dict[str, dict[str, Option]] = {
    "svmlight": {
        "n_features": Option("count", 0, minimum=1),
        "zero_based": Option("flag", False),
        "dense": Option("flag", False),
    },
    "csv": {
        "target": Option("text", ""),
        "header": Option("flag", ""),
        "delimiter": Option("text", ""),
    },
    "parquet": {"target": Option("text", "")},
    "arrow": {"target": Option("text", "")},
}


def file_format(path: Path, named: object = "") -> str:
    """Return the format of a file: the one named, else by suffix.

    Raises
    ------
    InputError
        When the suffix says nothing, or a binary format is compressed.

    Examples
    --------
    >>> file_format(Path("train.csv.gz"))
    'csv'
    """
    suffixes = [suffix.lower() for suffix in path.suffixes]
    compressed = bool(suffixes) and suffixes[-1] in COMPRESSED
    if named and named not in FORMATS:
        raise InputError(f"{path}: format = {named!r}; {did_you_mean(str(named), FORMATS)}")
    inner = suffixes[:-1] if compressed else suffixes
    found = str(named) if named else _SUFFIXES.get(inner[-1] if inner else "", "")
    if not found:
        raise InputError(
            f"{path}: the name does not tell the format; set format = {', '.join(map(repr, FORMATS))}, or "
            f"end the name in {', '.join(_SUFFIXES)} (text also with {', '.join(COMPRESSED)})"
        )
    if compressed and found in ("parquet", "arrow"):
        raise InputError(f"{path}: {found} files compress themselves; uncompress this one first")
    return found


def file_options(path: Path, given: Options) -> Mapping[str, Option]:
    """Return the options that a file of this format takes."""
    return {**_OF_FORMAT[file_format(path, given.get("format", ""))], **_ANY}


def read_file(path: Path, options: Options) -> Table:
    """Read a file, and its test file when the option ``test`` names one, in the same format.

    Parameters
    ----------
    path : Path
        The file.
    options : mapping
        Resolved options of its format.

    Returns
    -------
    Table
        As stored, but in the dtype asked for (unless the features are yet to be standardised); the other
        feature options are not applied here.

    Raises
    ------
    InputError
        In one line that names file, line or row, and column.
    """
    test = Path(str(options["test"])) if options["test"] else None
    kind = file_format(path, options["format"])
    # Means and spreads are those of the numbers in the file.
    dtype = "" if options["standardize"] else str(options["dtype"])
    if kind == "svmlight":
        return read_svmlight(
            path,
            test,
            n_features=int(options["n_features"]),
            zero_based=bool(options["zero_based"]),
            dense=bool(options["dense"]),
            dtype=dtype,
        )
    target = str(options["target"])
    paths = [path] if test is None else [path, test]
    if kind == "csv":
        header = None if options["header"] == "" else bool(options["header"])
        parts = [
            read_delimited(
                each, delimiter=delimiter_of(each, options), target=target, header=header, dtype=dtype
            )
            for each in paths
        ]
    else:
        parts = [
            read_arrow(each, "parquet" if kind == "parquet" else "arrow", target=target, dtype=dtype)
            for each in paths
        ]
    return combine(parts[0], parts[1] if test else None)


def delimiter_of(path: Path, options: Options) -> str:
    """Return the delimiter of a CSV file: the one given, else by suffix."""
    given = str(options["delimiter"])
    if len(given) > 1 or given in ('"', "\r", "\n"):
        raise InputError(f"{path}: delimiter must be one character, and no quote or line end, not {given!r}")
    return given or ("\t" if ".tsv" in path.suffixes else ",")
