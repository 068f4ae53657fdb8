"""All that knows Dask: reaching a cluster, preparing its workers, keeping them fed with cells."""
