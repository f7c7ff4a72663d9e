"""Examiner's notes on GPT: its parts and their numbers, the model with its cache, how it writes, how it scales.

Sizes differ from each other, so that no axis can stand in for another.
"""
