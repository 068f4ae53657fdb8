"""Make a study in a notebook from a file, a dictionary or keyword arguments."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePath
from typing import Any

from ...pipeline import data
from ...pipeline.errors import InputError
from ...pipeline.study.study import Study as ValidStudy
from ...pipeline.study.study_file import extended, parse_study
from ..report.words.wording import count
from ..shipped import find_study, shipped_studies
from .algorithms import algorithm_tables
from .datasets import dataset_tables
from .results import plain

# Name of a study for which the user gives no name.
_NAME = "study"
_IN_MEMORY = (data.ArraySource.PREFIX, data.FrameSource.PREFIX)


class NotebookStudy:
    """Describe a study: data sets, algorithms and how they are compared (`singlepass.workflows.Study`).

    Parameters
    ----------
    source : str, Path, mapping or None, default=None
        A TOML file, the name of a shipped study, or a dictionary of a study's keys; None: keywords only.
    **keys
        Keys of a study file (docs/study.md), which override those of `source`. `datasets` also accepts paths,
        ``(X, y)`` or ``(X, y, X_test, y_test)`` of arrays or sparse matrices, and data frames; `algorithms`
        also accepts estimators. Both may be a list, or a dictionary with label keys. ``name`` is optional.

    Attributes
    ----------
    valid : pipeline.study.study.Study
        The validated study, as the command line would read it from a file.
    file : Path or None
        The file that the study was read from: relative paths start at its folder.

    Raises
    ------
    InputError
        The study is faulty; the message names the key and the remedy in one line.

    Examples
    --------
    >>> from singlepass.learners import AROW
    >>> Study(datasets="digits", algorithms=["Perceptron", AROW(r=0.1)], seeds=3)
    Study 'study': 1 data set (digits), 2 algorithms (Perceptron, AROW), 3 repetitions
    """

    def __init__(self, source: str | PurePath | Mapping[str, Any] | None = None, /, **keys: Any) -> None:
        self.file: Path | None = None
        table: dict[str, Any] = {}
        if isinstance(source, str | PurePath):
            found, self.file = find_study(str(source))
            table = found.model_dump(mode="json", exclude_unset=True)
        elif isinstance(source, Mapping):
            table = dict(source)
        elif source is not None:
            raise InputError(
                f"study: expected a TOML file, a dictionary or keywords, got a {type(source).__name__}"
            )
        table = {"name": _NAME, **table, **keys}
        for key, made in (("datasets", dataset_tables), ("algorithms", algorithm_tables)):
            if key in table:
                table[key] = made(table[key])
        if isinstance(source, Mapping) or "extends" in keys:
            table = extended(plain(table), Path(), shipped_studies())
        self.valid: ValidStudy = parse_study(plain(table))

    @property
    def table(self) -> dict[str, Any]:
        """Return the study as the contents of a TOML file, without keys that have their default."""
        table: dict[str, Any] = self.valid.model_dump(mode="json", exclude_defaults=True)
        return table

    @contextlib.contextmanager
    def named(self) -> Iterator[None]:
        """In InputErrors raised in this context, replace internal names of data sets in memory by labels."""
        try:
            yield
        except InputError as error:
            message = str(error)
            for entry in self.valid.datasets:
                name = str(entry.name)
                if name.startswith(_IN_MEMORY):
                    shown = {data.frame_path(name): f"data set {entry.label!r}"}
                    if test := entry.options.get("test"):
                        shown.setdefault(Path(str(test)), f"data set {entry.label!r}: test")
                    for path, words in shown.items():
                        message = message.replace(str(path), words).replace(path.name, words)
                    message = message.replace(repr(name), repr(entry.label))
            raise InputError(message) from None

    def __repr__(self) -> str:
        """Describe the study in one line."""
        valid = self.valid
        parts = [
            _listed([entry.label for entry in valid.datasets], "data set"),
            _listed([entry.label for entry in valid.algorithms], "algorithm"),
        ]
        if len(valid.noise) > 1 or valid.noise[0].rate:
            parts.append(f"noise {', '.join(noise.short for noise in valid.noise)}")
        parts.append(count(len(valid.seeds), "repetition"))
        return f"Study {valid.name!r}: {', '.join(parts)}"


def _listed(names: list[str], what: str) -> str:
    return f"{count(len(names), what)} ({', '.join(names)})"


Study = NotebookStudy
