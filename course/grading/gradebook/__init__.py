"""What nbgrader's gradebook holds, read and written through nbgrader's own `Gradebook`."""
