"""Wrong answers to `decode_beam` that no misconception knows by name."""

from __future__ import annotations

import torch
from torch import nn

from course.reference import encoder_decoder as reference


def _beam(
    model,
    src,
    beam,
    penalty,
    per_step=lambda log_p: log_p,
    compared=lambda ended, open_: ended or open_,
):
    """Run a beam search that adds `per_step(log_p)` to its scores and ranks its hypotheses by `compared` at the end."""
    rows = []
    for row in src:
        open_, ended = [(0.0, [])], []
        for _ in range(model.max_len):
            said = torch.tensor([[model.sos, *words] for _, words in open_])
            gains = per_step(model(row[None].expand(len(said), -1), said)[:, -1].log_softmax(-1)).tolist()
            grown = [(s + g, [*w, i]) for (s, w), gain in zip(open_, gains, strict=True) for i, g in enumerate(gain)]
            grown = sorted(grown, key=lambda one: one[0], reverse=True)[: beam - len(ended)]
            ended += [one for one in grown if one[1][-1] == model.eos]
            open_ = [one for one in grown if one[1][-1] != model.eos]
            if not open_:
                break
        best = max(compared(ended, open_), key=lambda one: one[0] / len(one[1]) ** penalty)
        rows.append(torch.tensor(best[1]))
    return nn.utils.rnn.pad_sequence(rows, True, model.pad)


def beam_one_wider(model, src, beam, length_penalty=1.0):
    return reference.decode_beam(model, src, beam + 1, length_penalty)


def beam_of_those_cut_off_too(model, src, beam, length_penalty=1.0):
    return _beam(model, src, beam, length_penalty, compared=lambda ended, open_: ended + open_)


def beam_shifted_by_the_mean(model, src, beam, length_penalty=1.0):
    """Subtract the mean of the scores, which is minus infinity as soon as one score is."""

    def per_step(log_p):
        shifted = log_p - log_p.mean(-1, keepdim=True)
        return shifted - shifted.exp().sum(-1, keepdim=True).log()

    return _beam(model, src, beam, length_penalty, per_step)


MUTANTS = [beam_one_wider, beam_of_those_cut_off_too, beam_shifted_by_the_mean]
