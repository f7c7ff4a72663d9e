"""Time and memory, measured on this machine: `make bench` prints every table, `python -m bench import_time` one.

Each module has a docstring whose first line is the table's title, and `rows()`: a header, then the measurements.
"""
