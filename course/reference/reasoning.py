r"""Better than the teacher: a model tries, a verifier looks at its last line, and the reward improves the model.

A verifier reads the integer behind the last `=`. With n tries of which c are right, pass@k is the chance that at least
one of k is, 1 - C(n - c, k) / C(n, k). The model is improved by what it wrote itself:

    grad E[r] = E[(r - b) grad log p(answer)]        for any b that does not depend on the answer     (REINFORCE)
    loss = -mean over own tokens of min(rho A, clip(rho, 1 - eps, 1 + eps) A),   rho = p / p_old       (PPO, GRPO)

and b is the mean reward of the other answers of a group. How far the model has moved is a divergence, which samples
estimate. Where a single token went wrong is what advantages of tokens say (GAE):

    delta_t = r_t + gamma V_{t+1} - V_t,      A_t = delta_t + gamma lambda A_{t+1}

Glossary: B rows of a batch (in `reinforce_loss`, B questions), T tokens, G answers to one question, N answers that are
all there are, n tries or draws, of which c are right, m tokens of the longest answer.

Sources: M. Chen et al., "Evaluating Large Language Models Trained on Code", 2021, section 2.1 (pass@k); X. Wang et al.,
"Self-Consistency", ICLR 2023; A. Beirami et al., "Theoretical Guarantees on the Best-of-n Alignment Policy", 2024; R.
Williams, Machine Learning 1992 (REINFORCE); W. Kool et al., "Buy 4 REINFORCE Samples, Get a Baseline for Free!", 2019;
J. Schulman et al., "Proximal Policy Optimization Algorithms", 2017, and "High-Dimensional Continuous Control Using
Generalized Advantage Estimation", ICLR 2016; J. Schulman, "Approximating KL Divergence", 2020; Z. Shao et al.,
"DeepSeekMath", 2024 (GRPO).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

INTEGER = re.compile(r"[+-]?[0-9]+")
"""An integer as a verifier reads it. `int` would also take `2_9` and the digits of other scripts."""


def extract_answer(text: str) -> int | None:
    """Return the integer behind the last `=` of a text, or None where anything else stands there.

    Blanks around it, one sign and zeros in front are allowed. Nothing is searched, and nothing is computed.
    """
    _, sign, last = text.rpartition("=")
    last = last.strip()
    return int(last) if sign and INTEGER.fullmatch(last) else None


def pass_at_k(n: int, c: int, k: int) -> float:
    """Return the chance that k of n tries, drawn without putting back, hold one of the c right ones.

    Raises:
        ValueError: not 0 <= c <= n, or not 1 <= k <= n.
    """
    if not 0 <= c <= n or not 1 <= k <= n:
        raise ValueError(f"pass@k needs 0 <= c <= n and 1 <= k <= n, got n = {n}, c = {c}, k = {k}")
    return 1 - math.comb(n - c, k) / math.comb(n, k)


def majority_vote(answers: Sequence[int | None]) -> int | None:
    """Return the commonest answer, of equally common ones the first. None is no vote, and no vote gives None."""
    votes = Counter(answer for answer in answers if answer is not None)
    return max(votes, key=votes.__getitem__, default=None)


def best_of_n(p: Tensor, scores: Tensor, n: int) -> Tensor:
    """Find how often each of N answers is the best of n draws: p and scores (N,) -> (N,).

    Of equal scores the first drawn stays, so equal answers share in proportion to p.
    """
    better = (scores[:, None] < scores).to(p.dtype) @ p  # (N,), what beats each answer
    level = (scores[:, None] == scores).to(p.dtype) @ p  # (N,), what has its score
    wins = (1 - better).clamp(min=0) ** n - (1 - better - level).clamp(min=0) ** n
    return torch.where(level > 0, p / level.where(level > 0, torch.ones_like(level)) * wins, torch.zeros_like(p))


def rollout(
    model: Callable[..., tuple[Tensor, Any]],
    prompts: Tensor,
    n: int,
    end: int,
    generator: torch.Generator,
    temperature: float = 1.0,
) -> tuple[Tensor, Tensor, Tensor]:
    """Let a model go on with prompts (B, T) by up to n tokens, each row up to its own end token.

    The model is called as `model(ids, cache) -> (logits, cache)`, with the prompts first and then with one token a row.

    Returns:
        ids (B, T + m) with `end` behind a row's end, a mask that is True on own tokens and their end, and the
        log-probability of each own token under the distribution that it was drawn from, 0 elsewhere, without a graph.
    """
    ids, alive, cache = [prompts], torch.ones(len(prompts), dtype=torch.bool, device=prompts.device), None
    own, log_p = [torch.zeros_like(prompts, dtype=torch.bool)], list[Tensor]()
    with torch.no_grad():
        while len(ids) <= n and bool(alive.any()):
            logits, cache = model(ids[-1], cache)
            said = (logits[:, -1] / temperature).log_softmax(-1)  # (B, V)
            token = torch.multinomial(said.exp(), 1, generator=generator).where(alive[:, None], end)  # (B, 1)
            log_p.append(said.gather(1, token).where(alive[:, None], 0.0))
            own.append(alive[:, None])
            ids.append(token)
            alive = alive & (token[:, 0] != end)
    before = torch.zeros(prompts.shape, dtype=log_p[0].dtype if log_p else None, device=prompts.device)
    return torch.cat(ids, 1), torch.cat(own, 1), torch.cat([before, *log_p], 1)


def reinforce_loss(log_p: Tensor, mask: Tensor, rewards: Tensor) -> Tensor:
    """Make a loss whose mean gradient is that of -E[reward]: log_p and mask (B, G, T), rewards (B, G) -> scalar.

    The baseline of an answer is the mean reward of the others in its group. A group of one has none.
    """
    G = rewards.shape[1]
    others = (rewards.sum(1, keepdim=True) - rewards) / max(G - 1, 1)  # (B, G), zeros for G = 1
    answers = log_p.masked_fill(~mask, 0.0).sum(-1)  # (B, G, T) -> (B, G)
    return -((rewards - others).detach() * answers).mean()


def clipped_loss(log_p: Tensor, old_log_p: Tensor, advantages: Tensor, mask: Tensor, epsilon: float = 0.2) -> Tensor:
    """Mean of -min(rho A, clip(rho) A) over the own tokens of the batch: all (B, T) -> scalar.

    rho = p / p_old is held between 1 - epsilon and 1 + epsilon where it would gain. Without own tokens the loss is 0.
    """
    moved = (log_p - old_log_p.detach()).masked_fill(~mask, 0.0)
    ratio, A = moved.exp(), advantages.detach().masked_fill(~mask, 0.0)
    gain = torch.minimum(ratio * A, ratio.clamp(1 - epsilon, 1 + epsilon) * A)
    return -gain.sum() / mask.sum().clamp(min=1)


def kl_estimate(log_p: Tensor, log_ref: Tensor, kind: str = "k3") -> Tensor:
    """Estimate KL(p || ref) from each sample of p, by its log-probability under both: any one shape -> the same.

    Raises:
        ValueError: `kind` is none of k1, k2, k3.
    """
    d = log_p - log_ref
    if kind == "k1":
        return d
    if kind == "k2":
        return d.square() / 2
    if kind == "k3":
        return (-d).exp() - 1 + d
    raise ValueError(f"kind is k1, k2 or k3, got {kind!r}")


def discounted_advantages(
    rewards: Tensor, values: Tensor, mask: Tensor, gamma: float = 1.0, lam: float = 0.95
) -> Tensor:
    """Credit each token with what came behind it (GAE): rewards, values and mask (B, T) -> (B, T).

    Own tokens stand first in a row. The value behind the last of them is 0. Zeros outside the mask, and no gradient
    reaches the values.
    """
    values = values.detach().masked_fill(~mask, 0.0)
    advantages, behind, value_behind = [], torch.zeros_like(values[:, 0]), torch.zeros_like(values[:, 0])
    for t in reversed(range(rewards.shape[1])):
        delta = rewards[:, t] + gamma * value_behind - values[:, t]
        behind = torch.where(mask[:, t], delta + gamma * lam * behind, 0.0)
        value_behind = values[:, t]
        advantages.append(behind)
    return torch.stack(advantages[::-1], 1)
