"""Learners given as objects or as classes of a notebook: named by their content, sent by value."""

from __future__ import annotations

import importlib
import inspect
import threading
from functools import cached_property
from typing import Any

import cloudpickle

from .content import digest_of
from .kinds import lacking
from .names import version_of
from .returned import GuestError, first_line
from .template import Template

_PREFIX = "object:"
_DIGITS = 16

_known: dict[str, Given] = {}
_adding = threading.Lock()


class Given:
    """A learner that no name finds in other processes; pickled, it becomes bytes and is unpacked when needed.

    Attributes
    ----------
    name : str
        Its class and a digest of its content, as a stored study calls it.
    modules : tuple of str
        Top modules of the packages that it uses.
    """

    def __init__(self, name: str, modules: tuple[str, ...], *, thing: Any = None, sent: bytes = b"") -> None:
        self.name, self.modules = name, modules
        self._thing, self._sent = thing, sent

    @property
    def changed(self) -> bool:
        """Whether code that it uses was defined again since it was given."""
        return _identity(self._thing)[0] != self.name

    @property
    def label(self) -> str:
        """What tables call it, unless the study says otherwise."""
        return " + ".join(_called(self._thing))

    @cached_property
    def factory(self) -> Any:
        """What makes a fresh learner: the class itself, or the `Template` of an object."""
        if self._thing is None:
            try:
                self._thing = cloudpickle.loads(self._sent)
            except Exception as error:
                raise GuestError(f"it cannot be unpickled here: {first_line(error)}") from error
        return self._thing if inspect.isclass(self._thing) else Template(self._thing)

    @cached_property
    def package(self) -> str:
        """The packages that it uses, with the versions that are installed here."""
        try:
            found = {version_of(importlib.import_module(name)) for name in self.modules}
        except ImportError as error:
            raise GuestError(f"it uses a package that is missing here: {first_line(error)}") from None
        return ", ".join(sorted(found))

    @cached_property
    def content(self) -> bytes:
        """Itself by value.

        Raises
        ------
        GuestError
            A part of it cannot be pickled.
        """
        try:
            return self._sent or cloudpickle.dumps(self._thing)
        except Exception as error:
            raise GuestError(f"it cannot be sent to other processes: {first_line(error)}") from error

    def __reduce__(self) -> Any:
        """Travel by value; whoever receives it finds it by its name from then on."""
        return _received, (self.name, self.modules, self.content)


def give(thing: Any) -> Given:
    """Take a learner for the studies of this process.

    Parameters
    ----------
    thing : object or type
        With the methods of one of the kinds of docs/own-learner.md, or a scikit-learn pipeline whose steps
        learn along a stream. An object is a template: each cell has an untrained copy.

    Returns
    -------
    Given
        The same for equal content.

    Raises
    ------
    ValueError
        It cannot learn along a stream, or be copied; one line.
    """
    thing = _streaming(thing)
    if problem := lacking(thing if inspect.isclass(thing) else type(thing)):
        raise ValueError(problem)
    try:
        # A copy: whoever made the object may train it.
        own = thing if inspect.isclass(thing) else Template(thing)()
        given = Given(*_identity(own), thing=own)
    except Exception as error:
        raise ValueError(f"{type(thing).__name__} cannot be copied: {first_line(error)}") from error
    with _adding:
        _known[given.name] = given
    return given


def _identity(thing: Any) -> tuple[str, tuple[str, ...]]:
    """Return the name of a thing, and the top modules of the packages that it uses."""
    digest, modules = digest_of(thing if inspect.isclass(thing) else Template(thing).content)
    return f"{_PREFIX}{_called(thing)[-1]}-{digest[:_DIGITS]}", modules


def names_given(name: str) -> bool:
    """Tell whether a name is one that `give` makes."""
    return name.startswith(_PREFIX)


def find_given(name: str) -> Given | None:
    """Return what has been given under a name in this process, or None."""
    return _known.get(name)


def _received(name: str, modules: tuple[str, ...], sent: bytes) -> Given:
    with _adding:
        return _known.setdefault(name, Given(name, modules, sent=sent))


def _streaming(thing: Any) -> Any:
    """Return a pipeline of scikit-learn's as one that learns along a stream, anything else as it is."""
    from sklearn.pipeline import Pipeline

    from .online_pipeline import OnlinePipeline

    if type(thing) is not Pipeline:
        return thing
    pipeline = OnlinePipeline(thing.steps)
    pipeline.check_steps()
    return pipeline


def _called(thing: Any) -> list[str]:
    """Return the names of its class, or of the classes of its steps."""
    if inspect.isclass(thing):
        return [thing.__name__]
    steps = getattr(thing, "steps", None)
    if isinstance(steps, dict):
        return [type(each).__name__ for each in steps.values()]
    if isinstance(steps, list):
        return [type(each).__name__ for _, each in steps]
    return [type(thing).__name__]
