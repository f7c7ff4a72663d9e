"""What the notebook on multi-head attention has its reader predict."""

from course.exercise.prediction import Prediction, right, wrong

PREDICTIONS = (
    Prediction(
        "score_products_of_eight_heads",
        "A layer is 512 wide, and a sentence has 70 words. With one head, its scores take 70 × 70 × 512 "
        "multiplications. How many do they take with eight heads?",
        wrong(
            "eight times as many, because eight heads compare all words",
            "Eight heads do compare all words. But how many numbers does each of their queries have?",
        ),
        right(
            "just as many",
            "Eight heads make 8 × 70 × 70 scores, and each adds up 512 / 8 = 64 products. 8 × 64 is 512 again.",
        ),
        wrong(
            "an eighth, because each query has only 64 numbers",
            "That is what one of the heads takes. How many heads are there?",
        ),
    ),
    Prediction(
        "questions_one_wide_head_answers",
        "Two heads of width 32 learned both questions. Now one head of width 64 trains, with as many parameters. "
        "What will it learn?",
        wrong(
            "both questions, because it has as many parameters",
            "Both layers do have as many parameters. How many distributions over the children has one head?",
        ),
        wrong(
            "about half of each question, because it looks at both children",
            "Then both numbers arrive in one sum, and a linear layer cannot tell whose they are. "
            "Training finds something better.",
        ),
        right(
            "most of one question, and little of the other",
            "One softmax gives one look. Most of it goes to one child, which answers that question in about nine "
            "cases of ten. The other question stays at about a quarter.",
        ),
        wrong(
            "neither question, because the two disturb each other",
            "Nothing keeps the head from looking at one of the two children alone.",
        ),
    ),
)
