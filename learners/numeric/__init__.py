"""Code that Numba compiles: compilation and its cache, vector arithmetic, rows, margins, counts."""
