"""Implement `singlepass data convert`: read and check data sets ahead of a run, and describe them."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..pipeline import data
from ..pipeline.data import Stream
from ..pipeline.errors import InputError, printable
from .progress import progress_display
from .shipped import find_study, shipped_studies


def convert_all(names: tuple[str, ...], target: str | None, options: tuple[str, ...]) -> Iterator[str]:
    """Convert data sets and yield lines that describe each table.

    `names` are names of `singlepass list datasets`, paths (of files, folders, patterns), URLs,
    ``openml:NUMBER``, and studies, which stand for their data sets with their options. `target` is the column
    of the labels; `options` are ``key=value``, written as in a study.
    """
    given: dict[str, Any] = {} if target is None else {"target": target}
    for text in options:
        key, value = _option(text)
        if key in given:
            raise InputError(f"--option {text!r}: {key} is given twice: leave one of the two out")
        given[key] = value
    for name in names:
        if Path(name).suffix == ".toml" or (name in shipped_studies() and name not in data.dataset_names()):
            if given:
                raise InputError(
                    f"{name}: a study has its own options for its data sets; leave --option and --target out"
                )
            study, file = find_study(name)
            for dataset in study.datasets:
                base = Path() if file is None else file.parent
                yield from _converted({**dataset.entry, "base": base}, study.protocol_of(dataset))
        else:
            # Tell paths from names of data sets, which have no suffix and no folder. Nearly all files have a
            # suffix.
            is_path = Path(name).is_file() or bool(Path(name).suffix) or "/" in name or _is_folder(name)
            yield from _converted({"path" if is_path else "name": name, "options": given})


def _converted(entry: dict[str, Any], protocol: str = "") -> Iterator[str]:
    """Convert the tables of one data set; `protocol` is that of its study, or "" without a study."""
    with progress_display() as progress, data.watched(progress.read):
        refs = data.expand(**entry)
        streams = [data.open_stream(ref) for ref in refs]
        for ref in refs if protocol else ():
            cut = protocol == "crossval" or (protocol == "holdout" and not data.has_test(ref))
            fit = data.feature_fit(ref)
            if fit == "online" or (fit and cut):
                # Also prepare the unscaled rows, because each cell of the study scales features and fills
                # gaps by statistics of the rows that it learns.
                data.open_stream(ref, raw=True)
    yield from map(_line, streams)
    yield from dict.fromkeys(f"  {note}" for ref in refs for note in data.notes(ref))


def _is_folder(name: str) -> bool:
    return Path(name).is_dir() and data.main_name(name) not in {row.name for row in data.describe()}


def _option(text: str) -> tuple[str, Any]:
    """Parse an option as TOML; a value that is not TOML, such as a path or a delimiter, is text."""
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise InputError(f"--option {text!r}: write KEY=VALUE, such as n_features=123")
    try:
        return key.strip(), tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        # A delimiter may be a space or a tab, and a tab may be written as in TOML.
        text = value if len(value) == 1 else value.strip()
        return key.strip(), "\t" if text == r"\t" else text


def _line(stream: Stream) -> str:
    shown = f"{stream.name}: {len(stream.y):,} rows"
    if stream.y_test is not None:
        shown += f" and {len(stream.y_test):,} in a test part"
    classes = ", ".join([*stream.classes[:5], *(["…"] if len(stream.classes) > 5 else [])])
    features = f"{stream.X.shape[1]:,} feature{'' if stream.X.shape[1] == 1 else 's'}"
    shown += f", {features}, {len(stream.classes)} classes ({printable(classes)})"
    return f"{shown}, fingerprint {stream.fingerprint[:16]}"
