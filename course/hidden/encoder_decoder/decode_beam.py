"""Hidden tests of `decode_beam`: which hypotheses are kept, and what each is worth at the end."""

import torch

from course.exercise import call, exercise, rest_hidden
from course.exercise.stand_ins import make
from course.hidden.encoder_decoder.beams import ends_otherwise, most_telling, search
from course.hidden.encoder_decoder.scaffold import EOS, NEVER, asking, on_time, oracle, renumbered, speaker
from course.reference import encoder_decoder as reference

MANY, FIRST = 64, 8
"""Sentences that are drawn to choose from, and those of them that can end at the last position only."""


@exercise(
    reference.decode_beam,
    hints=(
        "List all sentences of up to three words, with log p and length. Which has the best final score?",
        "Call it with a beam of 1 and compare with decode_greedy, for short sentences and long ones.",
        "Do you add up logits, probabilities or log-probabilities, and over all words of a hypothesis or the last "
        "one? Print the beam after each step. How many of its places do finished hypotheses hold, and how many are "
        "free?",
        "Begin with one sentence, and with what you must remember of a hypothesis. It is its words and one number. "
        "Start from a list with a single hypothesis, and write one step, which makes a longer list. Print it, then "
        "keep as many as there are free places.",
    ),
    calls=(
        "model = oracle([[3, 4, 2]]); decode_beam(model, tensor([[7]]), 1)",
        "model = oracle([[3, 2, 5], [3, 4, 2]]); decode_beam(model, tensor([[7], [8]]), 1)",
        "model = oracle([[2, 3, 3]]); decode_beam(model, tensor([[7]]), 2)",
        "model = oracle([[3, 4, 5]]); decode_beam(model, tensor([[7]]), 2)",
        "model = oracle([[3, 4, 2]]); decode_beam(model, tensor([[7]]), 2, length_penalty=0.)",
    ),
)
def decode_beam(rng):
    """Beam 1 against greedy, then beams wider than the number of hypotheses, in which nothing can be lost.

    In each batch the first sentence can end only at the last position, so the answer's width is settled. Where a beam
    is neither, all sentences can end only there, because what becomes of finished hypotheses is left open.
    """

    def one_wide(title, ends, wanted, penalty, places=6, **settings):
        model = on_time(rng, ends, places)
        return call(title, model, asking(rng, len(ends), wanted), 1, penalty, grad=False, **settings)

    def exhaustive(title, penalty, places=4, sentences=3, cut=False, never=-NEVER, **settings):
        """All hypotheses there are. Where they are `cut`, some of the best have not ended at the last position.

        Of many sentences that are drawn those are taken that show most. The first one ends at the last position.
        """
        chosen = None
        while chosen is None:
            model, scores = oracle(rng, [places - 1] * MANY, places, 5)
            if cut:
                scores[:, places - 1, :, EOS] = 2 * rng.normal(MANY, 11)
            scores[:FIRST, : places - 1, :, EOS] = -NEVER
            scores[FIRST:, : places - 1, :, EOS] += 1.0
            scores[..., :EOS] = never
            chosen = most_telling(make(model), asking(rng, MANY, range(MANY)), penalty, cut, FIRST, sentences)
        src = asking(rng, sentences, range(sentences))
        return call(title, speaker(scores[chosen]), src, 640, penalty, grad=False, **settings)

    def narrow(title, beam, others, penalty, alike=(), places=6, vocabulary=9, **settings):
        """First words hardly differ, later ones more and more, so this beam, and those `alike`, end as no other does.

        A sentence is drawn for each of the `others`, and one for a beam that keeps by the last word. A beam wider than
        the vocabulary holds an eos from the first step on. Whether that one takes a place or not, and how many, should
        make no difference.
        """
        rivals, found = (*others, None), []
        while not found:
            _, scores = oracle(rng, [places - 1] * MANY, places, vocabulary)
            scores[:, : places - 1, :, EOS] = -NEVER
            scores[:, : places - 1, :, EOS + 1 :] *= torch.linspace(0.1, 1, places - 1)[:, None, None]
            found = ends_otherwise(scores, asking(rng, MANY, range(MANY)), beam, rivals, alike)
        src = asking(rng, len(found), range(len(found)))
        return call(title, speaker(scores[found]), src, beam, penalty, grad=False, **settings)

    yield one_wide("a beam of one", [2, 5, 3], [1, 0, 2], 1.0, public=True)
    yield exhaustive("all hypotheses, plain sums", 0.0, public=True, weight=2.0)
    yield exhaustive("all hypotheses, means of log p", 1.0, never=-torch.inf, public=True, weight=2.0)
    yield rest_hidden
    yield exhaustive("all hypotheses, in between", 0.6, never=-torch.inf)
    yield exhaustive("all hypotheses, long ones preferred", 2.0)
    yield exhaustive("all of three words", 0.8, places=3)
    yield exhaustive("all hypotheses, the best of them cut short", 0.0, cut=True)
    yield one_wide("a beam of one, no end in sight", [None, 2], [0, 1], 0.6)
    yield one_wide("a beam of one, plain sums", [5, 1, 0], [2, 0, 1], 0.0)
    model, src = renumbered(on_time(rng, [1, None, 3], 4, 13), asking(rng, 3, [1, 0, 2]))
    yield call("other numbers for pad, sos and eos", model, src, 1, 1.0, grad=False, weight=0.5)
    yield narrow("a beam of two", 2, (1, 3), 1.0)
    yield narrow("a beam of three", 3, (1, 2, 4), 0.0)
    yield narrow("a beam wider than the vocabulary", 12, (9, 1), 0.6, alike=(10, 11, 13, 14))
    for penalty in (0.3, 1.2):
        yield exhaustive(f"all hypotheses, penalty {penalty}", penalty, sentences=4)


decode_beam.mistakes(
    "Print each hypothesis that you compare at the end, with its log p, its length, and its score for a penalty of "
    "0, 1 and 2. Is the best one missing, or is its score too low?",
    best_by_the_plain_sum=lambda model, src, beam, length_penalty=1.0: search(
        model, src, beam, lambda scores, n: sum(scores)
    ),
    stops_when_the_best_has_ended=lambda model, src, beam, length_penalty=1.0: search(
        model, src, beam, lambda scores, n: sum(scores) / n**length_penalty, lead=0.0
    ),
)


@decode_beam.misconception(
    "Print the scores of a short and a long sentence for penalties of 0, 1 and 2. Which one gains? log p is negative."
)
def multiplied_by_the_length(model, src, beam, length_penalty=1.0):
    return search(model, src, beam, lambda scores, n: sum(scores) * n**length_penalty)


decode_beam.mistakes(
    "Print what you divide by for a sentence of eos alone. The length counts eos, and it does not count sos.",
    eos_not_counted=lambda model, src, beam, length_penalty=1.0: search(
        model, src, beam, lambda scores, n: sum(scores) / max(n - 1, 1) ** length_penalty
    ),
)


@decode_beam.misconception("Add 100 to all logits of one step. Should the search change? Does yours?")
def logits_summed(model, src, beam, length_penalty=1.0):
    return search(model, src, beam, lambda scores, n: sum(scores) / n**length_penalty, scored=lambda logits: logits)


@decode_beam.misconception("Does your result change with the beam? Compare a beam of 1 and a very wide one.")
def greedy_whatever_the_beam(model, src, beam, length_penalty=1.0):
    return search(model, src, 1, lambda scores, n: sum(scores) / n**length_penalty)


@decode_beam.misconception(
    "Print all hypotheses that you compare at the end. Are those that finished early among them?"
)
def those_that_ended_early_are_lost(model, src, beam, length_penalty=1.0):
    return search(model, src, beam, lambda scores, n: sum(scores) / n**length_penalty, keep=False)


@decode_beam.misconception(
    "Print all hypotheses at the end. Could one that finishes later score better than the first?"
)
def stops_at_the_first_end(model, src, beam, length_penalty=1.0):
    return search(model, src, beam, lambda scores, n: sum(scores) / n**length_penalty, lead=torch.inf)
