"""The exact incremental and decremental support vector machine."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..estimator.parameters import Positive
from ..kernel.kernel_classifier import KernelClassifier, block_ranges, kernel_function
from ..numeric.compiled import compiled
from ..numeric.margins import signed
from ..numeric.rows import count_rows, dot, row_range
from .solvers.incremental_store import IncrementalStore
from .solvers.margin_set import REST, SATISFIED, move

# Positions in the array of counts that `_learn` updates; the last count is the number of rows that are stored
# when the next row is scored.
_MISTAKES, _UPDATES, _EVALUATIONS, _STORED = range(4)


@compiled
def _learn(M, values, places, t, joining, codes, scores, counts, C, bias):
    """Learn the rows of a block from row t on; `values` are their kernel values with all stored rows.

    Return the row of the block to continue from, and the stored row whose kernel values must be fetched
    first, -1 if the block is done. Pass this stored row to the next call as `joining`.
    """
    α, k = np.empty(values.shape[1]), np.empty(values.shape[1])
    while t < codes.shape[0]:
        c = places[t]
        n = c + 1
        if joining < 0:
            support = 0
            for i in range(counts[_STORED]):
                if M.alpha[i] != 0.0:
                    α[support], k[support] = M.y[i] * M.alpha[i], values[t, i]
                    support += 1
            y = signed(codes[t])
            scores[t] = dot(α[:support], k[:support]) + M.b[0]
            m = y * scores[t]
            counts[_MISTAKES] += not m > 0.0
            counts[_EVALUATIONS] += support
            if c < 0:
                t += 1
                continue
            counts[_STORED] = n
            M.y[c], M.alpha[c], M.g[c], M.group[c] = y, 0.0, m - 1.0, REST
            if m - 1.0 >= -SATISFIED:
                t += 1
                continue
            counts[_UPDATES] += 1
            counts[_EVALUATIONS] += n - support
        joining = move(M, values[t], c, n, C, bias, True, joining)
        if joining >= 0:
            return t, joining
        t += 1
    return t, -1


@dataclass(eq=False, repr=False)
class IncrementalSVM(KernelClassifier):
    """The support vector machine, solved exactly after every row; a row can also be unlearned.

    It solves the dual of the soft margin with hinge loss, ``min ½ αᵀQα - Σα`` with ``0 <= α_i <= C`` (and ``Σ
    y_i α_i = 0`` with a bias), ``Q_ij = y_i y_j k(x_i, x_j)``. For a row whose margin ``m = y f(x)`` is below
    1, α is raised from 0 until the row meets its optimality condition. Meanwhile all other rows keep meeting
    their conditions: each is in the margin set (m = 1), the error set (α = C) or the rest (α = 0). All α
    follow a path with a bend wherever a row changes its set. `unlearn` follows such a path back.

    A prediction takes one kernel evaluation per support vector. A row with m < 1 also takes one with itself
    and one with each other stored row; an old row that joins the margin set takes one per stored row.

    Parameters
    ----------
    C : float, default=1.0
        Largest α, > 0.
    fit_intercept : bool, default=True
        Whether there is a bias.
    kernel, gamma, degree, coef0 : default="rbf", 1.0, 3, 1.0
        The kernel, as for `KernelPerceptron`.
    epochs : int, default=1
        Passes that `fit` makes. A later pass learns every row again, as an additional row.

    Attributes
    ----------
    intercept_ : ndarray of shape (1,)
        The bias.
    n_margin_ : int
        Number of rows in the margin set.

    Notes
    -----
    All n rows are stored, with ten numbers of state each, since any may become a support vector. Let s be the
    size of the margin set. The inverse matrix of the margin set takes 8 s² bytes, and the kernel values of
    its rows with all rows take 8 s n bytes. Kernel values of rows that have left the margin set are kept up
    to 128 MiB. Rows and kernel values are float64. To learn a row takes O(s n) time for each row that changes
    its set on the path.

    For rows of similar norms, optimality conditions are met to 1e-8, or to 1e-11 C k(x, x) if that is larger.
    If rows are dependent (equal rows, or more rows on the margin than the kernel has dimensions), or if no
    row is on its margin, the optimum is one of many. A row with m less than 1e-10 below 1 is not an update.
    Rounding errors are corrected after every change of a coefficient; if that does not suffice, the inverse
    is recomputed. k(x, x) of a row that depends on the margin set is raised by a share of 5e-12 before the
    row joins the set.

    See Also
    --------
    KernelClassifier : Attributes; `OnlineClassifier` has the methods.

    References
    ----------
    Cauwenberghs, Poggio (2000), "Incremental and decremental support vector machine learning", NIPS 13.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1]
    >>> learner = IncrementalSVM(C=10.0, kernel="linear").fit(X, y)
    >>> learner.support_.tolist(), learner.decision_function([[1.0], [3.0]]).round(6).tolist()
    ([1, 2], [-1.0, 1.0])
    >>> learner.unlearn(1).decision_function([[0.0], [3.0]]).round(6).tolist()
    [-1.0, 1.0]
    """

    C: Positive = 1.0
    fit_intercept: bool = True

    # In version 1, dependent rows could fill the margin set until scores became NaN.
    algorithm_version = 2

    def _allocate(self, n_features):
        super()._allocate(n_features)
        self.intercept_, self.n_margin_ = np.zeros(1), 0
        # The parameters are read once per stream, because the solution is valid for these values only.
        self._problem = float(self.C), bool(self.fit_intercept)

    def _new_store(self, dtype, sparse):
        return IncrementalStore(kernel_function(self), self.n_features_in_, sparse)

    def _pass(self, X, codes, scores):
        store = self._store_for(X)
        counts = np.zeros(4, np.int64)
        for start, stop in block_ranges(count_rows(X), self._block_rows):
            counts[_STORED] = store.n
            rows = row_range(X, start, stop)
            values, places = store.add_block(rows, stop - start, self.n_examples_ + start)
            block = codes[start:stop], scores[start:stop], counts, *self._problem
            t, joining = 0, -1
            while True:
                t, joining = _learn(store.machine, values, places, t, joining, *block)
                if joining < 0:
                    break
                here = np.flatnonzero(places == joining)
                store.fetch(joining, values[here[0]] if len(here) else None)
        self._note(int(counts[_EVALUATIONS]))
        return int(counts[_MISTAKES]), int(counts[_UPDATES])

    def _score(self, X, scores):
        super()._score(X, scores)
        scores += self.intercept_

    def _support_to_score(self):
        return self._store.support_vectors() if self._store else None

    def _note(self, evaluations):
        """Add `evaluations` to the learner's counter; update public attributes from the solver's state."""
        self.n_kernel_evaluations_ += evaluations + self._store.evaluations()
        self.n_support_ = len(self._store.born)
        self.n_margin_ = int(self._store.machine.size[0])
        self.intercept_ = self._store.machine.b.copy()

    def unlearn(self, number: int) -> Self:
        """Forget a row as if it had never been learned; the other rows keep their numbers.

        Removing a row with α > 0 takes a kernel evaluation per stored row; other rows are simply dropped. The
        counters of examples, mistakes and updates do not change.

        Parameters
        ----------
        number : int
            The row's number in the stream, as in `support_`: rows of all calls are counted from 0.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the row was never learned or is already unlearned; nothing is changed then.

        Examples
        --------
        >>> learner = IncrementalSVM().fit([[0.0], [1.0], [3.0]], [0, 1, 1])
        >>> learner.unlearn(1).support_.tolist()
        [0, 2]
        """
        check_is_fitted(self)
        whole = isinstance(number, (int, np.integer)) and not isinstance(number, bool)
        place = self._store.place_of(number) if whole and self._store else -1
        if place < 0:
            raise ValueError(
                "IncrementalSVM: unlearn takes the number of a row that was learned and not unlearned since, "
                f"got {number!r}"
            )
        self._store.unlearn(place, *self._problem)
        self._note(0)
        return self
