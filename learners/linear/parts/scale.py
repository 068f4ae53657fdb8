"""Weights stored as a vector times a scale, so that shrinking all of them takes one multiplication."""

from ...numeric.compiled import register_jitable

# A scale below this is multiplied into the vector. Updates are multiplied by 1/scale, which could overflow.
SMALLEST_SCALE = 2.0**-300


@register_jitable
def folded(v, scale):
    """Return the scale of ``w = scale v``. If it is tiny, multiply it into v (d operations) and return 1."""
    if scale < SMALLEST_SCALE:
        v *= scale
        return 1.0
    return scale
