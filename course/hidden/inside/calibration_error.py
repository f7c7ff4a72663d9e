"""Hidden tests of `calibration_error`: the gap of each bin, weighted by how many answers it holds."""

from __future__ import annotations

import torch

from course.exercise import call, exercise
from course.reference import inside as reference

SMALL = "five answers"


@exercise(
    reference.calibration_error,
    hints=(
        "Two of three answers with a confidence near 0.95 are right. How large is the gap of their bin, and how much "
        "does it count?",
        "Into which bin does a confidence of exactly 1 fall? And one of 0?",
        "Begin with the number of each answer's bin. Then take one bin, and print its mean confidence and its share of "
        "right answers.",
    ),
    calls=(
        "calibration_error(tensor([1., 1.]), tensor([True, False]))",
        "calibration_error(tensor([0., 0.]), tensor([True, True]))",
        "calibration_error(tensor([0.75]), tensor([True]), bins=2)",
        "calibration_error(tensor([0.75, 0.75]), tensor([True, False]), bins=2)",
        "calibration_error(tensor([1., 0.]), tensor([True, False]))",
        "calibration_error(tensor([0.25, 0.75]), tensor([True, False]), bins=1)",
    ),
)
def calibration_error(rng):
    """Bins of unlike numbers, empty bins, gaps of both signs, confidences of 0 and of 1; no inner edges."""

    def answers(N, bins=10, dtype=torch.float64, lowest=0):
        held = rng.integers(lowest, bins, N)
        confidence = (held + rng.uniform(N, low=0.1, high=0.9)) / bins
        return confidence.to(dtype), rng.uniform(N) < 0.5

    five = torch.tensor([0.95, 0.92, 0.98, 0.55, 0.57]).double()
    yield call(SMALL, five, torch.tensor([True, True, False, True, False]), grad=False, public=True)
    yield call("sixty-one answers", *answers(61), grad=False, public=True, weight=2.0)
    yield call("seven bins", *answers(89, 7), bins=7, grad=False, weight=2.0)
    yield call("high confidences alone", *answers(41, lowest=8), grad=False, weight=2.0)
    sure, right = answers(23)
    sure[:7], right[:7] = 1.0, torch.tensor([True, False, False, True, False, False, False])
    yield call("confidences of 1", sure, right, grad=False, public=True, weight=2.0)
    none, right = answers(19)
    none[:7], right[:7] = 0.0, torch.tensor([True, True, False, True, True, False, True])
    yield call("confidences of 0", none, right, grad=False, weight=2.0)
    yield call("float32", *answers(31, dtype=torch.float32), grad=False, public=True)


def _by(bin_of, gap=None, weight=None, kept=lambda k, bins: True):
    """The answer with other bins, another gap of a bin, or another weight."""

    def error(confidence, right, bins=10):
        held, N, total, used = bin_of(confidence, bins), len(confidence), 0.0, 0
        for k in range(int(held.max()) + 1):
            inside = held == k
            if inside.any() and kept(k, bins):
                used += 1
                accuracy = right[inside].double().mean().item()
                mean = confidence[inside].double().mean().item() if gap is None else gap(k, bins)
                total += abs(mean - accuracy) * (inside.sum().item() / N if weight is None else 1)
        return total / (1 if weight is None else max(used, 1))

    return error


def _usual(confidence, bins):
    return (confidence * bins).long().clamp(max=bins - 1)


calibration_error.mistakes(
    "Into which bin does a confidence of exactly 1 fall? There are only ten.",
    ones_in_a_bin_of_their_own=_by(lambda confidence, bins: (confidence * bins).long()),
    ones_lost=_by(lambda confidence, bins: (confidence * bins).long(), kept=lambda k, bins: k < bins),
)
calibration_error.mistakes(
    "Which of your bins holds a confidence of exactly 0? Is every answer in one?",
    zeros_lost=_by(lambda confidence, bins: (confidence * bins).ceil().long(), kept=lambda k, bins: k > 0),
)
calibration_error.mistakes(
    "Let all confidences be 0.95, and no answer right. What should come out? Print the number of each bin that you "
    "visit.",
    last_bin_skipped=_by(_usual, kept=lambda k, bins: k < bins - 1),
)
calibration_error.mistakes(
    "Let one answer have a confidence of 0.99, and be right. Is your gap 0.01?",
    middle_of_the_bin=_by(_usual, gap=lambda k, bins: (k + 0.5) / bins),
)
calibration_error.mistakes(
    "Put ninety answers into one bin and one into another. How much does each bin count?",
    bins_count_alike=_by(_usual, weight=1),
)


@calibration_error.misconception("Let one bin be too sure and another too careful. Do the two gaps cancel?")
def signs_cancel(confidence, right, bins=10):
    return abs(float(confidence.double().mean() - right.double().mean()))
