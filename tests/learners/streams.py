"""Streams and learners that several test modules share."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from singlepass.learners import (
    ALMA,
    AROW,
    LASVM,
    NAROW,
    NHERD,
    NORMA,
    ROMMA,
    ActiveRampSVM,
    AdaGradRDA,
    ConfidenceWeighted,
    DistillCacheMIRA,
    DistillCachePerceptron,
    Forgetron,
    IncrementalSVM,
    KernelALMA,
    KernelAROW,
    KernelClassifier,
    KernelPassiveAggressive,
    KernelPerceptron,
    KernelSecondOrderPerceptron,
    MulticlassClassifier,
    OnlineGradientDescent,
    OnlineModelSelection,
    OnlineRampSVM,
    PassiveAggressive,
    Perceptron,
    Projectron,
    ProjectronPlusPlus,
    RandomizedBudgetPerceptron,
    RetrainedRampSVM,
    SecondOrderPerceptron,
    ShiftingPerceptron,
    SoftConfidenceWeighted,
)

GOLDEN = Path(__file__).parent / "golden"

_SHAPES = (
    {"covariance": "full"},
    {"covariance": "diagonal", "projection": "covariance"},
    {"covariance": "diagonal", "projection": "precision"},
)

# Every algorithm in every variant that has code of its own. CW with the stdev constraint at η = 0.7, as in
# the golden runs: at 0.9 noise makes its Σ collapse.
LEARNERS = [
    Perceptron(),
    Perceptron(average=True),
    *(PassiveAggressive(variant=variant, C=0.5) for variant in ("PA", "PA-I", "PA-II")),
    *(SecondOrderPerceptron(a=0.5, covariance=shape) for shape in ("full", "diagonal")),
    *(ConfidenceWeighted(**shape) for shape in _SHAPES),
    *(ConfidenceWeighted(eta=0.7, constraint="stdev", **shape) for shape in _SHAPES),
    *(AROW(r=0.5, loss=loss, **shape) for loss in ("squared_hinge", "hinge") for shape in _SHAPES),
    *(ROMMA(aggressive=aggressive) for aggressive in (False, True)),
    *(ALMA(alpha=alpha) for alpha in (0.9, 1.0)),
    OnlineGradientDescent(eta=0.5),
    *(
        SoftConfidenceWeighted(variant, C=0.5, **shape)
        for variant in ("SCW-I", "SCW-II")
        for shape in _SHAPES
    ),
    *(NAROW(b=2.0, covariance=shape) for shape in ("full", "diagonal")),
    *(NHERD(C=0.5, **shape) for shape in _SHAPES),
    AdaGradRDA(eta=0.5),
    AdaGradRDA(l1=0.005),
]

# Small budgets, so that rows are removed from the first test on; every kernel function at least once.
KERNEL_LEARNERS = [
    KernelPerceptron(gamma=0.1),
    KernelPerceptron(kernel="linear"),
    KernelPassiveAggressive(C=0.5, kernel="poly", gamma=0.5, degree=2),
    RandomizedBudgetPerceptron(budget=12, gamma=0.1),
    ShiftingPerceptron(budget=12, gamma=0.1),
    Forgetron(budget=12, gamma=0.1),
    Projectron(eta=0.5, gamma=0.1),
    Projectron(U=2.0, gamma=0.1),
    ProjectronPlusPlus(eta=0.5, gamma=0.1),
    DistillCachePerceptron(beta=0.5, gamma=0.1),
    DistillCachePerceptron(beta=0.5, budget=12, gamma=0.1),
    DistillCacheMIRA(beta=0.5, gamma=0.1),
    DistillCacheMIRA(beta=0.5, budget=12, kernel="linear"),
    KernelSecondOrderPerceptron(a=0.5, gamma=0.1),
    KernelAROW(r=0.5, gamma=0.1),
    KernelALMA(gamma=0.1),
    NORMA(eta0=0.3, gamma=0.1),
    NORMA(eta0=0.3, decay=True, gamma=0.1),
    LASVM(C=0.5, gamma=0.1),
    LASVM(C=0.5, fit_intercept=False, finish=True, kernel="poly", gamma=0.5, degree=2),
    OnlineModelSelection(p_value=0.5, min_examples=3),
    OnlineModelSelection(p_value=0.5, min_examples=3, kernel="poly", fit_intercept=False),
    OnlineRampSVM(gamma=0.1),
    OnlineRampSVM(max_non_support=12, kernel="poly", gamma=0.1, degree=2),
    ActiveRampSVM(gamma=0.1),
    RetrainedRampSVM(gamma=0.1),
    IncrementalSVM(C=0.5, gamma=0.1),
    IncrementalSVM(fit_intercept=False, kernel="poly", gamma=0.5, degree=2),
]

# With more than two classes most of these, and these: the updates that several wrong classes share.
SEVERAL_CONSTRAINTS = [
    AROW(r=0.5, loss=loss, projection=projection, constraints=constraints)
    for loss in ("squared_hinge", "hinge")
    for projection in ("covariance", "precision")
    for constraints in (2, "all")
]

OF_MANY_CLASSES = [learner for learner in LEARNERS if isinstance(learner, MulticlassClassifier)]
every_multiclass_learner = pytest.mark.parametrize("learner", OF_MANY_CLASSES + SEVERAL_CONSTRAINTS, ids=repr)
# Their loops take a minute or two to compile for all kinds of rows.
SLOW_TO_COMPILE = (
    LASVM,
    ActiveRampSVM,
    IncrementalSVM,
    OnlineModelSelection,
    OnlineRampSVM,
    RetrainedRampSVM,
)


def _listed(learners):
    """Return learners as parameters of tests; those that are slow to compile are exhaustive."""
    slow = [pytest.mark.exhaustive]
    return [
        pytest.param(learner, id=repr(learner), marks=slow if isinstance(learner, SLOW_TO_COMPILE) else [])
        for learner in learners
    ]


_RAMP_SVMS = (OnlineRampSVM, ActiveRampSVM, RetrainedRampSVM)
_NO_RAMP_SVM = [learner for learner in KERNEL_LEARNERS if not isinstance(learner, _RAMP_SVMS)]
every_kernel_learner_but_ramp_svms = pytest.mark.parametrize("learner", _listed(_NO_RAMP_SVM))
every_kernel_learner = pytest.mark.parametrize("learner", _listed(KERNEL_LEARNERS))
any_learner = pytest.mark.parametrize("learner", _listed(LEARNERS + KERNEL_LEARNERS))
every_learner = pytest.mark.parametrize("learner", LEARNERS, ids=repr)


def golden_runs(*files):
    """Return ``{"ALG.WHO__STREAM": run}`` of all runs in the given files."""
    runs = {}
    for file in files:
        runs |= json.loads(gzip.decompress((GOLDEN / f"{file}.json.gz").read_bytes()))
    return runs


def golden_stream(name):
    """Return ``(X, y)`` of a golden stream, y in -1, +1 or, of s4_digits10, in 0 … 9."""
    if name == "s4_digits10":
        # The rows of s3_digits_binary with the digits as labels.
        labels = np.loadtxt(GOLDEN / "s4_digits10_labels.csv.gz", skiprows=1)
        return golden_stream("s3_digits_binary")[0], labels.astype(int)
    table = np.loadtxt(GOLDEN / f"{name}.csv.gz", delimiter=",", skiprows=1)
    return np.ascontiguousarray(table[:, :-1]), table[:, -1].astype(int)


def noisy_stream(seed, n=150, d=12, density=1.0, noise=0.2):
    """Return rows with a linear rule, some of whose entries are 0 and some of whose labels are flipped."""
    random = np.random.RandomState(seed)
    X = random.standard_normal((n, d)) * (random.uniform(size=(n, d)) < density)
    y = np.where(X @ random.standard_normal(d) > 0, 1, 0)
    flipped = random.uniform(size=n) < noise
    return X, np.where(flipped, 1 - y, y)


def noisy_classes(seed, n=120, d=8, n_classes=5, density=1.0, noise=0.2):
    """Return rows with a linear rule for several classes, some entries 0 and some labels replaced."""
    random = np.random.RandomState(seed)
    X = random.standard_normal((n, d)) * (random.uniform(size=(n, d)) < density)
    y = (X @ random.standard_normal((d, n_classes))).argmax(axis=1)
    replaced = random.uniform(size=n) < noise
    return X, np.where(replaced, random.randint(0, n_classes, size=n), y)


def wild_stream(seed, n=40, d=3, n_classes=2):
    """Return rows of lengths from 1e-170 to 1e170, some entries 0, and labels that follow no rule."""
    random = np.random.RandomState(seed)
    X = random.standard_normal((n, d)) * 10.0 ** random.uniform(-170, 170, (n, 1))
    X *= random.uniform(size=(n, d)) < 0.7
    return X, random.randint(n_classes, size=n)


def state(learner):
    """Return everything a learner remembers, for comparison to the last bit."""
    arrays = {name: value.tolist() for name, value in vars(learner).items() if isinstance(value, np.ndarray)}
    arrays.pop("_buffer", None)  # scratch
    if isinstance(learner, KernelClassifier) and hasattr(learner, "classes_"):
        rows = learner.support_vectors_
        arrays |= {"rows": (rows.toarray() if sp.issparse(rows) else rows).tolist()}
        arrays |= {name: getattr(learner, name).tolist() for name in ("support_", "dual_coef_")}
    counters = {name: value for name, value in vars(learner).items() if name.startswith("n_")}
    return arrays | counters


def as_csr(X):
    """Return the CSR form of a dense matrix."""
    return sp.csr_matrix(X)


def factor_of(model):
    """Return the Cholesky factor that a learner keeps beside its transpose, the diagonal as reciprocals."""
    factor = np.array(model._support.square)
    assert (factor == factor.T).all()
    return np.tril(factor, -1) + np.diag(1.0 / np.diag(factor))
