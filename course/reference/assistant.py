r"""From predictor to assistant: chats as tokens, pictures among the words, and learning from preferences.

A language model goes on with any text. Three further trainings make an assistant of it. Supervised tuning shows it
chats, and only what the assistant says is learned:

    log p(answer) = sum over learned t of log p(ids[t] | ids[:t])

A picture becomes a row of patch vectors, which stand among the vectors of the words. And people say which of two
answers they like better. In the model of Bradley and Terry, answer 1 wins with probability sigmoid(r1 - r2). The policy
that has the most reward, at a price of beta for each nat that it moves away from the reference, is known:

    max over p of  E_p[r] - beta KL(p || p_ref)     is reached by     p*(y) = p_ref(y) exp(r(y) / beta) / Z

Solved for r, and put into the model of Bradley and Terry, it gives a loss without any reward (DPO). The Z of both
answers cancel:

    loss = -log sigmoid(beta [(log p(y1) - log p_ref(y1)) - (log p(y2) - log p_ref(y2))])     y1 preferred to y2

Glossary: B rows of a batch, T tokens, V tokens of the vocabulary, D width, N patches of a picture (in `best_policy`, N
answers that are all there are), G answers to one question.

Sources: L. Ouyang et al., "Training Language Models to Follow Instructions with Human Feedback", NeurIPS 2022; H. Liu
et al., "Visual Instruction Tuning", NeurIPS 2023 (LLaVA); R. Bradley, M. Terry, "Rank Analysis of Incomplete Block
Designs", Biometrika 1952; R. Rafailov et al., "Direct Preference Optimization", NeurIPS 2023, equations 4 and 7; Z.
Shao et al., "DeepSeekMath", 2024, section 4.1 (GRPO).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

END = "end"
"""The name, in a table of special tokens, of the one behind every turn."""
ASSISTANT = "assistant"
"""The role whose words are learned."""
TINY = 1e-4
"""Added to the deviation of a group's rewards, so that equal rewards divide by something."""


def chat_ids(turns: Sequence[tuple[str, list[int]]], special: Mapping[str, int]) -> tuple[Tensor, Tensor]:
    """Write a chat as tokens: ids (T,), and where the assistant speaks, learned (T,) bool.

    A turn is a role and its words, and becomes `special[role]`, the words and `special["end"]`. `learned[t]` is about
    `ids[t]` itself. It is True at the words and the end of the assistant's turns: those the model has to say. The
    assistant's role token is put there by the program that asks, so it is not learned.

    Raises:
        ValueError: there is no special token for a role.
    """
    ids: list[int] = []
    learned: list[bool] = []
    for role, words in turns:
        if role not in special:
            raise ValueError(f"no special token for the role {role!r}; there are {', '.join(special)}")
        ids += [special[role], *words, special[END]]
        learned += [False] + [role == ASSISTANT] * (len(words) + 1)
    return torch.tensor(ids, dtype=torch.long), torch.tensor(learned, dtype=torch.bool)


def sequence_log_prob(logits: Tensor, ids: Tensor, learned: Tensor) -> Tensor:
    """Sum log p of the learned tokens of every row: logits (B, T, V), ids and learned (B, T) -> (B,).

    `logits[:, t]` are about `ids[:, t + 1]`. So the first token is never asked for, and the last logits say nothing.
    A row with nothing learned has 0.

    Raises:
        ValueError: the shapes differ.
    """
    if not logits.shape[:2] == ids.shape == learned.shape:
        shapes = ", ".join(str(tuple(tensor.shape)) for tensor in (logits, ids, learned))
        raise ValueError(f"logits, ids and learned differ in rows or tokens: {shapes}")
    log_p = logits[:, :-1].log_softmax(-1).gather(-1, ids[:, 1:, None]).squeeze(-1)  # (B, T - 1)
    return log_p.masked_fill(~learned[:, 1:], 0.0).sum(1)


def _image_places(ids: Tensor, image_id: int) -> Tensor:
    """The place of the one image token of every row: ids (B, T) -> (B,).

    Raises:
        ValueError: a row has none, or several.
    """
    found = ids == image_id
    count = found.sum(1)
    if bool((count != 1).any()):
        raise ValueError(f"every row needs exactly one image token {image_id}, but the rows have {count.tolist()}")
    return found.long().argmax(1)


def _stretched(tokens: Tensor, place: Tensor, inside: Tensor) -> Tensor:
    """Put `inside` (B, N, ...) where every row of `tokens` (B, T, ...) has its `place` (B,): (B, T - 1 + N, ...)."""
    rows = [
        torch.cat([row[:k], middle, row[k + 1 :]])
        for row, middle, k in zip(tokens, inside, place.tolist(), strict=True)
    ]
    return torch.stack(rows) if rows else tokens


def stretch(ids: Tensor, learned: Tensor, image_id: int, N: int) -> tuple[Tensor, Tensor]:
    """Give a picture the room of its N patches: ids and learned (B, T) -> both (B, T - 1 + N).

    The one image token of every row becomes N of them, at which nothing is learned.

    Raises:
        ValueError: a row has no image token, or several.
    """
    place, (B, _) = _image_places(ids, image_id), ids.shape
    return (
        _stretched(ids, place, ids.new_full((B, N), image_id)),
        _stretched(learned, place, learned.new_zeros(B, N)),
    )


def insert_patches(words: Tensor, ids: Tensor, image_id: int, patches: Tensor) -> Tensor:
    """Put a picture among the words: words (B, T, D), ids (B, T), patches (B, N, D) -> (B, T - 1 + N, D).

    The patches stand in place of the one vector of the image token, wherever it is in its row.

    Raises:
        ValueError: a row has no image token, or several.
    """
    return _stretched(words, _image_places(ids, image_id), patches)


def preference_loss(chosen: Tensor, rejected: Tensor) -> Tensor:
    """Mean loss of rewards (B,) under Bradley and Terry: -log of the probability that the chosen answer wins.

    `logsigmoid` stays finite where the exponential of a difference of thousands does not.
    """
    return -F.logsigmoid(chosen - rejected).mean()


def best_policy(log_ref: Tensor, reward: Tensor, beta: float) -> Tensor:
    """Find the policy of the most reward minus beta KL(policy || reference): log_ref and reward (N,) -> log p (N,).

    What the reference never says (-inf) is never said.

    Raises:
        ValueError: beta is not above 0, or the shapes differ.
    """
    if beta <= 0:
        raise ValueError(f"beta must be above 0, got {beta}")
    if log_ref.shape != reward.shape:
        raise ValueError(f"log_ref {tuple(log_ref.shape)} and reward {tuple(reward.shape)} differ in shape")
    return (log_ref + reward / beta).log_softmax(-1)


def dpo_loss(
    policy_chosen: Tensor, policy_rejected: Tensor, ref_chosen: Tensor, ref_rejected: Tensor, beta: float
) -> Tensor:
    """Mean DPO loss of log-probabilities of whole answers, (B,) each, under the policy and under the reference.

    beta times what the policy has moved, log p - log p_ref, takes the place of a reward. The reference does not learn.
    """
    chosen = beta * (policy_chosen - ref_chosen.detach())
    rejected = beta * (policy_rejected - ref_rejected.detach())
    return preference_loss(chosen, rejected)


def group_advantages(rewards: Tensor) -> Tensor:
    """Compare every answer with the others to its question: rewards (B, G) -> advantages (B, G).

    Each row loses its mean and is divided by its standard deviation (with G - 1). Where all answers are alike, or
    there is one alone, nothing is to be learned from them, and the advantages are zeros.
    """
    centred = rewards - rewards.mean(1, keepdim=True)
    if rewards.shape[1] == 1:
        return centred
    return centred / (rewards.std(1, keepdim=True) + TINY)
