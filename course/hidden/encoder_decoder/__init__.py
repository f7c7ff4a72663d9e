"""Examiner's notes on the Transformer: norms and layers, both stacks, decoding, the loss, and sentences to translate.

Constructors are given, so weights are loaded by name and values compared, in double precision. Sizes are distinct
primes where heads allow it (D = 6 with three heads); one case of each has T = S, where exchanged roles keep shapes.
"""
