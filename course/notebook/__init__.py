"""What a notebook calls: check, hint, progress, fit, device, seed."""
