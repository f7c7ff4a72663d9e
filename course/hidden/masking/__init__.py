"""Examiner's notes on masks: what a query may look at, what is counted, what is hidden, and a model that must not peek.

Sizes are distinct primes; the batch is ragged and holds a full sentence and a short one; what lies behind a mask is
noise, and now and then enormous. `mlm_corrupt` is judged by its laws and its frequencies, the language model against
the grammar itself.
"""
