"""Streams and learners for several test modules."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from singlepass.learners import BSGD, ActiveRampSVM, KernelClassifier, OnlineRampSVM, RetrainedRampSVM
from singlepass.learners.linear.gaussian import GaussianClassifier
from singlepass.learners.linear.gradient.feature_learner import FeatureLearner
from singlepass.learners.linear.linear_classifier import LinearClassifier
from singlepass.learners.table import ROWS, TABLE

from .cases import CASES

GOLDEN = Path(__file__).parent / "golden"


def _made(*kinds, classes="two", further=False):
    """Return the table's learners of some kinds that take two or many classes, in every variant."""
    return [
        row.load()(**settings)
        for row in TABLE
        if row.kind in kinds and classes in ("two", row.classes)
        for settings in (CASES[row.name].many_classes if further else CASES[row.name].variants)
    ]


# Every algorithm in every variant with separate code.
LEARNERS = _made("linear")
KERNEL_LEARNERS = _made("kernel", "svm")
FEATURE_LEARNERS = _made("features")
# Most of these with more than two classes, and updates that several wrong classes share.
OF_MANY_CLASSES = _made("linear", classes="many")
SEVERAL_CONSTRAINTS = _made("linear", classes="many", further=True)
# One learner of each family, with the loops that the others share: plain updates, updates with variances,
# gradient steps; support vectors with and without a budget, random features. Compiling the others takes
# minutes: their tests are slow.
REPRESENTATIVES = {
    "Perceptron()",
    "PassiveAggressive(C=0.5)",
    "AROW(r=0.5)",
    "OnlineGradientDescent(eta=0.5)",
    "KernelPerceptron(gamma=0.1)",
    "Forgetron(budget=12, gamma=0.1)",
    "BSGD(budget=12, gamma=0.1)",
    "FOGD(D=50, gamma=0.1)",
}


def is_representative(learner):
    """Return whether a learner is tested on every kind of rows."""
    return repr(learner) in REPRESENTATIVES


def is_fast(learner):
    """Return whether the fast tier tests a learner in full."""
    # The loop of BSGD takes 5 s to compile.
    return is_representative(learner) and not isinstance(learner, BSGD)


def tiered(learners):
    """Return learners as test parameters; all except the fast representatives are marked slow."""
    return [
        pytest.param(each, id=repr(each), marks=[] if is_fast(each) else [pytest.mark.slow])
        for each in learners
    ]


def tiered_runs(names, classes=(-1, 1)):
    """Return names of golden runs as test parameters.

    A run is slow if its learner's class has no fast representative, or if its compiled loop is that of none.
    """
    learners = [each for each in LEARNERS + KERNEL_LEARNERS + FEATURE_LEARNERS if is_fast(each)]
    codes = {_code_of(each, classes) for each in learners}
    return [
        pytest.param(
            name, marks=[] if _code_of(golden_learner(name), classes) in codes else [pytest.mark.slow]
        )
        for name in names
    ]


def _code_of(learner, classes):
    """Return a learner's class and, if it is linear, its loop; equal if two run the same compiled code."""
    if not isinstance(learner, LinearClassifier):
        return type(learner)
    loop, covariance, state = loop_of(learner, classes)
    return type(learner), loop, covariance, *map(type, state)


def loop_of(learner, classes):
    """Return a linear learner's loop, the form of its covariance (None without one), and the loop's state."""
    model = clone(learner)
    model.begin(np.array(classes), 2)
    loop, state = model._loop() if len(classes) == 2 else model._loop_of_classes()
    # With a full covariance, a loop calls other functions than with a diagonal.
    return loop, getattr(model, "covariance", None), state


def representatives_of(learners):
    """Parametrize a test of a dtype with the representatives.

    Each dtype compiles a learner's loop again. One learner of each other loop reads float32 rows in
    `test_orders`, where its outcome is compared with that of float64 rows to the last bit.
    """
    return pytest.mark.parametrize("learner", list(filter(is_representative, learners)), ids=repr)


def one_of_each_loop(learners, n_classes, *, of_each_rule=True):
    """Return one learner for each compiled loop.

    How a loop reads its rows (in an order, with checks, with indices of either width) does not depend on a
    rule that gets numbers only, so tests of reading need not compile a loop for each such rule. How it reads
    float32 rows does not depend on any rule: rules get rows, too, but read their entries, as float64, through
    the functions of `rows` and `vector`.
    """
    chosen = {}
    for learner in learners:
        loop, covariance, state = loop_of(learner, range(n_classes))
        # Rules of other families than these two may get the row.
        numbers_only = not of_each_rule or isinstance(learner, GaussianClassifier | FeatureLearner)
        kind = loop, covariance, *([] if numbers_only else map(type, state))
        if kind not in chosen or is_representative(learner):
            chosen[kind] = learner
    return list(chosen.values())


every_multiclass_learner = pytest.mark.parametrize("learner", tiered(OF_MANY_CLASSES + SEVERAL_CONSTRAINTS))
_RAMP_SVMS = (OnlineRampSVM, ActiveRampSVM, RetrainedRampSVM)
_NO_RAMP_SVM = [learner for learner in KERNEL_LEARNERS if not isinstance(learner, _RAMP_SVMS)]
every_kernel_learner_but_ramp_svms = pytest.mark.parametrize("learner", tiered(_NO_RAMP_SVM))
every_kernel_learner = pytest.mark.parametrize("learner", tiered(KERNEL_LEARNERS))
any_learner = pytest.mark.parametrize("learner", tiered(LEARNERS + KERNEL_LEARNERS + FEATURE_LEARNERS))
every_learner = pytest.mark.parametrize("learner", tiered(LEARNERS))


def golden_runs(*files):
    """Return ``{"ALG.WHO__STREAM": run}`` of all runs in the given files."""
    runs = {}
    for file in files:
        runs |= json.loads(gzip.decompress((GOLDEN / f"{file}.json.gz").read_bytes()))
    return runs


def golden_learner(name):
    """Return the table's learner for a golden run ``"ALG.WHO__STREAM"``."""
    run = name.partition("__")[0]
    (learner,) = (learner for learner, cases in CASES.items() if run in cases.golden)
    return ROWS[learner].load()(**CASES[learner].golden[run])


def golden_stream(name):
    """Return ``(X, y)`` of a golden stream; y is in -1, +1, or in 0 … 9 for s4_digits10."""
    if name == "s4_digits10":
        # These are the rows of s3_digits_binary with the digits as labels.
        labels = np.loadtxt(GOLDEN / "s4_digits10_labels.csv.gz", skiprows=1)
        return golden_stream("s3_digits_binary")[0], labels.astype(int)
    table = np.loadtxt(GOLDEN / f"{name}.csv.gz", delimiter=",", skiprows=1)
    return np.ascontiguousarray(table[:, :-1]), table[:, -1].astype(int)


class Replayed:
    """Removals of a golden run in place of random ones."""

    def __init__(self, slots):
        self._slots = np.array(slots, np.int64)

    def next(self, n):
        return np.append(self._slots[:n], np.zeros(max(0, n - len(self._slots)), np.int64))

    def use(self, n):
        self._slots = self._slots[n:]


def margins_of(scores, y):
    """Return the margin of each row: of one score (y is -1 or 1), or of the scores of all classes."""
    if scores.ndim == 1:
        return y * scores
    others = scores.copy()
    others[np.arange(len(y)), y] = -np.inf
    return scores[np.arange(len(y)), y] - others.max(axis=1)


def noisy_stream(seed, n=150, d=12, density=1.0, noise=0.2):
    """Return rows with a linear rule, some zero entries and some flipped labels."""
    random = np.random.RandomState(seed)
    X = random.standard_normal((n, d)) * (random.uniform(size=(n, d)) < density)
    y = np.where(X @ random.standard_normal(d) > 0, 1, 0)
    flipped = random.uniform(size=n) < noise
    return X, np.where(flipped, 1 - y, y)


def noisy_classes(seed, n=120, d=8, n_classes=5, density=1.0, noise=0.2):
    """Return rows with a linear rule for several classes, some zero entries and some replaced labels."""
    random = np.random.RandomState(seed)
    X = random.standard_normal((n, d)) * (random.uniform(size=(n, d)) < density)
    y = (X @ random.standard_normal((d, n_classes))).argmax(axis=1)
    replaced = random.uniform(size=n) < noise
    return X, np.where(replaced, random.randint(0, n_classes, size=n), y)


def wild_stream(seed, n=40, d=3, n_classes=2):
    """Return rows of lengths from 1e-170 to 1e170, some entries 0, and labels without a rule.

    With an odd seed, the first five rows have subnormal values or slightly larger ones.
    """
    random = np.random.RandomState(seed)
    X = random.standard_normal((n, d)) * 10.0 ** random.uniform(-170, 170, (n, 1))
    X *= random.uniform(size=(n, d)) < 0.7
    if seed % 2:
        X[:5] = np.sign(X[:5]) * 10.0 ** random.uniform(-320, -306, (5, d))
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


def inverse_factor_of(model):
    """Return the inverse of the Cholesky factor, which a learner stores in blocks of 8 × 8."""
    blocks, n = model._support._square, model.n_support_
    panels = -(-n // 8)
    inverse = np.zeros((8 * panels, 8 * panels))
    for panel in range(panels):
        for j in range(panel + 1):
            block = blocks[panel * (panel + 1) // 2 + j].reshape(8, 8)
            inverse[8 * panel : 8 * panel + 8, 8 * j : 8 * j + 8] = block
    assert not np.any(inverse[n:])
    return inverse[:n, :n]


def factor_of(model):
    """Return the Cholesky factor, which a learner stores with its transpose and a reciprocal diagonal."""
    n = model.n_support_
    factor = model._support._square[:n, :n]
    assert (factor == factor.T).all()
    return np.tril(factor, -1) + np.diag(1.0 / np.diag(factor))
