"""Show rubrics of `course.toml` in formgrader: criteria that a grader selects, and who saved what."""
