"""What students hand in, from the zip to a submission that may be graded."""
