"""Wrong answers to topic 06 that the hidden tests must notice, beyond the misconceptions they know by name."""

WITHOUT_COUNTERPART = {
    "s_dim1_default": "the same function as s_dim_q under another name",
    "mask_inverted": "no mask here: topic 09",
    "mask_zero": "no mask here: topic 09",
    "mask_mult": "no mask here: topic 09",
    "mask_after_softmax": "no mask here: topic 09",
    "mask_small_neg": "no mask here: topic 09",
    "mask_transposed": "no mask here: topic 09",
    "mask_before_scale_finite": "no mask here: topic 09",
    "ignore_mask": "no mask here: topic 09",
}
"""Catalogue rows of this topic that our signatures cannot express, and why."""
