"""Release a course: notebooks without solutions, the student wheel, and proof that the tests catch mistakes."""
