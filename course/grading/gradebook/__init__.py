"""Read and write nbgrader's gradebook through nbgrader's own `Gradebook`."""
