"""Examiner's notes on self-attention: softmax, one word, all words, their cost, their order, and a list to remember.

Sizes are distinct primes, so that no axis can stand in for another. A square case each shows what square shapes hide.
"""
