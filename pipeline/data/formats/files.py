"""Detect the format of a user's file, declare the options of each format, and read the file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath

from ...errors import InputError, did_you_mean
from ..io.reading import COMPRESSED, USUAL, Limits
from ..tables.features import with_layout
from ..tables.options import FEATURE_OPTIONS, Option, Options, count_of
from ..tables.stream import Table
from .arff_files import ArffFile
from .arrow_files import ArrowFile
from .columns import HASH_BITS, ONE_HOT, Asked, ColumnFile
from .delimited import DelimitedFile
from .labelled_columns import combine, read_columns
from .svmlight import read_svmlight

FORMATS = ("svmlight", "csv", "parquet", "arrow", "arff")

_SUFFIXES = {
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
    ".svm": "svmlight",
    ".csv": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".arff": "arff",
}

# int32 indices and shapes allow no more.
_MOST_FEATURES = 2**31 - 1
_LIMITS: dict[str, Option] = {
    "max_line": Option("count", USUAL.max_line, minimum=1),
    "max_expansion": Option("count", USUAL.max_expansion, minimum=1),
    "max_features": Option("count", USUAL.max_features, minimum=1, maximum=_MOST_FEATURES),
}
_ANY: dict[str, Option] = {
    "format": Option("text", "", choices=FORMATS),
    "test": Option("text", ""),
    **_LIMITS,
    **FEATURE_OPTIONS,
}
# Options of all files with columns; `target`, `header` and `delimiter` are detected if not given.
COLUMN_OPTIONS: dict[str, Option] = {
    "target": Option("text", ""),
    "categorical": Option("names", ()),
    "text": Option("names", ()),
    "ignore": Option("names", ()),
    "order_by": Option("text", ""),
    "missing": Option("text", "error", choices=("error", "mean", "indicator")),
    "one_hot": Option("count", ONE_HOT),
    # With 2^30 features, the number of entries in a row still fits in 32 bits.
    "hash_bits": Option("count", HASH_BITS, minimum=1, maximum=30),
    "hash_seed": Option("count", 0, maximum=2**31 - 1),
    "dense": Option("flag", ""),
}
_OF_FORMAT: dict[str, dict[str, Option]] = {
    "svmlight": {
        "n_features": Option("count", 0, minimum=1, maximum=_MOST_FEATURES),
        "zero_based": Option("flag", False),
        "dense": Option("flag", False),
    },
    "csv": {**COLUMN_OPTIONS, "header": Option("flag", ""), "delimiter": Option("text", "")},
    "parquet": COLUMN_OPTIONS,
    "arrow": COLUMN_OPTIONS,
    "arff": COLUMN_OPTIONS,
}


# Options of OpenML data sets, whose format is known and which have no test file.
OPENML_OPTIONS: dict[str, Option] = {**COLUMN_OPTIONS, **FEATURE_OPTIONS}


def format_by_suffix(path: PurePath) -> str:
    """Return the format that a file name's suffix indicates, or ``""`` if it indicates none."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    inner = suffixes[:-1] if suffixes and suffixes[-1] in COMPRESSED else suffixes
    return _SUFFIXES.get(inner[-1] if inner else "", "")


def file_format(path: Path, named: object = "") -> str:
    """Return the format of a file: the named one, otherwise the one its suffix indicates.

    Raises InputError if the suffix indicates none or a binary format is compressed.

    Examples
    --------
    >>> file_format(Path("train.csv.gz"))
    'csv'
    """
    compressed = path.suffix.lower() in COMPRESSED
    if named and named not in FORMATS:
        raise InputError(f"{path}: format = {named!r}; {did_you_mean(str(named), FORMATS)}")
    found = str(named) if named else format_by_suffix(path)
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


def read_files(paths: Sequence[Path], tests: Sequence[Path], options: Options) -> Table:
    """Read files as one, in order, and likewise the files of a test part, all in the same format.

    Values are as stored, in the requested dtype (unless the features are to be standardised later), with NaN
    for missing values; other feature options are not applied. Raises InputError with one line that names
    file, line or row, and column.
    """
    kind = file_format(paths[0], options["format"])
    # Means and standard deviations are computed from the numbers as stored in the file.
    dtype = "" if options["standardize"] else str(options["dtype"])
    if kind == "svmlight":
        if len(paths) > 1 or len(tests) > 1:
            several = tests if len(tests) > 1 else paths
            raise InputError(
                f"{several[0].parent}: {len(several)} svmlight files; one is read: put them together (cat)"
            )
        return read_svmlight(
            paths[0],
            tests[0] if tests else None,
            n_features=count_of(options, "n_features"),
            zero_based=bool(options["zero_based"]),
            dense=bool(options["dense"]),
            dtype=dtype,
            limits=Limits.of(options),
        )
    asked = Asked.of(options)
    train = read_columns([open_columns(path, options) for path in paths], asked, dtype=dtype)
    test = None
    if tests:
        found = [open_columns(path, options) for path in tests]
        test = read_columns(found, asked, dtype=dtype, training=train)
    table = combine(train, test)
    if options["dense"] == "":
        return table
    return with_layout(str(paths[0]), table, dense=bool(options["dense"]))


def open_columns(path: Path, options: Options) -> ColumnFile:
    """Open a file with columns, given resolved options of its format."""
    kind, limits = file_format(path, options["format"]), Limits.of(options)
    if kind == "csv":
        header = None if options["header"] == "" else bool(options["header"])
        return DelimitedFile(path, delimiter=delimiter_of(path, options), header=header, limits=limits)
    if kind == "arff":
        return ArffFile(path, limits=limits)
    return ArrowFile(path, "parquet" if kind == "parquet" else "arrow")


def delimiter_of(path: Path, options: Options) -> str:
    """Return the delimiter of a CSV file: the given one, otherwise the suffix's."""
    given = str(options["delimiter"])
    if len(given) > 1 or given in ('"', "\r", "\n"):
        raise InputError(f"{path}: delimiter must be one character, and no quote or line end, not {given!r}")
    return given or ("\t" if ".tsv" in path.suffixes else ",")
