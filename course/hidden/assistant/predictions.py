"""What the notebook on assistants has its reader predict."""

from __future__ import annotations

from course.exercise.prediction import Prediction, right, wrong

PREDICTIONS = (
    Prediction(
        "divergence_at_half_the_price",
        "With beta = 1, the best policy for the three answers has moved 0.323 nats away from the reference. You halve "
        "beta. How far does the best policy move now?",
        wrong("0.323, as before", "A lower price buys more reward. The policy moves further, and has 1.764 of it."),
        wrong(
            "about 0.65, twice as far",
            "Beta is a price, and the distance it buys is not proportional. A small move costs nearly nothing.",
        ),
        right(
            "about 0.9, nearly three times as far",
            "It is 0.915. Near the reference the divergence grows with the square of a step, so twice the step "
            "costs up to four times as much. Later there is less and less reward to buy.",
        ),
    ),
    Prediction(
        "true_reward_as_beta_falls",
        "The reward model gives a number to each phrase and adds them up. You lower beta, so the policy follows this "
        "model more and more closely. What does the true reward do?",
        wrong(
            "It rises all the way, more slowly than the model's",
            "That happens with a model that is only noisy. This one is wrong where the policy goes: it believes that "
            "three flattering phrases are better than two.",
        ),
        right(
            "It rises, and then falls below where it began",
            "At first more flattery is better, and the model is right about that. Then the policy flatters in all "
            "three places. The model adds up phrases, so it expects the most of that answer, and people like it least.",
        ),
        wrong(
            "It falls from the start",
            "The model is right about three of four comparisons. Where answers are like those that it has seen, more "
            "of its reward is more of the true one.",
        ),
    ),
)
