"""Examiner's notes on pieces of words and on negative sampling: merges, codes, bits per byte, noise, skip-gram.

Texts are drawn, so that no merge can be written down, and hold what people forget: runs of one letter, ties, accents,
and characters of four bytes.
"""
