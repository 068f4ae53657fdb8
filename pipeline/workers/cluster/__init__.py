"""Run cells on a Dask cluster: connect, prepare the workers, keep them supplied with cells."""
