"""Beam searches that go wrong, and whether a model shows the difference between them and the right one."""

import torch
from torch import nn

from course.hidden.encoder_decoder.scaffold import EOS, PAD, SOS
from course.reference import encoder_decoder as reference

CLEAR = 1e-3
"""The margin between two hypotheses where it matters, so that rounding, even to float32, decides nothing."""


def is_telling(model, src, penalty, cut):
    """Whether other ways to compare hypotheses find other ones, and the right way's winner is clear.

    Greedy decoding does not find it, nor, with a penalty, the plain sums, nor, with a penalty that is not 1, the means.
    With a penalty of 1 or more, a search that does not count eos, or counts sos, does not find it. With 2, neither
    these two nor the sums times the penalty find what the plain sums find. Where hypotheses are `cut`, a search in
    which those without eos compete does not find it, either.
    """
    grown = [_hypotheses(model, row) for row in src]
    all_of_them = [ended for ended, _ in grown]
    if cut and not any(max(open_)[0] > max(ended)[0] + CLEAR for ended, open_ in grown):
        return False

    def best(worth):
        return [max(ended, key=lambda one: worth(one[0], len(one[1]))) for ended in all_of_them]

    found, plain = best(lambda score, n: score / n**penalty), best(lambda score, n: score)
    miscounted = [best(lambda score, n, by=by: score / max(n + by, 1) ** penalty) for by in (-1, 1)]
    greedy = [[word for word in row.tolist() if word != PAD] for row in reference.decode_greedy(model, src)]
    return (
        greedy != [words for _, words in found]
        and (penalty == 0 or plain != found)
        and (penalty in (0, 1) or best(lambda score, n: score / n) != found)
        and (penalty < 1 or found not in miscounted)
        and (penalty < 2 or plain not in (*miscounted, best(lambda score, n: score * n**penalty)))
        and all(_lead(ended, penalty) > CLEAR for ended in all_of_them)
    )


def _hypotheses(model, row):
    """All sentences that the model may say as (log p, words), first those that end, then those cut off."""
    ended, open_ = [], [(0.0, [])]
    for _ in range(model.max_len):
        said = torch.tensor([[SOS, *words] for _, words in open_])
        log_p = model(row[None].expand(len(said), -1), said)[:, -1].log_softmax(-1).tolist()
        grown = [(so_far + p, [*w, i]) for (so_far, w), ps in zip(open_, log_p, strict=True) for i, p in enumerate(ps)]
        ended += [one for one in grown if one[1][-1] == EOS]
        open_ = [one for one in grown if one[1][-1] > EOS]
    return ended, open_


def _lead(ended, penalty):
    """By how much the best hypothesis is worth more than the second."""
    worths = sorted(score / len(words) ** penalty for score, words in ended)
    return worths[-1] - worths[-2]


def ends_otherwise(model, src, beam, rival, alike):
    """Whether a beam, and those `alike`, end clearly otherwise than the `rival`, for sentences of one length."""
    said = reference.decode_beam(model, src, beam)
    return (
        not torch.equal(said, rival(model, src))
        and all(torch.equal(said, reference.decode_beam(model, src, width)) for width in alike)
        and all(_closest_call(model, row, width) > CLEAR for row in src for width in (beam, *alike))
    )


def keeps_by_the_last_word(model, src, beam):
    """What a beam finds that looks at the last word alone when it chooses what to keep."""
    return search(model, src, beam, lambda scores, n: sum(scores), rank=lambda scores: scores[-1])


def _closest_call(model, row, beam):
    """The smallest gap between what a beam drops and what it keeps, and at the end between the best two."""
    gaps, said, scores = [], torch.tensor([[SOS]]), torch.zeros(1).double()
    for _ in range(model.max_len):
        log_p = model(row[None].expand(len(said), -1), said)[:, -1].log_softmax(-1)
        total, order = (scores[:, None] + log_p).flatten().sort(descending=True)
        gaps += [total[beam - 1] - total[beam]] if len(total) > beam else []
        scores, order = total[:beam], order[:beam]
        said = torch.cat([said[order // log_p.shape[1]], (order % log_p.shape[1])[:, None]], 1)
    return min(*gaps, scores[0] - scores[1])


def search(
    model, src, beam, worth, *, scored=lambda logits: logits.log_softmax(-1), rank=sum, lead=-torch.inf, keep=True
):
    """Beam search that adds up what is `scored` and keeps the hypotheses of the highest `rank(scores)`.

    At the end `worth(scores, length)` decides among the finished hypotheses, or those cut off if none has finished.
    The search stops once no open hypothesis is more than the `lead` ahead of the best finished one. Unless it is to
    `keep` them, it loses those that ended before the last.
    """
    rows = []
    for row in src:
        open_, finished = [([], [])], []
        for _ in range(model.max_len):
            said = torch.tensor([[model.sos, *words] for words, _ in open_])
            log_p = scored(model(row[None].expand(len(said), -1), said)[:, -1]).tolist()
            grown = [([*w, i], [*s, p]) for (w, s), row_p in zip(open_, log_p) for i, p in enumerate(row_p)]
            grown = sorted(grown, key=lambda one: -rank(one[1]))[: max(beam - len(finished), 1)]
            finished = (finished if keep else []) + [one for one in grown if one[0][-1] == model.eos]
            open_ = [one for one in grown if one[0][-1] != model.eos]
            ended, ahead = (max((sum(s) for _, s in some), default=-torch.inf) for some in (finished, open_))
            if not open_ or len(finished) >= beam or ended + lead >= ahead:
                break
        compared = finished or open_
        pool = [one for one in compared if not {model.pad, model.sos} & {*one[0]}] or compared
        words = max(pool, key=lambda one: worth(one[1], len(one[0])))[0]
        rows.append(torch.tensor(words))
    return nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=model.pad)
