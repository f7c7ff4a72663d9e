"""Everything that nbgrader calls, and that calls nbgrader's applications."""
