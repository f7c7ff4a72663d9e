"""A course goes out: notebooks without solutions, the wheel, and proof that the tests test."""
