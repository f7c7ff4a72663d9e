"""Wrong answers to topic 10 that the hidden tests must notice, beyond the misconceptions they know by name."""

WITHOUT_COUNTERPART = {
    "i_noshift": "shift_right is an exercise of topic 05; here it is a mistake of the task's loop, tests/training",
    "i_twice": "as i_noshift",
    "i_noeos": "as i_noshift; tests/training has a loop that forgets eos",
    "i_nobos": "as i_noshift",
    "i_eos_end": "as i_noshift",
    "i_eos_in": "as i_noshift",
    "i_roll": "as i_noshift",
    "i_label_bos": "as i_noshift",
    "e_ignore_eos": "the caller's mask decides which tokens count; tests/training has a loop that forgets eos",
    "e_nll_logits": "as without_a_softmax",
    "q_keep_eos": "here the answer holds eos; the opposite mistake is a misconception, without_eos",
    "q_no_cut": "as q_keep_after_eos: the answer is a tensor, padded",
    "y_m1": "reading the last real state is an exercise of topic 03, ElmanClassifier",
    "y_l": "as y_m1",
    "y_max": "as y_m1",
    "y_diag": "as y_m1",
    "y_mean": "as y_m1",
    "y_gather_T": "as y_m1",
    "y_first": "as y_m1",
    "y_minus2": "as y_m1",
    "top-p with an exclusive cut": "no sampling here; temperature stands in topic 03",
    "coin per sentence": "scheduled sampling is scheduled_inputs of topic 03",
}
"""Catalogue rows of this topic that our signatures cannot express, and why."""
