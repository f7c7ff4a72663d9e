"""What the notebook on the Transformer has its reader predict."""

from course.exercise.prediction import Prediction, right, wrong

PREDICTIONS = (
    Prediction(
        "best_lead_under_smoothing",
        "The right word's logit is above all others by 2, 4, 6, 8, 12 or 20. With label smoothing of 0.1, which lead "
        "has the lowest loss?",
        wrong(
            "20, because the model is surest of the right word",
            "That holds without smoothing. With it, each of the other 250 words has a share of the target, too. What "
            "does the loss ask for a word with a probability of nearly 0?",
        ),
        right(
            "8",
            "The target gives the right word about 0.9 and the others about 0.1 together. Among 251 words, a lead of 8 "
            "comes closest to that. Any larger lead makes the others too improbable.",
        ),
        wrong(
            "2, because smoothing punishes confidence",
            "It punishes too much of it. With a lead of 2, the right word has a probability of 0.03, and the target "
            "asks for 0.9.",
        ),
    ),
    Prediction(
        "recurrent_layer_on_one_thread",
        "One text of 512 tokens goes through a GRU and through a Transformer layer, forwards and backwards, on one "
        "thread of a CPU. The Transformer layer has twice as many weights. Which one takes longer?",
        wrong(
            "The Transformer layer, because it does more arithmetic",
            "It does, with its larger weights and 512 x 512 scores a head. But how many separate computations does "
            "each of the two start?",
        ),
        wrong(
            "Both take about as long, because one thread does everything one after the other anyway",
            "One thread does, but it is fast within a large matrix product and slow in starting many tiny ones.",
        ),
        right(
            "The GRU, several times as long",
            "It takes 512 steps, and each is a tiny product that has to be started by itself. The Transformer layer "
            "does its arithmetic in a few large products.",
        ),
    ),
)
