"""The processes that execute: on this machine, or on a Dask cluster."""
