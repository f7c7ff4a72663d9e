"""Where a course's files are, and how the cells of its notebooks are read."""
