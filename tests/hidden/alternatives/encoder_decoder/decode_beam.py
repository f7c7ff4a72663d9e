"""Right answers to `decode_beam` that look nothing like the reference."""

from __future__ import annotations

import math

import torch
from torch import nn


def beam_by_hand(model, src, beam, length_penalty=1.0):
    """Python lists, one model call a hypothesis; the finished ones keep their place in the beam."""
    rows = []
    for sentence in src:
        beams = [(0.0, [model.sos])]
        for _ in range(model.max_len):
            grown = []
            for score, words in beams:
                if words[-1] == model.eos:
                    grown.append((score, words))
                    continue
                log_p = model(sentence[None], torch.tensor([words]))[0, -1].log_softmax(-1).tolist()
                grown += [(score + p, [*words, i]) for i, p in enumerate(log_p)]
            beams = sorted(grown, key=lambda one: one[0], reverse=True)[:beam]
            if all(words[-1] == model.eos for _, words in beams):
                break
        ended = [one for one in beams if one[1][-1] == model.eos] or beams
        rows.append(max(ended, key=lambda one: one[0] / (len(one[1]) - 1) ** length_penalty)[1][1:])
    width = max(map(len, rows))
    return torch.tensor([row + [model.pad] * (width - len(row)) for row in rows])


def beam_in_one_batch(model, src, beam, length_penalty=1.0):
    """All hypotheses of all sentences in one batch; finished ones go on with pad at no cost."""
    B = len(src)
    said = torch.full((B * beam, 1), model.sos)
    scores = torch.full((B, beam), -math.inf, dtype=torch.float64)
    scores[:, 0] = 0.0
    lengths, done = torch.zeros(B, beam), torch.zeros(B, beam, dtype=torch.bool)
    sources = src.repeat_interleave(beam, 0)
    for _ in range(model.max_len):
        log_p = model(sources, said)[:, -1].double().log_softmax(-1)
        V = log_p.shape[-1]
        only_pad = torch.full((V,), -math.inf, dtype=torch.float64)
        only_pad[model.pad] = 0.0
        log_p = torch.where(done.view(-1, 1), only_pad, log_p)
        scores, best = (scores.view(-1, 1) + log_p).view(B, -1).topk(beam)
        origin, word = best // V, best % V
        said = said.view(B, beam, -1).gather(1, origin[..., None].expand(-1, -1, said.shape[1]))
        said = torch.cat([said, word[..., None]], -1).view(B * beam, -1)
        was_done = done.gather(1, origin)
        lengths = lengths.gather(1, origin) + (~was_done)
        done = was_done | (word == model.eos)
        if done.all():
            break
    worth = (scores / lengths**length_penalty).masked_fill(~done & done.any(1, keepdim=True), -math.inf)
    return said.view(B, beam, -1)[torch.arange(B), worth.argmax(1), 1:]


def beam_of_twice_as_many(model, src, beam, length_penalty=1.0):
    """As in fairseq: of 2 · beam candidates those among the first `beam` may end, and `beam` others go on."""
    rows = []
    for sentence in src:
        said, scores, ended = [[model.sos]], [0.0], []
        for n in range(1, model.max_len + 1):
            log_p = model(sentence.expand(len(said), -1), torch.tensor(said))[:, -1].double().log_softmax(-1)
            grown = (log_p + torch.tensor(scores, dtype=torch.float64)[:, None]).flatten()
            best = grown.topk(min(2 * beam, len(grown)))
            words = [[*said[i // log_p.shape[1]][1:], i % log_p.shape[1]] for i in best.indices.tolist()]
            ranked = list(zip(best.values.tolist(), words, strict=True))
            ended += [(p / n**length_penalty, w) for p, w in ranked[:beam] if w[-1] == model.eos]
            going = [(p, w) for p, w in ranked if w[-1] != model.eos][:beam]
            if len(ended) >= beam or not going:
                break
            scores, said = [p for p, _ in going], [[model.sos, *w] for _, w in going]
        rows.append(torch.tensor(max(ended)[1] if ended else said[0][1:]))
    return nn.utils.rnn.pad_sequence(rows, True, model.pad)


def beam_with_a_bound(model, src, beam, length_penalty=1.0):
    """Stops when no open hypothesis can become better than the best that has ended, however long it grows."""
    rows = []
    for sentence in src:
        going, found = [(0.0, [])], None
        for n in range(1, model.max_len + 1):
            asked = torch.tensor([[model.sos, *words] for _, words in going])
            log_p = model(sentence.repeat(len(going), 1), asked)[:, -1].log_softmax(-1).tolist()
            grown = [(s + p, [*w, i]) for (s, w), row in zip(going, log_p, strict=True) for i, p in enumerate(row)]
            grown = sorted(grown, reverse=True)[:beam]
            ended = [(s / n**length_penalty, w) for s, w in grown if w[-1] == model.eos]
            found = max([*ended, *([found] if found else [])], default=None)
            going = [one for one in grown if one[1][-1] != model.eos]
            if not going or (found and (beam == 1 or going[0][0] / model.max_len**length_penalty < found[0])):
                break
        rows.append(torch.tensor((found or going[0])[1]))
    return nn.utils.rnn.pad_sequence(rows, True, model.pad)


def beam_of_a_module(model, src, beam, length_penalty=1.0):
    return beam_by_hand(model.train(False).eval(), src, beam, length_penalty)


ALTERNATIVES = [beam_by_hand, beam_in_one_batch, beam_of_twice_as_many, beam_with_a_bound, beam_of_a_module]
