"""Hidden tests of `DecoderLayer`."""

from __future__ import annotations

import torch

from course.exercise import exercise
from course.hidden.encoder_decoder.EncoderLayer import (
    AlwaysPost,
    AlwaysPre,
    DropsInEvaluation,
    NoResidual,
    NothingBetweenUpAndDown,
    NothingDropped,
    RoadDroppedToo,
    SmoothBend,
)
from course.hidden.encoder_decoder.scaffold import BUILT_IN_LAYERS, _below, _layer, _ragged, _words
from course.reference import encoder_decoder as reference


@exercise(
    reference.DecoderLayer,
    hints=(
        "Three sublayers, three norms. Write beside each attention: who asks, who is asked, and what is hidden.",
        "Change the last target word: may the first one's vector move? Then change a source word: whose must move?",
        "Take more source words than target words, and print the shape of the weights of both attentions.",
        "In pre-norm, which inputs of the cross-attention go through norm2, and which have been normed already?",
    ),
    forbidden=BUILT_IN_LAYERS,
    name="DecoderLayer",
)
def DecoderLayer(rng):
    """T and S differ, and are once equal; both norms, both masks, each alone; gradients reach the memory.

    A dropout of 1 silences every sublayer in training, and none in evaluation.
    """

    def layer(title, norm, **settings):
        return _layer(title, reference.DecoderLayer, rng, norm, **settings)

    def inputs(B, T, S):
        return _words(rng, B, T), _words(rng, B, S), _below(T), _ragged(rng, B, S)

    yield layer("post-norm", "post", public=True, weight=2.0).call(*inputs(2, 5, 7)).gradients()
    yield layer("pre-norm", "pre", public=True, weight=2.0).call(*inputs(3, 7, 5)).gradients()
    yield layer("as many target words as source words", "post", public=True).call(*inputs(2, 5, 5))
    yield layer("as many of both, pre-norm", "pre").call(*inputs(2, 7, 7))
    yield layer("nothing hidden", "post").call(*inputs(2, 5, 5)[:2])
    x, memory, future, padding = inputs(3, 5, 5)
    yield layer("only padding hidden", "pre").call(x, memory, src_mask=padding)
    yield layer("only the future hidden", "post").call(x, memory, tgt_mask=future)
    yield layer("one word from one word", "pre").call(*inputs(1, 1, 1))
    yield layer("gradients of the weights", "pre").call(*inputs(2, 3, 5)).gradients(wrt="parameters")
    for norm in ("post", "pre"):
        silent = layer(f"{norm}-norm in training, everything dropped", norm, dropout=1.0)
        yield silent.train().call(*inputs(2, 3, 5))
    for norm in ("post", "pre"):
        awake = layer(f"{norm}-norm in evaluation, nothing dropped", norm, dropout=1.0, weight=0.5)
        yield awake.call(*inputs(2, 3, 5))


class _Decoder(reference.DecoderLayer):
    """The reference with its pieces laid open; `norm_of` names the norm of each sublayer."""

    norm_of = ("norm1", "norm2", "norm3")

    def look(self, x, tgt_mask):
        return self.self_attention(x, x, tgt_mask)[0]

    def cross(self, x, memory, src_mask):
        return self.cross_attention(x, memory, src_mask)[0]

    def forward(self, x, memory, tgt_mask=None, src_mask=None):
        looking, crossing, thinking = (getattr(self, name) for name in self.norm_of)
        x = self.around(looking, lambda y: self.look(y, tgt_mask), x)
        x = self.around(crossing, lambda y: self.cross(y, memory, src_mask), x)
        return self.around(thinking, self.think, x)


@DecoderLayer.misconception("Change the last word that was written. May the vector of the first one move?")
class FutureNotHidden(_Decoder):
    def look(self, x, tgt_mask):
        return super().look(x, None)


@DecoderLayer.misconception("Change what stands in the source's padding. Does the result move?")
class SourcePaddingNotHidden(_Decoder):
    def cross(self, x, memory, src_mask):
        return super().cross(x, memory, None)


@DecoderLayer.misconception("How many rows has the result, one a source word or one a target word? Then who asks?")
class MemoryAsks(_Decoder):
    def cross(self, x, memory, src_mask):
        return self.cross_attention(memory, x, src_mask)[0]


@DecoderLayer.misconception("How many rows has the result, one a source word or one a target word? Then who asks?")
class MemoryAsksItself(_Decoder):
    def cross(self, x, memory, src_mask):
        return self.cross_attention(memory, memory, src_mask)[0]


@DecoderLayer.misconception("Change a source word: must the result not move? Who is asked in your second attention?")
class CrossLooksAtItself(_Decoder):
    def cross(self, x, memory, src_mask):
        return self.cross_attention(x, x, src_mask)[0]


@DecoderLayer.misconception("Print the shapes of both masks. Which one has a column for each source word?")
class MasksExchanged(_Decoder):
    def forward(self, x, memory, tgt_mask=None, src_mask=None):
        return super().forward(x, memory, src_mask, tgt_mask)


@DecoderLayer.misconception("Print the shapes of both masks. Which one has a column for each source word?")
class TargetsMaskForBoth(_Decoder):
    def forward(self, x, memory, tgt_mask=None, src_mask=None):
        return super().forward(x, memory, tgt_mask, tgt_mask)


@DecoderLayer.misconception("Print the shapes of both masks. Which one has a column for each source word?")
class SourcesMaskForBoth(_Decoder):
    def forward(self, x, memory, tgt_mask=None, src_mask=None):
        return super().forward(x, memory, src_mask, src_mask)


@DecoderLayer.misconception("Hide a source word from everybody and change it. Does the result move?")
class MasksTurnedRound(_Decoder):
    def forward(self, x, memory, tgt_mask=None, src_mask=None):
        masks = (None if mask is None else ~mask for mask in (tgt_mask, src_mask))
        return super().forward(x, memory, *masks)


@DecoderLayer.misconception("Call it without a tgt_mask. Who hides something then, and was it asked to?")
class AlwaysHidesTheFuture(_Decoder):
    def look(self, x, tgt_mask):
        return super().look(x, _below(x.shape[1]))


@DecoderLayer.misconception("Which source words may the first target word see? All of them are there already.")
class SourceHiddenLikeAFuture(_Decoder):
    def forward(self, x, memory, tgt_mask=None, src_mask=None):
        if tgt_mask is not None:
            future = torch.ones(x.shape[1], memory.shape[1], dtype=torch.bool).tril()
            src_mask = future if src_mask is None else src_mask & future
        return super().forward(x, memory, tgt_mask, src_mask)


@DecoderLayer.misconception(
    "Which comes first: what has been written so far, or the source? Go through the list once more."
)
class SourceBeforeItself(_Decoder):
    def forward(self, x, memory, tgt_mask=None, src_mask=None):
        x = self.around(self.norm1, lambda y: self.cross(y, memory, src_mask), x)
        x = self.around(self.norm2, lambda y: self.look(y, tgt_mask), x)
        return self.around(self.norm3, self.think, x)


@DecoderLayer.misconception("Change the weights of cross_attention. Does the result move?")
class OneAttentionForBoth(_Decoder):
    def cross(self, x, memory, src_mask):
        return self.self_attention(x, memory, src_mask)[0]


@DecoderLayer.misconception("In pre-norm, double the memory. Does your result move? How often has it been normed?")
class MemoryNormedAgain(_Decoder):
    def cross(self, x, memory, src_mask):
        return super().cross(x, self.norm2(memory) if self.norm == "pre" else memory, src_mask)


@DecoderLayer.misconception("In pre-norm, does the word that asks the source go through a norm before it asks?")
class QuestionNotNormed(_Decoder):
    def forward(self, x, memory, tgt_mask=None, src_mask=None):
        if self.norm == "post":
            return super().forward(x, memory, tgt_mask, src_mask)
        x = self.around(self.norm1, lambda y: self.look(y, tgt_mask), x)
        x = x + self.dropout(self.cross(x, memory, src_mask))
        return self.around(self.norm3, self.think, x)


@DecoderLayer.misconception("Set all weights of the sublayers to zero. Is anything left of x? What should be?")
class NoRoadAround(_Decoder):
    around = NoResidual.around


@DecoderLayer.misconception("Set W_o of the cross-attention to zero. Is what has been written so far still there?")
class NoRoadAroundTheCross(_Decoder):
    def forward(self, x, memory, tgt_mask=None, src_mask=None):
        x = self.around(self.norm1, lambda y: self.look(y, tgt_mask), x)
        if self.norm == "pre":
            x = self.dropout(self.cross(self.norm2(x), memory, src_mask))
        else:
            x = self.norm2(self.dropout(self.cross(x, memory, src_mask)))
        return self.around(self.norm3, self.think, x)


@DecoderLayer.misconception(
    "To what does the cross-attention add: to the words as they came, or as the first left them?"
)
class CrossAddsToTheStart(_Decoder):
    def forward(self, x, memory, tgt_mask=None, src_mask=None):
        y = self.around(self.norm1, lambda z: self.look(z, tgt_mask), x)
        if self.norm == "pre":
            x = x + self.dropout(self.cross(self.norm2(y), memory, src_mask))
        else:
            x = self.norm2(x + self.dropout(self.cross(y, memory, src_mask)))
        return self.around(self.norm3, self.think, x)


@DecoderLayer.misconception("Build it with norm='pre' and with norm='post', from the same weights. Do they differ?")
class DecodesAlwaysPost(_Decoder):
    around = AlwaysPost.around


@DecoderLayer.misconception("Build it with norm='post'. Has a word of the result mean 0 when norm3 is fresh?")
class DecodesAlwaysPre(_Decoder):
    around = AlwaysPre.around


@DecoderLayer.misconception("What is added to what? In post-norm the sum is normed, and so is the road through it.")
class SublayersNormedAlone(_Decoder):
    def around(self, norm, sublayer, x):
        return super().around(norm, sublayer, x) if self.norm == "pre" else x + norm(self.dropout(sublayer(x)))


@DecoderLayer.misconception(
    "In pre-norm, may a norm stand on the road from the first layer to the last? Multiply x by 10."
)
class RoadNormed(_Decoder):
    def around(self, norm, sublayer, x):
        if self.norm == "post":
            return super().around(norm, sublayer, x)
        y = norm(x)
        return y + self.dropout(sublayer(y))


@DecoderLayer.misconception("Which sublayer has which norm? Write the numbers beside the three of the list.")
class NormsInAnotherOrder(_Decoder):
    norm_of = ("norm1", "norm3", "norm2")


@DecoderLayer.misconception("Change the weights of norm2, then of norm3. Does the result move? Count the norms.")
class OneNormForAll(_Decoder):
    norm_of = ("norm1", "norm1", "norm1")


@DecoderLayer.misconception("Change the weights of norm2, then of norm3. Does the result move? Count the norms.")
class LastNormNeverUsed(_Decoder):
    norm_of = ("norm1", "norm2", "norm2")


@DecoderLayer.misconception("Change the weights of norm2, then of norm3. Does the result move? Count the norms.")
class OneNormForBothAttentions(_Decoder):
    norm_of = ("norm1", "norm1", "norm2")


@DecoderLayer.misconception(
    "A smoother bend than the paper's of 2017. Ours is the one with the corner.", convention="GELU, as in GPT and BERT"
)
class ThinksSmoothly(_Decoder):
    think = SmoothBend.think


@DecoderLayer.misconception("Is something missing between up and down? Two linear maps in a row are one.")
class ThinksInStraightLines(_Decoder):
    think = NothingBetweenUpAndDown.think


@DecoderLayer.misconception("Set W_o of self_attention to zero. Which of your sublayers falls silent?")
class AttentionsExchanged(_Decoder):
    def look(self, x, tgt_mask):
        return self.cross_attention(x, x, tgt_mask)[0]

    def cross(self, x, memory, src_mask):
        return self.self_attention(x, memory, src_mask)[0]


@DecoderLayer.misconception("Change a source word, and all of them. Must the result not move? Count your sublayers.")
class CrossForgotten(_Decoder):
    def forward(self, x, memory, tgt_mask=None, src_mask=None):
        x = self.around(self.norm1, lambda y: self.look(y, tgt_mask), x)
        return self.around(self.norm3, self.think, x)


@DecoderLayer.misconception("Change the first target word. May the second one's vector move? Count your sublayers.")
class SelfForgotten(_Decoder):
    def forward(self, x, memory, tgt_mask=None, src_mask=None):
        x = self.around(self.norm2, lambda y: self.cross(y, memory, src_mask), x)
        return self.around(self.norm3, self.think, x)


@DecoderLayer.misconception("Count your sublayers. Change the weights of up: does the result move?")
class FeedForwardForgotten(_Decoder):
    def forward(self, x, memory, tgt_mask=None, src_mask=None):
        x = self.around(self.norm1, lambda y: self.look(y, tgt_mask), x)
        return self.around(self.norm2, lambda y: self.cross(y, memory, src_mask), x)


@DecoderLayer.misconception("Put it into training mode, with a dropout of 1. Does it notice?")
class NothingEverDropped(_Decoder):
    around = NothingDropped.around


@DecoderLayer.misconception("With a dropout of 1, should the road around the sublayer be closed, too?")
class RoadDroppedAsWell(_Decoder):
    around = RoadDroppedToo.around


@DecoderLayer.misconception("Put it into eval(), with a dropout of 0.5, and call it twice. Why do the results differ?")
class StillDropsInEvaluation(_Decoder):
    around = DropsInEvaluation.around


@DecoderLayer.misconception("With a dropout of 1 in training, every sublayer should say nothing. How many of three do?")
class CrossNotDropped(_Decoder):
    def forward(self, x, memory, tgt_mask=None, src_mask=None):
        x = self.around(self.norm1, lambda y: self.look(y, tgt_mask), x)
        if self.norm == "pre":
            x = x + self.cross(self.norm2(x), memory, src_mask)
        else:
            x = self.norm2(x + self.cross(x, memory, src_mask))
        return self.around(self.norm3, self.think, x)


@DecoderLayer.misconception("With a dropout of 1 in training, every sublayer should say nothing. How many of three do?")
class ThoughtsNotDropped(_Decoder):
    def around(self, norm, sublayer, x):
        if norm is not self.norm3:
            return super().around(norm, sublayer, x)
        return x + sublayer(norm(x)) if self.norm == "pre" else norm(x + sublayer(x))


@DecoderLayer.misconception("With a dropout of 1 in training, every sublayer should say nothing. How many of three do?")
class SelfNotDropped(_Decoder):
    def around(self, norm, sublayer, x):
        if norm is not self.norm1:
            return super().around(norm, sublayer, x)
        return x + sublayer(norm(x)) if self.norm == "pre" else norm(x + sublayer(x))


@DecoderLayer.misconception("What does each sublayer read: the words as they came, or as the one before left them?")
class AllSideBySide(_Decoder):
    def forward(self, x, memory, tgt_mask=None, src_mask=None):
        if self.norm == "post":
            total = self.look(x, tgt_mask), self.cross(x, memory, src_mask), self.think(x)
            return self.norm3(x + sum(self.dropout(part) for part in total))
        total = (
            self.look(self.norm1(x), tgt_mask),
            self.cross(self.norm2(x), memory, src_mask),
            self.think(self.norm3(x)),
        )
        return x + sum(self.dropout(part) for part in total)
