"""The exact path of a support vector machine: one α moves, all other rows keep meeting their conditions.

Every row is in one of three sets (Cauwenberghs and Poggio 2000, eq. 4), with ``g_i = y_i f(x_i) - 1``:

- the margin set: g = 0, α between 0 and C;
- the error set: g <= 0, α = C;
- the rest: g >= 0, α = 0.

While the α of one row moves, the bias and the α of the margin set change such that g stays 0 in the margin
set, until a row changes its set. A row of the margin set needs its kernel values with all rows. If a row is
about to join the set and its values are not stored, `move` returns it to the caller, who fetches them and
calls again.
"""

from typing import NamedTuple

import numpy as np

from ...numeric.compiled import compiled, register_jitable
from ...numeric.rows import copy_into
from ...numeric.vector import EPSILON, SMALLEST_NORMAL

#: If a row is linearly dependent on the rows of the margin set, its k(x, x) is raised by this share of the
#: largest k(x, x) in the set, so that the matrix of the set can be inverted.
_RIDGE = 5e-12


class Machine(NamedTuple):
    """The state of the exact SVM: coefficient, margin and set of each row; arrays have room for more rows."""

    #: (rows,): label, -1 or 1.
    y: np.ndarray
    #: (rows,): coefficient, 0 … C.
    alpha: np.ndarray
    #: (rows,): y f(x) - 1, which is 0 on the margin and negative inside it.
    g: np.ndarray
    #: (rows,): k(x, x).
    own: np.ndarray
    #: (rows,): the set that each row is in: REST, ERROR or MARGIN.
    group: np.ndarray
    #: (rows,): the row of `values` with a row's kernel values; -1: they are not stored.
    slot: np.ndarray
    #: (slots, rows): kernel values of some rows with all rows.
    values: np.ndarray
    #: (rows,): the rows of the margin set; the last one takes the place of one that leaves.
    margin: np.ndarray
    #: (rows,): the place in the list `margin` of each row that is in the margin set.
    place: np.ndarray
    #: (size + 1 or more, the same): inverse J⁻¹ of ``[[0, yᵀ], [y, Q]]`` over the margin set, with
    #: ``Q_ij = y_i y_j K_ij``. Without bias, the inverse of Q with a first row and column of zeros.
    inverse: np.ndarray
    #: (size + 1 or more,): sensitivities (changes per change of the α that moves) of the bias and of the α of
    #: the margin set (eq. 10).
    beta: np.ndarray
    #: (rows,): sensitivities of g (eq. 12): their changes per change of the α that moves.
    gamma: np.ndarray
    #: (1,): size of the margin set.
    size: np.ndarray
    #: (1,): kernel evaluations for joining the margin set and for unlearning, since this count was last read.
    evaluations: np.ndarray
    #: (1,): the bias.
    b: np.ndarray


@register_jitable
def _fill(array, n, value):
    """Write `value` into the first n elements; Numba needs seconds to compile ``array[:n] = value``."""
    for i in range(n):
        array[i] = value


@compiled
def _apply_inverse(M, v, out):
    """Subtract ``J⁻¹ v`` from `out`; J⁻¹ is ``M.inverse``."""
    for p in range(M.size[0] + 1):
        total = 0.0
        for q in range(M.size[0] + 1):
            total += M.inverse[p, q] * v[q]
        out[p] -= total


@compiled
def _residual(M, v, d, out, bias):
    """Write ``v + J d`` into `out`; J is the matrix whose inverse is ``M.inverse``."""
    size = M.size[0]
    copy_into(out, v)
    for p in range(size):
        j = M.margin[p]
        if bias:
            out[0] += M.y[j] * d[p + 1]
            out[p + 1] += M.y[j] * d[0]
        a, values = M.y[j] * d[p + 1], M.values[M.slot[j]]
        for q in range(size):
            i = M.margin[q]
            out[q + 1] += M.y[i] * a * values[i]


@compiled
def _grow(M, k, bias):
    """Add row k to the end of the margin set, and a row and a column to the inverse (eq. 13)."""
    size = M.size[0]
    J, y = M.inverse, M.y
    if size == 0:
        J[0, 0] = J[0, 1] = J[1, 0] = 0.0
        if bias:
            J[0, 0], J[0, 1], J[1, 0], J[1, 1] = -M.own[k], y[k], y[k], 0.0
        else:
            J[1, 1] = 1.0 / M.own[k]
    else:
        v, d, residual = np.empty(size + 1), np.zeros(size + 2), np.empty(size + 1)
        v[0] = y[k] if bias else 0.0
        largest = M.own[k]
        for p in range(size):
            j = M.margin[p]
            v[p + 1] = y[k] * y[j] * M.values[M.slot[k], j]
            largest = max(largest, M.own[j])
        copy_into(residual, v)
        for _ in range(3):
            _apply_inverse(M, residual, d)
            _residual(M, v, d, residual, bias)
        c = M.own[k]
        for p in range(size + 1):
            c += d[p] * v[p]
        # c is the squared distance of row k from the span of the margin set. For a row in that span, c would
        # be a rounding error, so k(x, x) is raised by an amount that hardly changes the row's g.
        ridge = max(_RIDGE * largest, SMALLEST_NORMAL)
        if c < ridge:
            c = max(c, 0.0) + ridge
            M.own[k] += ridge
            M.values[M.slot[k], k] = M.own[k]
            M.g[k] += ridge * M.alpha[k]
        d[size + 1] = 1.0
        for p in range(size + 2):
            J[p, size + 1] = J[size + 1, p] = 0.0
            d[p] /= np.sqrt(c)
        for p in range(size + 2):
            for q in range(size + 2):
                J[p, q] += d[p] * d[q]
    M.margin[size], M.place[k] = k, size
    M.size[0] = size + 1


@compiled
def _shrink(M, k):
    """Remove row k from the margin set and from the inverse (eq. 14); the last row takes its place."""
    last = M.size[0]
    p = M.place[k] + 1
    J = M.inverse
    if last > 1:
        for i in range(last + 1):
            if i != p:
                for j in range(last + 1):
                    if j != p:
                        J[i, j] -= (J[i, p] * J[p, j]) / J[p, p]
        if p != last:
            for i in range(last):
                J[i, p] = J[p, i] = J[i, last]
            J[p, p] = J[last, last]
    moved = M.margin[last - 1]
    M.margin[p - 1], M.place[moved] = moved, p - 1
    M.size[0] = last - 1


@compiled
def _rebuild(M, bias):
    """Recompute the inverse matrix of the margin set from nothing, by adding its rows one by one."""
    size = M.size[0]
    M.size[0] = 0
    for p in range(size):
        _grow(M, M.margin[p], bias)


REST, ERROR, MARGIN = 0, 1, 2

#: Margins are computed to this accuracy, for kernel values and coefficients of about 1.
_PRECISION = 1e-12

#: A row that is this close to its margin is not moved, so that rounding alone moves no row.
SATISFIED = 1e-10

#: When rows join and leave the margin set in turn by steps of length 0, which could go on forever, g of a row
#: may pass 0 by this much.
_SLACK = 1e-9


@compiled
def _follow(M, n, start, changes, out):
    """Add to `out` how much each g changes if the bias and the α of the margin set change by `changes`.

    `start`, one number per row, is added to the change of f(x).
    """
    f = np.empty(min(n, 512))
    for first in range(0, n, 512):  # 512 values of f stay in the cache
        last = min(first + 512, n)
        for i in range(last - first):
            f[i] = start[first + i] + changes[0]
        for p in range(M.size[0]):
            j = M.margin[p]
            a, values = M.y[j] * changes[p + 1], M.values[M.slot[j]][first:last]
            for i in range(last - first):
                f[i] += a * values[i]
        for i in range(last - first):
            out[first + i] += M.y[first + i] * f[i]


@compiled
def _sensitivities(M, row, c, n, start, bias):
    """Compute how much bias and α of the margin set (`beta`) and all g (`gamma`) change per change of α_c.

    `row` has the kernel values of row c. Return ``(reach, floor)``: errors of γ_i, from rounding and from
    raised k(x, x), are at most about ``reach √k(x_i, x_i) + floor``. The equations that define β are checked.
    If rounding has damaged the inverse, they are solved again, first with the same inverse and then with a
    new one.
    """
    size = M.size[0]
    y, β, γ = M.y, M.beta, M.gamma
    residual = np.empty(size + 1)
    for i in range(n):
        start[i] = y[c] * row[i]
    residual[0] = y[c] if bias else 0.0
    for p in range(size):
        residual[p + 1] = y[M.margin[p]] * start[M.margin[p]]
    _fill(β, size + 1, 0.0)
    noise = raised = zero_rows = 0.0
    for attempt in range(5):
        if attempt == 2:
            _rebuild(M, bias)
        _apply_inverse(M, residual, β)
        _fill(γ, n, 0.0)
        _follow(M, n, start, β, γ)
        # `reach` bounds the sum of the absolute terms of γ_i/√k(x_i, x_i). `worst` is the largest absolute
        # value of this ratio in the margin set, where γ should be 0, less the rounding errors of the bias.
        # The raised k(x, x) of dependent rows changes γ_i by up to `raised`. A row whose γ_i is not larger
        # must not join the set: otherwise such rows would join one after another. `zero_rows` bounds the
        # error of γ_i if x_i is 0; it is added for every row.
        reach, worst, raised, zero_rows = np.sqrt(M.own[c]), 0.0, 0.0, 0.0
        residual[0], total = y[c] if bias else 0.0, 1.0
        for p in range(size):
            j = M.margin[p]
            reach += abs(β[p + 1]) * np.sqrt(M.own[j])
            raised += 4.0 * _RIDGE * abs(β[p + 1]) * M.own[j]
            total += abs(β[p + 1])
            if bias:
                residual[0] += y[j] * β[p + 1]
            residual[p + 1] = γ[j]
            if M.own[j] > 0.0:
                worst = max(worst, (abs(γ[j]) - 64.0 * EPSILON * abs(β[0])) / np.sqrt(M.own[j]))
            else:
                zero_rows = max(zero_rows, 8.0 * abs(γ[j]))
        noise = max(64.0 * EPSILON * reach, 8.0 * worst)
        if worst <= 64.0 * EPSILON * reach and abs(residual[0]) <= 64.0 * EPSILON * total:
            break
    return noise, raised + zero_rows + 64.0 * EPSILON * abs(β[0])


@compiled
def _correct(M, n, C, bias):
    """Remove rounding errors by Newton steps: g of the margin set and Σ y α (with a bias) should be 0."""
    zeros = np.zeros(n)
    for attempt in range(4):
        size = M.size[0]
        if size == 0:
            return
        residual, change = np.zeros(size + 1), np.zeros(size + 1)
        mass, worst, largest = 0.0, 0.0, 0.0
        for i in range(n):
            if M.alpha[i] != 0.0:
                mass += M.alpha[i] * np.sqrt(M.own[i])
                largest = max(largest, M.own[i])
                if bias:
                    residual[0] += M.y[i] * M.alpha[i]
        for p in range(size):
            j = M.margin[p]
            residual[p + 1] = M.g[j]
            worst = max(worst, abs(M.g[j]))
            largest = max(largest, M.own[j])
        scale = np.sqrt(largest)
        if max(worst, abs(residual[0]) * largest) <= max(_PRECISION, 16.0 * EPSILON * mass * scale):
            return
        if attempt == 2:
            _rebuild(M, bias)
        _apply_inverse(M, residual, change)
        # `share` is the largest share of the Newton step with which all α stay between 0 and C.
        share = 1.0
        for p in range(size):
            a = M.alpha[M.margin[p]]
            if a + change[p + 1] > C:
                share = min(share, (C - a) / change[p + 1])
            elif a + change[p + 1] < 0.0:
                share = min(share, a / -change[p + 1])
        for p in range(size):
            j = M.margin[p]
            before = M.alpha[j]
            M.alpha[j] = min(max(before + share * change[p + 1], 0.0), C)
            change[p + 1] = M.alpha[j] - before
        change[0] *= share
        M.b[0] += change[0]
        _follow(M, n, zeros, change, M.g)


@compiled
def _shift_bias(M, c, n, rising):
    """Move the bias, while the margin set is empty, until a row is on its margin; return that row."""
    # `sign` is the direction of the bias: it raises g of row c if α_c is to rise, and lowers it otherwise.
    step, chosen = np.inf, c
    sign = M.y[c] if rising else -M.y[c]
    if rising:
        step = -M.g[c]
    for i in range(n):
        if i == c:
            continue
        towards = M.g[i] <= 0.0 if M.y[i] == sign else M.g[i] >= 0.0
        if M.group[i] == (ERROR if M.y[i] == sign else REST):
            length = abs(M.g[i]) if towards else 0.0
            if length < step:
                step, chosen = length, i
    if step < np.inf:
        M.b[0] += sign * step
        for i in range(n):
            M.g[i] += M.y[i] * sign * step
    return chosen


@compiled
def _next_event(M, c, n, C, rising, barred, slack, reach, floor):
    """Return how far α_c can move until a row changes its set, which row, and if it joins the margin set."""
    step, chosen, joins = (C - M.alpha[c] if rising else M.alpha[c]), c, False
    sign = 1.0 if rising else -1.0
    for i in range(n):
        length = np.inf
        if M.group[i] == MARGIN:
            speed = sign * M.beta[M.place[i] + 1]
            if speed > 0.0:
                length = (C - M.alpha[i]) / speed
            elif speed < 0.0:
                length = M.alpha[i] / -speed
        else:
            speed = sign * M.gamma[i]
            noise = np.sqrt(M.own[i]) * reach + floor
            if i == c:
                if rising and speed > noise:
                    length = max(0.0, -M.g[i]) / speed
            elif barred[i]:
                pass
            elif M.group[i] == ERROR:
                if speed > noise:
                    length = max(0.0, slack - M.g[i]) / speed
            elif speed < -noise:
                length = max(0.0, slack + M.g[i]) / -speed
        if length < step:
            step, chosen, joins = length, i, M.group[i] != MARGIN
    return step, chosen, joins


@compiled
def leave(M, k):
    """Remove row k from the margin set, even if its α is not at a bound, so that `move` can lower it."""
    _shrink(M, k)
    M.group[k] = REST


@compiled
def move(M, row, c, n, C, bias, rising, joining):
    """Move α_c up until row c meets its condition or, if not `rising`, down to 0; meanwhile c is in no set.

    `row` has the kernel values of row c with all `n` rows. Return -1 when done, or a row whose kernel values
    are missing: fetch them and call again with that row as `joining`. In the first call `joining` is -1.
    """
    start, barred = np.empty(n), np.zeros(n, np.bool_)
    stalled, slack, joined = 0, 0.0, -1
    for _ in range(1000 + 100 * n):
        if joining >= 0:
            if M.slot[joining] < 0:
                return joining
            _grow(M, joining, bias)
            M.group[joining] = MARGIN
            if joining == c:
                break
            M.evaluations[0] += n
            joined, joining = joining, -1
        if bias and M.size[0] == 0:
            joining = _shift_bias(M, c, n, rising)
            if joining == c and not rising:
                break
            continue
        reach, floor = _sensitivities(M, row, c, n, start, bias)
        step, chosen, joins = _next_event(M, c, n, C, rising, barred, slack, reach, floor)
        signed = step if rising else -step
        M.alpha[c] += signed
        M.b[0] += signed * M.beta[0]
        for p in range(M.size[0]):
            M.alpha[M.margin[p]] += signed * M.beta[p + 1]
        for i in range(n):
            M.g[i] += signed * M.gamma[i]
        # Linearly dependent rows may join and leave the margin set in turn while α_c does not move. Then g
        # may pass 0 by `slack`. A row that leaves right after it joined, because of rounding, must not join
        # again until α_c moves.
        stalled = 0 if step > _PRECISION * C else stalled + 1
        if stalled == 0:
            _fill(barred, n, False)
            joined = -1
        elif chosen == joined:
            barred[chosen] = True
        slack = _SLACK if stalled > 20 + 2 * M.size[0] else 0.0
        if joins:
            joining = chosen
        elif chosen == c:
            M.alpha[c] = C if rising else 0.0
            M.group[c] = ERROR if rising else REST
            break
        else:
            full = (M.beta[M.place[chosen] + 1] > 0.0) == rising
            M.alpha[chosen] = C if full else 0.0
            M.group[chosen] = ERROR if full else REST
            _shrink(M, chosen)
    _correct(M, n, C, bias)
    return -1
