"""`model_bytes_` counts rows and everything an update needs about them, but no cached kernel values."""

import numpy as np
import pytest
from sklearn.base import clone

from singlepass.learners import (
    LASVM,
    NOGD,
    DistillCacheMIRA,
    DistillCachePerceptron,
    Forgetron,
    IncrementalSVM,
    KernelAROW,
    KernelClassifier,
    KernelSecondOrderPerceptron,
    OnlineModelSelection,
    Projectron,
    ProjectronPlusPlus,
)
from singlepass.learners.svm.ramp_svm import RampSVM

from ..streams import KERNEL_LEARNERS, as_csr, is_representative, noisy_stream

pytestmark = pytest.mark.slow

NUMBER, FLAG = 8, 1

# Bytes stored in addition to n rows.
WITH_ROWS = {
    # y, α, g, k(x, x), set, place in the margin set and the like; s rows of kernel values and the inverse
    IncrementalSVM: lambda n, s: NUMBER * (10 * n + s * n + (s + 1) ** 2),
    # coefficient, label, gradient
    OnlineModelSelection: lambda n, _: 3 * NUMBER * n,
    LASVM: lambda n, _: 3 * NUMBER * n,
    # the same, and whether the row is in V
    RampSVM: lambda n, _: (3 * NUMBER + FLAG) * n,
    # coefficient; Gram matrix
    Forgetron: lambda n, _: NUMBER * (n + n * n),
    # coefficient; a triangle
    (Projectron, ProjectronPlusPlus): lambda n, _: NUMBER * (n + n * (n + 1) // 2),
    # the same, without the scores that the other rows give each row, or L⁻¹y
    (DistillCachePerceptron, DistillCacheMIRA): lambda n, _: NUMBER * (n + n * n),
    (KernelSecondOrderPerceptron, KernelAROW): lambda n, _: NUMBER * (n + n * n),
    # coefficient; the matrix of the features, five in this variant
    NOGD: lambda n, _: NUMBER * (n + 5 * n),
    KernelClassifier: lambda n, _: NUMBER * n,
}


def bytes_of(learner, n, row, margin):
    """Return the bytes of `n` rows of `row` bytes each."""
    rule = next(rule for kinds, rule in WITH_ROWS.items() if isinstance(learner, kinds))
    return n * row + rule(n, margin)


# Loops are compiled for each kind of rows. Only the representatives and IncrementalSVM, which stores float64,
# read all.
@pytest.mark.parametrize(
    ("learner", "kind"),
    [
        (learner, kind)
        for learner in KERNEL_LEARNERS
        for kind in ("dense", "float32", "csr", "csr32")
        if kind != "csr32" or is_representative(learner) or isinstance(learner, IncrementalSVM)
    ],
    ids=repr,
)
def test_model_bytes(learner, kind):
    X, y = noisy_stream(20, n=100, d=6)
    X = X.astype(np.float32) if kind in ("float32", "csr32") else X
    X = as_csr(X) if kind in ("csr", "csr32") else X
    number = 4 if X.dtype == np.float32 and not isinstance(learner, IncrementalSVM) else 8
    # No feature is 0, so a CSR row has six values, their columns and its start.
    sparse = kind in ("csr", "csr32") and getattr(learner, "maintenance", "") != "merging"
    row = 6 * (number + 4) + 8 if sparse else 6 * number
    model = clone(learner).fit(X, y)
    sizes = [getattr(model, "n_stored_", 100 if isinstance(model, IncrementalSVM) else model.n_support_)]
    if isinstance(model, OnlineModelSelection):
        sizes = [level.support.size for level in model._models]
        assert sizes[0] == model.n_support_
    margin = getattr(model, "n_margin_", 0)
    assert model.model_bytes_ == sum(bytes_of(model, n, row, margin) for n in sizes)
    assert min(sizes) > 0


def test_of_more_classes_each_has_its_numbers():
    X, y = noisy_stream(21, n=90, d=6)
    y = np.where(np.arange(90) % 3 == 2, 2, y)
    plain, distilled = Projectron(gamma=0.1).fit(X, y), DistillCacheMIRA(budget=20, gamma=0.1).fit(X, y)
    n = plain.n_support_
    assert plain.model_bytes_ == n * 6 * 8 + NUMBER * (3 * n + n * (n + 1) // 2)
    assert distilled.model_bytes_ == 20 * 6 * 8 + NUMBER * (3 * 20 + 20 * 20)
