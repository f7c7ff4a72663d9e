"""What the notebook on LoRA has its reader predict."""

from course.exercise.prediction import Prediction, right, wrong

PREDICTIONS = (
    Prediction(
        "gradients_with_both_factors_zero",
        "A LoRA layer starts with A and B both at zero. Which of the two gets a gradient other than zero in the first "
        "step?",
        wrong(
            "A and B, because the loss is not zero",
            "The gradient of B is multiplied by A, and that of A by B. How large are those two?",
        ),
        wrong(
            "B alone, as it should be",
            "That holds when A is random. Here the numbers that A gives to B are all zero.",
        ),
        right(
            "neither",
            "Each gradient contains the other matrix as a factor, and both are zero. So neither ever moves.",
        ),
    ),
    Prediction(
        "accuracy_of_biases_and_rank_one",
        "The untouched reader reads 12 % of the negatives. One copy trained its 810 biases. Another trained updates "
        "of rank 1 in every layer, with 1,120 numbers. What share of the negatives does each read?",
        wrong(
            "about the same, because they train about as many numbers",
            "The count does not say what the numbers can do. Can a bias change the sign of a weight?",
        ),
        right(
            "the biases about half, rank 1 about nine tenths",
            "Biases can only shift the outputs of a layer. Even one column and one row can turn a direction round, "
            "and a negative needs that.",
        ),
        wrong(
            "the biases about nine tenths, rank 1 about half",
            "Rank 1 is small, but it changes weights in every layer. A bias adds the same vector to every input.",
        ),
        wrong(
            "both stay near 12 %",
            "All these numbers were trained on 30,000 images. Would a shift in every layer help nothing at all?",
        ),
    ),
)
