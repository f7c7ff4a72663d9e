"""Wrong answers to topic 02 that the hidden tests must notice, beyond the misconceptions they know by name.

The catalogue's CBOW pads the ends of a text; ours keeps to words that have all their neighbours.
"""

WITHOUT_COUNTERPART = {
    "c_mean_zero_pads": "no padding here: only words that have all their neighbours are targets",
}
"""Catalogue rows of this topic that our signatures cannot express, and why."""
