"""Wrong answers to topic 03 that the hidden tests must notice, beyond the misconceptions they know by name."""

WITHOUT_COUNTERPART = {
    "no_detach_between_batches": "no exercise carries a state from one batch to the next",
    "clip_after_step": "`clip_grad_norm` is a function of gradients; when it is called shows in no value of it",
}
"""Catalogue rows of this topic that our signatures cannot express, and why."""
