"""Beam searches that go wrong, and the sentences that show the difference between them and the right one."""

import torch
from torch import nn

from course.exercise import stand_ins
from course.hidden.encoder_decoder.scaffold import EOS, PAD, SOS, speaker
from course.reference import encoder_decoder as reference

CLEAR = 1e-3
"""The margin between two hypotheses where it matters, so that rounding, even to float32, decides nothing."""

FEW = 8
"""Sentences that differ from a rival's, of which the first is taken that other widths end alike."""


def most_telling(model, src, penalty, cut, first, count):
    """Places in `src` of `count` sentences that show together what other ways to compare hypotheses get wrong.

    One of them is among the `first`, the others are behind these. All have a clear winner, and each of the mistakes in
    `_mistaken` shows in one of them. None where there are no such sentences.
    """
    words, ended, ahead = _hypotheses(model, src)
    lengths = (words != PAD).sum(1)
    best, second = (ended / lengths**penalty).topk(2).values.unbind(1)
    clear = best - second > CLEAR
    mistaken = _mistaken(model, src, words, ended, lengths, penalty)
    if penalty not in (0, 1):
        mistaken.append(_hasty(ended, lengths, ahead, penalty) != ended.argmax(1))
    if cut:
        mistaken.append(ahead[:, -1] > ended.amax(1) + CLEAR)
    shows = torch.stack(mistaken, 1)
    chosen = []
    for number in range(count):
        missing = ~shows[chosen].any(0)
        rank = (shows & missing).sum(1) * shows.shape[1] + shows.sum(1)
        rank[chosen], rank[~clear] = -1, -1
        begin, end = (first, len(rank)) if number else (0, first)
        chosen.append(begin + int(rank[begin:end].argmax()))
    return chosen if clear[chosen].all() and shows[chosen].any(0).all() else None


def _mistaken(model, src, words, ended, lengths, penalty):
    """For each way to go wrong, in which sentences the winner is another one: a list of (B,).

    Greedy decoding does not find the winner, nor, with a penalty, do the plain sums, nor, with a penalty that is not 1,
    the means. With a penalty of 1 or more, a search that does not count eos, or counts sos, does not find it. With 2,
    neither these two nor the sums times the penalty find what the plain sums find.
    """
    found, plain = (ended / lengths**penalty).argmax(1), ended.argmax(1)
    miscounted = [(ended / (lengths + by).clamp(min=1) ** penalty).argmax(1) for by in (-1, 1)]
    greedy = reference.decode_greedy(model, src)
    greedy = nn.functional.pad(greedy, (0, words.shape[1] - greedy.shape[1]), value=PAD)
    shown = [(words[found] != greedy).any(1)]
    if penalty > 0:
        shown.append(found != plain)
    if penalty not in (0, 1):
        shown.append(found != (ended / lengths).argmax(1))
    if penalty >= 1:
        shown += [found != other for other in miscounted]
    if penalty >= 2:
        shown += [plain != other for other in (*miscounted, (ended * lengths**penalty).argmax(1))]
    return shown


def _hasty(ended, lengths, ahead, penalty):
    """What wins if the search stops as soon as an ended hypothesis is more probable than all open ones: (B,)."""
    best = torch.stack([ended[:, lengths <= n].amax(1) for n in range(1, ahead.shape[1] + 1)], 1)
    stops = (best >= ahead).int()
    stops[:, -1] = 1
    too_late = lengths > 1 + stops.argmax(1)[:, None]
    return (ended / lengths**penalty).masked_fill(too_late, -torch.inf).argmax(1)


def _hypotheses(model, src):
    """All sentences that the model may say: their words (H, L) with eos, then padding, and log p of each, (B, H).

    Beside them log p of the best one that is still open after 1 to L words, (B, L).
    """
    L, V = model.max_len, model.scores.shape[-1]
    longest = torch.cartesian_prod(*[torch.arange(EOS + 1, V)] * (L - 1)).view(
        -1, L - 1
    )  # (N, L - 1): all words but the last
    N = len(longest)
    said = nn.functional.pad(longest, (1, 0), value=SOS)
    log_p = model(src.repeat_interleave(N, 0), said.repeat(len(src), 1)).log_softmax(-1).view(len(src), N, L, V)
    of_words = log_p[:, :, :-1].gather(3, longest.expand(len(src), -1, -1)[..., None])[..., 0]
    before = nn.functional.pad(of_words.cumsum(2), (1, 0))  # (B, N, L): log p of the first t words
    t = torch.arange(L)
    once = torch.arange(N)[:, None] % (V - EOS - 1) ** (L - 1 - t) == 0  # of those that begin alike, the first
    words = nn.functional.pad(longest, (0, 1))[:, None].expand(-1, L, -1).clone()  # (N, L, L)
    words = torch.where(t < t[:, None], words, PAD) + EOS * (t == t[:, None])
    return words[once], (before + log_p[..., EOS])[:, once], (before + log_p[..., EOS + 1 :].amax(3)).amax(1)


def ends_otherwise(scores, src, beam, rivals, alike):
    """For each of the `rivals` a sentence of `src` that a beam ends clearly otherwise, and those `alike` as it does.

    All sentences have one length. A rival is the width of another beam, or None for one that keeps by the last word.
    Empty where a rival has no such sentence of its own.
    """
    model = stand_ins.make(speaker(scores))
    said, margin = _in_a_beam(model, src, beam)
    found = []
    for rival in rivals:
        other, _ = _in_a_beam(model, src, rival or beam, by_the_last_word=rival is None)
        telling = ((said != other).any(1) & (margin > CLEAR)).nonzero()[:FEW, 0]
        for width in alike:
            same, gap = _in_a_beam(model, src[telling], width)
            telling = telling[(said[telling] == same).all(1) & (gap > CLEAR)]
        own = [place for place in telling.tolist() if place not in found]
        if not own:
            return []
        found.append(own[0])
    return found


def _in_a_beam(model, src, beam, by_the_last_word=False):
    """What a beam ends with (B, L), and its margin (B,).

    The margin is the smallest gap between what it drops and what it keeps, and at the end between the best two.
    """
    B = len(src)
    said, scores = torch.full((B, 1, 1), SOS), torch.zeros(B, 1, dtype=torch.float64)
    margin = torch.full((B,), torch.inf, dtype=torch.float64)
    for _ in range(model.max_len):
        K = said.shape[1]
        log_p = model(src.repeat_interleave(K, 0), said.flatten(0, 1))[:, -1].log_softmax(-1).unflatten(0, (B, K))
        total = (scores[..., None] + log_p).flatten(1)
        ranked, kept = (log_p.flatten(1) if by_the_last_word else total).topk(min(beam + 1, total.shape[1]))
        if ranked.shape[1] > beam:
            margin = torch.minimum(margin, ranked[:, beam - 1] - ranked[:, beam])
        kept = kept[:, :beam]
        scores = total.gather(1, kept)
        words, parents = kept % log_p.shape[2], kept // log_p.shape[2]
        said = said.gather(1, parents[..., None].expand(-1, -1, said.shape[2]))
        said = torch.cat([said, words[..., None]], 2)
    if scores.shape[1] > 1:
        best, second = scores.topk(2).values.unbind(1)
        margin = torch.minimum(margin, best - second)
    return said[torch.arange(B), scores.argmax(1), 1:], margin


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
