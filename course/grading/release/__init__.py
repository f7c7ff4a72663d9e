"""Release a course: notebooks without solutions, the wheel, and proof that the tests test."""
