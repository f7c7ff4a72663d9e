"""Examiner's notes on attention over a recurrent encoder: scores, weighted means, teacher forcing, a whole translator.

Sizes are distinct primes, so that no axis can stand in for another. Queries and keys of one width appear once each, to
show what square shapes hide. Masks are ragged, and what stands behind them is never zero.
"""
