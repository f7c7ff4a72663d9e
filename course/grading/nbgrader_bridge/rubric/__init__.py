"""Rubrics of `course.toml` in formgrader: criteria that a grader takes, and who saved what."""
