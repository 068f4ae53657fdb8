"""The naive online SVM with the ramp loss, which trains a batch SVM again after each row."""

from ..estimator.parameters import check_between
from .ramp_svm import ALL, RampSVM, learn


class RetrainedRampSVM(RampSVM):
    """The naive online SVM with the ramp loss: the CCCP from scratch, on all rows so far, after each row.

    It shows what `OnlineRampSVM` saves, and is for short streams: each row costs as much as `OfflineRampSVM`.
    Every row is an update.

    Kernel evaluations are counted as if each training started from nothing: one per row with itself, one with
    every row for each change of a coefficient, and one with each support vector to predict. This is the
    number in the paper's Fig. 4a; the implementation computes fewer.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the loss and bound of the coefficients, > 0.
    initial : float, default=0.1
        The first active set of each training is this share of the rows so far, the first ones; 0 excluded.
    tol, min_gain : default=1e-3, 1e-5
        When optimisation stops, as for `OnlineRampSVM`.
    kernel, gamma, degree, coef0 : default="rbf", 1.0, 3, 1.0
        The kernel, as for `KernelPerceptron`.
    cache_mb, epochs : default=200.0, 1
        As for `OnlineRampSVM`.

    Attributes
    ----------
    n_stored_, n_active_, objective_
        As for `OnlineRampSVM`.

    See Also
    --------
    OfflineRampSVM : One training.
    KernelClassifier : More attributes; `OnlineClassifier` has the methods.

    References
    ----------
    Wang, Vucetic (2010), "Fast online training of ramp loss support vector machines", ICDM, section V.B and
    Fig. 4a.

    Examples
    --------
    >>> learner = RetrainedRampSVM().fit([[0.0], [10.0], [0.1], [0.0]], [0, 1, 0, 1])
    >>> learner.n_updates_, learner.predict([[0.2], [9.0]]).tolist()
    (4, [0, 1])
    """

    def __init__(
        self,
        C: float = 1.0,
        initial: float = 0.1,
        tol: float = 1e-3,
        min_gain: float = 1e-5,
        kernel: str = "rbf",
        gamma: float = 1.0,
        degree: int = 3,
        coef0: float = 1.0,
        cache_mb: float = 200.0,
        epochs: int = 1,
    ) -> None:
        super().__init__(kernel, gamma, degree, coef0, cache_mb, epochs)
        self.C = C
        self.initial = initial
        self.tol = tol
        self.min_gain = min_gain

    def _check_own_parameters(self):
        super()._check_own_parameters()
        check_between(self, "initial", 0.0, 1.0, include_high=True)

    def _learn_block(self, view, n, codes, scores):
        initial = float(self.initial)
        return learn(view, n, codes, scores, self._rules, ALL, False, initial, self._is_again)[:4]
