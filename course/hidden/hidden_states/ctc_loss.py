"""Hidden tests of `ctc_loss`."""

from __future__ import annotations

import math

import torch

from course.exercise import call, exercise, noncontiguous
from course.hidden.hidden_states.scaffold import log_sum, log_sum_underflowing
from course.reference import hidden_states as reference

BUILT_IN_CTC = ("F.ctc_loss", "nn.CTCLoss", "torch.ctc_loss")


@exercise(
    reference.ctc_loss,
    hints=(
        "Write the states of `ab` on paper: blank, a, blank, b, blank. In which two may a path begin, and in which two "
        "may it end?",
        "It is your forward sum over a chain. What are its emissions? Up to three steps lead into each state. Which of "
        "them must not be taken when two labels are equal?",
        "Call backward on your loss and print log_p.grad. If it is NaN, look at a sum in which all terms are -inf.",
        "Begin with `ctc_states` for one call without padding. Gather what the frames say of each state, (B, T, "
        "states), and write log alpha at t = 0 down. Which states are impossible there?",
    ),
    forbidden=BUILT_IN_CTC,
    calls=(
        "ctc_loss(tensor([[[0.5, 0.5]]]).log(), tensor([1]), tensor([[1]]), tensor([1])).neg().exp()",
        "ctc_loss(tensor([[[0.5, 0.5], [0.5, 0.5]]]).log(), tensor([2]), tensor([[1]]), tensor([1])).neg().exp()",
        "ctc_loss(tensor([[[0.5, 0.5], [0.5, 0.5]]]).log(), tensor([1]), tensor([[1]]), tensor([1])).neg().exp()",
        "ctc_loss(tensor([[[0.5, 0.5], [0.5, 0.5]]]).log(), tensor([2]), tensor([[1, 1]]), tensor([2]))",
        (
            "ctc_loss(tensor([[[0.5, 0.5], [0.5, 0.5], [0.5, 0.5]]]).log(), tensor([3]), tensor([[1, 1]]), "
            "tensor([2])).neg().exp()"
        ),
        "ctc_loss(tensor([[[0.5, 0.5], [0.5, 0.5]]]).log(), tensor([2]), tensor([[1]]), tensor([0])).neg().exp()",
    ),
)
def ctc_loss(rng):
    """Values and gradients for labels with and without repeats, padding, empty targets, targets that do not fit."""

    def frames(B, T, V, dtype=torch.float64):
        return rng.normal(B, T, V).log_softmax(-1).to(dtype)

    def batch(B, T, V, L, dtype=torch.float64, blank=0):
        """Lengths that leave room, and padding of labels and frames that a right answer does not look at."""
        counts = torch.tensor([L, *(rng.integers(1, L, B - 1).tolist() if L > 1 else [1] * (B - 1))])
        lengths = torch.tensor([T, *(rng.integers(2 * L, T, B - 1).tolist())])
        labels = torch.tensor([label for label in range(V) if label != blank])
        log_p = frames(B, T, V, dtype)
        log_p[torch.arange(T) >= lengths[:, None]] = 3.0
        return log_p, lengths, labels[rng.integers(0, V - 1, B, L)], counts

    one = torch.tensor([5]), torch.tensor([[1, 2]]), torch.tensor([2])
    yield call("one text of two labels", frames(1, 5, 4), *one, public=True)
    yield call("texts of several lengths", *batch(3, 13, 5, 5), public=True, weight=2.0)
    doubled = torch.tensor([[2, 2], [1, 2], [1, 1]]), torch.tensor([2, 2, 2])
    yield call("doubled labels", frames(3, 7, 3), torch.tensor([7, 7, 5]), *doubled, public=True, weight=2.0)
    empty = torch.tensor([[2, 1], [1, 3]]), torch.tensor([0, 2])
    yield call("an empty target beside another", frames(2, 5, 4), torch.tensor([3, 5]), *empty, public=True)
    exact = torch.tensor([[1, 1, 2], [3, 1, 3]]), torch.tensor([3, 3])
    yield call("just enough frames", frames(2, 4, 4), torch.tensor([4, 3]), *exact)
    yield call("one frame, one label", frames(2, 1, 3), torch.ones(2).long(), torch.tensor([[2], [1]]),
               torch.tensor([1, 1]), public=True).counts_with("one text of two labels")  # fmt: skip
    tight = torch.tensor([6, 2, 6, 3]), torch.tensor([[1, 2], [1, 1], [2, 2], [3, 3]]), torch.tensor([2, 2, 2, 2])
    log_p = frames(4, 6, 4)
    yield call("a target that does not fit", log_p, *tight, public=True, grad=False)
    yield (
        call("gradients beside a target that does not fit", log_p, *tight, public=True, weight=2.0)
        .laws_only()
        .law("rows_as_expected", of="gradients of out", rows=[0, 2, 3], because="beside a target that does not fit, "
             "the gradients of the others are not right. They must be finite where the loss is finite")
        .counts_with("one text of two labels")
    )  # fmt: skip
    yield call("another blank", *batch(3, 11, 5, 3, blank=3), 3, public=True)
    yield call("four hundred frames", *batch(2, 401, 7, 13), public=True, weight=2.0)
    yield call("float32", *batch(2, 11, 5, 3, torch.float32), public=True)
    log_p, *rest = batch(3, 11, 5, 3)
    yield call("memory that is not contiguous", noncontiguous(log_p), *map(noncontiguous, rest), public=True)


def _safe(x, dim):
    return reference._log_sum(x, dim)


def _loss(log_p, lengths, targets, target_lengths, blank=0, *, add=_safe, skip_equal=False, end_in_label=False):
    """The sum over a chain of blanks and labels, with one piece exchanged."""
    states, skips = reference.ctc_states(targets, target_lengths, blank)
    if skip_equal:
        skips[:, 3::2] = states[:, 3::2] != blank
    emitted = log_p.gather(2, states[:, None].expand(-1, log_p.shape[1], -1))
    alpha = torch.where(torch.arange(states.shape[1]) < 2, emitted[:, 0], -math.inf)
    nowhere = torch.full_like(alpha[:, :2], -math.inf)
    for t in range(1, log_p.shape[1]):
        one, two = (torch.cat([nowhere[:, :n], alpha[:, :-n]], 1)[:, : alpha.shape[1]] for n in (1, 2))
        stepped = add(torch.stack([alpha, one, torch.where(skips, two, -math.inf)]), 0) + emitted[:, t]
        alpha = torch.where((t < lengths)[:, None], stepped, alpha)
    last = 2 * target_lengths[:, None]
    blanks, labels = alpha.gather(1, last), alpha.gather(1, (last - 1).clamp(min=0))
    labels = torch.where(last == 0, -math.inf, labels)
    if end_in_label:
        blanks = torch.where(last > 0, -math.inf, blanks)
    return -add(torch.cat([blanks, labels], 1), 1)


@ctc_loss.misconception(
    "The loss is right. Now print log_p.grad after backward. What is the slope of a logsumexp in which all are -inf?"
)
def nan_gradients(*inputs):
    return _loss(*inputs, add=log_sum)


ctc_loss.mistakes(
    "Take the target 5 5 and three frames. Which paths spell it? May one go from the first 5 to the second directly?",
    skip_between_equal_labels=lambda *inputs: _loss(*inputs, skip_equal=True),
)


@ctc_loss.misconception(
    "Take the target 5 5 and two frames. How many paths spell it, and what is −log of their sum? What does your "
    "function say?"
)
def ten_to_the_9_for_infinity(*inputs):
    losses = _loss(*inputs)
    return torch.where(losses.isinf(), 1e9, losses)


@ctc_loss.misconception("Change log_p behind a text's last frame. May its loss change?")
def frames_of_padding_read(log_p, lengths, *rest):
    return _loss(log_p, torch.full_like(lengths, log_p.shape[1]), *rest)


@ctc_loss.misconception(
    "A target of ten labels costs more than one of a single label, with nothing divided. What do you divide by?",
    convention="the mean of `nn.CTCLoss`, which divides by the labels",
)
def divided_by_the_labels(log_p, lengths, targets, target_lengths, blank=0):
    return _loss(log_p, lengths, targets, target_lengths, blank) / target_lengths.clamp(min=1)


ctc_loss.mistakes(
    "May a path end in a blank? List the paths of the label a over two frames.",
    ends_in_a_label_only=lambda *inputs: _loss(*inputs, end_in_label=True),
)
ctc_loss.mistakes(
    "Let the blank be 3. Which column of log_p do your blanks read?",
    blank_is_always_zero=lambda log_p, lengths, targets, counts, blank=0: _loss(log_p, lengths, targets, counts),
)


@ctc_loss.misconception("How small does exp get over 400 frames? Add up logarithms instead.")
def probabilities_underflow(*inputs):
    return _loss(*inputs, add=log_sum_underflowing)
