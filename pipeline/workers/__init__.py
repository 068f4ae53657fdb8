"""Who runs the cells: threads of this process, or the workers of a Dask cluster."""
