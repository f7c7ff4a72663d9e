"""What a notebook calls: check, hint, predict, rubric, progress, fit, device, seed."""
