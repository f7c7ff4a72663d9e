"""Examiner's notes on recurrent networks: one step, many steps, the way back, and what can be trained with it.

Sizes are distinct primes, so that no axis can stand in for another. Square cases show what square shapes hide.
"""
