"""What the compiler sees: how a function is compiled, vectors of lanes, rows of a stream."""
