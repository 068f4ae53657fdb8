"""The baselines that use labels only, against plain loops."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from singlepass.learners import MajorityClass, NoChange
from singlepass.learners.contract import StreamLearner
from singlepass.learners.table import TABLE

from .streams import golden_runs, golden_stream

BASELINES = [row.load()() for row in TABLE if row.kind == "baseline"]


def by_hand(learner, codes, n_classes):
    """Return the prediction before each label is known, and after the last."""
    counts, last, predicted = [0] * n_classes, 0, []
    for code in [*codes, None]:
        predicted.append(last if isinstance(learner, NoChange) else counts.index(max(counts)))
        if code is not None:
            counts[code] += 1
            last = code
    return predicted


@pytest.mark.parametrize("learner", BASELINES, ids=repr)
@pytest.mark.parametrize("n_classes", [2, 5])
@pytest.mark.parametrize("chunk", [1, 7, 100])
def test_a_loop_by_hand(learner, n_classes, chunk):
    codes = np.random.RandomState(n_classes).randint(n_classes, size=100)
    X = np.zeros((100, 3))
    model = clone(learner)
    scores = np.concatenate(
        [
            model.learn(X[i : i + chunk], codes[i : i + chunk], classes=range(n_classes))
            for i in range(0, 100, chunk)
        ]
    )
    predicted = scores.argmax(axis=1) if n_classes > 2 else (scores > 0).astype(int)
    *wanted, after = by_hand(model, codes.tolist(), n_classes)
    assert predicted.tolist() == wanted
    assert np.unique(scores).tolist() == ([-1.0, 1.0] if n_classes == 2 else [0.0, 1.0])
    assert model.n_mistakes_ == np.count_nonzero(predicted != codes)
    assert set(model.predict(X)) == {after}
    assert isinstance(model, StreamLearner)
    assert "updates" not in model.counters()


RUNS = golden_runs("baselines")


@pytest.mark.parametrize("name", RUNS)
def test_reference(name):
    run = RUNS[name]
    X, y = golden_stream(run["stream"])
    learner = MajorityClass() if "majority" in name else NoChange()
    scores = learner.learn(X, y, classes=np.unique(y))
    predicted = learner.classes_[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]
    reference = np.zeros(len(y), dtype=bool)
    reference[run["mistake_indices_0based"]] = True
    # The classes that are tied for the prediction before each row.
    seen = y[:, np.newaxis] == learner.classes_
    counts = np.vstack([np.zeros((1, len(learner.classes_))), seen.cumsum(axis=0)[:-1]])
    if isinstance(learner, NoChange):
        counts = np.diff(counts, axis=0, prepend=0)
    tied = counts == counts.max(axis=1, keepdims=True)
    ties = tied.sum(axis=1) > 1

    assert 0 < ties.sum() < 0.1 * len(y)
    assert (predicted != y)[~ties].tolist() == reference[~ties].tolist()
    # At a tie we predict the first class, while the reference counts a mistake.
    assert reference[ties].all()
    assert predicted[ties].tolist() == learner.classes_[tied[ties].argmax(axis=1)].tolist()
    assert learner.n_mistakes_ == run["mistakes_final"] - np.count_nonzero((predicted == y) & ties)


def test_without_any_label_it_is_the_first_class():
    assert MajorityClass().learn([[1.0]], ["b"], classes=["a", "b"]).tolist() == [-1.0]
    assert NoChange().learn([[1.0]], ["b"], classes=["a", "b", "c"]).tolist() == [[1.0, 0.0, 0.0]]


@parametrize_with_checks(BASELINES)
def test_scikit_learn_takes_it_for_an_estimator(estimator, check):
    check(estimator)
