"""Execute tasks in worker processes on this machine, or on a Dask cluster."""
