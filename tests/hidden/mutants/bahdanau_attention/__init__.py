"""Wrong answers to topic 05 that the hidden tests must notice, beyond the misconceptions they know by name."""

WITHOUT_COUNTERPART = {
    "b_proj_values": "attend gets its values from outside; a translator may well keep projected ones",
    "s_t for s_{t-1}": "Luong's timing is a published convention, which AttentionSeq2Seq accepts (LuongsTiming)",
    "b_scaled, b_relu, b_sep_tanh, b_no_tanh, b_repeat_mix": "misconceptions of additive_scores, by other names",
    "b_dim0, b_mask_after, b_mask_zero, b_mask_inv, b_mean": "all are misconceptions of attend, by other names",
}
"""Catalogue rows of this topic that are no mutants here, and why."""
