"""What the notebook on Vision Transformers has its reader predict."""

from course.exercise.prediction import Prediction, right, wrong

PREDICTIONS = (
    Prediction(
        "digits_without_positions",
        "The second model has no positional embeddings. Move all 16 patches of every held-out image to other places. "
        "How many digits does this model still recognise?",
        wrong(
            "about 10 %, as by guessing",
            "A patch still shows a bend, a crossing or an end of a stroke. The model reads all sixteen patches.",
        ),
        wrong(
            "about half, because the shapes are destroyed",
            "This model never had the order, in training or now. What does it lose when you change the order?",
        ),
        right(
            "about 90 %, as many as with the patches in order",
            "It sees a set of sixteen patches, and a set has no order. The parts of strokes alone tell most digits "
            "apart.",
        ),
    ),
    Prediction(
        "vit_or_linear_model",
        "Both models learn from centred scans alone. Which recognises more held-out scans after training on 20 scans, "
        "about two of each digit?",
        wrong(
            "the ViT, because it has far more parameters",
            "More parameters can represent more. Can 20 scans tell the ViT which of these possibilities is right?",
        ),
        wrong(
            "the ViT, because patches show the shape of strokes",
            "A new ViT does not know what a stroke is. It has to learn that from the same 20 scans.",
        ),
        wrong(
            "neither, both are about equal",
            "With about 200 scans that is true. With 20, it matters how much a model still has to learn.",
        ),
        right(
            "the linear model, by far",
            "It can only learn a weight for each pixel and class. For centred scans this limit is a help, because it "
            "needs few examples.",
        ),
    ),
)
