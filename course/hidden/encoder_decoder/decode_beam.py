"""Hidden tests of `decode_beam`."""

from __future__ import annotations

from functools import partial

import torch
from torch import nn

from course.exercise import call, exercise, rest_hidden
from course.exercise.stand_ins import make
from course.hidden.encoder_decoder.scaffold import EOS, NEVER, PAD, SOS, _asking, _oracle, on_time, renumbered, speaker
from course.reference import encoder_decoder as reference

CLEAR = 1e-3
"""By so much one hypothesis is better than another where it matters: rounding, be it to float32, decides nothing."""


def _is_telling(model, src, penalty, cut):
    """Whether other ways to compare hypotheses find other ones, and the right way's winner is clear.

    Greedy decoding does not find it, nor, with a penalty, the plain sums, nor, with a penalty that is not 1, the means;
    with a penalty of 1 or more, nor does who leaves eos out of the count, or counts sos; and with 2, neither these two
    nor the sums times the penalty find what the plain sums find. Where hypotheses are `cut`, nor does who lets those
    without eos compete.
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
    """All sentences that the model may say, each with its log p, (log p, words): those that end, and those cut off."""
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


def _ends_otherwise(model, src, beam, rival, alike):
    """Whether a beam, and those `alike`, end as the `rival` does not, and clearly so: sentences are of one length."""
    said = reference.decode_beam(model, src, beam)
    return (
        not torch.equal(said, rival(model, src))
        and all(torch.equal(said, reference.decode_beam(model, src, width)) for width in alike)
        and all(_closest_call(model, row, width) > CLEAR for row in src for width in (beam, *alike))
    )


def _keeps_by_the_last_word(model, src, beam):
    """What comes of a beam that looks at the last word alone when it chooses whom to keep."""
    return _search(model, src, beam, lambda scores, n: sum(scores), rank=lambda scores: scores[-1])


def _closest_call(model, row, beam):
    """How near what a beam lets go ever comes to what it keeps, and at the end the second best to the best."""
    gaps, said, scores = [], torch.tensor([[SOS]]), torch.zeros(1).double()
    for _ in range(model.max_len):
        log_p = model(row[None].expand(len(said), -1), said)[:, -1].log_softmax(-1)
        total, order = (scores[:, None] + log_p).flatten().sort(descending=True)
        gaps += [total[beam - 1] - total[beam]] if len(total) > beam else []
        scores, order = total[:beam], order[:beam]
        said = torch.cat([said[order // log_p.shape[1]], (order % log_p.shape[1])[:, None]], 1)
    return min(*gaps, scores[0] - scores[1])


@exercise(
    reference.decode_beam,
    hints=(
        "Call it with a beam of 1 and compare with decode_greedy, for short sentences and long ones.",
        "Write down by hand all sentences of up to three words, log p and length of each. Which is worth the most?",
        "What is added up along a hypothesis: scores, probabilities, or their logarithms? Over all words, or the last?",
        "May a finished hypothesis still win when an open one becomes better later? When can you stop?",
    ),
)
def decode_beam(rng):
    """Beam 1 against greedy; then beams wider than the number of hypotheses there are, in which nothing can be lost.

    In each batch the first sentence can end only at the last place, so the answer's width is settled. Where a beam is
    neither, all sentences can end only there: what becomes of finished hypotheses is a matter of taste.
    """

    def one_wide(title, ends, wanted, penalty, places=6, **settings):
        model = on_time(rng, ends, places)
        return call(title, model, _asking(rng, len(ends), wanted), 1, penalty, grad=False, **settings)

    def exhaustive(title, penalty, places=4, sentences=3, cut=False, **settings):
        """All hypotheses there are; where they are `cut`, some of the best have not ended when the places are full."""
        src = _asking(rng, 4, [0, *range(1, sentences)])
        while True:
            model, scores = _oracle(rng, [places - 1] * 4, places, 5)
            if cut:
                scores[:, places - 1, :, EOS] = 2 * rng.normal(4, 11)
            scores[0, : places - 1, :, EOS] = -NEVER
            scores[1:, : places - 1, :, EOS] += 1.0
            if _is_telling(make(model), src, penalty, cut):
                return call(title, model, src, 640, penalty, grad=False, **settings)

    def narrow(title, beam, others, penalty, alike=(), places=6, vocabulary=9, **settings):
        """First words hardly differ, later ones more and more: this beam, and those `alike`, end as no other does.

        A sentence is drawn for each of the `others`, and one for who keeps by the last word. A beam wider than the
        vocabulary holds an eos from the first step on: whether that one takes a place or not, and how many, should
        make no difference.
        """
        rivals = [partial(reference.decode_beam, beam=other) for other in others]
        found = []
        for rival in (*rivals, partial(_keeps_by_the_last_word, beam=beam)):
            told = False
            while not told:
                model, scores = _oracle(rng, [places - 1], places, vocabulary)
                scores[:, : places - 1, :, EOS] = -NEVER
                scores[:, : places - 1, :, EOS + 1 :] *= torch.linspace(0.1, 1, places - 1)[:, None, None]
                told = _ends_otherwise(make(model), torch.tensor([[EOS + 1]]), beam, rival, alike)
            found.append(scores)
        src = _asking(rng, len(found), range(len(found)))
        return call(title, speaker(torch.cat(found)), src, beam, penalty, grad=False, **settings)

    yield one_wide("a beam of one", [2, 5, 3], [1, 0, 2], 1.0, public=True)
    yield exhaustive("all hypotheses, plain sums", 0.0, public=True, weight=2.0)
    yield exhaustive("all hypotheses, means of log p", 1.0, public=True, weight=2.0)
    yield rest_hidden
    yield exhaustive("all hypotheses, in between", 0.6)
    yield exhaustive("all hypotheses, long ones preferred", 2.0)
    yield exhaustive("all of three places", 0.8, places=3)
    yield exhaustive("all hypotheses, the best of them cut off", 0.0, cut=True)
    yield one_wide("a beam of one, no end in sight", [None, 2], [0, 1], 0.6)
    yield one_wide("a beam of one, plain sums", [5, 1, 0], [2, 0, 1], 0.0)
    model, src = renumbered(on_time(rng, [1, None, 3], 4, 13), _asking(rng, 3, [1, 0, 2]))
    yield call("other numbers for pad, sos and eos", model, src, 1, 1.0, grad=False, weight=0.5)
    yield narrow("a beam of two", 2, (1, 3), 1.0)
    yield narrow("a beam of three", 3, (1, 2, 4), 0.0)
    yield narrow("a beam wider than the vocabulary", 12, (1, 9), 0.6, alike=(10, 11, 13, 14))
    for penalty in (0.3, 1.2):
        yield exhaustive(f"all hypotheses, penalty {penalty}", penalty, sentences=4)


def _search(
    model,
    src,
    beam,
    worth,
    *,
    scored=lambda logits: logits.log_softmax(-1),
    rank=sum,
    best=max,
    first=False,
    keep=True,
    among=lambda finished, cut: finished or cut,
):
    """Beam search that keeps what has the highest `rank(scores)`; at the end, `worth(scores, length)` decides `among`
    the finished hypotheses and those that max_len cut off. Unless it is to `keep` them, only the last to end count."""
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
            if not open_ or len(finished) >= beam or (first and finished):
                break
        compared = among(finished, open_)
        pool = [one for one in compared if not {model.pad, model.sos} & {*one[0]}] or compared
        words = best(pool, key=lambda one: worth(one[1], len(one[0])))[0]
        rows.append(torch.tensor(words))
    return nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=model.pad)


@decode_beam.misconception("Of two hypotheses with the same last word, which is better? What of the words before it?")
def only_the_last_word_counts(model, src, beam, length_penalty=1.0):
    return _search(model, src, beam, lambda scores, n: scores[-1] / n**length_penalty, rank=lambda scores: scores[-1])


@decode_beam.misconception(
    "Print log p of a sentence of your beam, its length, and what you say it is worth with a penalty of 0, 1 and 2."
)
def no_length_penalty(model, src, beam, length_penalty=1.0):
    return _search(model, src, beam, lambda scores, n: sum(scores))


@decode_beam.misconception(
    "Call it with length_penalty = 0.5, 1 and 2. You see whether there is one: do you see its size?"
)
def the_same_for_every_penalty(model, src, beam, length_penalty=1.0):
    return _search(model, src, beam, lambda scores, n: sum(scores) / (n if length_penalty else 1))


@decode_beam.misconception(
    "Print your answers and max_len. Has each of them ended? Which hypotheses may win at the end?"
)
def those_cut_off_compete(model, src, beam, length_penalty=1.0):
    worth = lambda scores, n: sum(scores) / n**length_penalty  # noqa: E731
    return _search(model, src, beam, worth, among=lambda finished, cut: finished + cut)


@decode_beam.misconception("log p is negative. Does a larger penalty favour long sentences in yours, or short ones?")
def multiplied_by_the_length(model, src, beam, length_penalty=1.0):
    return _search(model, src, beam, lambda scores, n: sum(scores) * n**length_penalty)


@decode_beam.misconception("How long is a sentence that consists of eos alone? The eos is counted.")
def eos_not_counted(model, src, beam, length_penalty=1.0):
    return _search(model, src, beam, lambda scores, n: sum(scores) / max(n - 1, 1) ** length_penalty)


@decode_beam.misconception("How long is a sentence that consists of eos alone? Print the length that you divide by.")
def sos_counted(model, src, beam, length_penalty=1.0):
    return _search(model, src, beam, lambda scores, n: sum(scores) / (n + 1) ** length_penalty)


@decode_beam.misconception("Add 100 to all logits of one step. Should the search change? What makes logits comparable?")
def logits_summed(model, src, beam, length_penalty=1.0):
    return _search(model, src, beam, lambda scores, n: sum(scores) / n**length_penalty, scored=lambda logits: logits)


@decode_beam.misconception("What is the probability of a sentence: the sum of its words' probabilities?")
def probabilities_summed(model, src, beam, length_penalty=1.0):
    worth = lambda scores, n: sum(scores) / n**length_penalty  # noqa: E731
    return _search(model, src, beam, worth, scored=lambda logits: logits.softmax(-1))


@decode_beam.misconception("Does your result change with the beam? Compare a beam of 1 and a very wide one.")
def greedy_whatever_the_beam(model, src, beam, length_penalty=1.0):
    return _search(model, src, 1, lambda scores, n: sum(scores) / n**length_penalty)


@decode_beam.misconception(
    "What becomes of a hypothesis that ends before the last place? Print all that you compare at the end."
)
def those_that_ended_early_are_lost(model, src, beam, length_penalty=1.0):
    return _search(model, src, beam, lambda scores, n: sum(scores) / n**length_penalty, keep=False)


@decode_beam.misconception("Was the first hypothesis that ended the best one? Others may end better, and later.")
def stops_at_the_first_end(model, src, beam, length_penalty=1.0):
    return _search(model, src, beam, lambda scores, n: sum(scores) / n**length_penalty, first=True)


@decode_beam.misconception("Print log p of your answer and of the others. Which should be returned?")
def returns_the_worst(model, src, beam, length_penalty=1.0):
    return _search(model, src, beam, lambda scores, n: sum(scores) / n**length_penalty, best=min)


@decode_beam.misconception("Decode two sentences together, then each alone. Whose hypotheses compete with whose?")
def the_first_sentence_for_all(model, src, beam, length_penalty=1.0):
    worth = lambda scores, n: sum(scores) / n**length_penalty  # noqa: E731
    return _search(model, src[:1].expand_as(src), beam, worth)
