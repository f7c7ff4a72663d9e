"""What the notebook on attention over a recurrent encoder has its reader predict."""

from course.exercise.prediction import Prediction, right, wrong

PREDICTIONS = (
    Prediction(
        "query_without_tanh",
        "Leave the tanh out, so that the score of a key is query + key. The keys are +1 and −1, and the query goes "
        "from −3 to 3. What happens to the difference of the two scores?",
        wrong(
            "It changes its sign where the query does.",
            "A product of query and key would do that. Here they are only added.",
        ),
        wrong(
            "It grows with the query.",
            "Both scores grow with the query, by the same amount. Subtract one from the other.",
        ),
        wrong(
            "It is large near 0 and vanishes for large queries.",
            "The tanh does that, because it is flat for large inputs. A plain sum is flat nowhere.",
        ),
        right(
            "It is 2 for every query.",
            "The query adds the same number to both scores, so it cancels. Softmax depends on differences only, so the "
            "query has no influence on the weights.",
        ),
    ),
    Prediction(
        "digits_beyond_training",
        "Both models are trained on numbers of 1 to 12 digits. How many numbers of 16 digits does the model with "
        "attention then write without an error?",
        wrong(
            "nearly all",
            "Each digit does have its own encoder state. But to fetch the 16th, the decoder must know that it has come "
            "to the 16th. Has it practised that?",
        ),
        wrong(
            "about half",
            "All 16 digits have to be right, and four of their positions were never trained. How likely is it that all "
            "four succeed?",
        ),
        right(
            "hardly any",
            "The digits are all there, in the encoder's states. But the decoder never had to find a position beyond "
            "the twelfth. Attention removes the bottleneck, but not the need for training.",
        ),
    ),
)
