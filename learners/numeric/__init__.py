"""Functions that Numba compiles: how they are compiled, vectors of lanes, rows of a stream."""
