"""Weights stored as a vector times a scale, so that shrinking all of them is one product."""

from ...numeric.compiled import register_jitable

# Below this scale, its inverse, by which updates are multiplied, would lose range.
SMALLEST_SCALE = 2.0**-300


@register_jitable
def folded(v, scale):
    """Return the scale of ``scale v``. A tiny one is multiplied into v, in d operations, and is 1 then."""
    if scale < SMALLEST_SCALE:
        v *= scale
        return 1.0
    return scale
