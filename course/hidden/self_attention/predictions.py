"""What the notebook on self-attention has its reader predict."""

from course.exercise.prediction import Prediction, right, wrong

PREDICTIONS = (
    Prediction(
        "scores_without_scaling",
        "A query meets ten keys. All numbers are drawn with mean 0 and variance 1, and nothing is divided by √D. "
        "How large is the largest of the ten weights on average, for vectors of 1024 numbers?",
        wrong(
            "about 0.1, because nothing was learned yet",
            "That would need ten equal scores. A sum of 1024 random products is seldom near 0.",
        ),
        wrong(
            "about 0.3, whatever the width",
            "That holds once scores are divided by √D. Without it, they grow with the width.",
        ),
        right(
            "nearly 1",
            "The scores have a standard deviation of √1024 = 32. So the largest is often many units above the second, "
            "and each unit multiplies its weight by 2.7.",
        ),
    ),
    Prediction(
        "layers_that_ignore_order",
        "You shuffle the words of a sentence. For which layers are the outputs shuffled in the same way, and otherwise "
        "unchanged?",
        wrong(
            "for self-attention alone",
            "A linear layer reads each word by itself. What does it notice of a shuffle?",
        ),
        right(
            "for self-attention, and for a linear layer that reads each word by itself",
            "Self-attention sums over all words. The linear layer sees one word at a time. Neither knows a position.",
        ),
        wrong(
            "for self-attention, and for a recurrent network",
            "The hidden state after two words depends on which of them came first.",
        ),
        wrong("for none of them", "Does a sum over all words change when you reorder them?"),
    ),
)
