"""Learners given as objects or notebook classes: named by a digest, and pickled for other processes.

The digest covers the object's values, and the code that other processes cannot import.
"""

from __future__ import annotations

import copyreg
import dis
import functools
import hashlib
import importlib
import inspect
import sys
import threading
from collections.abc import Iterator, Set
from functools import cached_property
from types import CodeType, FunctionType, MappingProxyType, ModuleType
from typing import Any

import cloudpickle
import numpy as np

from ..estimator.online_classifier import OnlineClassifier
from ..numeric.compiled import plain_name
from .capymoa import leave_signals_to_python
from .kinds import lacking
from .returned import GuestError, first_line
from .template import Template
from .versions import SHARED, is_local, version_of

_PLAIN = (type(None), bool, int, float, complex, str, bytes, type(...), type(NotImplemented))
# Class members left out of the digest: they locate or document the class, but do not change what it does.
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
_LOADS = ("LOAD_GLOBAL", "LOAD_NAME")
# Options with which Numba compiles functions that may return other values, and their defaults.
_NUMBA = {"fastmath": False, "parallel": False, "error_model": "python"}
# Modules of this package's learners have names that start with this.
_LEARNERS = __name__.removesuffix("guests.given")


def is_derived(cls: type) -> bool:
    """Return whether a class outside this package is derived from its learners."""
    return issubclass(cls, OnlineClassifier) and not cls.__module__.startswith(_LEARNERS)


def importable(thing: Any) -> bool:
    """Return whether a class or function can be imported by name; one defined in a notebook cell cannot."""
    module = getattr(thing, "__module__", None)
    if module is None or module == "__main__" or module not in sys.modules:
        return False
    found: Any = sys.modules[module]
    for part in thing.__qualname__.split("."):
        found = getattr(found, part, None)
    return found is thing


def digest_of(thing: Any) -> tuple[str, tuple[str, ...]]:
    """Return a digest of an object (64 hex digits), and the top-level modules of the packages it uses.

    The digest is the same in every process. It covers the bytecode of functions, so comments and line numbers
    do not matter, but another minor version of Python gives another digest. If a part of the object cannot be
    pickled, pickle's error is raised.

    Examples
    --------
    >>> def rule(x):
    ...     return 2 * x
    >>> digest_of([rule, 1])[0] == digest_of([rule, 2])[0]
    False
    """
    first = _Walk()
    first.listed(thing)
    walk = _Walk(copied=first.reduced)
    digest = hashlib.sha256(repr(walk.listed(thing)).encode()).hexdigest()
    # Installed packages that only a function's body imports have never been part of a learner's key.
    modules = walk.modules | set(filter(is_local, walk.within))
    return digest, tuple(sorted(modules - SHARED - sys.stdlib_module_names))


class _Walk:
    """Convert an object into nested lists of text and numbers, to be hashed; each object is listed once.

    The first time that an instance is copied, Python adds the member `__slotnames__` to its class. The hash
    must not depend on whether that has happened before. So the lists contain this member for all classes in
    `copied` (those whose instances are part of the object), and for no other class.
    """

    def __init__(self, copied: Set[type] = frozenset()) -> None:
        self.modules: set[str] = set()
        # Top-level modules that are imported within functions.
        self.within: set[str] = set()
        # The classes of all objects that were converted by `__reduce_ex__`, as copying and pickling do.
        self.reduced: set[type] = set()
        self._copied = copied
        # The objects listed so far, by id: their number, and the object itself. The reference keeps an object
        # alive, because Python can give the id of a freed object to another one.
        self._seen: dict[int, tuple[int, Any]] = {}
        # Whether the lists are only compared, to order the elements of a set.
        self._compared = False

    def listed(self, value: Any) -> Any:
        if type(value) in _PLAIN:
            return [type(value).__name__, repr(value)]
        if isinstance(value, np.ndarray) and not value.dtype.hasobject:
            return ["array", str(value.dtype), value.shape, hashlib.sha256(value.tobytes()).hexdigest()]
        if type(value) in (list, tuple):
            return [type(value).__name__, *map(self.listed, value)]
        if type(value) in (set, frozenset):
            return ["set", *self._elements(value)]
        if type(value) in (dict, MappingProxyType):
            return ["dict", *[[self.listed(key), self.listed(each)] for key, each in value.items()]]
        if isinstance(value, CodeType):
            return self._code(value)
        if id(value) in self._seen:
            return ["again", self._seen[id(value)][0]]
        self._seen[id(value)] = len(self._seen), value
        return self._once(value)

    def _elements(self, values: Set[Any]) -> list[str]:
        """Return the elements of a set as text, in an order that is the same in every process."""
        ordered = list(values)
        if not all(map(_is_plain, values)):
            # Listing them all would take factorial time if each of them has a set of the others.
            if self._compared:
                return sorted(map(_outline, values))
            ordered.sort(key=self._alone)
        return sorted(repr(self.listed(each)) for each in ordered)

    def _alone(self, value: Any) -> str:
        """Return an object as text, as if it were listed next."""
        walk = _Walk(self._copied)
        walk._seen, walk._compared = self._seen.copy(), True
        return repr(walk.listed(value))

    def _once(self, value: Any) -> Any:
        if isinstance(value, ModuleType):
            return self._by_name(value.__name__)
        if isinstance(value, type):
            return self._class(value)
        if isinstance(value, FunctionType):
            return self._function(value)
        if isinstance(value, staticmethod | classmethod):
            return [type(value).__name__, self.listed(value.__func__)]
        if isinstance(value, property):
            return ["property", *map(self.listed, (value.fget, value.fset, value.fdel))]
        if isinstance(value, functools.cached_property):
            return ["cached_property", self.listed(value.func)]
        # Functions compiled by Numba and cached ones are replaced by the inner function, because their other
        # state does not change what they return.
        inner = getattr(value, "py_func", None) or getattr(value, "__wrapped__", None)
        numba = type(value).__module__.startswith("numba.")
        if isinstance(inner, FunctionType) and (numba or isinstance(value, functools._lru_cache_wrapper)):
            given = {**_NUMBA, **getattr(value, "targetoptions", {})}
            options = [(name, given[name]) for name in _NUMBA if given[name] != _NUMBA[name]]
            return [type(value).__name__, self.listed(inner), *map(self.listed, options)]
        return self._object(value)

    def _by_name(self, module: str, name: str = "") -> Any:
        self.modules.add(module.partition(".")[0])
        return ["named", module, name]

    def _class(self, cls: type[Any]) -> Any:
        # Earlier cells of such a class may have run machine code from before an edit.
        compiled = ["compiled again"] if is_derived(cls) else []
        if importable(cls):
            # A class that can be imported is listed by its name, without its code. Learners of this package
            # have a version number for changes of the code; for other classes `modules` records the package.
            version = getattr(cls, "algorithm_version", 1)
            return [*self._by_name(cls.__module__, cls.__qualname__), version, *compiled]
        members = [
            [name, self.listed(value)]
            for name, value in sorted(vars(cls).items())
            if name not in _NOT_CODE
            and type(value).__name__ != "member_descriptor"
            and (name != "__slotnames__" or cls in self._copied)
        ]
        bases = map(self.listed, (type(cls), *cls.__bases__))
        return ["class", plain_name(cls), *bases, *members, *compiled]

    def _function(self, function: FunctionType) -> Any:
        if importable(function):
            return self._by_name(function.__module__, function.__qualname__)
        code, known = function.__code__, function.__globals__
        loaded = set(_named(code, _LOADS))
        used = [[name, self.listed(known[name])] for name in sorted(loaded) if name in known]
        self.within |= {name.partition(".")[0] for name in _named(code, ("IMPORT_NAME",))}
        cells = [self.listed(cell.cell_contents) for cell in function.__closure__ or ()]
        given = self.listed(function.__defaults__), self.listed(function.__kwdefaults__)
        # Attributes are left out: decorators count and time calls in them.
        return ["function", self._code(code), used, cells, given]

    def _code(self, code: CodeType) -> Any:
        shape = code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags
        names = code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars
        body = code.co_code.hex(), code.co_exceptiontable.hex()
        return ["code", shape, names, body, self.listed(code.co_consts)]

    def _object(self, value: Any) -> Any:
        self.reduced.add(type(value))
        try:
            found = value.__reduce_ex__(4)
        except TypeError:
            # Pickle has functions of its own for ufuncs, compiled patterns and unions of types.
            if type(value) not in copyreg.dispatch_table:
                raise
            found = copyreg.dispatch_table[type(value)](value)
            if isinstance(found, str):
                return self._by_name(_module_of(value, found), found)
        if isinstance(found, str):
            return self._by_name(getattr(value, "__module__", None) or type(value).__module__, found)
        # In the tuple that `__reduce_ex__` returns, parts 3 and 4 (counted from 0) are iterators over the
        # items of a list or dict. They are converted to lists.
        parts = [list(part) if place > 2 and part is not None else part for place, part in enumerate(found)]
        return ["object", *map(self.listed, parts)]


def _is_plain(value: Any) -> bool:
    if type(value) in (tuple, frozenset):
        return all(map(_is_plain, value))
    return type(value) in _PLAIN


def _outline(value: Any) -> str:
    """Return the name of an object's type, and the object or its attributes if they are plain, as text."""
    values = value, *getattr(value, "__dict__", {}).values()
    return repr([type(value).__name__, *(each for each in values if type(each) in _PLAIN)])


def _module_of(value: Any, name: str) -> str:
    """Return the module of a ufunc; raise TypeError for one that is not of NumPy or SciPy."""
    for module in ("numpy", "scipy.special"):
        if getattr(sys.modules.get(module), name, None) is value:
            return module
    raise TypeError(f"{name!r} of type {type(value).__name__} cannot be imported by name")


def _named(code: CodeType, operations: tuple[str, ...]) -> Iterator[str]:
    """Yield the names in these operations of code and of its nested functions."""
    for instruction in dis.get_instructions(code):
        if instruction.opname in operations:
            yield instruction.argval
    for value in code.co_consts:
        if isinstance(value, CodeType):
            yield from _named(value, operations)


_PREFIX = "object:"
_DIGITS = 16

_known: dict[str, Given] = {}
_adding = threading.Lock()


class Given:
    """A learner that other processes cannot import by name; they get a pickle, which is loaded when needed.

    `name` consists of the learner's class name and a digest of its content; studies use it as the learner's
    name. `modules` are the top-level modules of the packages that the learner uses.
    """

    def __init__(self, name: str, modules: tuple[str, ...], *, thing: Any = None, sent: bytes = b"") -> None:
        self.name, self.modules = name, modules
        self._thing, self._sent = thing, sent
        # The versions of `modules` when the learner was given.
        self._version = "" if thing is None else version_of(modules)

    @property
    def changed(self) -> bool:
        """Whether code of the learner has been redefined since it was passed to `give`.

        Raise ValueError, with one line, if a file has changed since it was imported.
        """
        if _identity(self._thing)[0] != self.name:
            return True
        return version_of(self.modules, again=True) != self._version

    @property
    def label(self) -> str:
        """The learner's name in tables, unless the study sets another."""
        return " + ".join(_called(self._thing))

    @cached_property
    def factory(self) -> Any:
        """The callable that creates a new learner: the class, or the `Template` of an object."""
        if self._thing is None:
            leave_signals_to_python()
            try:
                self._thing = cloudpickle.loads(self._sent)
            except Exception as error:
                raise GuestError(f"the learner cannot be unpickled here: {first_line(error)}") from error
        return self._thing if inspect.isclass(self._thing) else Template(self._thing)

    @property
    def package(self) -> str:
        """The packages that the learner uses, with their versions here, as text; see `version_of`."""
        leave_signals_to_python()
        try:
            for name in self.modules:
                importlib.import_module(name)
        except ImportError as error:
            raise GuestError(f"the learner uses a package that is missing: {first_line(error)}") from None
        try:
            return version_of(self.modules)
        except ValueError as error:
            raise GuestError(str(error)) from None

    @cached_property
    def content(self) -> bytes:
        """The learner as bytes from cloudpickle; GuestError if a part of it cannot be pickled."""
        try:
            return self._sent or cloudpickle.dumps(self._thing)
        except Exception as error:
            raise GuestError(f"the learner cannot be pickled: {first_line(error)}") from error

    def __reduce__(self) -> Any:
        """Pickle `content`, the names and the modules; the receiving process registers the learner."""
        return _received, (self.name, self.modules, self.content)


def give(thing: Any) -> Given:
    """Register a learner for the studies of this process, and return it; equal content gives the same name.

    `thing` is an object or a class with the methods of a kind of learner in docs/own-learner.md, or a
    scikit-learn pipeline whose steps learn along a stream. An object is a template: each cell gets a copy,
    which is untrained if the object is River's or like scikit-learn's. Raise ValueError, with one line, if
    `thing` cannot learn along a stream or be copied, or if a file that it uses has changed since it was
    imported.
    """
    thing = _streaming(thing)
    if problem := lacking(thing if inspect.isclass(thing) else type(thing)):
        raise ValueError(problem)
    try:
        # The object is copied, because the caller may train it later.
        own = thing if inspect.isclass(thing) else Template(thing)()
        name, modules = _identity(own)
    except Exception as error:
        name = thing.__name__ if inspect.isclass(thing) else type(thing).__name__
        raise ValueError(f"{name} cannot be copied: {first_line(error)}") from error
    given = Given(name, modules, thing=own)
    with _adding:
        _known[given.name] = given
    return given


def _identity(thing: Any) -> tuple[str, tuple[str, ...]]:
    """Return the name under which `give` registers a learner, and the learner's `modules` (see `Given`)."""
    digest, modules = digest_of(thing if inspect.isclass(thing) else Template(thing).content)
    return f"{_PREFIX}{_called(thing)[-1]}-{digest[:_DIGITS]}", modules


def names_given(name: str) -> bool:
    """Return whether a learner's name has the form of the names that `give` creates."""
    return name.startswith(_PREFIX)


def find_given(name: str) -> Given | None:
    """Return the learner that this process registered under a name, or None."""
    return _known.get(name)


def _received(name: str, modules: tuple[str, ...], sent: bytes) -> Given:
    with _adding:
        return _known.setdefault(name, Given(name, modules, sent=sent))


def _streaming(thing: Any) -> Any:
    """Return a scikit-learn pipeline as an `OnlinePipeline`, and anything else unchanged."""
    from sklearn.pipeline import Pipeline

    from .online_pipeline import OnlinePipeline

    if type(thing) is not Pipeline:
        return thing
    pipeline = OnlinePipeline(thing.steps)
    pipeline.check_steps()
    return pipeline


def _called(thing: Any) -> list[str]:
    """Return the class names of a pipeline's steps; for any other learner, a list with its class name."""
    if inspect.isclass(thing):
        return [thing.__name__]
    steps = getattr(thing, "steps", None)
    if isinstance(steps, dict):
        return [type(each).__name__ for each in steps.values()]
    if isinstance(steps, list) and hasattr(thing, "named_steps"):
        return [type(each).__name__ for _, each in steps]
    return [type(thing).__name__]
