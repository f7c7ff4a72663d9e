"""Examiner's notes on bags of words and CBOW: vocabulary, counts, windows, loss, logits, neighbours, word vectors.

Sizes are distinct primes, so that no axis can stand in for another. One case each shows what equal sizes hide.
"""
