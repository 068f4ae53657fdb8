"""Bad parameters, rows and labels are refused with one clear line, and nothing is learnt."""

import itertools
import pickle
from copy import deepcopy

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from singlepass.learners import (
    ALMA,
    AROW,
    NAROW,
    NHERD,
    NORMA,
    ROMMA,
    AdaGradRDA,
    ConfidenceWeighted,
    DistillCacheMIRA,
    DistillCachePerceptron,
    Forgetron,
    IncrementalSVM,
    KernelALMA,
    KernelAROW,
    KernelPassiveAggressive,
    KernelPerceptron,
    KernelSecondOrderPerceptron,
    OnlineClassifier,
    OnlineGradientDescent,
    PassiveAggressive,
    Perceptron,
    Projectron,
    ProjectronPlusPlus,
    RandomizedBudgetPerceptron,
    RemoveOldestPerceptron,
    SecondOrderPerceptron,
    SoftConfidenceWeighted,
)

from ..streams import any_learner, every_learner, every_multiclass_learner, noisy_stream, state

X, Y = noisy_stream(0, n=20, d=3)
OTHERS_OF_FULL_COVARIANCE = [ConfidenceWeighted, NHERD, SoftConfidenceWeighted, NAROW]

BAD_PARAMETERS = [
    (Perceptron(average="yes"), "Perceptron: average must be True or False, got 'yes'"),
    (Perceptron(epochs=0), "Perceptron: epochs must be an integer >= 1, got 0"),
    (Perceptron(epochs=1.5), "Perceptron: epochs must be an integer >= 1, got 1.5"),
    (PassiveAggressive(variant="PA-III"), "variant must be one of 'PA', 'PA-I', 'PA-II', got 'PA-III'"),
    (PassiveAggressive(C=0), "PassiveAggressive: C must be a finite number > 0, got 0"),
    (PassiveAggressive(C="1"), "PassiveAggressive: C must be a finite number > 0, got '1'"),
    (PassiveAggressive(C=True), "PassiveAggressive: C must be a finite number > 0, got True"),
    (SecondOrderPerceptron(a=-1.0), "SecondOrderPerceptron: a must be a finite number > 0, got -1.0"),
    (SecondOrderPerceptron(covariance="half"), "covariance must be one of 'diagonal', 'full', got 'half'"),
    (ConfidenceWeighted(eta=0.5), "eta must be a number between 0.5 and 1.0, both excluded, got 0.5"),
    (ConfidenceWeighted(eta=1), "eta must be a number between 0.5 and 1.0, both excluded, got 1"),
    (ConfidenceWeighted(constraint="mean"), "constraint must be one of 'variance', 'stdev', got 'mean'"),
    (ConfidenceWeighted(covariance=None), "covariance must be one of 'diagonal', 'full', got None"),
    (ConfidenceWeighted(projection="x"), "projection must be one of 'covariance', 'precision', got 'x'"),
    (AROW(r=-0.1), "AROW: r must be a finite number > 0, got -0.1"),
    (AROW(r=float("nan")), "AROW: r must be a finite number > 0, got nan"),
    (AROW(r=float("inf")), "AROW: r must be a finite number > 0, got inf"),
    (AROW(loss="log"), "AROW: loss must be one of 'squared_hinge', 'hinge', got 'log'"),
    (AROW(covariance="Full"), "AROW: covariance must be one of 'diagonal', 'full', got 'Full'"),
    (AROW(constraints=0), "AROW: constraints must be an integer >= 1 or 'all', got 0"),
    (AROW(constraints=True), "AROW: constraints must be an integer >= 1 or 'all', got True"),
    (AROW(constraints="most"), "AROW: constraints must be an integer >= 1 or 'all', got 'most'"),
    (
        AROW(covariance="full", constraints=2),
        "AROW: constraints must be 1 with covariance='full', got 2; more than 1 needs covariance='diagonal'",
    ),
    (AROW(covariance="full", constraints="all"), "constraints must be 1 with covariance='full', got 'all'"),
    (AdaGradRDA(eta=0), "AdaGradRDA: eta must be a finite number > 0, got 0"),
    (AdaGradRDA(delta=0.0), "AdaGradRDA: delta must be a finite number > 0, got 0.0"),
    (AdaGradRDA(l1=-0.1), "AdaGradRDA: l1 must be a finite number >= 0, got -0.1"),
    (
        KernelPerceptron(kernel="precomputed"),
        "kernel must be one of 'rbf', 'poly', 'linear', got 'precomputed'",
    ),
    (KernelPerceptron(gamma=0), "KernelPerceptron: gamma must be a finite number > 0, got 0"),
    (KernelPerceptron(gamma="scale"), "gamma must be a finite number > 0, got 'scale'"),
    (KernelPerceptron(degree=0), "KernelPerceptron: degree must be an integer >= 1, got 0"),
    (KernelPerceptron(degree=2.5), "KernelPerceptron: degree must be an integer >= 1, got 2.5"),
    (KernelPerceptron(coef0=float("inf")), "KernelPerceptron: coef0 must be a finite number, got inf"),
    (KernelPassiveAggressive(C=-1), "KernelPassiveAggressive: C must be a finite number > 0, got -1"),
    (RandomizedBudgetPerceptron(budget=0), "budget must be an integer >= 1, got 0"),
    (
        RandomizedBudgetPerceptron(random_state=-1),
        "random_state must be an integer from 0 to 2**32 - 1, got -1",
    ),
    (RandomizedBudgetPerceptron(random_state=None), "random_state must be an integer from 0 to 2**32 - 1"),
    (RemoveOldestPerceptron(budget=1.0), "RemoveOldestPerceptron: budget must be an integer >= 1, got 1.0"),
    (Forgetron(budget=None), "Forgetron: budget must be an integer >= 1, got None"),
    (IncrementalSVM(C=0), "IncrementalSVM: C must be a finite number > 0, got 0"),
    (IncrementalSVM(fit_intercept=1), "IncrementalSVM: fit_intercept must be True or False, got 1"),
    (
        KernelPerceptron(kernel="poly", coef0=-1.0),
        "KernelPerceptron: coef0 must be a finite number >= 0, got -1.0",
    ),
    (Projectron(eta=-0.1), "Projectron: eta must be a finite number >= 0, got -0.1"),
    (Projectron(U=0.0), "Projectron: U must be a finite number > 0 or None, got 0.0"),
    (ProjectronPlusPlus(eta="small"), "eta must be a finite number >= 0, got 'small'"),
    (
        DistillCachePerceptron(beta=-0.1),
        "beta must be a finite number >= 0, got -0.1",
    ),
    (DistillCachePerceptron(budget=0), "budget must be an integer >= 1 or None, got 0"),
    (DistillCacheMIRA(beta=0), "DistillCacheMIRA: beta must be a finite number > 0, got 0"),
    (KernelSecondOrderPerceptron(a=0), "KernelSecondOrderPerceptron: a must be a finite number > 0, got 0"),
    (KernelAROW(r=-1), "KernelAROW: r must be a finite number > 0, got -1"),
    (KernelALMA(alpha=1.1), "KernelALMA: alpha must be a number from 0 to 1, got 1.1"),
    (KernelALMA(alpha=0), "KernelALMA: alpha must be > 0 if B is None (B is then 1/alpha), got 0"),
    (KernelALMA(B=0), "KernelALMA: B must be a finite number > 0 or None, got 0"),
    (NORMA(eta0=0), "NORMA: eta0 must be a finite number > 0, got 0"),
    (NORMA(lam=-1), "NORMA: lam must be a finite number >= 0, got -1"),
    (NORMA(eta0=2.0, lam=0.5), "NORMA: eta0 * lam must be < 1, got 2.0 * 0.5 = 1"),
    (NORMA(decay=1), "NORMA: decay must be True or False, got 1"),
    (AROW(projection="sigma"), "AROW: projection must be one of 'covariance', 'precision', got 'sigma'"),
    (ROMMA(aggressive=1), "ROMMA: aggressive must be True or False, got 1"),
    (ALMA(alpha=0.0), "ALMA: alpha must be a number between 0.0 and 1.0, 0.0 excluded, got 0.0"),
    (ALMA(alpha=1.5), "ALMA: alpha must be a number between 0.0 and 1.0, 0.0 excluded, got 1.5"),
    (ALMA(alpha=True), "ALMA: alpha must be a number between 0.0 and 1.0, 0.0 excluded, got True"),
    (OnlineGradientDescent(eta=0), "OnlineGradientDescent: eta must be a finite number > 0, got 0"),
    (SoftConfidenceWeighted("SCW"), "variant must be one of 'SCW-I', 'SCW-II', got 'SCW'"),
    (SoftConfidenceWeighted(eta=0.4), "eta must be a number between 0.5 and 1.0, both excluded, got 0.4"),
    (
        SoftConfidenceWeighted(C=-1),
        "SoftConfidenceWeighted: C must be a number between 1e-150 and inf, both excluded, got -1",
    ),
    (SoftConfidenceWeighted(covariance="x"), "covariance must be one of 'diagonal', 'full', got 'x'"),
    (SoftConfidenceWeighted(projection="x"), "projection must be one of 'covariance', 'precision', got 'x'"),
    (AROW(r=1e-310), "AROW: r must be a number from 1e-150 to 1e150, got 1e-310"),
    (NHERD(C=1e160), "NHERD: C must be a number from 1e-150 to 1e150, got 1e+160"),
    (
        SoftConfidenceWeighted(variant="SCW-II", C=1e-300),
        "SoftConfidenceWeighted: C must be a number between 1e-150 and inf, both excluded, got 1e-300",
    ),
    (SecondOrderPerceptron(a=1e-310), "a must be a number from 1e-150 to 1e150, got 1e-310"),
    (AdaGradRDA(eta=1e200), "AdaGradRDA: eta must be a number from 1e-150 to 1e150, got 1e+200"),
    (AdaGradRDA(delta=1e-200), "AdaGradRDA: delta must be a number from 1e-150 to 1e150, got 1e-200"),
    (NAROW(b=0), "NAROW: b must be a finite number > 0, got 0"),
    (NAROW(covariance="x"), "NAROW: covariance must be one of 'diagonal', 'full', got 'x'"),
    (NHERD(C=None), "NHERD: C must be a finite number > 0, got None"),
    (NHERD(covariance="x"), "NHERD: covariance must be one of 'diagonal', 'full', got 'x'"),
    (NHERD(projection="drop"), "NHERD: projection must be one of 'covariance', 'precision', got 'drop'"),
]


@pytest.mark.parametrize(("learner", "message"), BAD_PARAMETERS, ids=lambda value: repr(value)[:60])
def test_bad_parameters(learner, message):
    for method in (learner.fit, learner.learn, learner.partial_fit):
        with pytest.raises(ValueError, match="must be") as raised:
            method(X, Y)
        assert message in str(raised.value)
        assert "\n" not in str(raised.value)
    assert not hasattr(learner, "classes_")


@pytest.mark.parametrize("value", [np.float64(0.5), np.float32(0.5), np.int64(1), 1])
def test_numbers_of_any_kind_are_parameters(value):
    assert AROW(r=value).fit(X, Y).coef_.tolist() == AROW(r=float(value)).fit(X, Y).coef_.tolist()


@any_learner
def test_rows_that_are_not_finite_are_named(learner):
    for convert, (bad, name) in itertools.product(
        [np.asarray, sp.csr_matrix], [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")]
    ):
        rows = X.copy()
        rows[13, 1] = bad
        rows[17, 0] = np.nan
        message = rf"X contains {name} in row 13 \(counted from 0\)"
        model = type(learner)(**learner.get_params())
        for method in (model.learn, model.partial_fit, model.fit):
            with pytest.raises(ValueError, match=message):
                method(convert(rows), Y)
        assert not hasattr(model, "classes_")
        model.fit(X, Y)
        before = state(model)
        for method in (model.learn, model.partial_fit, model.fit):
            with pytest.raises(ValueError, match=message):
                method(convert(rows), Y)
        with pytest.raises(ValueError, match=message):
            model.predict(convert(rows))
        assert state(model) == before


@any_learner
def test_a_bad_first_row_is_found(learner):
    rows = X.copy()
    rows[0, 2] = np.inf
    with pytest.raises(ValueError, match="infinity in row 0"):
        type(learner)(**learner.get_params()).fit(rows, Y)


class TwoOnly(OnlineClassifier):
    """A learner derived from `OnlineClassifier` that defines nothing else."""

    def __init__(self, epochs=1):
        self.epochs = epochs


def test_labels():
    with pytest.raises(ValueError, match=r"needs two classes, but the labels contain 1 class, \[1\]"):
        AROW().fit(X, np.ones(20, int))
    with pytest.raises(
        ValueError, match=r"if further classes follow in later rows, pass classes=.* to partial_fit or"
    ):
        AROW().learn(X[:1], [1])
    with pytest.raises(
        ValueError, match=r"Only binary classification is supported\. .*TwoOnly was given 3 classes"
    ):
        TwoOnly().fit(X, np.arange(20) % 3)
    with pytest.raises(ValueError, match="given 3 classes"):
        TwoOnly().learn(X, Y, classes=[0, 1, 2])
    with pytest.raises(ValueError, match=r"needs two classes, got classes=\[1\]"):
        AROW().learn(X, Y, classes=[1, 1])
    with pytest.raises(ValueError, match=r"label .*0.* is not one of the classes \[1, 2\]"):
        AROW().learn(X, Y, classes=[1, 2])
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        AROW().fit(X, np.linspace(0, 1, 20))


def test_classes_may_be_a_set():
    model = AROW().partial_fit(X[:1], Y[:1], classes={1, 0}).partial_fit(X, Y, classes=frozenset({0, 1}))
    assert model.classes_.tolist() == [0, 1]
    assert AROW().learn(X[:1], ["a"], classes=dict.fromkeys("bca").keys()).shape == (1, 3)
    with pytest.raises(ValueError, match=r"needs two classes, got classes=\[1\]"):
        AROW().learn(X, Y, classes={1})
    with pytest.raises(ValueError, match=r"classes \[0, 2\] are not those of the first call, \[0, 1\]"):
        model.learn(X, Y, classes={0, 2})


def test_later_labels():
    model = AROW().partial_fit(X, Y)
    before = state(model)
    with pytest.raises(ValueError, match=r"label .*7.* is not one of the classes \[0, 1\]"):
        model.learn(X[:2], np.array([0, 7]))
    with pytest.raises(ValueError, match="is not one of the classes"):
        model.learn(X[:2], np.array(["0", "1"]))
    with pytest.raises(ValueError, match=r"classes \[0, 2\] are not those of the first call, \[0, 1\]"):
        model.learn(X, Y, classes=[0, 2])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.learn(X, Y[:-1])
    assert state(model) == before
    assert model.learn(X[:1], [1]).shape == (1,)  # one class in a later chunk is fine


def test_features():
    with pytest.raises(NotFittedError):
        AROW().decision_function(X)
    model = AROW().fit(X, Y)
    with pytest.raises(ValueError, match="X has 2 features, but AROW is expecting 3"):
        model.learn(X[:, :2], Y)
    with pytest.raises(ValueError, match="X has 4 features, but AROW is expecting 3"):
        model.predict(sp.csr_matrix((2, 4)))
    with pytest.raises(ValueError, match="Expected 2D array"):
        model.predict(X[0])


@pytest.mark.parametrize("column", [-1, 3])
def test_csr_columns_out_of_bounds(column):
    broken = sp.csr_matrix(X)
    broken.indices[5] = column
    with pytest.raises(ValueError, match="column indices outside 0 to 2"):
        AROW().fit(broken, Y)
    model = AROW().fit(X, Y)
    with pytest.raises(ValueError, match="column indices outside 0 to 2"):
        model.learn(broken, Y)


def test_csr_duplicates_are_summed_and_the_matrix_left_alone():
    split = sp.csr_matrix((np.repeat(X / 2, 2), np.tile([0, 0, 1, 1, 2, 2], 20), np.arange(0, 121, 6)))
    model = PassiveAggressive().fit(split, Y)
    assert split.nnz == 120
    assert model.coef_.tolist() == PassiveAggressive().fit(sp.csr_matrix(X), Y).coef_.tolist()


@pytest.mark.parametrize(
    "Learner",
    [
        AROW,
        *(pytest.param(each, marks=pytest.mark.slow) for each in (ConfidenceWeighted, SecondOrderPerceptron)),
    ],
)
def test_full_covariance_of_too_many_features(Learner):
    wide = sp.csr_matrix(([1.0, 1.0], ([0, 1], [0, 99_999])), shape=(2, 100_000))
    message = "covariance='full' with 100000 features needs 80000000000 bytes .* use covariance='diagonal'"
    with pytest.raises(ValueError, match=message):
        Learner(covariance="full").fit(wide, [0, 1])
    assert Learner().fit(wide, [0, 1]).predict(wide).tolist() == [0, 1]


@pytest.mark.parametrize(
    "layout", ["fortran", "strided", "unaligned", "big-endian", "memmap", "integers", "list"]
)
def test_any_layout_of_the_same_values(layout, tmp_path):
    rows = np.round(X * 4)
    if layout == "fortran":
        given = np.asfortranarray(rows)
    elif layout == "strided":
        given = np.repeat(rows, 2, axis=0)[::2]
    elif layout == "unaligned":
        raw = np.zeros(rows.nbytes + 1, np.uint8)
        given = raw[1:].view(np.float64).reshape(rows.shape)
        given[:] = rows
        assert not given.flags.aligned
    elif layout == "big-endian":
        given = rows.astype(">f8")
    elif layout == "memmap":
        np.save(tmp_path / "rows.npy", rows)
        given = np.load(tmp_path / "rows.npy", mmap_mode="r")
    else:
        given = rows.astype(int) if layout == "integers" else rows.tolist()
    model, expected = AROW().fit(given, Y), AROW().fit(rows, Y)
    assert state(model) == state(expected)
    assert state(model.partial_fit(given, Y)) == state(expected.partial_fit(rows, Y))
    assert model.decision_function(given).tolist() == expected.decision_function(rows).tolist()


def test_the_pipeline_s_way_in_equals_the_public_one():
    model, public = AROW(), AROW().fit(X, Y)
    model.begin(np.array([0, 1]), 3)
    for start in (0, 7, 20):
        rows = X[start : start + 13] if start else X[:7]
        codes = (Y[start : start + 13] if start else Y[:7]).astype(np.int8)
        assert model.learn_rows(rows, codes).shape == (len(codes),)
    assert state(model) == state(public)


def test_strided_csr_arrays_are_read_right():
    matrix = sp.csr_matrix([[1.0, 2.0], [3.0, 4.0]])
    strided = (matrix + 1j * sp.csr_matrix(np.full((2, 2), 9.0))).real
    assert not strided.data.flags.c_contiguous
    backwards = sp.csr_matrix((matrix.data[::-1].copy()[::-1], matrix.indices, matrix.indptr))
    expected = Perceptron().learn(matrix.toarray(), [0, 1]).tolist()
    for X in (strided, backwards):
        assert Perceptron().learn(X, [0, 1]).tolist() == expected


@pytest.mark.parametrize(
    "learner",
    [
        Perceptron(),
        Perceptron(average=True),
        SecondOrderPerceptron(),
        AROW(),
        PassiveAggressive(),
        AdaGradRDA(),
    ],
)
def test_an_overflowed_score_is_a_mistake(learner):
    X = np.random.RandomState(0).choice([-1e200, 1e200], size=(15, 3))
    y = np.arange(15) % 2
    scores = learner.learn(X, y)
    assert learner.n_mistakes_ == int((~(np.where(y == 1, scores, -scores) > 0)).sum())


def test_a_row_of_zeros_changes_no_weight():
    for learner in (Perceptron(), SecondOrderPerceptron(), AROW(), PassiveAggressive(), ConfidenceWeighted()):
        learner.learn(np.zeros((4, 2)), [0, 1, 0, 1])
        assert not learner.coef_.any()
        assert learner.n_mistakes_ == 4


@every_learner
def test_the_bytes_of_the_model_are_those_of_its_arrays(learner):
    """`_state` names all arrays: the weights, Σ and whatever else an update needs."""
    model = clone(learner).fit(X, Y)
    arrays = [value for name, value in vars(model).items() if isinstance(value, np.ndarray)]
    assert model.model_bytes_ == sum(array.nbytes for array in arrays if array is not model.classes_)
    assert model.model_bytes_ >= model.coef_.nbytes + getattr(model, "sigma_", np.empty(0)).nbytes


class Undeclared(OnlineClassifier):
    """A user's learner, which names no arrays."""

    epochs = 1

    def _allocate(self, n_features):
        self._weights, self._counts, self._last = np.zeros(n_features), np.zeros(2, np.int32), None


def test_the_bytes_of_a_model_that_names_no_arrays():
    model = Undeclared()
    model.begin(np.arange(2), 3)
    assert model.model_bytes_ == model.counters()["model_bytes"] == 3 * 8 + 2 * 4


@pytest.mark.slow
@every_multiclass_learner
def test_the_bytes_of_a_model_of_many_classes(learner):
    model = clone(learner).fit(X, Y).fit(X, np.arange(20) % 5)
    arrays = [value for name, value in vars(model).items() if isinstance(value, np.ndarray)]
    assert model.model_bytes_ == sum(array.nbytes for array in arrays if array is not model.classes_)


@pytest.mark.parametrize(
    "Learner",
    [AROW, *(pytest.param(each, marks=pytest.mark.slow) for each in OTHERS_OF_FULL_COVARIANCE)],
)
def test_a_full_covariance_is_part_of_the_model(Learner):
    rows = np.random.RandomState(0).standard_normal((20, 200))
    # Σ with 16 pending updates and one row of data about it; the weights; Σx, x and its non-zeros.
    expected = 8 * 200 * (200 + 16 + 1) + 8 * 200 + 4 * 8 * (200 + 16)
    assert Learner(covariance="full").fit(rows, Y).model_bytes_ == expected == 355_712


@pytest.mark.parametrize(
    ("learner", "n_classes", "message"),
    [
        (TwoOnly(), 2, r"TwoOnly does not define _allocate\(\)"),
        (
            ALMA(),
            3,
            r"ALMA does not define _allocate_classes\(\) .* two classes only; .* MulticlassClassifier .*",
        ),
    ],
)
def test_what_a_learner_does_not_define_is_named(learner, n_classes, message):
    with pytest.raises(NotImplementedError, match=f"^{message}$"):
        learner.begin(np.arange(n_classes), 3)


def _one_by_one(model, expected, rows, labels):
    """Learn rows in calls of one row, of which `expected` gets lists, which always take the longer way."""
    for row, label in zip(rows, labels, strict=True):
        scores = model.learn(row.reshape(1, -1), np.array([label]))
        assert scores.tolist() == expected.learn([row.tolist()], [label]).tolist()
    assert state(model) == state(expected)


@pytest.mark.parametrize(
    "learner",
    [
        AROW(),
        *(
            pytest.param(each, marks=pytest.mark.slow)
            for each in (PassiveAggressive(), Perceptron(average=True))
        ),
    ],
)
def test_calls_of_one_row_see_what_has_changed_since_the_row_before(learner):
    model, expected = clone(learner), clone(learner)
    for each in (model, expected):
        each.learn(X, Y)
    _one_by_one(model, expected, X, Y)
    assert model._row_entry is not None
    name = {"AROW": "r", "PassiveAggressive": "C", "Perceptron": "class_weight"}[type(learner).__name__]
    weights = {0: 0.3}
    for value in (weights, {0: 3.0}) if name == "class_weight" else (0.25, 3.0):
        for each in (model, expected):
            each.set_params(**{name: value})
        _one_by_one(model, expected, X, Y)
        weights[0] = 0.7  # of a dict that the learner was given
        _one_by_one(model, expected, X, Y)
    for each in (model, expected):
        each.learn(X, Y)
    _one_by_one(model, expected, X.astype(np.float32), Y)
    _one_by_one(model, expected, np.asfortranarray(X), Y)
    for copy in (pickle.loads(pickle.dumps(model)), deepcopy(model)):
        assert copy._row_entry is None
        _one_by_one(copy, deepcopy(expected), X, Y)
    for each in (model, expected):
        each.fit(X[:, :2], Y)
    _one_by_one(model, expected, X[:, :2], Y)


def test_calls_of_one_row_refuse_what_other_calls_refuse():
    model = AROW()
    model.learn(X, Y)
    for t in range(3):
        model.learn(X[t : t + 1], Y[t : t + 1])
    before, row, label = state(model), X[:1], Y[:1]
    bad = row.copy()
    bad[0, 1] = np.nan
    for rows, labels, message in [
        (bad, label, r"Input X contains NaN in row 0"),
        (row, np.array([7]), r"label 7 is not one of the classes"),
        (row[:, :2], label, "has 2 features"),
        (row, Y[:2], "inconsistent numbers of samples"),
        (row[0], label, "Expected 2D array"),
    ]:
        with pytest.raises(ValueError, match=message):
            model.learn(rows, labels)
    model.r = -1.0
    with pytest.raises(ValueError, match="r must be"):
        model.learn(row, label)
    assert state(model) == before


def test_calls_of_one_row_with_several_classes():
    labels = np.arange(len(Y)) % 3
    model, expected = AROW(), AROW()
    for each in (model, expected):
        each.learn(X, labels)
    _one_by_one(model, expected, X, labels)
    assert model._row_entry is not None
