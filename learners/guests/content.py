"""A digest of an object: its values, and the code that is defined where no other process can import it."""

from __future__ import annotations

import dis
import functools
import hashlib
import sys
from collections.abc import Iterator
from types import CodeType, FunctionType, MappingProxyType, ModuleType
from typing import Any

import numpy as np

_PLAIN = (type(None), bool, int, float, complex, str, bytes, type(...), type(NotImplemented))
# Members of a class that say where it is, or what documents it, and change nothing that it does.
_NOT_CODE = {
    "__annotate__",
    "__annotate_func__",
    "__annotations__",
    "__annotations_cache__",
    "__dict__",
    "__doc__",
    "__firstlineno__",
    "__module__",
    "__qualname__",
    "__static_attributes__",
    "__weakref__",
    "_abc_impl",
}
# Packages whose versions are no part of any learner's key.
_SHARED = {"numpy", "scipy", "singlepass"}
_LOADS = ("LOAD_GLOBAL", "LOAD_NAME")


def importable(thing: Any) -> bool:
    """Tell whether a class or function can be imported by its name, so not one of a notebook's cell."""
    module = getattr(thing, "__module__", None)
    if module is None or module == "__main__" or module not in sys.modules:
        return False
    found: Any = sys.modules[module]
    for part in thing.__qualname__.split("."):
        found = getattr(found, part, None)
    return found is thing


def digest_of(thing: Any) -> tuple[str, tuple[str, ...]]:
    """Return a digest of an object, and the top modules of the packages that it uses.

    Code is told by its instructions, so that comments and line numbers do not matter, but another minor
    version of Python makes another digest.

    Returns
    -------
    digest : str
        64 hex digits, the same in every process.
    modules : tuple of str

    Raises
    ------
    Exception
        Whatever its parts raise that cannot be pickled.

    Examples
    --------
    >>> def rule(x):
    ...     return 2 * x
    >>> digest_of([rule, 1])[0] == digest_of([rule, 2])[0]
    False
    """
    walk = _Walk()
    digest = hashlib.sha256(repr(walk.told(thing)).encode()).hexdigest()
    return digest, tuple(sorted(walk.modules - _SHARED - sys.stdlib_module_names))


class _Walk:
    """Turns an object into nested lists of text, each part once."""

    def __init__(self) -> None:
        self.modules: set[str] = set()
        # Parts stay referenced: the id of one that is freed could be another's.
        self._seen: dict[int, tuple[int, Any]] = {}

    def told(self, value: Any) -> Any:
        if type(value) in _PLAIN:
            return [type(value).__name__, repr(value)]
        if isinstance(value, np.ndarray) and not value.dtype.hasobject:
            return ["array", str(value.dtype), value.shape, hashlib.sha256(value.tobytes()).hexdigest()]
        if type(value) in (list, tuple):
            return [type(value).__name__, *map(self.told, value)]
        if type(value) in (set, frozenset):
            return ["set", *sorted(repr(self.told(each)) for each in value)]
        if type(value) in (dict, MappingProxyType):
            return ["dict", *[[self.told(key), self.told(each)] for key, each in value.items()]]
        if isinstance(value, CodeType):
            return self._code(value)
        if id(value) in self._seen:
            return ["again", self._seen[id(value)][0]]
        self._seen[id(value)] = len(self._seen), value
        return self._once(value)

    def _once(self, value: Any) -> Any:
        if isinstance(value, ModuleType):
            return self._by_name(value.__name__)
        if isinstance(value, type):
            return self._class(value)
        if isinstance(value, FunctionType):
            return self._function(value)
        if isinstance(value, staticmethod | classmethod):
            return [type(value).__name__, self.told(value.__func__)]
        if isinstance(value, property):
            return ["property", *map(self.told, (value.fget, value.fset, value.fdel))]
        if isinstance(value, functools.cached_property):
            return ["cached_property", self.told(value.func)]
        # Numba's compiled functions, and those of functools.
        inner = getattr(value, "py_func", None) or getattr(value, "__wrapped__", None)
        if isinstance(inner, FunctionType):
            return [type(value).__name__, self.told(inner)]
        return self._object(value)

    def _by_name(self, module: str, name: str = "") -> Any:
        self.modules.add(module.partition(".")[0])
        return ["named", module, name]

    def _class(self, cls: type[Any]) -> Any:
        if importable(cls):
            # That of this package's learners; versions of other packages are told by their modules.
            version = getattr(cls, "algorithm_version", 1)
            return [*self._by_name(cls.__module__, cls.__qualname__), version]
        members = [
            [name, self.told(value)]
            for name, value in sorted(vars(cls).items())
            if name not in _NOT_CODE and type(value).__name__ != "member_descriptor"
        ]
        return ["class", cls.__name__, *map(self.told, (type(cls), *cls.__bases__)), *members]

    def _function(self, function: FunctionType) -> Any:
        if importable(function):
            return self._by_name(function.__module__, function.__qualname__)
        code, known = function.__code__, function.__globals__
        used = [[name, self.told(known[name])] for name in sorted(set(_loaded(code))) if name in known]
        cells = [self.told(cell.cell_contents) for cell in function.__closure__ or ()]
        given = self.told(function.__defaults__), self.told(function.__kwdefaults__)
        return ["function", self._code(code), used, cells, given]

    def _code(self, code: CodeType) -> Any:
        shape = code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags
        names = code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars
        body = code.co_code.hex(), code.co_exceptiontable.hex()
        return ["code", shape, names, body, self.told(code.co_consts)]

    def _object(self, value: Any) -> Any:
        found = value.__reduce_ex__(4)
        if isinstance(found, str):
            return self._by_name(getattr(value, "__module__", None) or type(value).__module__, found)
        # Of items of lists and dictionaries there are iterators.
        parts = [list(part) if place > 2 and part is not None else part for place, part in enumerate(found)]
        return ["object", *map(self.told, parts)]


def _loaded(code: CodeType) -> Iterator[str]:
    """Yield the global names that code reads, also in functions within it."""
    for instruction in dis.get_instructions(code):
        if instruction.opname in _LOADS:
            yield instruction.argval
    for value in code.co_consts:
        if isinstance(value, CodeType):
            yield from _loaded(value)
