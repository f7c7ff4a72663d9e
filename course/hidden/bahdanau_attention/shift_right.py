"""Hidden tests of `shift_right`."""

import torch

from course.exercise import call, exercise
from course.reference import bahdanau_attention as reference


@exercise(
    reference.shift_right,
    hints=(
        "Write the text's targets `7 5 9 2`, and below them what the decoder reads. Which token stands below each?",
        "At the first step nothing has been written yet. What does the decoder read then? And which target does it "
        "never read?",
        "Begin with a column (B, 1) that holds sos in each row and has the targets' type. Print its shape and theirs. "
        "What has to follow it, so that the result is as long as the targets?",
    ),
    calls=(
        "shift_right(tensor([[5, 6, 7]]), 1)",
        "shift_right(tensor([[5], [6]]), 1)",
        "shift_right(tensor([[1, 1, 1]]), 1)",
        "shift_right(tensor([[5, 6], [7, 8]]), 0)",
        "shift_right(tensor([[9, 9, 9]]), 9)",
        "shift_right(tensor([[5, 5, 5]]), 1)",
    ),
)
def shift_right(rng):
    """Ids of other integer types, too. The result is as long as the targets, whatever stands in them."""
    yield call("a small batch", rng.integers(3, 11, 2, 5), 1, public=True, weight=2.0)
    yield call("eos and padding at the end", torch.tensor([[7, 5, 2, 0, 0], [3, 9, 4, 8, 2]]), 1, public=True)
    yield call("a target of one token", rng.integers(3, 11, 3, 1), 1).counts_with("a small batch")
    yield call("another sos", rng.integers(0, 7, 3, 7), 12, weight=2.0)
    yield call("sos is zero", rng.integers(1, 7, 2, 3), 0)
    yield call("as many targets as tokens", rng.integers(3, 50, 5, 5), 1)
    yield call("int32", rng.integers(3, 11, 2, 7).int(), 1, public=True)
    wide = rng.integers(3, 11, 3, 10)
    yield call("memory that is not contiguous", wide[:, ::2], 1, public=True)


def _front(targets, sos):
    return torch.full_like(targets[:, :1], sos)


shift_right.mistakes(
    "Under the first target stands the second one. Has the decoder read it before it writes?",
    rolls_left_behind_sos=lambda targets, sos: torch.cat([_front(targets, sos), targets.roll(-1, 1)[:, 1:]], 1),
)
shift_right.mistakes(
    "Count the tokens of targets and result. Each step reads one token and predicts one.",
    keeps_the_last=lambda targets, sos: torch.cat([_front(targets, sos), targets], 1),
)
shift_right.mistakes(
    "Below the last target should stand the target before it. Which tokens of the result differ from the targets?",
    first_replaced=lambda targets, sos: torch.cat([_front(targets, sos), targets[:, 1:]], 1),
)
shift_right.mistakes(
    "What does the decoder read at the first step? It cannot know how the sentence ends.",
    wraps_around=lambda targets, sos: targets.roll(1, 1),
)
shift_right.mistakes(
    "What does the decoder read at the first step? Compare with the sos that was given.",
    zeros_in_front=lambda targets, sos: torch.cat([_front(targets, 0), targets[:, :-1]], 1),
)
shift_right.mistakes(
    "Joined tensors may differ along one axis alone. Which shape should the tensor have that holds sos for each row?",
    sos_as_a_number=lambda targets, sos: torch.cat([sos, targets[:, :-1]], 1),
    sos_as_a_vector=lambda targets, sos: torch.cat([torch.tensor([sos]), targets[:, :-1]], 1),
)
shift_right.mistakes(
    "Compare targets and result. Does the decoder read the very token it is to write?",
    not_shifted=lambda targets, sos: targets.clone(),
)
