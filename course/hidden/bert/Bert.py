"""Hidden tests of `Bert`: its vectors, its two kinds of logits, and what a mask and a segment change."""

from __future__ import annotations

import torch
from torch import nn

from course.exercise import Ref, build, exercise
from course.hidden.encoder_decoder.scaffold import BUILT_IN_LAYERS
from course.hidden.shapes import shapes_of
from course.reference import bert as reference

V, D, HEADS, INNER, LAYERS, LONGEST = 13, 6, 3, 11, 2, 17
PLAIN = "two pairs without padding"


@exercise(
    reference.Bert,
    hints=(
        "Write down the shape after each step: the three embeddings, their sum, each layer, the vector at `[CLS]`, the "
        "pair logits.",
        "Exchange segments 0 and 1 of a pair. Exchange two words. Do the pair logits move each time?",
        "Change the padding behind the mask to other words. Do the vectors of real words move? What does `word_logits` "
        "return for a vector of zeros?",
        "Begin with the three embeddings. One is looked up by the ids and one by the segments. Which numbers look up "
        "the third? Print the shape of the sum before you go on to the layers.",
    ),
    forbidden=tuple(name for name in BUILT_IN_LAYERS if name != "blocks.EncoderLayer"),
    name="Bert",
    calls=(
        (
            "Bert(7, 4, 2, 8, 1, dropout=0.)(ones(2, 3, dtype=torch.long), zeros(2, 3, dtype=torch.long), "
            "ones(2, 3, dtype=torch.bool))[0].shape"
        ),
        (
            "Bert(7, 4, 2, 8, 1, dropout=0.)(ones(2, 3, dtype=torch.long), zeros(2, 3, dtype=torch.long), "
            "ones(2, 3, dtype=torch.bool))[1].shape"
        ),
        "Bert(7, 4, 2, 8, 1, dropout=0.).word_logits(numbers(2, 3, 4)).shape",
        "model = set_all(Bert(3, 2, 1, 4, 1, dropout=0.), 1); model.word_logits(tensor([2., 5.]))",
        (
            "model = set_all(Bert(3, 2, 1, 4, 1, dropout=0.), 0); model(tensor([[1, 2]]), tensor([[0, 0]]), "
            "tensor([[True, True]]))[1]"
        ),
        (
            "model = Bert(7, 4, 2, 8, 1, dropout=0.).eval(); mask = tensor([[True, True, "
            "False]]); (model(tensor([[1, 2, 3]]), zeros(1, 3, dtype=torch.long), "
            "mask)[1] - model(tensor([[1, 2, 4]]), zeros(1, 3, dtype=torch.long), mask)[1]).abs().max() < 1e-4"
        ),
    ),
)
def Bert(rng):
    """The judge's weights under the given names. Vectors of padding are compared nowhere."""

    def model(title, *sizes, dropout=0.0, **settings):
        sizes = sizes or (V, D, HEADS, INNER, LAYERS, LONGEST)
        made = build(title, *sizes, dropout=dropout, **settings).call(method="double", into="model")
        shapes = shapes_of(reference.Bert, *sizes)
        return made.load({name: 0.7 * rng.normal(*shape) for name, shape in shapes.items()})

    def pairs(B, T, lengths=()):
        """Ids and segments (B, T), and the mask, True for so many tokens of each row."""
        ends = torch.tensor(lengths or [T] * B)[:, None]
        return rng.integers(0, V, B, T), (torch.arange(T) >= ends // 2).long().expand(B, T), torch.arange(T) < ends

    def of_real_words(case, mask):
        """The case compares the vectors of real words alone, and all pair logits."""
        case = case.call(0, on="out", method="__getitem__", into="all words")
        case = case.call(mask, on="all words", method="__getitem__", into="real words")
        case = case.call(1, on="out", method="__getitem__", into="pair logits")
        same = {"rows": list(range(D)), "because": "the vectors of real words are not right beside padding"}
        case = case.law("rows_as_expected", of="real words", **same)
        same = {"rows": [0, 1], "because": "the pair logits are not right where some rows have padding"}
        return case.law("rows_as_expected", of="pair logits", **same).laws_only()

    yield model(PLAIN, public=True, weight=2.0).call(*pairs(2, 7))
    yield model("one layer, other sizes", 17, 10, 2, 5, 1, 11).call(*pairs(3, 5))
    padded = pairs(3, 7, [7, 4, 5])
    case = of_real_words(model("padding behind two of three", public=True, weight=2.0).call(*padded), padded[2])
    yield case.counts_with(PLAIN)
    alone = pairs(2, 11, [3, 8])
    yield of_real_words(model("long padding").call(*alone), alone[2]).counts_with(PLAIN)
    ids, _, mask = pairs(2, 5)
    yield model("single sentences").call(ids, torch.zeros_like(ids), mask)
    yield model("all in the second segment", weight=0.5).call(ids, torch.ones_like(ids), mask)
    vectors = rng.normal(2, 3, D).requires_grad_()
    yield model("word logits", public=True, weight=2.0).call(vectors, method="word_logits").gradients()
    yield model("word logits of one vector", weight=0.5).call(rng.normal(D), method="word_logits")
    yield model("what the model learns", weight=2.0).call(*pairs(2, 5)).gradients(wrt="parameters")
    tied = model("the output learns with the embeddings").call(*pairs(2, 5), into="words", carries=["pair"])
    tied = tied.call(Ref("words"), method="word_logits").gradients(wrt="parameters").laws_only()
    because = "words that were not read get no gradient. Which matrix makes the word logits?"
    yield tied.law("every_token_learns", tokens=V, because=because).counts_with(PLAIN)
    for place in ("in training, everything dropped", "in evaluation, nothing dropped"):
        made = model(place, dropout=1.0)
        yield (made.train() if "training" in place else made).call(*pairs(2, 5))
    yield model("as long as it can read").call(*pairs(1, LONGEST))


class _Open(reference.Bert):
    """The reference in pieces, for others to take their place."""

    def embedded(self, ids, segments):
        places = torch.arange(ids.shape[1])
        return self.dropout(self.norm(self.words(ids) + self.positions(places) + self.segments(segments)))

    def allowed(self, mask):
        return mask[:, None, None]

    def sentence(self, x):
        return x[:, 0]

    def judged(self, sentence):
        return self.pair(self.pooler(sentence).tanh())

    def forward(self, ids, segments, mask):
        x = self.embedded(ids, segments)
        for layer in self.layers:
            x = layer(x, self.allowed(mask))
        return x, self.judged(self.sentence(x))


def _with(**pieces):
    return type("Other", (_Open,), pieces)


def _sum(self, ids, segments):
    return self.words(ids) + self.positions(torch.arange(ids.shape[1])) + self.segments(segments)


def _only(*tables):
    """The embedding that adds up some of the three."""

    def embedded(self, ids, segments):
        asked = {"words": ids, "positions": torch.arange(ids.shape[1]).expand_as(ids), "segments": segments}
        return self.dropout(self.norm(sum(getattr(self, name)(asked[name]) for name in tables)))

    return embedded


Bert.mistakes(
    "Exchange segments 0 and 1. Which of your results move?",
    NoSegments=_with(embedded=_only("words", "positions")),
)
Bert.mistakes(
    "Exchange two words of a sentence. Does the vector of `[CLS]` move?",
    NoPositions=_with(embedded=_only("words", "segments")),
)
Bert.mistakes(
    "Print the mean and the variance of a word before the first layer, with fresh norms. What should they be?",
    NoNorm=_with(embedded=lambda self, ids, segments: self.dropout(_sum(self, ids, segments))),
)
Bert.mistakes(
    "Topic 10's Transformer multiplies its embeddings. By what does the text here multiply them?",
    ScaledAsInTopicTen=_with(
        embedded=lambda self, ids, segments: self.dropout(
            self.norm(self.words(ids) * D**0.5 + _sum(self, ids, segments) - self.words(ids))
        )
    ),
)
Bert.mistakes(
    "Change what stands behind the mask. Which vectors move?",
    MaskNotUsed=_with(allowed=lambda self, mask: None),
)
Bert.mistakes(
    "At which token do your pair logits look? Change the vector that leaves the last layer at one token, and then at "
    "another one. Which change moves the pair logits?",
    LooksAtTheMean=_with(sentence=lambda self, x: x.mean(1)),
)
Bert.mistakes(
    "Print the numbers that go into `pair`. Between which bounds should they lie?",
    NoTanh=_with(judged=lambda self, sentence: self.pair(self.pooler(sentence))),
)


@Bert.misconception("Take a step of training. Are the embeddings and the matrix of the word logits still one tensor?")
class TiedByACopy(_Open):
    def __init__(self, *sizes, **settings):
        super().__init__(*sizes, **settings)
        self.output = nn.Linear(self.words.embedding_dim, self.words.num_embeddings)

    def word_logits(self, words):
        return self.output(words)
