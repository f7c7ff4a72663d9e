"""Examiner's notes on topic 01: windows, rows that sum to one, logarithms, dice, and a model judged by what it does."""
