"""Choose the adapter that a learner from outside this package needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .capymoa import CapyMOA, CapyMOAGuest
from .chunkwise import ChunkwiseGuest
from .guest import Guest
from .returned import GuestError
from .river import RiverGuest
from .scikit_learn import PartialFitGuest
from .template import Template
from .vowpal_wabbit import VowpalWabbit, VowpalWabbitGuest

# If a class in a plug-in file has one of these methods but is no learner, it may have been meant as one.
METHODS = ("predict", "predict_one", "partial_fit", "learn", "learn_one")
# The methods that a learner needs, in words for messages.
WANTED = "the methods predict and learn, predict and partial_fit, or predict_one and learn_one"

_ADAPTERS: tuple[tuple[tuple[str, ...], type[Guest]], ...] = (
    (("learn", "predict"), ChunkwiseGuest),
    (("partial_fit", "predict"), PartialFitGuest),
    (("learn_one", "predict_one"), RiverGuest),
)


def adapter_of(learner: object) -> type[Guest] | None:
    """Return the adapter class of a learner, or of its class; None if it cannot learn along a stream."""
    if isinstance(learner, Template):
        learner = learner.thing
    if isinstance(learner, VowpalWabbit) or learner is VowpalWabbit:
        return VowpalWabbitGuest
    if isinstance(learner, CapyMOA) or (isinstance(learner, type) and issubclass(learner, CapyMOA)):
        return CapyMOAGuest
    for methods, adapter in _ADAPTERS:
        if all(callable(getattr(learner, name, None)) for name in methods):
            return adapter
    return None


def lacking(cls: type[Any]) -> str:
    """Return a message that names the methods a class needs to learn along a stream; "" if it has them."""
    if adapter_of(cls) is not None:
        return ""
    absent = "partial_fit" if hasattr(cls, "predict") else "predict"
    return f"{cls.__name__} has no {absent}: to learn along a stream, a class needs {WANTED}"


def takes_batches(learner: object) -> bool:
    """Return whether a learner, or its class, can learn several rows together after predicting them all."""
    adapter = adapter_of(learner)
    return adapter is not None and adapter is not ChunkwiseGuest


def as_guest(learner: Any, batch: int = 1, attributes: Mapping[str, str] | None = None) -> Guest:
    """Wrap a learner in its adapter, a `StreamLearner`; GuestError if it cannot learn along a stream."""
    adapter = adapter_of(learner)
    if adapter is None:
        raise GuestError(lacking(type(learner)))
    return adapter(learner, batch, attributes)
