"""Examiner's notes on the inside of a model: what its stream says, which part matters, and how sure a test can be.

Sizes are different primes, so that no axis can stand in for another.
"""
