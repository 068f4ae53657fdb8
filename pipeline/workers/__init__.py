"""Run a study's cells, either in threads of this process or on the workers of a Dask cluster."""
