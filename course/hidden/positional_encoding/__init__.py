"""Examiner's notes on positional encoding: the table, its shift, a learned one, RoPE, ALiBi, what they are good for.

Answers make their own constants, often in float32, so tolerances grow with the largest position. Offsets, widths and
lengths differ; a width of two hides a wrong exponent, so it never stands alone.
"""
