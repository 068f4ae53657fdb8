"""Arithmetic on LANES float64 at once in compiled code, one number for each of several models.

`lanes` is a Numba type of LANES float64 and `mask` one of LANES truth values, a lane for each model. A rule
(the NamedTuple of a learner's parameters, whose methods are the formulas) compiles for numbers and for lanes
if it does not branch on numbers: it combines conditions with ``&``, ``|`` and `invert`, and chooses by
`where`. The operations on each lane are those on a single number, so the results are equal to the last bit.
"""

import math
import operator

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, register_model

from .compiled import INLINE, overload
from .emitters import load_vector, spread, square_root, store_vector

#: Number of models that are learned together: 8 float64 fill a cache line, and a vector of AVX-512.
LANES = 8


class _Vector(types.Type):
    """The type of a vector of LANES elements."""


lanes, mask = _Vector("lanes"), _Vector("mask")
_ELEMENTS = {lanes: ir.DoubleType(), mask: ir.IntType(1)}
_SCALARS = {lanes: types.float64, mask: types.boolean}


@register_model(_Vector)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, ir.VectorType(_ELEMENTS[kind], LANES))


def as_vector(context, builder, vector, kind, value):
    """Emit a value of type `kind` as `lanes` or `mask`; a scalar fills all lanes."""
    if kind == vector:
        return value
    return spread(builder, context.cast(builder, value, kind, _SCALARS[vector]), LANES)


def _operation(functions, vector, result, emit):
    """Declare the compiled form of a function with an argument of type `vector`; `emit` generates it."""

    @intrinsic
    def one(_typing_context, a):
        def codegen(context, builder, signature, arguments):
            return emit(builder, as_vector(context, builder, vector, a, arguments[0]))

        return result(a), codegen

    @intrinsic
    def two(_typing_context, a, b):
        def codegen(context, builder, signature, arguments):
            kinds = zip(signature.args, arguments, strict=True)
            return emit(builder, *[as_vector(context, builder, vector, kind, each) for kind, each in kinds])

        return result(a, b), codegen

    if emit.__code__.co_argcount == 2:
        overload(functions, INLINE)(lambda a: (lambda a: one(a)) if a == vector else None)
    else:
        overload(functions, INLINE)(lambda a, b: (lambda a, b: two(a, b)) if vector in (a, b) else None)


def _absolute(builder, a):
    kind = ir.FunctionType(a.type, [a.type])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, f"llvm.fabs.v{LANES}f64"), [a])


def _any(builder, a):
    bits = builder.bitcast(a, ir.IntType(LANES))
    return builder.icmp_unsigned("!=", bits, bits.type(0))


_operation(operator.add, lanes, lanes, lambda ir, a, b: ir.fadd(a, b))
_operation(operator.sub, lanes, lanes, lambda ir, a, b: ir.fsub(a, b))
_operation(operator.mul, lanes, lanes, lambda ir, a, b: ir.fmul(a, b))
_operation(operator.truediv, lanes, lanes, lambda ir, a, b: ir.fdiv(a, b))
_operation(operator.neg, lanes, lanes, lambda ir, a: ir.fneg(a))
_operation(abs, lanes, lanes, _absolute)
_operation(math.sqrt, lanes, lanes, square_root)
# Like Numba's `min` of two numbers, return b only if b < a; the result is a if either is NaN.
_operation(min, lanes, lanes, lambda ir, a, b: ir.select(ir.fcmp_ordered("<", b, a), b, a))
_operation(operator.lt, lanes, mask, lambda ir, a, b: ir.fcmp_ordered("<", a, b))
_operation(operator.le, lanes, mask, lambda ir, a, b: ir.fcmp_ordered("<=", a, b))
_operation(operator.gt, lanes, mask, lambda ir, a, b: ir.fcmp_ordered(">", a, b))
_operation(operator.ge, lanes, mask, lambda ir, a, b: ir.fcmp_ordered(">=", a, b))
_operation(operator.ne, lanes, mask, lambda ir, a, b: ir.fcmp_unordered("!=", a, b))
_operation(operator.and_, mask, mask, lambda ir, a, b: ir.and_(a, b))
_operation(operator.or_, mask, mask, lambda ir, a, b: ir.or_(a, b))


def invert(condition):
    """Return ``not condition``, for each lane of a mask."""
    return not condition


def where(condition, a, b):
    """Return a if the condition holds, else b; given a mask, choose for each lane."""
    return a if condition else b


def holds_anywhere(condition):
    """Return whether a condition holds; given a mask, whether it holds in any lane."""
    return condition


_operation(invert, mask, mask, lambda ir, a: ir.not_(a))
_operation(holds_anywhere, mask, types.boolean, _any)


@intrinsic
def _select(_typing_context, condition, a, b):
    def codegen(context, builder, signature, arguments):
        kinds, numbers = signature.args[1:], arguments[1:]
        values = [as_vector(context, builder, lanes, kinds[i], numbers[i]) for i in range(2)]
        return builder.select(arguments[0], *values)

    return lanes(mask, a, b), codegen


@overload(invert, INLINE)
def _(condition):
    return None if condition == mask else invert


@overload(where, INLINE)
def _(condition, a, b):
    return (lambda condition, a, b: _select(condition, a, b)) if condition == mask else where


@overload(holds_anywhere, INLINE)
def _(condition):
    return None if condition == mask else holds_anywhere


def numbers_of(rules):
    """Return the parameters of up to LANES models as a float64 array of shape (n_fields, LANES).

    `rules` are NamedTuples of parameters, one per model and column. If there are fewer than LANES of them,
    the last one fills the remaining columns.
    """
    columns = [*rules, *[rules[-1]] * (LANES - len(rules))]
    return np.array([[rule[i] for rule in columns] for i in range(len(rules[0]))], np.float64)


def _row(context, builder, kind, array, index):
    """Return the data of a float64 array of shape (n, LANES), and the position at which a row begins.

    In an array of one dimension, the row begins at position `index`.
    """
    place = index if kind.ndim == 1 else builder.mul(index, index.type(LANES))
    return context.make_array(kind)(context, builder, array).data, place


@intrinsic
def write_lanes(_typing_context, array, index, value):
    """Store lanes in row `index` of a C-contiguous float64 array of shape (n, LANES)."""

    def codegen(context, builder, signature, arguments):
        index = context.cast(builder, arguments[1], signature.args[1], types.intp)
        value = as_vector(context, builder, lanes, signature.args[2], arguments[2])
        store_vector(builder, *_row(context, builder, signature.args[0], arguments[0], index), value)
        return context.get_dummy_value()

    return types.void(array, index, value), codegen


@intrinsic
def write_column(_typing_context, array, index, value):
    """Store lanes in column `index` of a C-contiguous float64 array of shape (LANES, n)."""

    def codegen(context, builder, signature, arguments):
        struct = context.make_array(signature.args[0])(context, builder, arguments[0])
        length = cgutils.unpack_tuple(builder, struct.shape, 2)[1]
        place = context.cast(builder, arguments[1], signature.args[1], types.intp)
        for lane in range(LANES):
            element = builder.extract_element(arguments[2], ir.IntType(32)(lane))
            builder.store(element, builder.gep(struct.data, [place]))
            place = builder.add(place, length)
        return context.get_dummy_value()

    return types.void(array, index, value), codegen


@intrinsic
def read_lanes(_typing_context, array, index):
    """Load lanes from row `index` of a C-contiguous float64 array of shape (n, LANES)."""

    def codegen(context, builder, signature, arguments):
        index = context.cast(builder, arguments[1], signature.args[1], types.intp)
        return load_vector(builder, *_row(context, builder, signature.args[0], arguments[0], index), LANES)

    return lanes(array, index), codegen


@intrinsic
def rules_together(_typing_context, rule, numbers):
    """Return one NamedTuple with the parameters of LANES models.

    It is `rule`, each float field of which is replaced by a row of `numbers`, the result of `numbers_of`.
    """
    kinds = [lanes if kind == types.float64 else kind for kind in rule]
    result = types.NamedTuple(kinds, rule.instance_class)

    def codegen(context, builder, signature, arguments):
        fields = []
        for i, kind in enumerate(kinds):
            if kind == lanes:
                place = _row(context, builder, signature.args[1], arguments[1], ir.IntType(64)(i))
                fields.append(load_vector(builder, *place, LANES))
            else:
                fields.append(builder.extract_value(arguments[0], i))
        return context.make_tuple(builder, result, fields)

    return result(rule, numbers), codegen
