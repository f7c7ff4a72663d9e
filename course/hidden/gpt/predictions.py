"""What the notebook on GPT has its reader predict."""

from __future__ import annotations

from course.exercise.prediction import Prediction, right, wrong

PREDICTIONS = (
    Prediction(
        "cache_of_a_large_model",
        "Llama 2 70B has 80 layers and 64 heads of 128, which share keys and values in 8 groups. A number takes two "
        "bytes. How much memory does the cache take for a text of 4,000 tokens?",
        wrong(
            "about 1 megabyte",
            "One token alone takes a third of that: 2 · 80 · 8 · 128 numbers of two bytes.",
        ),
        right(
            "about 1 gigabyte",
            "A token has keys and values in 80 layers, 8 groups and 128 numbers each. That is 163,840 numbers, or "
            "328 kilobytes, and 4,000 tokens take 1.3 gigabytes.",
        ),
        wrong(
            "about 10 gigabytes",
            "That is the cache with 64 groups, one for each head. The 8 groups make it 8 times smaller.",
        ),
    ),
    Prediction(
        "likeliest_of_four_at_half_the_temperature",
        "Four tokens have the probabilities 0.5, 0.3, 0.15 and 0.05. You halve the temperature. How likely is the "
        "first token now?",
        wrong(
            "0.5, as before",
            "Dividing logits by ½ doubles them, so it squares each probability, before they are normalised again.",
        ),
        right(
            "about 0.7",
            "Halving the temperature squares the probabilities: 0.25, 0.09, 0.0225 and 0.0025. The first one's share "
            "is 0.25 / 0.365 = 0.685.",
        ),
        wrong("1.0", "That is a temperature of zero, where the likeliest token is always taken."),
    ),
)
