"""How `hint` helps with the written question on the Transformer. No hint gives an answer."""

HINTS = (
    "Write the words of a French sentence under `tgt_in` and under the targets. Which columns can you compute "
    "before any other is finished? Ask the same of `decode_greedy`.",
    "Train for a few hundred batches without the causal mask, as a `variant`. Write down the loss and one translation.",
    "List every tensor that `decode_greedy` computes for the fifth word. Mark those that were the same for the fourth.",
)
