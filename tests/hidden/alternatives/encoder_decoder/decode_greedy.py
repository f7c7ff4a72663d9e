"""Right answers to `decode_greedy` that look nothing like the reference."""

from __future__ import annotations

import torch
from torch import nn


def greedy_row_by_row(model, src):
    rows = []
    for sentence in src:
        said = [model.sos]
        while len(said) <= model.max_len:
            said.append(int(model(sentence[None], torch.tensor([said]))[0, -1].argmax()))
            if said[-1] == model.eos:
                break
        rows.append(torch.tensor(said[1:]))
    return nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=model.pad)


def greedy_of_a_module(model, src):
    """Decode in evaluation mode, and restore the mode afterwards."""
    model.eval()
    ids = greedy_row_by_row(model, src)
    model.train()
    return ids


def greedy_without_an_early_end(model, src):
    """Write to the last position, and replace what stands behind each end."""
    said = torch.full((len(src), model.max_len + 1), model.pad)
    said[:, 0] = model.sos
    for t in range(model.max_len):
        said[:, t + 1] = model(src, said[:, : t + 1])[:, t].max(-1).indices
    ids = said[:, 1:]
    ends = (ids == model.eos).int()
    return torch.where(ends.cumsum(1) - ends > 0, model.pad, ids)


def greedy_with_masks(model, src):
    """Pass its own masks, and drop ended sentences from the batch."""
    ids = torch.full((len(src), model.max_len), model.pad)
    going = torch.arange(len(src))
    said = torch.full((len(src), 1), model.sos)
    for t in range(model.max_len):
        below = torch.ones(t + 1, t + 1, dtype=torch.bool).tril()
        logits = model(src[going], said, (src[going] != model.pad)[:, None, None], below)
        word = logits[:, -1].argmax(-1)
        ids[going, t] = word
        on = word != model.eos
        going, said = going[on], torch.cat([said, word[:, None]], 1)[on]
        if not len(going):
            break
    return ids


ALTERNATIVES = [greedy_of_a_module, greedy_without_an_early_end, greedy_with_masks]
