"""Run a study's cells on a Dask cluster: connect, prepare the workers, give them cells."""
