"""Hidden tests of `induction_score`: weights behind earlier copies of a token, over the places that have such."""

from __future__ import annotations

import torch

from course.exercise import call, exercise, noncontiguous
from course.reference import inside as reference

TWO = "two texts"


@exercise(
    reference.induction_score,
    hints=(
        "Write the ids G M H G M below each other with their places. Behind which earlier places stands what followed "
        "the same token?",
        "Take ids in which no token comes twice, and then ids with a doubled token, A A. Which places have a target?",
        "Begin with a boolean table (T, T) that is True where the ids of two places agree. By how many places must it "
        "move, and in which direction?",
    ),
    calls=(
        "induction_score(ones(1, 1, 3, 3), tensor([[1, 2, 1]]))",
        "induction_score(ones(1, 2, 3, 3), tensor([[1, 2, 3]]))",
        "induction_score(ones(1, 1, 2, 2), tensor([[1, 1]]))",
        "induction_score(zeros(1, 1, 3, 3), tensor([[1, 2, 1]]))",
        "induction_score(ones(1, 1, 5, 5), tensor([[1, 2, 1, 3, 1]]))",
        "induction_score(ones(2, 1, 3, 3), tensor([[1, 2, 1], [1, 2, 3]]))",
    ),
)
def induction_score(rng):
    """Texts with several copies, doubled tokens, and unlike numbers of places; texts in which nothing comes again."""

    def attention(B, h, T, dtype=torch.float64):
        scores = 2 * rng.normal(B, h, T, T, dtype=dtype)
        return scores.masked_fill(~torch.ones(T, T).tril().bool(), -torch.inf).softmax(-1)

    def asked(title, B, h, T, words, dtype=torch.float64, memory=lambda x: x, **options):
        ids = rng.integers(0, words, B, T)
        ids[0, [0, 2, 4]], ids[0, [1, 3]] = 0, torch.tensor([1, 2])  # whatever is drawn, something has two targets
        return call(title, memory(attention(B, h, T, dtype)), memory(ids), **options)

    yield call("G M H G M", attention(1, 3, 5), torch.tensor([[0, 1, 2, 0, 1]]), public=True)
    yield call("A B A C A", attention(1, 2, 5), torch.tensor([[0, 1, 0, 2, 0]]), public=True)
    yield asked(TWO, 2, 3, 11, 5, public=True, weight=2.0)
    yield call("a single place with a target", attention(1, 3, 3), torch.tensor([[5, 7, 5]]))
    few = torch.arange(14).view(2, 7)
    few[1] = torch.tensor([3, 5, 3, 5, 3, 5, 3])
    few[0, 5] = 0
    yield call("texts with one target and with many", attention(2, 3, 7), few, weight=2.0)
    doubled = torch.tensor([[4, 4, 1, 2, 2, 2, 7], [1, 3, 3, 4, 1, 1, 5]])
    yield call("doubled tokens", attention(2, 5, 7), doubled, public=True, weight=2.0)
    yield asked("many texts", 7, 2, 13, 3)
    nothing = call("nothing comes again", attention(1, 3, 5), torch.arange(5)[None], grad=False, weight=0.5)
    yield nothing.counts_with(TWO)
    yield asked("float32", 3, 2, 7, 5, dtype=torch.float32, public=True)
    yield asked("memory that is not contiguous", 2, 3, 7, 5, memory=noncontiguous, public=True)


def _targets(ids, shift=1, strict=True):
    """Where place t looks at place s + shift, if the tokens at s and t agree: (B, T, T)."""
    T = ids.shape[1]
    same = ids[:, :, None] == ids[:, None, :]
    moved = torch.zeros_like(same)
    moved[:, :, shift:] = same[:, :, : T - shift]
    return moved & torch.ones(T, T, dtype=torch.bool).tril(-1 if strict else 0)


def _mean(attention, targets, places=None):
    found = (attention * targets[:, None]).sum((0, 2, 3))
    return found / (targets.any(-1).sum().clamp(min=1) if places is None else places)


induction_score.mistakes(
    "In G M H G M, at which place does the second G look by your table? An induction head looks behind the first G, at "
    "what came next.",
    the_token_itself=lambda attention, ids: _mean(attention, _targets(ids, 0)),
)
induction_score.mistakes(
    "Append tokens that never came before. Should a head's score change? Over which places does your mean run?",
    mean_over_all_places=lambda attention, ids: _mean(attention, _targets(ids), ids.numel()),
)
induction_score.mistakes(
    "Take A A. What came behind the first A is the second A itself. Does a place count that looks at itself?",
    doubled_token_points_at_itself=lambda attention, ids: _mean(attention, _targets(ids, strict=False)),
)
induction_score.mistakes(
    "Let one head look from the last place to the first alone. Which of your table's axes asks, and which is asked?",
    queries_and_keys_exchanged=lambda attention, ids: _mean(attention.mT, _targets(ids)),
)


@induction_score.misconception("In A B A C A, the last A has two targets, B and C. How many does yours have?")
def nearest_occurrence_alone(attention, ids):
    targets = _targets(ids)
    last = targets & (targets.flip(-1).cumsum(-1).flip(-1) == 1)
    return _mean(attention, last)


@induction_score.misconception("Put a text with one target beside a text with many. How much does each place count?")
def each_text_counts_alike(attention, ids):
    scores = [_mean(attention[i : i + 1], _targets(ids[i : i + 1])) for i in range(len(ids))]
    return torch.stack(scores).mean(0)
