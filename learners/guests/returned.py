"""Check the values that a learner from outside this package returns, and convert them into scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

# Smaller probabilities are replaced by this number before taking logarithms, as in scikit-learn's log loss.
_LEAST = float(np.finfo(np.float64).eps)
# With two classes, the size of the score if the log odds are 0 or contradict the predicted class. It is so
# small that it changes no metric.
_NUDGE = float(np.finfo(np.float64).tiny)
# Probabilities may be below 0 or above 1 by this much, because of rounding errors.
_ROUNDING = 1e-6


class GuestError(Exception):
    """An error of a learner from outside this package, described in one line."""


def first_line(error: BaseException) -> str:
    """Return the type of an error and the first line of its message."""
    words = str(error).strip().partition("\n")[0]
    return f"{type(error).__name__}: {words}" if words else type(error).__name__


def why_not_imported(error: BaseException) -> str:
    """Return, in one line, why a file or module could not be imported: that it ended Python, or its error."""
    if isinstance(error, SystemExit):
        return 'it ended Python (sys.exit) when imported: put that code under `if __name__ == "__main__":`'
    return first_line(error)


def copied(found: Any) -> Any:
    """Return a copy of an array or list, which the learner may return again with other values."""
    return found.copy() if isinstance(found, np.ndarray | list) else found


def as_numbers(found: Any, method: str) -> NDArray[np.float64]:
    """Return the result of a method as float64; GuestError if a value is not a finite number."""
    try:
        numbers = _as_floats(np.asarray(found))
    except (TypeError, ValueError, OverflowError):
        raise GuestError(f"{method} returned {shown(found)}, which are not numbers") from None
    if not np.isfinite(numbers).all():
        odd = numbers[~np.isfinite(numbers)].ravel()[0]
        raise GuestError(f"{method} returned {odd} among its scores")
    return numbers


def checked_scores(found: Any, method: str, n: int, n_classes: int) -> NDArray[np.float64]:
    """Check scores of shape (n,) or (n, K); return them as (n,) for two classes, as (n, K) for more."""
    scores = as_numbers(found, method)
    if scores.shape != (n, n_classes) and (scores.shape != (n,) or n_classes > 2):
        wanted = f"({n},)" if n_classes == 2 else f"({n}, {n_classes})"
        raise GuestError(f"{method} returned scores of shape {scores.shape}, not {wanted}")
    if n_classes == 2 and scores.ndim == 2:
        return np.subtract(scores[:, 1], scores[:, 0])
    return np.ascontiguousarray(scores)


def checked_codes(found: Any, method: str, n: int, n_classes: int) -> NDArray[np.int64]:
    """Return predicted labels, shape (n,), as int64; GuestError if one is not a class 0 … K - 1."""
    try:
        given = np.asarray(found)
    except ValueError:
        raise GuestError(f"{method} returned {shown(found)}, which are not labels") from None
    if given.shape != (n,):
        raise GuestError(f"{method} returned labels of shape {given.shape}, not ({n},)")
    if given.dtype.kind in "USc" and isinstance(found, list | tuple):
        # NumPy has converted numbers next to text or complex ones; the message names the returned label.
        given = np.array([np.asarray(each).item() for each in found], object)
    try:
        numbers = _as_floats(given)
        sound = np.isin(numbers, np.arange(n_classes))
    except (TypeError, ValueError, OverflowError):
        sound = np.array([_is_class(each, n_classes) for each in given.tolist()])
    if not sound.all():
        raise GuestError(
            f"{method} returned the label {shown(given[~sound].tolist()[0])}, which is not one of the "
            f"classes 0 to {n_classes - 1} of the stream"
        )
    return numbers.astype(np.int64)


def scores_of_codes(codes: NDArray[np.int64], n_classes: int) -> NDArray[np.float64]:
    """Return scores for predicted classes: ±1 for two classes, else 1 for the predicted one, 0 for others."""
    if n_classes == 2:
        return np.where(codes == 1, 1.0, -1.0).astype(np.float64)
    chosen: NDArray[np.float64] = (codes[:, np.newaxis] == np.arange(n_classes)).astype(np.float64)
    return chosen


def scores_of_probabilities(
    found: Any, method: str, n: int, n_classes: int, predicted: NDArray[np.int64] | None = None
) -> NDArray[np.float64]:
    """Return log odds of the second of two classes, or logarithms of the probabilities of many classes.

    `found` are probabilities, shape (n, K). `predicted` are the predicted classes, by default the most
    probable ones (ties: the first). If another class has an equal or higher score than the predicted class,
    scores are changed so that the predicted class has the highest one.
    """
    chances = as_numbers(found, method)
    if chances.shape != (n, n_classes):
        raise GuestError(f"{method} returned probabilities of shape {chances.shape}, not ({n}, {n_classes})")
    if n and not (chances.min() >= -_ROUNDING and chances.max() <= 1 + _ROUNDING):
        raise GuestError(f"{method} returned probabilities from {chances.min():g} to {chances.max():g}")
    if predicted is None:
        predicted = chances.argmax(axis=1)
    logs = np.log(np.maximum(chances, _LEAST))
    if n_classes == 2:
        odds: NDArray[np.float64] = logs[:, 1] - logs[:, 0]
        sign = 2.0 * predicted - 1.0
        told: NDArray[np.float64] = np.where(odds * sign > 0, odds, sign * _NUDGE)
        return told
    rows = np.arange(n)
    rivals = logs.copy()
    rivals[rows, predicted] = -np.inf
    logs[rows, predicted] = np.maximum(
        logs[rows, predicted], np.nextafter(rivals.max(axis=1, initial=-np.inf), np.inf)
    )
    return logs


def _is_class(label: Any, n_classes: int) -> bool:
    try:
        return np.ndim(label) == 0 and label in range(n_classes) and not np.iscomplexobj(label)
    except (TypeError, ValueError):
        # Comparisons with `pandas.NA` have no truth value, and nested lists may have no shape.
        return False


def _as_floats(given: NDArray[Any]) -> NDArray[np.float64]:
    numeric = given.dtype.kind in "biuf"
    if not numeric and any(np.asarray(each).dtype.kind in "USc" for each in given.flat):
        # `astype` would read numbers from text, and drop imaginary parts with a warning.
        raise TypeError("text or complex numbers")
    return given.astype(np.float64)


def shown(found: Any) -> str:
    """Return a value as text of at most 60 characters, in one line."""
    text = " ".join(repr(found).split())
    # A message must fit on one line.
    return text if len(text) <= 60 else f"{text[:57]}…"
