"""Examiner's notes on pieces of words and on vectors by contrast: merges, codes, bits a byte, noise, skip-gram.

Texts are drawn, so that no merge can be written down, and hold what people forget: runs of one letter, ties, accents,
and characters of four bytes.
"""
