"""Right answers to `rollout` that look nothing like the reference."""

from __future__ import annotations

import torch


@torch.no_grad()
def into_tensors_made_before(model, prompts, n, end, generator, temperature=1.0):
    B, T = prompts.shape
    ids = torch.full((B, T + n), end)
    mask = torch.zeros(B, T + n, dtype=torch.bool)
    ids[:, :T], log_p, done, cache, m = prompts, None, torch.zeros(B, dtype=torch.bool), None, 0
    for m in range(1, n + 1):
        logits, cache = model(ids[:, :T] if m == 1 else ids[:, T + m - 2 : T + m - 1], cache)
        p = torch.softmax(logits[:, -1, :] / temperature, -1)
        if log_p is None:
            log_p = torch.zeros(B, T + n, dtype=p.dtype)
        token = torch.multinomial(p, 1, generator=generator)[:, 0]
        place = T + m - 1
        ids[~done, place] = token[~done]
        mask[:, place] = ~done
        log_p[~done, place] = p[torch.arange(B), token].log()[~done]
        done |= token == end
        if done.all():
            break
    return ids[:, : T + m], mask[:, : T + m], log_p[:, : T + m]


def masked_afterwards(model, prompts, n, end, generator, temperature=1.0):
    ids, cache, read, log_p = [prompts], None, prompts, []
    while len(ids) <= n and not (len(ids) > 1 and (torch.cat(ids[1:], 1) == end).any(1).all()):
        with torch.no_grad():
            logits, cache = model(read, cache)
        drawn_from = torch.distributions.Categorical(logits=logits[:, -1] / temperature)
        read = torch.multinomial(drawn_from.probs, 1, generator=generator)
        log_p.append(drawn_from.log_prob(read[:, 0])[:, None])
        ids.append(read)
    own = torch.cat(ids[1:], 1)
    ended = (own == end).long().cumsum(1)
    alive = (ended - (own == end).long()) == 0
    own = torch.where(alive, own, end)
    said = torch.where(alive, torch.cat(log_p, 1), 0.0)
    nothing = torch.zeros_like(prompts)
    return (
        torch.cat([prompts, own], 1),
        torch.cat([nothing.bool(), alive], 1),
        torch.cat([nothing.to(said.dtype), said], 1),
    )


ALTERNATIVES = [into_tensors_made_before, masked_afterwards]
