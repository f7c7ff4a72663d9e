"""Right answers to `architecture_masks` that look nothing like the reference."""

from __future__ import annotations

import torch


def masks_in_full(kind, src_lengths, tgt_lengths=None):
    """Every mask with all its four axes."""

    def between(asking, asked, future=False):
        T, S = int(asking.max()), int(asked.max())
        mask = (torch.arange(S) < asked[:, None])[:, None, None].expand(-1, 1, T, -1).clone()
        return mask.tril() if future else mask

    target = src_lengths if kind == "decoder" else tgt_lengths
    return {
        "encoder_self": None if kind == "decoder" else between(src_lengths, src_lengths),
        "decoder_self": None if kind == "encoder" else between(target, target, True),
        "cross": between(tgt_lengths, src_lengths) if kind == "encoder-decoder" else None,
    }


def masks_of_causality_alone(kind, src_lengths, tgt_lengths=None):
    """Hide padding by the causal mask alone, because it stands behind the real words."""
    source = (torch.arange(int(src_lengths.max())) < src_lengths.view(-1, 1)).view(len(src_lengths), 1, 1, -1)
    T = int((tgt_lengths if kind == "encoder-decoder" else src_lengths).max())
    triangle = torch.ones(T, T, dtype=torch.bool).tril()
    return {
        "encoder_self": source if kind != "decoder" else None,
        "decoder_self": triangle if kind != "encoder" else None,
        "cross": source if kind == "encoder-decoder" else None,
    }


def masks_with_rows_of_padding_empty(kind, src_lengths, tgt_lengths=None):
    """Let padding attend to nothing."""
    masks = masks_in_full(kind, src_lengths, tgt_lengths)
    rows = {"encoder_self": src_lengths, "decoder_self": src_lengths if kind == "decoder" else tgt_lengths}
    for key, lengths in rows.items():
        if masks[key] is not None:
            masks[key] = masks[key] & (torch.arange(int(lengths.max())) < lengths[:, None])[:, None, :, None]
    return masks


ALTERNATIVES = [masks_in_full, masks_of_causality_alone, masks_with_rows_of_padding_empty]
