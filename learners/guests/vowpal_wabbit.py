"""The adapter for Vowpal Wabbit: each run has a workspace (its model), which gets rows as text."""

from __future__ import annotations

import importlib
import re
import shlex
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .guest import Guest, in_one_line
from .returned import GuestError, checked_codes, checked_scores, scores_of_codes

# Vowpal Wabbit's options for many classes; without one of them, `--oaa` (one against all) is added.
_MANY = ("--oaa", "--ect", "--csoaa", "--wap", "--log_multi", "--recall_tree", "--plt", "--boosting")


# Options `--link` whose scores are positive for both classes.
_POSITIVE = ("logistic", "poisson")


class VowpalWabbit:
    """The learner that studies call ``vw``.

    `args` is its command line, such as ``--ftrl --loss_function logistic``. With many classes ``--oaa K`` is
    added unless `args` contains another option for many classes (`_MANY`).
    """

    def __init__(self, args: str = "") -> None:
        self.args = args

    def workspace(self, n_classes: int) -> Any:
        """Return a new workspace for a stream with `n_classes` classes."""
        own = shlex.split(self.args)
        reduction = [] if self.tells_classes or n_classes == 2 else ["--oaa", str(n_classes)]
        return importlib.import_module("vowpalwabbit").Workspace(arg_list=["--quiet", *own, *reduction])

    @property
    def tells_classes(self) -> bool:
        """Whether `args` contains an option for many classes (`_MANY`)."""
        return any(each.partition("=")[0] in _MANY for each in shlex.split(self.args))

    def check_parameters(self) -> None:
        """Raise ValueError for invalid arguments."""
        if not isinstance(self.args, str):
            raise ValueError(f"args must be a text such as '--ftrl', got {self.args!r}")
        try:
            self.workspace(2).finish()
        except RuntimeError as error:
            raise ValueError(f"args {self.args!r}: {error}") from None


def positive_link(args: str) -> str:
    """Return the option `--link` in `args` that makes every score positive, or ""."""
    try:
        words = shlex.split(args)
    except ValueError:  # Vowpal Wabbit does not get these arguments either.
        return ""
    found = re.search(r"--link[\s=]+(\w+)", " ".join(words))
    return found[1] if found and found[1] in _POSITIVE else ""


class VowpalWabbitGuest(Guest):
    """Adapter of a Vowpal Wabbit workspace; it predicts scores with two classes, class numbers with more."""

    def _start(self, n_features: int) -> None:
        self._many = self._n_classes > 2 or self.learner.tells_classes
        words = self.learner.args.replace("=", " ").split()
        link = positive_link(self.learner.args)
        if link and not self._many:
            raise GuestError(
                f"args {self.learner.args!r}: leave --link {link} out: it makes every score positive, so "
                "that the second class is always predicted"
            )
        # With `--binary`, Vowpal Wabbit predicts -1 or 1.
        self.gives_scores = not self._many and "--binary" not in words
        # Its score is the log odds if the loss is logistic and no option `--link` transforms it.
        self.scores_are_log_odds = self.gives_scores and "logistic" in words and "--link" not in words
        numbers = range(1, self._n_classes + 1)
        self._labels = [str(each) for each in numbers] if self._many else ["-1", "1"]
        self._workspace = self.learner.workspace(self._n_classes)

    def rows_of(self, X: Any) -> Any:
        """Return rows as text without labels; zeros are left out, because absent features are 0."""
        rows = np.empty(X.shape[0], object)
        X = X if sp.issparse(X) else sp.csr_array(X)
        stops, features, values = X.indptr.tolist(), X.indices.tolist(), X.data.tolist()
        for i in range(len(rows)):
            start, stop = stops[i], stops[i + 1]
            pairs = zip(features[start:stop], values[start:stop], strict=True)
            rows[i] = " | " + " ".join([f"{j}:{value!r}" for j, value in pairs])
        return rows

    def _row_by_row(self, X: Any, codes: NDArray[np.int32]) -> NDArray[np.float64]:
        predict, learn, labels = self._workspace.predict, self._workspace.learn, self._labels
        found = []
        with in_one_line("the workspace"):
            for row, code in zip(X, codes.tolist(), strict=True):
                found.append(predict(row))
                learn(labels[code] + row)
        return self._counted(found)

    def _learn(self, X: Any, codes: NDArray[np.int32]) -> None:
        for row, code in zip(X, codes.tolist(), strict=True):
            self._workspace.learn(self._labels[code] + row)

    def _scores(self, X: Any) -> NDArray[np.float64]:
        return self._counted([self._workspace.predict(row) for row in X])

    def _counted(self, found: list[Any]) -> NDArray[np.float64]:
        n, k = len(found), self._n_classes
        if not self._many:
            return checked_scores(found, "the workspace", n, k)
        # Vowpal Wabbit counts classes from 1, but may predict 0 before it has learned: that is class 1.
        if not all(isinstance(each, int) for each in found):
            raise GuestError(f"with args {self.learner.args!r} the predictions are not class numbers")
        return scores_of_codes(checked_codes([max(0, each - 1) for each in found], "the workspace", n, k), k)
