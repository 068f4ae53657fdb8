"""List the formats of users' files, detect the format of a file, and read files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

from ...errors import InputError, did_you_mean
from ..io.reading import COMPRESSED, USUAL, Limits
from ..tables.features import with_layout
from ..tables.options import FEATURE_OPTIONS, Option, Options, count_of
from ..tables.stream import Table
from .arff_files import ArffFile
from .arrow_files import ArrowFile
from .columns import Asked, ColumnFile, lay_out
from .delimited import DelimitedFile
from .labelled_columns import combine, read_columns, stored_dtype
from .sparse_text import Scan, read_sparse, svmlight_scan, vowpal_scan

# Largest number of features, because indices and shapes are int32.
_MOST_FEATURES = 2**31 - 1
# Options of every file format with columns. The label column is detected if `target` is empty.
COLUMN_OPTIONS: dict[str, Option] = {
    "target": Option("text", ""),
    "categorical": Option("names", ()),
    "text": Option("names", ()),
    "ignore": Option("names", ()),
    "order_by": Option("text", ""),
    "missing": Option("text", "error", choices=("error", "mean", "indicator")),
    "one_hot": Option("count", Asked.one_hot),
    # At most 30, so that feature indices and the number of features fit in int32.
    "hash_bits": Option("count", Asked.hash_bits, minimum=1, maximum=30),
    "hash_seed": Option("count", 0, maximum=2**31 - 1),
    "dense": Option("flag", ""),
}
# Options of OpenML data sets, whose format is known and which have no test file.
OPENML_OPTIONS: dict[str, Option] = {**COLUMN_OPTIONS, **FEATURE_OPTIONS}


@dataclass(frozen=True)
class Format:
    """Describe a file format: its suffixes, its own options, and how to open a file with columns."""

    suffixes: tuple[str, ...]
    options: Mapping[str, Option]
    #: Opens a file with columns: ``open(path, options)``; options include defaults. None for svmlight and VW.
    open: Callable[[Path, Options], ColumnFile] | None = None
    #: Returns, given options, the function that parses lines of svmlight or VW, and the number of features or
    #: 0, if the largest index says it. None for files with columns.
    scan: Callable[[Options], tuple[Scan, int]] | None = None
    #: Whether a file may be compressed as a whole; formats that compress their own content may not.
    compressible: bool = True


def _open_delimited(path: Path, options: Options) -> DelimitedFile:
    # `delimiter` and `header` may be absent, because a CSV test file gets the options of its training file,
    # which may have another format.
    given = str(options.get("delimiter", ""))
    if len(given) > 1 or not given.isascii() or given in ('"', "\r", "\n", "\0"):
        raise InputError(
            f"{path}: delimiter must be one ASCII character except quote, line end and NUL, not {given!r}"
        )
    delimiter = given or ("\t" if ".tsv" in map(str.lower, path.suffixes) else ",")
    header = options.get("header", "")
    return DelimitedFile(
        path, delimiter=delimiter, header=None if header == "" else bool(header), limits=Limits.of(options)
    )


def _svmlight(options: Options) -> tuple[Scan, int]:
    n_features, zero_based = count_of(options, "n_features"), bool(options["zero_based"])
    return svmlight_scan(n_features=n_features, zero_based=zero_based, limits=Limits.of(options)), n_features


def _vowpal_wabbit(options: Options) -> tuple[Scan, int]:
    hash_bits = count_of(options, "hash_bits")
    return vowpal_scan(hash_bits=hash_bits), 1 << hash_bits


FORMATS: dict[str, Format] = {
    "svmlight": Format(
        suffixes=(".svmlight", ".libsvm", ".svm"),
        options={
            "n_features": Option("count", 0, minimum=1, maximum=_MOST_FEATURES),
            "zero_based": Option("flag", False),
            "dense": Option("flag", False),
        },
        scan=_svmlight,
    ),
    "vw": Format(
        suffixes=(".vw",),
        options={
            # Vowpal Wabbit's own default; at most 30, so that feature indices fit in int32.
            "hash_bits": Option("count", 18, minimum=1, maximum=30),
            "dense": Option("flag", False),
        },
        scan=_vowpal_wabbit,
    ),
    "csv": Format(
        suffixes=(".csv", ".tsv"),
        options={**COLUMN_OPTIONS, "header": Option("flag", ""), "delimiter": Option("text", "")},
        open=_open_delimited,
    ),
    "parquet": Format(
        suffixes=(".parquet",),
        options=COLUMN_OPTIONS,
        open=lambda path, options: ArrowFile(path, "parquet"),
        compressible=False,
    ),
    "arrow": Format(
        suffixes=(".arrow", ".feather"),
        options=COLUMN_OPTIONS,
        open=lambda path, options: ArrowFile(path, "arrow"),
        compressible=False,
    ),
    "arff": Format(
        suffixes=(".arff",),
        options=COLUMN_OPTIONS,
        open=lambda path, options: ArffFile(path, limits=Limits.of(options)),
    ),
}
_OF_SUFFIX = {suffix: name for name, each in FORMATS.items() for suffix in each.suffixes}
# Options that files of every format accept.
_ANY: dict[str, Option] = {
    "format": Option("text", "", choices=tuple(FORMATS)),
    "test": Option("text", ""),
    "max_line": Option("count", USUAL.max_line, minimum=1),
    "max_expansion": Option("count", USUAL.max_expansion, minimum=1),
    "max_features": Option("count", USUAL.max_features, minimum=1, maximum=_MOST_FEATURES),
    **FEATURE_OPTIONS,
}


def _suffix(path: PurePath) -> str:
    """Return the last suffix of a file name that is not one of a compressed file, or ``""``."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    inner = suffixes[:-1] if suffixes and suffixes[-1] in COMPRESSED else suffixes
    return inner[-1] if inner else ""


def format_by_suffix(path: PurePath) -> str:
    """Return the format that a file name's suffix indicates, or ``""`` if it indicates none."""
    return _OF_SUFFIX.get(_suffix(path), "")


def file_format(path: Path, named: object = "") -> str:
    """Return the format of a file: `named` if given, otherwise the format that its suffix indicates."""
    if named and named not in FORMATS:
        raise InputError(f"{path}: format = {named!r}; {did_you_mean(named, FORMATS)}")
    found, kind = str(named) if named else format_by_suffix(path), _suffix(path)[1:]
    # A URL with :: is of a file in an archive.
    if kind in ("zip", "tar") and "::" not in str(path) and not path.is_dir():
        raise InputError(
            f'{path}: is a {kind} archive: unpack it, or read a file in it by path = "{kind}://NAME::PATH"'
        )
    if not found:
        raise InputError(
            f"{path}: the format is not clear from the name; set format = {', '.join(map(repr, FORMATS))}, "
            f"or end the name in {', '.join(_OF_SUFFIX)} (text also with {', '.join(COMPRESSED)})"
        )
    if path.suffix.lower() in COMPRESSED and not FORMATS[found].compressible:
        raise InputError(f"{path}: {found} files are compressed inside; uncompress this one first")
    return found


def file_options(path: Path, given: Options) -> Mapping[str, Option]:
    """Return the options that a file accepts; they depend on its format."""
    return {**FORMATS[file_format(path, given.get("format", ""))].options, **_ANY}


def open_columns(path: Path, options: Options) -> ColumnFile | None:
    """Open a file with columns; return None for svmlight and Vowpal Wabbit. `options` includes defaults."""
    opener = FORMATS[file_format(path, options["format"])].open
    return None if opener is None else opener(path, options)


def read_files(paths: Sequence[Path], tests: Sequence[Path], options: Options) -> Table:
    """Read the files `paths` one after the other into the training part, and `tests` into the test part.

    Either all files have columns, or all are svmlight, or all Vowpal Wabbit. Missing values are NaN. Values
    get the requested dtype, unless the caller will standardize the features; no other feature option is used.
    """
    # Keep the file's precision if features will be standardized: means and deviations need the exact numbers.
    dtype = "" if options["standardize"] else str(options["dtype"])
    found = file_format(paths[0], options["format"])
    scanner = FORMATS[found].scan
    if scanner is not None:
        for each in (*paths, *tests):
            if file_format(each, options["format"]) != found:
                raise InputError(f"{each}: is not of the format of the training file, {found}")
        scan, n_features = scanner(options)
        limits = Limits.of(options)
        table = read_sparse(paths, tests, scan, n_features=n_features, dtype=dtype, limits=limits)
        return with_layout(str(paths[0]), table, dense=bool(options["dense"]))
    asked = Asked.of(options)
    files, tested = _opened(paths, options), _opened(tests, options)
    layout = lay_out(files[0], asked)
    label = files[0].names[layout.label]
    others = [(file, lay_out(file, asked, label)) for file in (*files[1:], *tested)]
    # Decide for both parts: float64 of a test file may not fit the float32 of the training file.
    dtype = dtype or stored_dtype([(files[0], layout), *others])
    train = read_columns(files, asked, dtype=dtype)
    test = read_columns(tested, asked, dtype=dtype, training=train) if tested else None
    table = combine(train, test)
    if options["dense"] == "":
        return table
    return with_layout(str(paths[0]), table, dense=bool(options["dense"]))


def _opened(paths: Sequence[Path], options: Options) -> list[ColumnFile]:
    files = []
    for path in paths:
        file = open_columns(path, options)
        if file is None:
            raise InputError(
                f"{path}: text of sparse features has no columns, but the training file has; "
                "give a test file with the same columns"
            )
        files.append(file)
    return files
