"""Tables for reading decimal numbers: powers of ten, five and two (Lemire 2021, "Number parsing at a gigabyte
per second")."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

# Powers of ten that float64 holds exactly.
EXACT_TENS = 10.0 ** np.arange(23)
# Of a number with at most 19 digits, the decimal exponents past which it is 0 or infinite.
SMALLEST_EXPONENT, LARGEST_EXPONENT = -342, 308


def powers_of_five() -> npt.NDArray[np.uint64]:
    """Return the leading 128 bits of 5^q, upper and lower half, for every decimal exponent.

    Returns
    -------
    ndarray of shape (651, 2), uint64
        Row ``q - SMALLEST_EXPONENT``. Rounded down; up for -27 <= q < 0, where a product may be exact.

    Examples
    --------
    >>> [hex(half) for half in powers_of_five()[1 - SMALLEST_EXPONENT].tolist()]
    ['0xa000000000000000', '0x0']
    """
    rows = []
    for q in range(SMALLEST_EXPONENT, LARGEST_EXPONENT + 1):
        power = 5 ** abs(q)
        if q < -27:
            power = 2 ** (2 * power.bit_length() + 128) // power + 1
        elif q < 0:
            power = 2 ** (power.bit_length() + 127) // power + 1
        shift = power.bit_length() - 128
        leading = power >> shift if shift >= 0 else power << -shift
        rows.append((leading >> 64, leading & (2**64 - 1)))
    return np.array(rows, dtype=np.uint64)


FIVES = powers_of_five()
# 2^(p - 1075) for the biased binary exponents p of normal float64: times a 53-bit mantissa it is the number.
TWOS = np.ldexp(1.0, np.arange(2047) - 1075)
