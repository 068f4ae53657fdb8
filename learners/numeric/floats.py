"""The limits of float64 that learners watch."""

import numpy as np

# Below it a number loses digits, and what is divided by it may overflow.
SMALLEST_NORMAL = float(np.finfo(np.float64).tiny)
# The relative distance of 1 to the next number.
EPSILON = float(np.finfo(np.float64).eps)
