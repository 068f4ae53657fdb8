"""What a guest returns: looked at where it is made, and turned into scores as the pipeline counts them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

# Probabilities closer to 0 or 1 than this are not told apart; scikit-learn's log loss has the same bound.
_LEAST = float(np.finfo(np.float64).eps)
# What a prediction has more than a class that scores the same: nothing that a metric could see.
_NUDGE = float(np.finfo(np.float64).tiny)
# Sums of probabilities in floating point.
_ROUNDING = 1e-6


class GuestError(Exception):
    """What a learner of somebody else's has done, or has not, in one line."""


def first_line(error: BaseException) -> str:
    """Return the kind of an error and the first line of its words."""
    words = str(error).strip().partition("\n")[0]
    return f"{type(error).__name__}: {words}" if words else type(error).__name__


def as_numbers(found: Any, method: str) -> NDArray[np.float64]:
    """Return what a method returned as numbers.

    Parameters
    ----------
    found : any
    method : str
        As a message names it.

    Returns
    -------
    ndarray of float64

    Raises
    ------
    GuestError
        They are none, or not all finite.
    """
    try:
        numbers = _as_floats(np.asarray(found))
    except (TypeError, ValueError, OverflowError):
        raise GuestError(f"{method} returned {_shown(found)}, which are no numbers") from None
    if not np.isfinite(numbers).all():
        odd = numbers[~np.isfinite(numbers)].ravel()[0]
        raise GuestError(f"{method} returned {odd} among its scores")
    return numbers


def checked_scores(found: Any, method: str, n: int, n_classes: int) -> NDArray[np.float64]:
    """Return scores of rows, one a row for two classes.

    Parameters
    ----------
    found : any
        Of shape (n,) for two classes, or (n, K).
    method : str
    n, n_classes : int

    Returns
    -------
    ndarray of float64, shape (n,) or, with K > 2, (n, K)
    """
    scores = as_numbers(found, method)
    if scores.shape != (n, n_classes) and (scores.shape != (n,) or n_classes > 2):
        wanted = f"({n},)" if n_classes == 2 else f"({n}, {n_classes})"
        raise GuestError(f"{method} returned scores of shape {scores.shape}, not {wanted}")
    if n_classes == 2 and scores.ndim == 2:
        return np.subtract(scores[:, 1], scores[:, 0])
    return np.ascontiguousarray(scores)


def checked_codes(found: Any, method: str, n: int, n_classes: int) -> NDArray[np.int64]:
    """Return predicted labels, which must be among the classes 0 … K - 1.

    Parameters
    ----------
    found : any
        Of shape (n,).
    method : str
    n, n_classes : int

    Returns
    -------
    ndarray of int64, shape (n,)
    """
    try:
        given = np.asarray(found)
    except ValueError:
        raise GuestError(f"{method} returned {_shown(found)}, which are no labels") from None
    if given.shape != (n,):
        raise GuestError(f"{method} returned labels of shape {given.shape}, not ({n},)")
    try:
        numbers = _as_floats(given)
        sound = np.isin(numbers, np.arange(n_classes))
    except (TypeError, ValueError, OverflowError):
        sound = np.array([each in range(n_classes) for each in given.tolist()])
    if not sound.all():
        raise GuestError(
            f"{method} returned the label {_shown(given[~sound].tolist()[0])}, which is none of the classes "
            f"0 to {n_classes - 1} that it was told"
        )
    return numbers.astype(np.int64)


def scores_of_codes(codes: NDArray[np.int64], n_classes: int) -> NDArray[np.float64]:
    """Return scores that say a prediction and no more: -1 or 1, of many classes 1 and 0."""
    if n_classes == 2:
        return np.where(codes == 1, 1.0, -1.0).astype(np.float64)
    chosen: NDArray[np.float64] = (codes[:, np.newaxis] == np.arange(n_classes)).astype(np.float64)
    return chosen


def scores_of_probabilities(
    found: Any, method: str, n: int, n_classes: int, predicted: NDArray[np.int64] | None = None
) -> NDArray[np.float64]:
    """Return log odds of the second of two classes, or of many classes logarithms of their probabilities.

    Parameters
    ----------
    found : any
        Of shape (n, K).
    method : str
    n, n_classes : int
    predicted : ndarray of int64, shape (n,), default=None
        What was predicted of them; None: the most probable class, of equals the first.

    Returns
    -------
    ndarray of float64, shape (n,) or, with K > 2, (n, K)
        The class that was predicted scores highest.
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


def _as_floats(given: NDArray[Any]) -> NDArray[np.float64]:
    if any(isinstance(each, complex) for each in given.ravel().tolist()):
        # Else the real part would be taken, with a warning.
        raise TypeError("complex numbers")
    return given.astype(np.float64)


def _shown(found: Any) -> str:
    text = " ".join(repr(found).split())
    # An error stays one line.
    return text if len(text) <= 60 else f"{text[:57]}…"
