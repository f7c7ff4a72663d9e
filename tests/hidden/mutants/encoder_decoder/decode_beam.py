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
    choose=max,
    forgets=False,
    compared=lambda ended, open_: ended or open_,
):
    """Beam search whose score grows by `per_step(log_p)`; one that `forgets` keeps what had the best last word.

    At the end it must `choose` one of those `compared`.
    """
    rows = []
    for row in src:
        open_, ended = [(0.0, [])], []
        for _ in range(model.max_len):
            said = torch.tensor([[model.sos, *words] for _, words in open_])
            gains = per_step(model(row[None].expand(len(said), -1), said)[:, -1].log_softmax(-1)).tolist()
            grown = [(s + g, [*w, i]) for (s, w), gain in zip(open_, gains, strict=True) for i, g in enumerate(gain)]
            last = [g for gain in gains for g in gain]
            order = sorted(range(len(grown)), key=lambda n: last[n] if forgets else grown[n][0], reverse=True)
            grown = [grown[n] for n in order][: max(beam - len(ended), 1)]
            ended += [one for one in grown if one[1][-1] == model.eos]
            open_ = [one for one in grown if one[1][-1] != model.eos]
            if not open_ or len(ended) >= beam:
                break
        pool = compared(ended, open_)
        rows.append(torch.tensor(choose(pool, key=lambda one: one[0] / len(one[1]) ** penalty)[1]))
    return nn.utils.rnn.pad_sequence(rows, True, model.pad)


def beam_normalised_over_the_beam(model, src, beam, length_penalty=1.0):
    return _beam(model, src, beam, length_penalty, lambda log_p: log_p - log_p.max())


def beam_prefers_the_improbable(model, src, beam, length_penalty=1.0):
    return _beam(model, src, beam, length_penalty, lambda log_p: -log_p)


def beam_kept_by_the_last_word(model, src, beam, length_penalty=1.0):
    return _beam(model, src, beam, length_penalty, forgets=True)


def beam_no_wider_than_the_vocabulary(model, src, beam, length_penalty=1.0):
    V = model(src[:1], torch.tensor([[model.sos]])).shape[-1]
    return reference.decode_beam(model, src, min(beam, V), length_penalty)


def beam_last_of_the_finished(model, src, beam, length_penalty=1.0):
    return _beam(model, src, beam, length_penalty, choose=lambda pool, key: pool[-1])


def beam_with_another_penalty(model, src, beam, length_penalty=1.0):
    """((5 + n) / 6)^penalty, as in Wu and others 2016: another formula."""
    rows = []
    for row in src:
        best = None
        for penalty in (0.0, 0.25, 0.5, 1.0, 2.0):
            ids = reference.decode_beam(model, row[None], beam, penalty)[0]
            said = torch.cat([torch.tensor([model.sos]), ids])[None]
            log_p = model(row[None], said[:, :-1]).log_softmax(-1)[0].gather(1, ids[:, None]).sum().item()
            worth = log_p / ((5 + len(ids)) / 6) ** length_penalty
            best = (worth, ids) if best is None or worth > best[0] else best
        rows.append(best[1])
    return nn.utils.rnn.pad_sequence(rows, True, model.pad)


def beam_always_of_two(model, src, beam, length_penalty=1.0):
    return reference.decode_beam(model, src, 2, length_penalty)


def beam_then_greedy(model, src, beam, length_penalty=1.0):
    """A beam for the first word, and of each of these the greedy sentence."""
    rows = []
    for row in src:
        log_p = model(row[None], torch.tensor([[model.sos]]))[0, -1].log_softmax(-1)
        found = []
        for score, word in zip(*(part.tolist() for part in log_p.topk(min(beam, len(log_p)))), strict=True):
            said = [word]
            while said[-1] != model.eos and len(said) < model.max_len:
                best = model(row[None], torch.tensor([[model.sos, *said]]))[0, -1].log_softmax(-1).max(-1)
                score, said = score + float(best.values), [*said, int(best.indices)]
            found.append((score / len(said) ** length_penalty, said))
        rows.append(torch.tensor(max([one for one in found if one[1][-1] == model.eos] or found)[1]))
    return nn.utils.rnn.pad_sequence(rows, True, model.pad)


def beam_one_wider(model, src, beam, length_penalty=1.0):
    return reference.decode_beam(model, src, beam + 1, length_penalty)


def beam_without_eos(model, src, beam, length_penalty=1.0):
    ids = reference.decode_beam(model, src, beam, length_penalty)
    return ids.masked_fill(ids == model.eos, model.pad)


def beam_of_those_cut_off_too(model, src, beam, length_penalty=1.0):
    return _beam(model, src, beam, length_penalty, compared=lambda ended, open_: ended + open_)


def beam_shifted_by_the_mean(model, src, beam, length_penalty=1.0):
    """Where one score is minus infinity, so is the mean."""

    def per_step(log_p):
        shifted = log_p - log_p.mean(-1, keepdim=True)
        return shifted - shifted.exp().sum(-1, keepdim=True).log()

    return _beam(model, src, beam, length_penalty, per_step)


MUTANTS = [
    beam_normalised_over_the_beam,
    beam_prefers_the_improbable,
    beam_kept_by_the_last_word,
    beam_no_wider_than_the_vocabulary,
    beam_last_of_the_finished,
    beam_with_another_penalty,
    beam_always_of_two,
    beam_then_greedy,
    beam_one_wider,
    beam_without_eos,
    beam_of_those_cut_off_too,
    beam_shifted_by_the_mean,
]
