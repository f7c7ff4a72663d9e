"""How `hint` helps with the written question on Vision Transformers. No hint gives an answer."""

from course.hidden.written import Question

HINTS = (
    "Cut a 6 and a 9 into patches on paper, and put the pieces of each into a bag. Mix each bag. Which digits "
    "could you still tell apart?",
    "Look up in this notebook how many scans the ViT was trained on, and how well the linear model did. Compare "
    "with your friend's leaves.",
    'Begin your advice with "For each tree there are … photographs, and in all of them the leaf …, so I would …".',
)

CRITERIA = (
    "Says what the encoder sees without positional embeddings, and why a puzzle gets the same answer.",
    "Says what that still tells about a digit, and what only the positions add.",
    "Compares what a ViT has to learn from examples with the number of photographs.",
    "Gives advice that fits these photographs, with a reason.",
)

OTHERS = (
    Question(
        prompt=(
            "A Vision Transformer reads pictures of 224 by 224 pixels in patches of 16 by 16. A friend wants "
            'patches of 8 by 8 "to see more".\n\n'
            "How many tokens are there before and after? What becomes of the cost of the scores, and of the cost of "
            "everything else? What could the friend gain, and what happens at the two extremes, patches of one "
            "pixel and one patch for the whole picture? Write four to six sentences."
        ),
        answer=(
            "With patches of 16 there are 14 by 14, so 196 tokens, and with patches of 8 there are 28 by 28, so 784 "
            "(the `[CLS]` token is one more in both). The scores grow with the square of the number of tokens, so "
            "they cost 16 times as much. The feed-forward networks and projections work token by token and cost "
            "four times as much. The friend gains tokens that say more precisely where something is, which helps if "
            "small things matter, such as a crack or a letter. With patches of one pixel every token is nearly "
            "empty, there are 50,176 of them, and more than two and a half thousand million scores in each head. "
            "With one patch for the whole picture there is a single token, attention has nothing to compare, and "
            "the linear layer at the beginning would have to recognise everything by itself."
        ),
        criteria=(
            "Counts the tokens before and after.",
            "Gives a factor for the scores, and another one for the rest.",
            "Names what the friend could gain, with a case in which it matters.",
            "Says what goes wrong at each of the two extremes.",
        ),
        hints=(
            "Count the patches along one side first.",
            "Which parts of the encoder look at pairs of tokens, and which look at one token at a time?",
        ),
    ),
    Question(
        prompt=(
            "The Audio Spectrogram Transformer treats a spectrogram like a picture, with time along one axis and "
            "frequency along the other.\n\n"
            "In photographs one often trains with mirrored pictures and with pictures that are shifted a little. "
            "Which of these do you recommend for spectrograms of speech: mirrored in time, mirrored in frequency, "
            "shifted in time, shifted in frequency? Give a reason for each. What does it mean that positional "
            "embeddings were pretrained on photographs? Write four to six sentences."
        ),
        answer=(
            "Mirrored in time, the speech runs backwards, and it no longer says the same words, so I would not do "
            "it. Mirrored in frequency, high and low are exchanged, and no voice sounds like that. Shifted in time, "
            "the same words are said a little later, so that is a good change. Shifted in frequency by a little, it "
            "is a higher or lower voice that still says the same, if the shift is small, while a large one turns "
            "the vowels into others. In a photograph both axes mean the same thing, and here they do not. The "
            "pretrained positional embeddings know which patches are neighbours, which is useful for a spectrogram "
            "as well. They were learned for a square, so they have to be interpolated to the longer axis of time, "
            "and training has to teach them that up and down now mean pitch."
        ),
        criteria=(
            "Decides on each of the four changes by what one would hear.",
            "Says for which of them the size of the change matters.",
            "Says what the pretrained embeddings bring along, and what is different about a spectrogram's axes.",
        ),
        hints=(
            "Play each change in your mind. Would you still understand the words?",
            "What does a step to the right mean in a photograph, and what in a spectrogram? And a step up?",
        ),
    ),
)
