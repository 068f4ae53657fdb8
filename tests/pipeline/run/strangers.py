"""Define plug-in learners for tests: sound ones, and some that fail in every known way."""

import importlib.util
import threading
import time

import numpy as np
from sklearn.exceptions import NotFittedError


class Sound:
    """Implement the minimum that a learner needs."""

    def partial_fit(self, X, y, classes=None):
        self.label = y[-1]
        return self

    def predict(self, X):
        return np.full(len(X), self.label)


class Raising(Sound):
    def partial_fit(self, X, y, classes=None):
        self.seen = getattr(self, "seen", 0) + len(y)
        if self.seen > 20:
            raise KeyError("lost")
        return super().partial_fit(X, y)


class Unmakeable(Sound):
    def __init__(self):
        raise RuntimeError("no licence")


class Shapeless(Sound):
    def decision_function(self, X):
        return np.zeros((len(X), 3))


class Flat(Sound):
    def predict(self, X):
        return self.label


class NotANumber(Sound):
    def decision_function(self, X):
        return np.where(X[:, 0] > 0, np.nan, 1.0)


class Infinite(Sound):
    def decision_function(self, X):
        return np.full(len(X), np.inf)


class Elsewhere(Sound):
    def predict(self, X):
        return np.full(len(X), 7)


class Talking(Sound):
    def predict(self, X):
        return np.full(len(X), "yes")


class Unlikely(Sound):
    def predict_proba(self, X):
        return np.tile([-1.0, 2.0], (len(X), 1))


class Reversed(Sound):
    """Its probabilities begin with those of the last class."""

    classes_ = np.array([1, 0])

    def predict_proba(self, X):
        return (self.predict(X)[:, np.newaxis] == self.classes_).astype(float)


class Appending(Sound):
    """Its list of classes grows while it learns, from the last class to the first."""

    def __init__(self):
        self.classes_ = []

    def partial_fit(self, X, y, classes=None):
        self.classes_ += [1, 0][len(self.classes_) :][:1]
        return super().partial_fit(X, y)

    def predict_proba(self, X):
        return np.tile([0.75, 0.25], (len(X), 1))


class Changeable(Sound):
    """Its scores have another shape after some rows."""

    def decision_function(self, X):
        self.asked = getattr(self, "asked", 0) + 1
        return np.zeros((len(X), 2) if self.asked < 9 else len(X))


class AsText(Sound):
    def predict(self, X):
        return np.array(["1"] * len(X))


class LaterText(Sound):
    """Predict a number, later text, which NumPy would join as text."""

    def predict(self, X):
        self.asked = getattr(self, "asked", 0) + 1
        return np.array([0] if self.asked < 9 else ["spam"])


class ScoresAsText(Sound):
    def decision_function(self, X):
        return np.array(["0.5"] * len(X))


class Complex(Sound):
    def predict(self, X):
        return np.full(len(X), 1 + 0j)


class Chunky(Sound):
    def learn(self, X, y, classes=None):
        return np.full(len(y), np.nan)


class Unfitted(Sound):
    """Refuse to predict before the first row."""

    def predict(self, X):
        if not hasattr(self, "label"):
            raise NotFittedError("not fitted")
        return super().predict(X)


class UnfittedInBlocks(Unfitted):
    def learn(self, X, y, classes=None):
        self.label = y[-1]
        return X[:, 0]


class NeverFitted(Unfitted):
    """Refuse to predict however many rows it has learned."""

    def partial_fit(self, X, y, classes=None):
        return self


class NeverFittedInBlocks(Unfitted):
    def learn(self, X, y, classes=None):
        return X[:, 0]


class InBlocks(Sound):
    """Return scores from `learn` alone."""

    def learn(self, X, y, classes=None):
        self.label = y[-1]
        return X[:, 0]


class Slipping:
    """Predict an unknown class, through River's interface."""

    def learn_one(self, x, y):
        pass

    def predict_one(self, x):
        return "spam"


class LaterTextOne(Slipping):
    """Predict a class, later text, through River's interface."""

    said = False

    def predict_one(self, x):
        self.said, said = np.array("1"), self.said
        return said


class Hanging(Sound):
    def partial_fit(self, X, y, classes=None):
        threading.Event().wait()


class Slow(Sound):
    def partial_fit(self, X, y, classes=None):
        time.sleep(0.01)
        return super().partial_fit(X, y)


if importlib.util.find_spec("river") is not None:
    from river import compose, linear_model, multiclass, preprocessing

    class StandardizedLogistic(compose.Pipeline):
        def __init__(self, l2=0.0):
            model = multiclass.OneVsRestClassifier(linear_model.LogisticRegression(l2=l2))
            super().__init__(preprocessing.StandardScaler(), model)


class SometimesLikely(Sound):
    """Give probabilities with one value of a parameter only."""

    def __init__(self, likely):
        if likely:
            self.predict_proba = lambda X: np.full((len(X), 2), 0.5)


class Tuned(Sound):
    """Need a parameter."""

    def __init__(self, rate):
        self.rate = rate
