"""Functions that a notebook calls: check, hint, predict, rubric, progress, fit, device, seed."""
