"""Wrong answers to topic 09 that the hidden tests must notice, beyond the misconceptions they know by name.

Those with a catalogue row bear its name. A row that builds its own mask and its softmax in one is split here between
the exercises: a wrong mask in `combine_masks`, a wrong softmax in `masked_softmax`.
"""

WITHOUT_COUNTERPART = {
    "finite fill before the division by the root of d": "scores come in divided here; harmless with our fill besides",
    "-1e9 in half precision": "hidden tests run in float32 and float64, where CPUs compute; the notebook shows float16",
    "nan_to_num hiding a fully masked row": "after masked_fill all its values and gradients are right; after "
    "an added -inf the gradient is NaN, the misconception nan_in_the_gradient",
    "mask built on the CPU": "without a tensor input the result is on the CPU by convention; tasks run on any device",
    "MLM loss on all tokens": "labels_everywhere in mlm_corrupt; the loss itself is masked_cross_entropy",
    "e_ignore_eos": "the end mark is a word of the mask here, not of the loss",
    "a norm over the time axis": "no function of this topic has a norm; leaks_future and the task find it",
}
"""Catalogue rows of this topic that our signatures cannot express, and why."""
