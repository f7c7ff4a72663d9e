"""How `hint` helps with the written question on assistants, and two more questions. No hint gives an answer."""

from __future__ import annotations

from course.hidden.written import Question

HINTS = (
    "Follow the two curves from left to right, as beta falls. Where do they part, and what does the policy say there?",
    "Which answers had people compared, and how often do these occur? Which ones does the policy say at the end?",
    "Ask of each cure what it needs: more money, another model, a stop at the right time, or somebody who looks.",
)

CRITERIA = (
    "Says what the reward model adds up, and what it cannot express.",
    "Says which answers a policy at a low price finds, and why the true reward falls there.",
    "Judges the proposal by what such comparisons would change in the reward model.",
    "Names two other remedies, and what each of them changes.",
)

OTHERS = (
    Question(
        prompt=(
            "A friend tunes a model on chats, and it never stops: behind every answer it writes another question, "
            "and answers that as well. (a) What does `learned` look like in your friend's code, most likely? (b) "
            "Your friend cuts the text at the first end token, and says that this is as good. When is it not? Five "
            "to eight sentences."
        ),
        answer=(
            "(a) Most likely the end token of the assistant's turn is not learned, or the questions are learned, "
            "too. In the first case nothing ever raised the probability of the end, so the model goes on as it did "
            "in pretraining. In the second case it has learned to say the user's role token and a question behind each "
            "end. (b) Cutting works if the end token comes at the right place and only what follows is wrong, which "
            "is the second case. If the end was never learned, there is nothing to cut at, and a limit on the "
            "length cuts sentences in half. And in the second case the model spent part of its training on "
            "questions, which does not help its answers."
        ),
        criteria=(
            "Names the tokens that are wrongly learned, or wrongly left out.",
            "Says how such a mistake leads to what the model does.",
            "Names a case in which cutting works, and one in which it does not.",
        ),
        hints=(
            "What would the model have to learn so that it stops, and at which token is it asked for?",
            "Draw the text that comes out in each of the two cases. Where would you cut it?",
        ),
    ),
    Question(
        prompt=(
            "Two groups tune one model on the same comparisons. One fits a reward model and then improves the "
            "policy with it. The other uses DPO. (a) What does each of them need in memory and in time? (b) New "
            "questions come in, without comparisons. Who can make use of them, and at what risk? Five to eight "
            "sentences."
        ),
        answer=(
            "(a) The first group trains a second model for rewards. Then it has the policy write answers, which "
            "takes most of the time, and keeps policy, reference and reward model in memory. The second needs "
            "policy and reference, and reads fixed pairs as in supervised learning. Log-probabilities of the "
            "reference can even be computed once. (b) The first group can: the policy answers the new questions, "
            "and the reward model judges. The risk is that the reward model is wrong about answers that are unlike "
            "those compared, and the policy finds just these. DPO learns only from the pairs that it has, unless "
            "people compare new answers."
        ),
        criteria=(
            "Names the models that each group keeps in memory.",
            "Says what takes the time for each group.",
            "Says who can use the new questions, and who judges the answers.",
            "Names the risk, and the answers that it concerns.",
        ),
        hints=(
            "List the models that each group holds in memory, and which of them has to write text during training.",
            "Which of the two losses can be computed for an answer that nobody has compared?",
        ),
    ),
)
