"""What the notebook on n-grams has its reader predict."""

from course.exercise.prediction import Prediction, right, wrong

PREDICTIONS = (
    Prediction(
        "perplexity_with_unseen_pairs",
        "On the held-out text, the uniform model has a perplexity of 96, and the model of frequencies has about 24. "
        "Six in 1,000 pairs of neighbouring characters there never occurred in the training text. "
        "What is the perplexity of the matrix, without smoothing?",
        wrong(
            "about 12, because so few pairs hardly change a mean",
            "The matrix gives each of these pairs the probability 0. "
            "What is the logarithm of 0, and what does it do to a mean?",
        ),
        wrong(
            "about 24, because the frequencies decide where a pair is unseen",
            "That model would use a shorter context. This matrix has nothing but its row, and the row says 0.",
        ),
        wrong(
            "about 96, because the model knows nothing about an unseen pair",
            "The uniform model gives each pair 1/96, so it holds no pair impossible. "
            "The matrix gives an unseen pair the probability 0.",
        ),
        right(
            "infinite",
            "The logarithm of 0 is −∞, so the mean is −∞ as well. One unseen pair is enough.",
        ),
    ),
    Prediction(
        "longer_windows_on_both_texts",
        "The model of order n mixes the answers of all windows up to n tokens. "
        "As n grows from 1 to 8, what does its perplexity do?",
        wrong(
            "It falls on both texts, because a longer window only adds information.",
            "The mixture also gives weight to a long context that occurred once. "
            "How often does a new text go on in the same way?",
        ),
        wrong(
            "It falls on both texts at first and then rises, because long windows are rare.",
            "In the training text no window is unseen. Which of its contexts could mislead the model there?",
        ),
        right(
            "It falls on the training text. On the held-out text it falls at first and then rises.",
            "On the training text, a long context recalls what came next. "
            "On a new text, the model trusts long contexts that it saw too seldom.",
        ),
    ),
)
