"""Formulas of one feature, written as ordinary arithmetic, that vector code is generated from.

For ``lane_sums(1, lambda w, x: [w * x])`` the function is called while code is generated, with a `Real` for w
and one for x. Each operator emits its instruction, for a single number or for all lanes of a vector. It uses
no fast-math flags and no fused multiply-add, so each lane gets the result that numbers would give. A formula
cannot branch on numbers: it chooses by `where`, and combines conditions with ``&``.
"""

from numba import types

from .emitters import constant_like, emit_exponential, square_root

# If a is below this, e^a can be below the normal range of float64, and is computed as the square of e^(a/2).
LOWEST_EXPONENT = -700.0


def _operator(name, *signs):
    """Return an operator's method. It emits the builder's instruction `name`; `signs` name a comparison."""

    def operate(self, other):
        instruction = getattr(self.builder, name)
        return Real(self.builder, instruction(*signs, self.value, _value_of(other, self)))

    return operate


class Real:
    """A float64 or a vector of float64 in code that is being generated, or the truth value of a comparison.

    One operand can be a Python float: the right one or, in sums and products, either. Comparisons with NaN
    are false, except ``!=``.
    """

    def __init__(self, builder, value):
        self.builder = builder
        self.value = value

    __add__, __sub__ = _operator("fadd"), _operator("fsub")
    __mul__, __truediv__ = _operator("fmul"), _operator("fdiv")
    __lt__, __gt__ = _operator("fcmp_ordered", "<"), _operator("fcmp_ordered", ">")
    __le__, __eq__ = _operator("fcmp_ordered", "<="), _operator("fcmp_ordered", "==")
    __ne__ = _operator("fcmp_unordered", "!=")
    __radd__, __rmul__ = __add__, __mul__
    __and__ = _operator("and_")

    def __bool__(self):
        raise TypeError("a formula cannot branch: use where(condition, a, b), and & between conditions")

    def __neg__(self):
        return Real(self.builder, self.builder.fneg(self.value))

    def __abs__(self):
        return where(self < 0.0, -self, self)

    def root(self):
        """Return the square root."""
        return Real(self.builder, square_root(self.builder, self.value))

    def exponential(self):
        """Return ``e^a`` of a float64 a <= 0, but 0 if the result is not in the normal range."""
        return Real(self.builder, emit_exponential(self.builder, types.float64, self.value))


def _value_of(number, other):
    """Return the LLVM value of a `Real`; of a Python float, a constant of the type of `other`."""
    return number.value if isinstance(number, Real) else constant_like(other.value, float(number))


def where(condition, a, b):
    """Return a where the condition holds, else b; one of a and b can be a Python float."""
    builder = condition.builder
    return Real(builder, builder.select(condition.value, _value_of(a, b), _value_of(b, a)))


def soft_threshold(v, a):
    """Return ``sgn(v) max(|v| - a, 0)``, for a >= 0."""
    below, above = v + a, v - a
    return where(above > 0.0, above, where(below < 0.0, below, 0.0))


def exp_of_negative(a):
    """Return ``e^a`` for a <= 0, down to the smallest float64."""
    half = where(a < LOWEST_EXPONENT, a * 0.5, a)
    e = half.exponential()
    # The same condition as above would make LLVM keep it in a register that slows a loop over classes down.
    return where(half != a, e * e, e)


def in_code(formula, builder, *values):
    """Emit a formula of LLVM values, and return its result with LLVM values in place of `Real` objects.

    The result is one `Real`, or a list or tuple of them, of None and of further lists.
    """
    return _plain(formula(*[Real(builder, value) for value in values]))


def _plain(result):
    if isinstance(result, list | tuple):
        return [_plain(each) for each in result]
    return result.value if isinstance(result, Real) else result
