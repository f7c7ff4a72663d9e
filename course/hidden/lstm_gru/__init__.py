"""Examiner's notes on gates: one gate, LSTM, GRU, peepholes, two directions, and what they can be trained to do.

Sizes are distinct primes, so that no axis can stand in for another. D = H in one case each shows what square shapes
hide. States, cells and biases are never zero where they could tell two formulas apart.
"""
