"""Examiner's notes on hidden states: rules, three sums over paths, a linear predictor, convolutions, and CTC.

Sizes are distinct primes, and each function meets one square case. Tables of hidden Markov models hold zeros where a
case says so. A path is judged by its probability, because several may be equally good.
"""
