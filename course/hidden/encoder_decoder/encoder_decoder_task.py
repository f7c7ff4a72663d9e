"""Hidden tests of `encoder_decoder_task`: translations of new sentences by a trained model."""

import random
from functools import lru_cache

import torch
from torch.nn import functional as F

from course.data import phrases
from course.exercise import exercise, given_model
from course.hidden.encoder_decoder.scaffold import BUILT_IN_LAYERS

OTHERS = frozenset({"la", "les", "l'", "un", "une", "mon", "ma", "mes", "ton", "ta", "tes", "notre", "nos"})
"""Determiners that half-learned French might all call `le`."""


def _as_in_french(words):
    return phrases.aligned(words)[0]


def _as_in_english(words):
    return _in_english_order(*phrases.aligned(words))


def _in_english_order(french, places):
    """French words in the order of the English ones that they come from."""
    return [french[i] for i in sorted(range(len(french)), key=lambda i: places[i])]


def _with_one_determiner(words):
    return ["le" if word in OTHERS else word for word in _as_in_french(words)]


@lru_cache(maxsize=64)
def _said(rows, say):
    """What `say` makes of English sentences, rows of ids, as French ids (B, T)."""
    return phrases.encode([say(phrases.decode(torch.tensor(row), "english")) for row in rows], "french")


def _sentences(src, say=_as_in_french):
    return _said(tuple(map(tuple, src.tolist())), say)


def _saying(targets, tgt_in, sure=20.0):
    """Logits (B, T, V) of a model that says `targets` whatever it has said before."""
    width = tgt_in.shape[1]
    targets = F.pad(targets, (0, max(0, width - targets.shape[1])), value=phrases.PAD)[:, :width]
    return sure * F.one_hot(targets, len(phrases.vocabulary("french"))).double()


def by_the_grammar(src, tgt_in, src_mask=None, tgt_mask=None):
    """A model that knows the rules and ignores what it has said."""
    return _saying(_sentences(src), tgt_in)


@exercise(
    by_the_grammar,
    name="encoder_decoder_task",
    hints=(
        "Print one row of tgt_in below the same row of tgt. Can the model see the word that it has to predict?",
        "Translate a few sentences of the training set with your model. If even those are wrong, how low is the loss?"
        " Plot the learning rate over the steps of your run. Does it reach its peak?",
        "Are translations poor at a low loss? Change the last word of tgt_in. At which positions do the logits move?",
        "Begin with one batch and no loop. Make tgt_in, and check that it has the shape of tgt. Compute one loss of "
        "an untrained model. An even guess costs log V = 5.5, and yours should lie somewhat above it. Then make one "
        "step with a rate of your schedule, and write the loop around it.",
    ),
    forbidden=BUILT_IN_LAYERS,
)
def encoder_decoder_task(rng):
    """Sentences that no stream contains. The judge asks for one word after the other and keeps the targets.

    Over forty seeds the notebook's model translates 77 to 97 % without a fault, all but one more than 86 %, with a BLEU
    of 0.88 to 0.98; without positions it is 55 to 57 %, and 0.70.
    """

    def asked(title, pairs, **settings):
        """The case without its bar, and what laws on its translations need."""
        src = phrases.encode([pair[0] for pair in pairs], "english")
        targets = phrases.encode([pair[1] for pair in pairs], "french")
        case = given_model(title, **settings).laws_only()
        case = case.unroll(src, torch.full((len(src), 1), phrases.SOS), steps=targets.shape[1])
        case = case.law("says", word=phrases.EOS, share=0.7, because="few of the sentences end")
        literal = phrases.encode([_in_english_order(*pair[1:]) for pair in pairs], "french")
        case = case.law("mostly_unlike", targets=literal, share=0.6, eos=phrases.EOS,
                        because="the words stand in the order of the English ones")  # fmt: skip
        return case, {"targets": targets, "eos": phrases.EOS}

    def moves(pair):
        """Whether some French word stands before one that comes earlier in English."""
        return list(pair[2]) != sorted(pair[2])

    pairs = phrases.draw(300, random.Random(rng.seed()))
    some, right = asked("half of some sentences", list(filter(moves, pairs))[:60], public=True)
    some = some.law("bleu_at_least", bar=0.4, **right).law("exact_match_at_least", bar=0.5, **right)
    some = some.shows("exact_match_at_least", full=0.7, called="the share of sentences without an error")
    some = some.shows("bleu_at_least", full=0.8, called="BLEU")
    yield some.law("bleu_at_least", bar=0.2, **right)  # tells endless sentences from none, near the bar of 0.4
    new, right = asked("new sentences, 70 % right to the last word", pairs, weight=3.0)
    yield new.law("exact_match_at_least", bar=0.7, **right)
    yield new.judged_again("new sentences, BLEU of 0.8", weight=2.0).law("bleu_at_least", bar=0.8, **right)
    yield new.judged_again("more than single words, BLEU of 0.4").law("bleu_at_least", bar=0.4, **right)
    short = [pair for pair in pairs if len(pair[0]) < 20][:20]  # with eos and three pads they fit into 24 places
    src, tgt = (phrases.encode([pair[i] for pair in short], name) for i, name in enumerate(("english", "french")))
    tgt_in = torch.cat([torch.full((len(tgt), 1), phrases.SOS), tgt[:, :-1]], 1)
    yield (
        given_model("words that come later", public=True)
        .laws_only()
        .call(src, tgt_in, into="whole")
        .call(src, tgt_in[:, :3], into="beginning")
        .law("begins_with", of="whole", to="beginning", dim=1, within=1e-3,
             because="later words of tgt_in change the logits of earlier ones, so the model sees the future")
        .counts_with("more than single words, BLEU of 0.4")
    )  # fmt: skip
    yield (
        given_model("padding behind the source", public=True)
        .laws_only()
        .call(src, tgt_in, into="plain")
        .call(F.pad(src, (0, 3), value=phrases.PAD), tgt_in, into="padded")
        .law("equal", of="plain", to="padded", within=1e-3, because="padding behind the source changes the logits")
        .counts_with("more than single words, BLEU of 0.4")
    )


@encoder_decoder_task.misconception(
    "Few words are right, and few sentences end. How far does the loss fall? Do the parameters change in a step?"
)
def says_nothing(src, tgt_in, src_mask=None, tgt_mask=None):
    return torch.linspace(1, 0, len(phrases.vocabulary("french"))).expand(*tgt_in.shape, -1)


@encoder_decoder_task.misconception(
    "The words are right, but in English order. Do the words of both languages get positions?"
)
def word_for_word(src, tgt_in, src_mask=None, tgt_mask=None):
    return _saying(_sentences(src, _as_in_english), tgt_in)


@encoder_decoder_task.misconception(
    "Verbs and nouns are right, but endings and articles are not yet. Does the loss still fall when the budget ends? "
    "Plot the learning rate. How soon and how high does it rise?"
)
def half_learned(src, tgt_in, src_mask=None, tgt_mask=None):
    return _saying(_sentences(src, _with_one_determiner), tgt_in)


@encoder_decoder_task.misconception("The words are right, but the sentences never end. Does your loss include eos?")
def does_not_end(src, tgt_in, src_mask=None, tgt_mask=None):
    said = _sentences(src)
    return _saying(said.masked_fill(said == phrases.EOS, 3).masked_fill(said == phrases.PAD, 3), tgt_in)


@encoder_decoder_task.misconception(
    "It is perfect when it reads the right words, and fails when it reads its own. Change the last word of tgt_in. "
    "At which positions do the logits move?"
)
def copies_the_next_word(src, tgt_in, src_mask=None, tgt_mask=None):
    """Logits of what stands one position later in its own input, and at the end of the last word again."""
    return _saying(torch.cat([tgt_in[:, 1:], tgt_in[:, -1:]], 1), tgt_in)
