"""Examiner's notes on linear time: linear attention, RWKV, state spaces, scans, and experts.

Sizes differ from each other, so that no axis can stand in for another.
"""
