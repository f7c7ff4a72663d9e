"""A class as a term brings it: three topics, thirty hand-ins, an instructor's own cells, late work, points by hand.

`python -m tests.mixed_class` makes the class, grades it by the commands an instructor types, and compares what came of
it with `results.json`; `--write` writes that file anew. What is restructured must leave it as it is, to the digit.
"""
