"""Examiner's notes on several heads: cutting and joining, attention in heads, the layer, its size, two relations.

B, T, S, the number of heads and the width of one are distinct primes, so that no axis can stand in for another; the
matrices are scaled so that softmax is neither flat nor hard. Square cases, and a batch as large as the number of heads,
show what such shapes hide.
"""
