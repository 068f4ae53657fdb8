"""`singlepass data convert`: read and check data sets ahead of a run, and say what is in them."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..pipeline import data
from ..pipeline.data import Stream
from ..pipeline.errors import InputError
from .progress import progress_display
from .shipped import find_study, shipped_studies


def convert_all(names: tuple[str, ...], target: str | None, options: tuple[str, ...]) -> Iterator[str]:
    """Convert data sets one after the other.

    Parameters
    ----------
    names : tuple of str
        Names of `singlepass list datasets`, paths (of files, folders, patterns), URLs, ``openml:NUMBER``, and
        studies: their data sets, with the options that they have there.
    target : str or None
        Column of the labels.
    options : tuple of str
        ``key=value``, written as in a study.

    Yields
    ------
    str
        A line for every table: rows, features, classes, fingerprint; then how its features were made, where
        that is not as they stand in the files.

    Raises
    ------
    InputError
        On the first thing that is not as it must be.
    """
    given = dict(map(_option, options))
    for name in names:
        if Path(name).suffix == ".toml" or (name in shipped_studies() and name not in data.dataset_names()):
            if given or target is not None:
                raise InputError(
                    f"{name}: a study says itself how its data sets are read: leave --option out"
                )
            yield from _of_study(name)
            continue
        # No data set's name has a suffix or a folder, nearly every file's has one.
        is_path = Path(name).is_file() or bool(Path(name).suffix) or "/" in name or _is_folder(name)
        entry: dict[str, Any] = {"path" if is_path else "name": name}
        with progress_display() as progress, data.watched(progress.read):
            refs = data.expand(**entry, target=target, options=given)
            streams = [data.open_stream(ref) for ref in refs]
        yield from map(_line, streams)
        yield from dict.fromkeys(f"  {note}" for ref in refs for note in data.notes(ref))


def _of_study(name: str) -> Iterator[str]:
    """Convert what a run of a study would."""
    study, file = find_study(name)
    base = Path() if file is None else file.parent
    for entry in study.datasets:
        with progress_display() as progress, data.watched(progress.read):
            refs = data.expand(**entry.entry, base=base)
            streams = [data.open_stream(ref) for ref in refs]
            for ref in refs:
                protocol = study.protocol_of(entry)
                cut = protocol == "crossval" or (protocol == "holdout" and not data.has_test(ref))
                fit = data.feature_fit(ref)
                if fit == "online" or (fit and cut):
                    # What changes its features is computed of other rows then, of features as they stand.
                    data.open_stream(ref, raw=True)
        yield from map(_line, streams)
        yield from dict.fromkeys(f"  {note}" for ref in refs for note in data.notes(ref))


def _is_folder(name: str) -> bool:
    named = {row.name for row in data.describe()} if Path(name).is_dir() else {name}
    return data.main_name(name) not in named


def _option(text: str) -> tuple[str, Any]:
    """Read an option as TOML does; what is no TOML value is text: a path, a delimiter."""
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise InputError(f"--option {text!r}: write KEY=VALUE, such as n_features=123")
    try:
        return key.strip(), tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return key.strip(), value.strip()


def _line(stream: Stream) -> str:
    shown = f"{stream.name}: {len(stream.y):,} rows"
    if stream.y_test is not None:
        shown += f" and {len(stream.y_test):,} of a test part"
    classes = ", ".join([*stream.classes[:5], *(["…"] if len(stream.classes) > 5 else [])])
    shown += f", {stream.X.shape[1]:,} features, {len(stream.classes)} classes ({classes})"
    return f"{shown}, fingerprint {stream.fingerprint[:16]}"
