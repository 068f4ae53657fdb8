"""Convert data sets given in a notebook (such as names, arrays, frames) to ``[[datasets]]`` tables."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePath
from typing import Any

from ...pipeline import data
from ...pipeline.errors import InputError
from .results import plain

_ARRAYS = ("X", "y", "X_test", "y_test")


def dataset_tables(given: Any) -> list[dict[str, Any]]:
    """Return the ``[[datasets]]`` tables for one data set, or a list or mapping of data sets by label.

    A data set is a name, a path, a data frame, ``(X, y)``, ``(X, y, X_test, y_test)`` or a table. Instead of
    ``name`` or ``path``, a table may contain ``X`` and ``y`` (and ``X_test``, ``y_test``) or ``frame`` (and
    ``target``, ``test``). Rows in memory are stored in the cache and named by a digest of their content.

    Examples
    --------
    >>> dataset_tables(["digits", {"path": "mine.csv", "target": "spam"}])
    [{'name': 'digits'}, {'path': 'mine.csv', 'target': 'spam'}]
    >>> [table] = dataset_tables({"mine": ([[0.0], [1.0]], ["no", "yes"])})
    >>> table["name"].partition(":")[0], table["label"]
    ('arrays', 'mine')
    """
    if isinstance(given, Mapping) and not _is_table(given):
        return [_table(each, str(label)) for label, each in given.items()]
    entries = (
        given if isinstance(given, list) or (isinstance(given, tuple) and not _is_rows(given)) else [given]
    )
    single = len(entries) == 1
    return [_table(each, "", "data" if single else f"data-{i}") for i, each in enumerate(entries, start=1)]


def _is_table(given: Mapping[str, Any]) -> bool:
    """Return whether a mapping describes one data set; otherwise it maps labels to data sets."""
    named = any(isinstance(given.get(key), str | PurePath) for key in ("name", "path"))
    if _is_bunch(given):
        return True
    numbered = isinstance(given.get("openml"), int) or isinstance(given.get("compose"), list)
    return named or numbered or ("X" in given and "y" in given) or _is_frame(given.get("frame"))


def _is_bunch(given: Any) -> bool:
    """Return whether an object is what scikit-learn's functions such as `load_iris` return."""
    named = isinstance(given, Mapping) and type(given).__name__ == "Bunch"
    return named and {"data", "target"} <= given.keys()


def _is_rows(given: tuple[Any, ...]) -> bool:
    """Return whether a tuple is (X, y) or (X, y, X_test, y_test) rather than several data sets."""
    if len(given) not in (2, 4):
        return False
    # A DOK array of SciPy is a dict.
    return hasattr(given[0], "toarray") or not isinstance(given[0], str | PurePath | Mapping | tuple)


def _table(given: Any, label: str, unnamed: str = "data") -> dict[str, Any]:
    """Return the ``[[datasets]]`` table of one data set; `unnamed` labels rows in memory without `label`."""
    called = {"label": label} if label else {}
    if isinstance(given, str | PurePath):
        return {"path" if _is_path(given) else "name": str(given)} | called
    if _is_frame(given):
        return _of_frame({"frame": given}, label or unnamed)
    if isinstance(given, tuple):
        if len(given) not in (2, 4):
            raise InputError(
                f"data set {label or unnamed!r} has {len(given)} parts: give (X, y) or (X, y, X_test, y_test)"
            )
        return _of_arrays(dict(zip(_ARRAYS, given, strict=False)), label or unnamed)
    if _is_bunch(given):
        raise InputError(
            f"data set {label or unnamed!r} is a Bunch of scikit-learn: give (bunch.data, bunch.target)"
        )
    if not isinstance(given, Mapping):
        raise InputError(
            f"data set {label or unnamed!r} is a {type(given).__name__}: give a name, a path, (X, y), a data "
            "frame or a table"
        )
    table = dict(given) | called
    shown = str(table.get("label") or unnamed)
    test, in_frames = table.get("test", ""), "frame" in table or _is_frame(table.get("X"))
    if not (in_frames or isinstance(test, str | PurePath)):
        raise InputError(
            f"data set {shown!r}: test is a {type(test).__name__}: give both parts as paths or both as frames"
        )
    if "frame" in table:
        return _of_frame(table, shown)
    if "X" in table:
        return _of_arrays(table, shown)
    parts = table.get("compose")
    for part in parts if isinstance(parts, list | tuple) else ():
        has_rows = ("X" in part or "frame" in part) if isinstance(part, Mapping) else isinstance(part, tuple)
        if has_rows or _is_frame(part):
            raise InputError(
                f"data set {shown!r}: compose: each source is a table with a 'name' or a 'path': save rows "
                "in memory to a file first"
            )
    made: dict[str, Any] = plain(table)
    return made


def _is_path(given: str | PurePath) -> bool:
    if isinstance(given, PurePath):
        return True
    if given in data.dataset_names():
        return False
    return any(sign in given for sign in "./\\*") or Path(given).exists()


def _is_frame(given: Any) -> bool:
    return hasattr(given, "__arrow_c_stream__") or hasattr(given, "iloc")


def _of_frame(table: dict[str, Any], label: str) -> dict[str, Any]:
    """Return the ``[[datasets]]`` table of a frame; its class labels are a column of it or ``table["y"]``."""
    frame, test = table.pop("frame"), table.pop("test", None)
    kept, target = data.frame_table(f"data set {label!r}", frame, table.pop("y", None))
    if target:
        table["target"] = target
    made: dict[str, Any] = {"name": data.keep_frame(kept), **plain(table), "label": label}
    if test is not None:
        kept, _ = data.frame_table(f"data set {label!r}: test", test)
        made["test"] = str(data.frame_path(data.keep_frame(kept)))
    return made


def _of_arrays(table: dict[str, Any], label: str) -> dict[str, Any]:
    X, y, X_test, y_test = (table.pop(key, None) for key in _ARRAYS)
    owner = f"data set {label!r}"
    if y is None:
        raise InputError(f"{owner}: X is given without y: give both")
    if _is_frame(X):
        data.check_test_pair(owner, X_test, y_test)
        # Keep training and test rows as frames, so that categorical columns are encoded the same way in both.
        if X_test is not None:
            if not _is_frame(X_test):
                shape = f"{type(X_test).__name__}: give both as frames"
                raise InputError(f"{owner}: X is a frame and X_test a {shape}")
            table["test"], _ = data.frame_table(f"{owner}: X_test", X_test, y_test)
        return _of_frame({**table, "frame": X, "y": y}, label)
    missing = str(table.get("missing", "error")) != "error"
    kept = data.keep_arrays(data.array_table(owner, X, y, X_test, y_test, missing=missing))
    return {"name": kept, **plain(table), "label": label}
