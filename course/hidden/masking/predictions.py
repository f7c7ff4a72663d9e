"""What the notebook on masks has its reader predict."""

from course.exercise.prediction import Prediction, right, wrong

PREDICTIONS = (
    Prediction(
        "padding_under_a_causal_mask",
        "Without a mask, the outputs for the ducks' sentence moved by up to 0.305 when a longer sentence joined the "
        "batch. Now the layer gets the causal mask alone. How far do these outputs move?",
        wrong(
            "by about 0.3 again, because nothing hides the padding",
            "Look at the causal picture above. Which columns may the words of the sentence look at, and where does the "
            "padding stand?",
        ),
        wrong(
            "by about half as much, because the mask hides about half of all positions",
            "Count for each word how many positions of padding the causal picture allows it.",
        ),
        wrong(
            "only the output of the last word, the full stop, still moves",
            "The full stop may look at itself and at what stands before it. Where does the padding stand?",
        ),
        right(
            "not at all, up to rounding",
            "All the padding stands to the right of the sentence, and no word looks to its right. So the causal mask "
            "hides this padding as well.",
        ),
    ),
    Prediction(
        "loss_without_a_causal_mask",
        "The best possible loss of an honest model is 2.59 nats a word. You train your model without the causal mask. "
        "Where does its training loss end?",
        wrong(
            "near 2.6, because no model can predict this language better",
            "That is the best for a model that reads only the words before. What else does this model read?",
        ),
        wrong(
            "near 1.8, like the best prediction of a word from both sides",
            "There the word itself was not among the inputs. Write a row of inputs and a row of targets below each "
            "other. Where does each target stand?",
        ),
        right(
            "near 0",
            "Each target is also an input, one position to the right. Attention has to copy it, and nothing more.",
        ),
        wrong(
            "above 2.7, because later words distract the model",
            "Training strengthens whatever lowers the loss. Which input gives the target away?",
        ),
    ),
)
