"""Compare LASVM with scikit-learn's SVC (LIBSVM): training time, test error, dual objective, support vectors.

Both have the same kernel, C, tolerance of 1e-3, size of the kernel cache and rows, and use one thread. Each
is trained once, because a fit takes so long that timing noise averages out. Times are comparable only if the
test errors are about the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from ...learners import LASVM
from .runner import Measurement, wall_time
from .streams import NamedStream, is_sparse, measure_each, real_streams

CACHE_MB = 200.0
# Streams, and C and γ of SVMs with RBF kernel. MNIST's pixels are between 0 and 1.
STREAMS = {"a9a": ("a9a", "binary"), "MNIST 3 against the rest": ("mnist", "one-vs-rest:3")}
PARAMETERS = {"a9a": {"C": 1.0, "gamma": 0.05}, "MNIST 3 against the rest": {"C": 1000.0, "gamma": 0.02}}
# The two ways to train LASVM, by their names in the table: whether its finishing step follows the online
# pass.
SUBJECTS = {"one online pass": False, "one pass and the finishing step": True}


@dataclass(frozen=True)
class Fit:
    """Training time and quality of a trained support vector machine."""

    seconds: float
    test_error: float
    objective: float
    n_support: int

    def __str__(self) -> str:
        return (
            f"{self.seconds:.2f} s, test error {self.test_error:.2%}, dual objective {self.objective:,.1f}, "
            f"{self.n_support:,} support vectors"
        )


def lasvm(stream: NamedStream, finish: bool, **parameters: Any) -> Fit:
    """Train LASVM in one pass, with its finishing step if `finish`; return its training time and quality."""
    model = LASVM(finish=finish, cache_mb=CACHE_MB, **parameters)
    # Fit once before timing, because the first fit compiles code.
    LASVM(finish=finish, **parameters).fit(stream.X[:20], np.arange(20) % 2)
    seconds = wall_time(partial(model.fit, stream.X, stream.y))
    error = 1.0 - model.score(stream.X_test, stream.y_test)
    return Fit(seconds, error, model.dual_objective_, model.n_support_)


def svc(stream: NamedStream, **parameters: float) -> Fit:
    """Train scikit-learn's SVC, and return its training time and quality."""
    model = SVC(cache_size=CACHE_MB, **parameters)
    seconds = wall_time(partial(model.fit, stream.X, stream.y))
    error = 1.0 - model.score(stream.X_test, stream.y_test)
    # Dual objective: Σ |α_i| - ½ Σ α_i α_j k(x_i, x_j), where α_i has the sign of the label.
    coefficients = model.dual_coef_
    alpha = coefficients.toarray()[0] if hasattr(coefficients, "toarray") else coefficients[0]
    f = model.decision_function(model.support_vectors_) - model.intercept_[0]
    return Fit(seconds, error, float(np.abs(alpha).sum() - alpha @ f / 2.0), len(alpha))


def measure_stream(stream: NamedStream) -> list[Measurement]:
    """Compare one online pass, without and with the finishing step, with SVC."""
    (n, d), parameters = stream.X.shape, PARAMETERS[stream.name]
    with threadpool_limits(1):
        peer = svc(stream, **parameters)
        fits = {subject: lasvm(stream, finish, **parameters) for subject, finish in SUBJECTS.items()}
    values = ", ".join(f"{key} = {value:g}" for key, value in parameters.items())
    storage = "CSR" if is_sparse(stream.X) else "dense"
    return [
        Measurement(
            f"LASVM, {stream.name}, {n:,}×{d} {stream.X.dtype} {storage}, {values}: {subject}",
            f"{ours}; {n / ours.seconds:,.0f} examples/s",
            f"SVC {peer}",
            peer.seconds / ours.seconds,
        )
        for subject, ours in fits.items()
    ]


def svm() -> list[Measurement]:
    """Compare LASVM with SVC on all streams; this takes some minutes, most of them for SVC."""
    return measure_each(real_streams(STREAMS), measure_stream)
