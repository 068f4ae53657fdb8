"""Parse decimal numbers in text, in compiled code, to the nearest float64."""

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
# Smallest and largest decimal exponent with which some number of at most 19 digits is not 0 or infinite.
_SMALLEST_EXPONENT, _LARGEST_EXPONENT = -342, 308


def _powers_of_five() -> npt.NDArray[np.uint64]:
    """Return a table whose row ``q - _SMALLEST_EXPONENT`` has the leading 128 bits of 5^q, as two uint64.

    The bits are rounded down, except for -27 <= q < 0, where Lemire's algorithm (see `_nearest`) needs them
    rounded up to recognize exact results.
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
#: Outcomes of `read_number`. WRONG: the text is not a number. READ: the value is right. HARD: the text is a
#: number, but Python's float must parse it.
WRONG, READ, HARD = 0, 1, 2

# Constants as uint64, since Numba computes in uint64 only if both operands have that type.
_0, _1, _3, _7, _8, _9, _10, _16, _32, _64 = (np.uint64(n) for n in (0, 1, 3, 7, 8, 9, 10, 16, 32, 64))
_LAST_BYTE, _LOW_HALF, _NINE_BITS, _ALL = (
    np.uint64(0xFF),
    np.uint64(0xFFFFFFFF),
    np.uint64(0x1FF),
    np.uint64(0xFFFFFFFFFFFFFFFF),
)
_TWO_BITS, _2_TO_52, _2_TO_53, _63 = np.uint64(3), np.uint64(1 << 52), np.uint64(1 << 53), np.uint64(63)
_MINUS, _PLUS, _POINT, _E, _ZERO = (np.uint64(ord(each)) for each in "-+.e0")
# Masks and factors to parse eight digits at once, as the bytes of a uint64. Adding `_CARRY_FROM_10` sets the
# high bit of each byte that is 10 or more.
_EIGHT_ZEROS, _CARRY_FROM_10 = np.uint64(0x3030303030303030), np.uint64(0x7676767676767676)
_HIGH_BITS, _PAIRS = np.uint64(0x8080808080808080), np.uint64(0x000000FF000000FF)
_UPPER_PAIRS, _LOWER_PAIRS = np.uint64(100 + (1_000_000 << 32)), np.uint64(1 + (10_000 << 32))
_POWERS = np.array([10**n for n in range(9)], dtype=np.uint64)
# Largest number of digits with which every number fits in a uint64.
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
    """Return the float64 nearest to w·10^q for a uint64 w, and whether it is certainly the nearest one.

    Subnormal and infinite results are never certain. Lemire 2021, "Number parsing at a gigabyte per second",
    Algorithm 1.
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
    # The lower half of 5^q can change the result only if all bits of `high` below its 55 leading bits are 1.
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
    # If the value is exactly half-way between two float64 numbers, round to even.
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
    """Return the eight bytes of a text from position `at` on, as a little-endian uint64."""

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
    """Return the number of zero bits below the lowest bit that is 1; 64 if no bit is 1."""

    def codegen(_context, builder, _signature, arguments):
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.uint64(types.uint64), codegen


@intrinsic
def _separators(_typing_context, text, at):
    """Return a uint64 whose bits mark the separators in the 64 bytes from position `at` on.

    The lowest bit is for the first byte. Separators are white space, control characters, ":" and "#".
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

    The 64 bytes after the text must be readable, because 64 bytes are compared at once.
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
    """Set the high bit of each byte that is above 9; only the lowest set bit of the result is reliable."""
    return ((eight + _CARRY_FROM_10) | eight) & _HIGH_BITS


@register_jitable(**INLINE)
def _joined(eight):
    """Return the number with the eight digits in the bytes of a uint64, the first digit in the lowest byte.

    The method is that of Lemire 2021, section 5.
    """
    eight = eight * _10 + (eight >> _8)
    return ((eight & _PAIRS) * _UPPER_PAIRS + ((eight >> _16) & _PAIRS) * _LOWER_PAIRS) >> _32


@register_jitable(**INLINE)
def digits_from(text, at, number):
    """Append the digits in a text from position `at` on to a number; return (position after them, number).

    The number is computed modulo 2^64. The function reads eight bytes at once, because the processor would
    mispredict the end of a loop over digits.
    """
    while True:
        # XOR turns digits into 0 to 9. The first byte above 9 ends the digits; later marks do not matter.
        eight = _eight_bytes(text, at) ^ _EIGHT_ZEROS
        n = _trailing_zeros(_larger_than_9(eight)) >> _3
        if n == _0:
            return at, number
        # Shift the n digits to the high bytes; the zeros that fill the low bytes act as leading zeros.
        number = number * _POWERS[n] + _joined(eight << (_64 - (n << _3)))
        at += n
        if n < _8:
            return at, number


@register_jitable(**INLINE)
def read_short(text, start, stop):
    """Return the number between two positions, and `READ`, or `WRONG` if `read_number` must parse it.

    The function reads numbers of at most eight bytes after the sign, without exponent. It has no branches
    that depend on the number's digits, since the processor would mispredict them.
    """
    negative = byte(text, start) == _MINUS
    start += np.uint64(negative)
    # Shift the n characters so that the last is the highest byte; zeros in the low bytes are leading zeros.
    n = stop - start
    eight = (_eight_bytes(text, start) ^ _EIGHT_ZEROS) << (((_8 - n) << _3) & _63)
    # The only byte above 9 may be a decimal point; `one` is the lowest bit of that byte, 0 without a point.
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
        # Do not count leading zeros as digits, since they do not change the number.
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
            # Leave an exponent of more than eight digits to Python: it has leading zeros or is extreme.
            return at, 0.0, HARD
        exponent += -np.int64(power) if down else np.int64(power)
    if n_digits > _MOST_DIGITS:
        return at, 0.0, HARD
    if mantissa <= _2_TO_53 and -22 <= exponent <= 22:
        # Mantissa and power of ten are exact, so their product or quotient is rounded once (Clinger 1990).
        value = np.float64(np.int64(mantissa))
        value = value * _EXACT_TENS[exponent] if exponent >= 0 else value / _EXACT_TENS[-exponent]
    else:
        value, certain = _nearest(mantissa, exponent)
        if not certain:
            return at, 0.0, HARD
    return at, -value if negative else value, READ
