"""Examiner's notes on patches and the Vision Transformer: cutting, joining, embedding, sound, other grids, a model.

Images are never square where they need not be, they come in twos and threes, and have several channels: a cut in the
wrong order shows. Constant images would hide it, and so would a single patch.
"""
