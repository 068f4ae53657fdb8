"""Parse decimal numbers of text in compiled code, correctly rounded."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import sys

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from ....learners.numeric.compiled import INLINE, register_jitable

# Powers of ten that float64 represents exactly.
_EXACT_TENS = 10.0 ** np.arange(23)
# Decimal exponents beyond which a number of at most 19 digits is 0 or infinite.
_SMALLEST_EXPONENT, _LARGEST_EXPONENT = -342, 308


def _powers_of_five() -> npt.NDArray[np.uint64]:
    """Return a table whose row ``q - _SMALLEST_EXPONENT`` has the leading 128 bits of 5^q, as two uint64.

    The bits are rounded down, or up for -27 <= q < 0, where a product may be exact.
    """
    rows = []
    for q in range(_SMALLEST_EXPONENT, _LARGEST_EXPONENT + 1):
        power = 5 ** abs(q)
        if q < -27:
            power = 2 ** (2 * power.bit_length() + 128) // power + 1
        elif q < 0:
            power = 2 ** (power.bit_length() + 127) // power + 1
        shift = power.bit_length() - 128
        leading = power >> shift if shift >= 0 else power << -shift
        rows.append((leading >> 64, leading & (2**64 - 1)))
    return np.array(rows, dtype=np.uint64)


_FIVES = _powers_of_five()
# 2^(p - 1075) for each biased binary exponent p: a normal number is its 53-bit mantissa times this power.
_TWOS = np.ldexp(1.0, np.arange(2047) - 1075)
#: Outcomes of `read_number`: not a number; a number that was read; a number that Python's float must read.
WRONG, READ, HARD = 0, 1, 2

# Numba computes in uint64 only if both operands have that type.
_0, _1, _3, _7, _8, _9, _10, _16, _32, _64 = (np.uint64(n) for n in (0, 1, 3, 7, 8, 9, 10, 16, 32, 64))
_LAST_BYTE, _LOW_HALF, _NINE_BITS, _ALL = (
    np.uint64(0xFF),
    np.uint64(0xFFFFFFFF),
    np.uint64(0x1FF),
    np.uint64(0xFFFFFFFFFFFFFFFF),
)
_TWO_BITS, _2_TO_52, _2_TO_53, _63 = np.uint64(3), np.uint64(1 << 52), np.uint64(1 << 53), np.uint64(63)
_MINUS, _PLUS, _POINT, _E, _ZERO = (np.uint64(ord(each)) for each in "-+.e0")
# Masks and factors for eight digits at once; a byte that is 10 or more carries into its high bit.
_EIGHT_ZEROS, _CARRY_FROM_10 = np.uint64(0x3030303030303030), np.uint64(0x7676767676767676)
_HIGH_BITS, _PAIRS = np.uint64(0x8080808080808080), np.uint64(0x000000FF000000FF)
_UPPER_PAIRS, _LOWER_PAIRS = np.uint64(100 + (1_000_000 << 32)), np.uint64(1 + (10_000 << 32))
_POWERS = np.array([10**n for n in range(9)], dtype=np.uint64)
# A number of at most this many digits fits a uint64.
_MOST_DIGITS = np.uint64(19)


@register_jitable(**INLINE)
def byte(text, at):
    """Return a byte of a text as uint64."""
    return np.uint64(text[at])


@register_jitable(**INLINE)
def _product(a, b):
    """Return the upper and the lower half of the 128-bit product of two uint64."""
    a_high, a_low, b_high, b_low = a >> _32, a & _LOW_HALF, b >> _32, b & _LOW_HALF
    middle = a_high * b_low + ((a_low * b_low) >> _32)
    carry = a_low * b_high + (middle & _LOW_HALF)
    return a_high * b_high + (middle >> _32) + (carry >> _32), a * b


@register_jitable
def _nearest(w, q):
    """Return the float64 nearest to w·10^q for a uint64 w, and whether the result is certain.

    It is certain for zero, but never for subnormal and infinite numbers. Lemire 2021, "Number parsing at a
    gigabyte per second", Algorithm 1.
    """
    if w == _0:
        return 0.0, True
    if q < _SMALLEST_EXPONENT or q > _LARGEST_EXPONENT:
        return 0.0, False
    zeros = np.int64(0)
    for step in (32, 16, 8, 4, 2, 1):
        if w >> np.uint64(64 - step) == _0:
            w <<= np.uint64(step)
            zeros += step
    high, low = _product(w, _FIVES[q - _SMALLEST_EXPONENT, 0])
    # The lower half of 5^q matters only if all bits of `high` below the 55 leading bits are 1.
    if high & _NINE_BITS == _NINE_BITS:
        second, _ = _product(w, _FIVES[q - _SMALLEST_EXPONENT, 1])
        low += second
        if second > low:
            high += _1
    if low == _ALL and not -27 <= q <= 55:
        return 0.0, False
    upper = high >> _63
    shift = upper + _9
    mantissa = high >> shift
    # (217706 q) / 2^16, rounded down, is the binary exponent of 10^q.
    power = ((217706 * q) >> 16) + 1086 + np.int64(upper) - zeros
    if power <= 0:
        return 0.0, False
    # Exactly half-way between two numbers: round to even.
    if low <= _1 and -4 <= q <= 23 and mantissa & _TWO_BITS == _1 and mantissa << shift == high:
        mantissa &= ~_1
    mantissa = (mantissa + (mantissa & _1)) >> _1
    if mantissa >= _2_TO_53:
        mantissa = _2_TO_52
        power += 1
    if power >= 2047:
        return 0.0, False
    return np.float64(np.int64(mantissa)) * _TWOS[power], True


@intrinsic
def _eight_bytes(_typing_context, text, at):
    """Return eight bytes of a text from a position on as a little-endian uint64."""

    def codegen(context, builder, signature, arguments):
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        address = builder.bitcast(builder.gep(array.data, [arguments[1]]), ir.IntType(64).as_pointer())
        value = builder.load(address)
        value.align = 1
        # Big-endian processors (s390x) load the bytes in reverse order, so swap them.
        return value if sys.byteorder == "little" else builder.bswap(value)

    return types.uint64(text, types.uint64), codegen


@intrinsic
def _trailing_zeros(_typing_context, bits):
    """Return the number of zero bits below the lowest one; 64 for 0."""

    def codegen(_context, builder, _signature, arguments):
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.uint64(types.uint64), codegen


@intrinsic
def _separators(_typing_context, text, at):
    """Return a bit for each of the 64 bytes from a position on, the first in the lowest bit.

    The bit is 1 for white space, control characters, ":" and "#".
    """

    def codegen(context, builder, signature, arguments):
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        kind = ir.VectorType(ir.IntType(8), 64)
        address = builder.bitcast(builder.gep(array.data, [arguments[1]]), kind.as_pointer())
        each = builder.load(address)
        each.align = 1
        found = builder.icmp_unsigned("<=", each, ir.Constant(kind, [ord(" ")] * 64))
        for other in b":#":
            found = builder.or_(found, builder.icmp_unsigned("==", each, ir.Constant(kind, [other] * 64)))
        bits = builder.bitcast(found, ir.IntType(64))
        return bits if sys.byteorder == "little" else builder.bitreverse(bits)

    return types.uint64(text, types.uint64), codegen


@register_jitable(**INLINE)
def find_separators(text, positions):
    """Write the positions of white space, control characters, ":" and "#" in order to `positions`.

    The 64 bytes after the text must be readable.
    """
    n = np.uint64(text.shape[0])
    count = 0
    for start in range(0, text.shape[0], 64):
        at = np.uint64(start)
        found = _separators(text, at)
        if n - at < _64:
            found &= (_1 << (n - at)) - _1
        while found:
            positions[count] = at + _trailing_zeros(found)
            count += 1
            found &= found - _1


@register_jitable(**INLINE)
def _larger_than_9(eight):
    """Return a mask with the high bit of each byte above 9; bits after the first set one may be wrong."""
    return ((eight + _CARRY_FROM_10) | eight) & _HIGH_BITS


@register_jitable(**INLINE)
def _joined(eight):
    """Return the number that eight digits form, one per byte, the first in the lowest (Lemire, section 5)."""
    eight = eight * _10 + (eight >> _8)
    return ((eight & _PAIRS) * _UPPER_PAIRS + ((eight >> _16) & _PAIRS) * _LOWER_PAIRS) >> _32


@register_jitable(**INLINE)
def digits_from(text, at, number):
    """Append the digits at a position to a number, modulo 2^64; return (position after them, number).

    Eight bytes are taken at once, because in a loop over digits the last branch would be mispredicted.
    """
    while True:
        # Digits become 0 to 9. The first larger byte ends them; carries into later bytes do not matter.
        eight = _eight_bytes(text, at) ^ _EIGHT_ZEROS
        n = _trailing_zeros(_larger_than_9(eight)) >> _3
        if n == _0:
            return at, number
        # Leading zeros come first in memory, so they are the low bytes.
        number = number * _POWERS[n] + _joined(eight << (_64 - (n << _3)))
        at += n
        if n < _8:
            return at, number


@register_jitable(**INLINE)
def read_short(text, start, stop):
    """Return the number between two positions, and `READ`, or `WRONG` if `read_number` must decide.

    The function reads numbers of at most eight bytes after the sign, without exponent. No branch depends on
    the form of the number, since it would be mispredicted.
    """
    negative = byte(text, start) == _MINUS
    start += np.uint64(negative)
    # The last digit becomes the last byte; zero bytes come before the first digit.
    n = stop - start
    eight = (_eight_bytes(text, start) ^ _EIGHT_ZEROS) << (((_8 - n) << _3) & _63)
    # Only the decimal point may be a byte above 9; `one` is the lowest bit of that byte, 0 without a point.
    one = _larger_than_9(eight) >> _7
    has_point = np.uint64(one != _0)
    below = one - _1
    point = one * _LAST_BYTE
    digits = ((eight & below) << (has_point << _3)) | (eight & ~(below | point))
    good = (eight & point) == one * (_POINT ^ _ZERO) and one & below == _0 and _0 < n - has_point < _9
    n_decimals = (_7 - (_trailing_zeros(one) >> _3)) * has_point
    value = np.float64(np.int64(_joined(digits))) / _EXACT_TENS[n_decimals]
    return -value if negative else value, READ if good and n < _9 else WRONG


@register_jitable(**INLINE)
def read_number(text, at):
    """Read the number at a position; return (position after it, value, outcome `WRONG`, `READ` or `HARD`).

    `text` is uint8 and ends with a line end, where every number stops. `at` is uint64.
    """
    negative = byte(text, at) == _MINUS
    if negative or byte(text, at) == _PLUS:
        at += _1
    start = at
    at, mantissa = digits_from(text, at, _0)
    n_digits = at - start
    exponent = np.int64(0)
    if byte(text, at) == _POINT:
        at += _1
        fraction = at
        at, mantissa = digits_from(text, at, mantissa)
        exponent -= np.int64(at - fraction)
        n_digits += at - fraction
    if n_digits == _0:
        return at, 0.0, WRONG
    if n_digits > _MOST_DIGITS:
        # Leading zeros do not count.
        first = start
        while byte(text, first) == _ZERO or byte(text, first) == _POINT:
            n_digits -= np.uint64(byte(text, first) == _ZERO)
            first += _1
    if byte(text, at) | _32 == _E:
        at += _1
        down = byte(text, at) == _MINUS
        if down or byte(text, at) == _PLUS:
            at += _1
        begin = at
        at, power = digits_from(text, at, _0)
        if at == begin:
            return at, 0.0, WRONG
        if at - begin > _8:
            # The exponent has leading zeros, or makes the number 0 or infinite.
            return at, 0.0, HARD
        exponent += -np.int64(power) if down else np.int64(power)
    if n_digits > _MOST_DIGITS:
        return at, 0.0, HARD
    if mantissa <= _2_TO_53 and -22 <= exponent <= 22:
        # An exact mantissa multiplied or divided by an exact power is rounded only once (Clinger 1990).
        value = np.float64(np.int64(mantissa))
        value = value * _EXACT_TENS[exponent] if exponent >= 0 else value / _EXACT_TENS[-exponent]
    else:
        value, certain = _nearest(mantissa, exponent)
        if not certain:
            return at, 0.0, HARD
    return at, -value if negative else value, READ
