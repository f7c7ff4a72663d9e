"""Examiner's notes on fine-tuning with few parameters: the layer, merging, injecting, counting, and the best low rank.

Layers are never square, alpha is never r, and every base that can have a bias has one: an update of the wrong strength,
on the wrong side, or with a second bias shows. Models carry what real ones do: norms, tied weights, buffers, names that
contain other names. What an answer changes in a model is read back by name, and its count beside it.
"""
