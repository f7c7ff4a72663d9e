"""What the notebook on recurrent networks has its reader predict."""

from course.exercise.prediction import Prediction, right, wrong

PREDICTIONS = (
    Prediction(
        "own_tokens_in_training",
        "A second writer reads its own token at one position in ten while it trains (p = 0.9). Both writers then write "
        "a thousand sequences. Which one writes more impossible tokens?",
        wrong(
            "the first (p = 1)",
            "Practice with its own tokens sounds useful. But the target still follows the teacher's text, and the "
            "writer has read another.",
        ),
        wrong(
            "both about the same",
            "One token in ten is enough to leave a parenthesis without its partner. What does the next target close "
            "then?",
        ),
        right(
            "the second (p = 0.9)",
            "After a replaced token, the target often closes a parenthesis that the writer never read. It learns to "
            "close what is not open.",
        ),
    ),
    Prediction(
        "accuracy_beyond_training_lengths",
        "Your reader was trained on 6 to 16 tokens. How often is it right on 64?",
        wrong("about 90 %", "The weights are the same at every step. The hidden states it reaches are not."),
        wrong("about 70 %", "The best window of four tokens reaches that. Does your network look at windows?"),
        right(
            "about 50 %",
            "It never had to hold so many open parentheses, and its hidden state does not keep them apart.",
        ),
    ),
)
