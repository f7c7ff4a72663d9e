"""Wrong answers to topic 12 that the hidden tests must notice, beyond the misconceptions they know by name."""

WITHOUT_COUNTERPART = {
    "† def eval(self) overridden": "merge is a function here, and no mode of the layer: nothing to override",
    "† optimizer built before freezing": "no exercise builds an optimiser; in the task what has moved is counted",
    "† replacing while iterating": "on named_modules it is a right answer or an error, which any case notices",
    "oa_zeroA": "an accepted start elsewhere; ours asks for B = 0, as the paper does: the misconception ZeroIsA",
}
"""Catalogue rows of this topic that our signatures cannot express, and why."""
