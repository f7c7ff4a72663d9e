"""Take in what students hand in, from the zip to a submission that can be graded."""
