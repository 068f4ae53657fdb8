"""Limits of float64 that learners check."""

import numpy as np

# Below this, numbers lose digits and dividing by them may overflow.
SMALLEST_NORMAL = float(np.finfo(np.float64).tiny)
# The relative distance from 1 to the next number.
EPSILON = float(np.finfo(np.float64).eps)
