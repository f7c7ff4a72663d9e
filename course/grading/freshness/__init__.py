"""Fingerprints of what decides a result. When one changes, work is executed or judged again."""
