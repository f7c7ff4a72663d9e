"""Examiner's notes on cost: attention in blocks and windows, a rolling cache, a roofline, and drafts that are checked.

Sizes differ from each other, so that no axis can stand in for another.
"""
