"""Right answers to `accept_draft` that look nothing like the reference."""

from __future__ import annotations

import torch


def in_plain_numbers(p, q, draft, uniforms):
    p, q, u = p.tolist(), q.tolist(), uniforms.tolist()
    kept = []
    weights = p[-1]
    for i, x in enumerate(draft.tolist()):
        if u[i] * q[i][x] < p[i][x]:
            kept.append(x)
            continue
        weights = [max(a - b, 0.0) for a, b in zip(p[i], q[i])]
        break
    target, passed = u[-1] * sum(weights), 0.0
    token = -1
    while token < 0 or passed <= target:
        token += 1
        passed += weights[token]
    return torch.tensor([*kept, token])


def all_at_once(p, q, draft, uniforms):
    """q gets a row of zeros, so that the token behind all guesses is chosen like one behind a refusal."""
    n = draft.numel()
    guessed = torch.cat([q, torch.zeros_like(p[:1])])
    limit = p[:n].gather(1, draft[:, None]).squeeze(1)
    refused = uniforms[:n] * q.gather(1, draft[:, None]).squeeze(1) >= limit
    a = n if not refused.any() else int(refused.int().argmax())
    rest = (p[a] - guessed[a]).relu()
    up_to = rest.cumsum(0)
    return torch.cat([draft[:a], (up_to <= uniforms[-1] * up_to[-1]).sum().view(1)])


ALTERNATIVES = [in_plain_numbers, all_at_once]
