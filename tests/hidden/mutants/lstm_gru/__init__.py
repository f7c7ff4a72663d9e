"""Wrong answers to topic 04 that the hidden tests must notice, beyond the misconceptions they know by name."""

WITHOUT_COUNTERPART = {
    "l_no_bh": "PyTorch has two biases, we have one: a lost one is the misconception without_the_bias",
    "g_reset_before": "the catalogue's mutant is our reference (Cho 2014), and its reference our reset_after_U",
    "g_bias_outside_r": "it needs PyTorch's second bias: with one it is reset_after_U, or reset_after_U_and_bias",
    "bi-LSTM: flip over padding": "run_bidirectional has no lengths: every sequence is as long as the tensor",
    "layer 2 given layer 1's h0": "one layer a call; lstm_parameters asks what upper layers read",
    "forget bias written to both biases": "one bias a gate; forget_bias_built_in adds it where nobody asked",
}
"""Catalogue rows of this topic that our signatures cannot express, and why."""
