"""Save a learner to one file and load it again without pickle, so that loading runs no code from the file.

The file is a NumPy archive (``.npz``): the arrays of the model, and a JSON document with everything else. A
value of a type that JSON lacks is an object such as ``{"array": 3}`` for array number 3.
"""

from __future__ import annotations

import importlib
import json
import os
import uuid
import zipfile
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..estimator.online_classifier import OnlineClassifier
from ..table import ROWS

_FORMAT = "singlepass learner 2"
_DOCUMENT = "learner.json"
_PACKAGE = __name__.rsplit(".", 2)[0]


def save(learner: Any, path: str | os.PathLike[str]) -> None:
    """Save a learner to a file, from which `load` restores it.

    Parameters
    ----------
    learner : OnlineClassifier or RiverClassifier
        A learner of this package, trained or not, or the result of `to_river`.
    path : str or path
        The file, usually named ``….npz``. A file that exists is replaced when the new one is complete.

    Raises
    ------
    TypeError
        For learners of other packages and of classes derived from a learner, for parameters or labels that
        are not numbers, strings, lists or dicts, and for a trained `Resetting` with detector "adwin", which
        is an object of River.
    ValueError
        If `load` would refuse the file: a parameter is invalid, or was changed after training to one that
        needs arrays of other shapes.
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from singlepass.learners import AROW, load, save
    >>> learner = AROW(r=0.5).fit([[1.0, 0.0], [0.0, 1.0]], ["no", "yes"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(learner, f"{folder}/arow.npz")
    ...     print(load(f"{folder}/arow.npz").predict([[0.0, 2.0]]))
    ['yes']
    """
    if not _is_learner(type(learner)):
        remedy = ": pickle it instead" if isinstance(learner, OnlineClassifier) else ""
        raise TypeError(f"save() takes a learner of singlepass, got {type(learner).__name__}{remedy}")
    writer = _Writer()
    document = json.dumps({"format": _FORMAT, "learner": writer.encoded(learner)})
    partial = f"{os.fspath(path)}.{uuid.uuid4().hex}.partial"
    try:
        with zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            archive.writestr(_DOCUMENT, document)
            for number, array in enumerate(writer.arrays):
                with archive.open(f"{number}.npy", "w", force_zip64=True) as file:
                    np.lib.format.write_array(file, array, allow_pickle=False)
        os.replace(partial, path)
    except BaseException as error:
        if os.path.exists(partial):
            os.remove(partial)
        if isinstance(error, OSError) and error.errno:
            raise OSError(error.errno, error.strerror, os.fspath(path)) from None
        raise


def load(path: str | os.PathLike[str]) -> Any:
    """Return the learner that `save` wrote to a file: it predicts and learns as the saved one would have.

    Parameters
    ----------
    path : str or path

    Raises
    ------
    ValueError
        If the file is damaged or not a saved learner, or if another version of singlepass saved it.
    OSError
        If the file cannot be read.
    """
    name = os.fspath(path)
    try:
        with zipfile.ZipFile(path) as archive:
            document = json.loads(archive.read(_DOCUMENT))
            if document["format"] != _FORMAT:
                raise ValueError(f"its format is {document['format']!r}, not {_FORMAT!r}: train it again")

            learner = _Reader(archive).decoded(document["learner"])
            if not _is_learner(type(learner)):
                raise ValueError(f"it contains an object of type {type(learner).__name__}, not a learner")
            return learner
    except (OSError, ImportError):
        raise
    except Exception as error:
        # Reading a damaged file can raise errors of many types: from the zip format, its compression and
        # checksums, array headers or the JSON document.
        reason = " ".join(str(error).split()) or type(error).__name__
        said = "not a learner saved by this version of singlepass, or damaged"
        raise ValueError(f"{name}: {said} ({reason})") from None


class _Writer:
    """Convert values to JSON, and collect their arrays."""

    def __init__(self) -> None:
        self.arrays: list[NDArray[Any]] = []
        # Numbers of the objects written so far, by id. An object that occurs again is written as its number.
        # An object gets its number before its attributes do.
        self._numbers: dict[int, int] = {}

    def encoded(self, value: Any) -> Any:
        """Return a value in a form that JSON can represent."""
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        if isinstance(value, list):
            return [self.encoded(each) for each in value]
        if isinstance(value, np.ndarray) and not value.dtype.hasobject:
            self.arrays.append(value)
            return {"array": len(self.arrays) - 1}
        if isinstance(value, np.ndarray):
            return {"objects": self.encoded(value.tolist())}
        if isinstance(value, sp.csr_matrix):
            return {
                "csr": [self.encoded(each) for each in (value.data, value.indices, value.indptr, value.shape)]
            }
        if isinstance(value, np.generic):
            return {"scalar": self.encoded(np.asarray(value))}
        if isinstance(value, np.dtype):
            return {"dtype": value.str}
        if isinstance(value, np.random.RandomState):
            return {"random": self.encoded(value.get_state())}
        if isinstance(value, dict):
            return {"dict": [[self.encoded(key), self.encoded(each)] for key, each in value.items()]}
        if type(value) is tuple:
            return {"tuple": [self.encoded(each) for each in value]}
        return self._of_class(value, type(value))

    def _of_class(self, value: Any, cls: type) -> Any:
        if not _is_saved_class(cls):
            shown = " ".join(repr(value).split())
            raise TypeError(
                f"a learner with a value of type {cls.__name__} cannot be saved: {shown}; pickle it instead"
            )
        name = f"{cls.__module__.removeprefix(_PACKAGE)}:{cls.__qualname__}"
        if isinstance(value, tuple):
            return {"named": name, "fields": [self.encoded(each) for each in value]}
        if id(value) in self._numbers:
            return {"same": self._numbers[id(value)]}
        self._numbers[id(value)] = len(self._numbers)
        version = {}
        if isinstance(value, OnlineClassifier):
            try:
                value.check_state()
            except ValueError as error:  # `load` would refuse the learner
                raise ValueError(f"this learner cannot be saved: {error}") from None
            version = {"version": value.algorithm_version}
        # `__getstate__` returns what a copy or pickle would contain, without buffers and caches.
        return {"object": name, **version, "state": self.encoded(value.__getstate__())}


class _Reader:
    """Convert the JSON of a `_Writer` and the arrays of an archive back to values."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._objects: list[Any] = []

    def decoded(self, value: Any) -> Any:
        """Return the value that `_Writer.encoded` converted to this JSON."""
        if isinstance(value, list):
            return [self.decoded(each) for each in value]
        if not isinstance(value, dict):
            return value
        kind, content = next(iter(value.items()))
        match kind:
            case "array":
                with self._archive.open(f"{int(content)}.npy") as file:
                    return np.lib.format.read_array(file, allow_pickle=False)
            case "objects":
                objects = np.empty(len(content), object)
                for i, each in enumerate(content):
                    objects[i] = self.decoded(each)
                return objects
            case "csr":
                data, indices, indptr, shape = self.decoded(content)
                return sp.csr_matrix((data, indices, indptr), shape)
            case "scalar":
                return self.decoded(content)[()]
            case "dtype":
                return np.dtype(content)
            case "random":
                random = np.random.RandomState()
                random.set_state(self.decoded(content))
                return random
            case "dict":
                return {self.decoded(key): self.decoded(each) for key, each in content}
            case "tuple":
                return tuple(self.decoded(content))
            case "named":
                fields: Any = _saved_class(content)
                return fields._make(self.decoded(value["fields"]))
            case "same":
                return self._objects[content]
            case "object":
                return self._restored(_saved_class(content), value)
        raise ValueError(f"its document contains a value of the unknown kind {kind!r}")

    def _restored(self, cls: Any, value: dict[str, Any]) -> Any:
        restored = cls.__new__(cls)
        self._objects.append(restored)
        state = self.decoded(value["state"])
        if hasattr(cls, "__setstate__"):
            restored.__setstate__(state)
        else:
            vars(restored).update(state)
        if isinstance(restored, OnlineClassifier):
            if value["version"] != cls.algorithm_version:
                raise ValueError(
                    f"{cls.__name__} has version {cls.algorithm_version} here and {value['version']} in the "
                    "file: train it again"
                )
            restored.check_state()
        return restored


def _is_learner(cls: type) -> bool:
    of_river = cls.__qualname__ == "RiverClassifier" and cls.__module__.startswith(f"{_PACKAGE}.deployment.")
    return of_river or (cls.__name__ in ROWS and ROWS[cls.__name__].load() is cls)


def _is_saved_class(cls: type) -> bool:
    """Return whether a saved learner may contain objects of a class; it may not contain adapters."""
    own = cls.__module__.startswith(f"{_PACKAGE}.") and not cls.__module__.startswith(f"{_PACKAGE}.guests.")
    return own and (not issubclass(cls, OnlineClassifier) or _is_learner(cls))


def _saved_class(name: str) -> Any:
    """Return the class of this package that a file names; nothing outside the package is imported."""
    module, _, qualname = name.partition(":")
    if not module.startswith(".") or not module.replace(".", "").replace("_", "").isalnum():
        raise ValueError(f"it names the module {module!r}, not one of singlepass")
    try:
        imported = importlib.import_module(f"{_PACKAGE}{module}")
    except ModuleNotFoundError as error:
        # A package that the module needs and that is not installed is another error.
        if not str(error.name).startswith(f"{_PACKAGE}."):
            raise
        raise ValueError(f"it names the module {module!r}, which singlepass does not have") from None
    cls = getattr(imported, qualname, None)
    if not (isinstance(cls, type) and cls.__module__ == f"{_PACKAGE}{module}" and _is_saved_class(cls)):
        raise ValueError(f"it names the class {name!r}, not one that this version saves")
    return cls
