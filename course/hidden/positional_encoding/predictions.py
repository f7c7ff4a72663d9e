"""What the notebook on positional encoding has its reader predict."""

from course.exercise.prediction import Prediction, right, wrong

PREDICTIONS = (
    Prediction(
        "size_of_word_times_position",
        "A word is a vector of 512 random numbers with mean 0 and variance 1, so its dot product with itself is about "
        "512. How large, typically, is its dot product with the sinusoidal vector of a position?",
        wrong(
            "about 250, half as large",
            "That is the product of two neighbouring positions, whose vectors are similar. A word has nothing in "
            "common with a position. What signs do their 512 products have?",
        ),
        right(
            "about 16, or 3 %",
            "It adds 512 products with random signs and a mean square of 1/2. They nearly cancel, and the typical size "
            "of their sum is √(512 / 2) = 16.",
        ),
        wrong(
            "exactly 0",
            "The vectors are random, and random vectors are seldom exactly at right angles. How large is the sum of "
            "512 random signs, typically?",
        ),
    ),
    Prediction(
        "accuracy_beyond_trained_length",
        "The models learned the echo on lists of 16 letters. Which of them get at least 9 of 10 letters right on lists "
        "of 64?",
        wrong(
            "RoPE and sinusoidal, because both exist at every position",
            "The sinusoidal vectors exist at position 60, but training never showed them to the layer. Did anything "
            "force it to read the first 16 in a way that also holds further on?",
        ),
        wrong(
            "RoPE and ALiBi, because both use the distance alone",
            "ALiBi treats long lists as it treats short ones. But its weights only fall with the distance. Can they "
            "single out the third position back?",
        ),
        right(
            "RoPE alone",
            "Its scores depend on the distance alone, and any distance can win. What it learned about positions 5 and "
            "2 holds for 60 and 57, too.",
        ),
        wrong(
            "none of them",
            "A score of RoPE depends on the distance alone. What differs, for RoPE, between positions 5 and 2 and "
            "positions 60 and 57?",
        ),
    ),
)
