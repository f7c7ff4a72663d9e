"""Hidden tests of `DecoderLayer`: three sublayers with their norms, queries and keys, and which mask hides what."""

from functools import partial

from course.exercise import exercise
from course.hidden.encoder_decoder import laid_open
from course.hidden.encoder_decoder.laid_open import OpenDecoder, at, but, only, turned_round
from course.hidden.encoder_decoder.scaffold import BUILT_IN_LAYERS, loaded_layer, ragged, words
from course.reference import encoder_decoder as reference
from course.reference.encoder_decoder import causal


@exercise(
    reference.DecoderLayer,
    hints=(
        "Write beside each attention where its queries come from, where its keys come from, and what its mask hides.",
        "Change the last target word. May the first word's vector move? Then change a source word. Which have to move?",
        "Take more source words than target words, and print the shape of the weights of both attentions. In "
        "pre-norm, which inputs of the cross-attention go through norm2, and which have been normed already?",
        "Begin with the two sublayers that you know from your EncoderLayer, and give each its norm and its mask. Test"
        " that much in post-norm. Then put the third one between them, and ask which of its arguments is not x.",
    ),
    forbidden=BUILT_IN_LAYERS,
    name="DecoderLayer",
)
def DecoderLayer(rng):
    """T and S differ, and are once equal. Both norms, both masks, each mask alone, and gradients of the memory.

    A dropout of 1 silences every sublayer in training, and none in evaluation.
    """

    def layer(title, norm, **settings):
        return loaded_layer(title, reference.DecoderLayer, rng, norm, **settings)

    def inputs(B, T, S):
        return words(rng, B, T), words(rng, B, S), causal(T), ragged(rng, B, S)

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


def masked(pick):
    """A layer that uses the masks which `pick(tgt_mask, src_mask)` returns."""

    def forward(self, x, memory, tgt_mask=None, src_mask=None):
        return OpenDecoder.forward(self, x, memory, *pick(tgt_mask, src_mask))

    return but(OpenDecoder, forward=forward)


def crossing(attend):
    """A layer whose second sublayer is `attend(self, x, memory, src_mask)`, an attention with its weights."""
    return but(OpenDecoder, cross=lambda *inputs: attend(*inputs)[0])


wrong = partial(but, OpenDecoder)

DecoderLayer.mistakes(
    "Change the last target word. May the vector of the first one move?",
    FutureNotHidden=masked(lambda tgt, src: (None, src)),
)
DecoderLayer.mistakes(
    "Change what stands in the source's padding. Does the result move?",
    SourcePaddingNotHidden=masked(lambda tgt, src: (tgt, None)),
)
DecoderLayer.mistakes(
    "Print the shape of the result. Has it a row for each target word? So where do the queries come from?",
    MemoryAsks=crossing(lambda self, x, memory, mask: self.cross_attention(memory, x, mask)),
    MemoryAsksItself=crossing(lambda self, x, memory, mask: self.cross_attention(memory, memory, mask)),
)
DecoderLayer.mistakes(
    "Change a source word. Does the result move? Where do the keys of your second attention come from?",
    CrossLooksAtItself=crossing(lambda self, x, memory, mask: self.cross_attention(x, x, mask)),
)
DecoderLayer.mistakes(
    "Print the shapes of both masks. Which one has a column for each source word?",
    MasksExchanged=masked(lambda tgt, src: (src, tgt)),
    TargetsMaskForBoth=masked(lambda tgt, src: (tgt, tgt)),
    SourcesMaskForBoth=masked(lambda tgt, src: (src, src)),
)
DecoderLayer.mistakes(
    "Hide one source word from all queries and change it. Does the result move?",
    MasksTurnedRound=masked(lambda tgt, src: (turned_round(tgt), turned_round(src))),
)
DecoderLayer.mistakes(
    "Call it without a tgt_mask, and change the last word. Should the first word's vector move then?",
    AlwaysHidesTheFuture=wrong(look=lambda self, x, mask: self.self_attention(x, x, causal(x.shape[1]))[0]),
)


@DecoderLayer.misconception(
    "Change the last source word. Should the first target word's vector move? The whole source is known already."
)
class SourceHiddenLikeAFuture(OpenDecoder):
    def forward(self, x, memory, tgt_mask=None, src_mask=None):
        if tgt_mask is not None:
            future = causal(max(x.shape[1], memory.shape[1]))[: x.shape[1], : memory.shape[1]]
            src_mask = future if src_mask is None else src_mask & future
        return super().forward(x, memory, tgt_mask, src_mask)


DecoderLayer.mistakes(
    "Which of the two attentions comes first? Compare your order with the list in the text.",
    SourceBeforeItself=wrong(norm_of=("norm2", "norm1", "norm3"), through=only(1, 0, 2)),
)
DecoderLayer.mistakes(
    "Change the weights of cross_attention. Does the result move?",
    OneAttentionForBoth=crossing(lambda self, x, memory, mask: self.self_attention(x, memory, mask)),
)
DecoderLayer.mistakes(
    "In pre-norm, double the memory. The result should change. How often is the memory normed?",
    MemoryNormedAgain=crossing(
        lambda self, x, memory, mask: self.cross_attention(
            x, self.norm2(memory) if self.norm == "pre" else memory, mask
        ),
    ),
)
DecoderLayer.mistakes(
    "In pre-norm, print what goes into W_q of the cross-attention. Through which norm did it go?",
    QuestionNotNormed=wrong(around=at("norm2", laid_open.not_normed)),
)
DecoderLayer.mistakes(laid_open.NO_RESIDUAL, NoRoadAround=wrong(around=laid_open.no_residual))
DecoderLayer.mistakes(
    "Set the weights and bias of the cross-attention's W_o to zero. Is what self-attention left still there?",
    NoRoadAroundTheCross=wrong(around=at("norm2", laid_open.no_residual)),
)
DecoderLayer.mistakes(
    "What does the cross-attention add its output to, the layer's input or what self-attention left?",
    CrossAddsToTheStart=wrong(through=laid_open.second_residual_from_the_start),
)
DecoderLayer.mistakes(laid_open.ALWAYS_POST, DecodesAlwaysPost=wrong(around=laid_open.always_post))
DecoderLayer.mistakes(
    "Build it with norm='post' and fresh norms. Is the mean of each word in the result 0?",
    DecodesAlwaysPre=wrong(around=laid_open.always_pre),
)
DecoderLayer.mistakes(
    laid_open.SUBLAYER_NORMED_ALONE, SublayersNormedAlone=wrong(around=laid_open.sublayer_normed_alone)
)
DecoderLayer.mistakes(laid_open.RESIDUAL_NORMED, RoadNormed=wrong(around=laid_open.residual_normed))
DecoderLayer.mistakes(
    "Which norm belongs to which sublayer? Write their numbers beside the list in the text.",
    NormsInAnotherOrder=wrong(norm_of=("norm1", "norm3", "norm2")),
)
DecoderLayer.mistakes(
    "Change the weights of norm2, then of norm3. Does the result move? Count the norms.",
    OneNormForAll=wrong(norm_of=("norm1", "norm1", "norm1")),
    LastNormNeverUsed=wrong(norm_of=("norm1", "norm2", "norm2")),
    OneNormForBothAttentions=wrong(norm_of=("norm1", "norm1", "norm2")),
)
DecoderLayer.misconception(laid_open.WITH_GELU, convention=laid_open.GELU_CONVENTION, name="ThinksSmoothly")(
    wrong(think=laid_open.with_gelu)
)
DecoderLayer.mistakes(laid_open.WITHOUT_RELU, ThinksInStraightLines=wrong(think=laid_open.without_relu))


@DecoderLayer.misconception(
    "Set the weights and bias of self_attention.W_o to zero. Which of your sublayers adds nothing now?"
)
class AttentionsExchanged(OpenDecoder):
    def look(self, x, tgt_mask):
        return self.cross_attention(x, x, tgt_mask)[0]

    def cross(self, x, memory, src_mask):
        return self.self_attention(x, memory, src_mask)[0]


DecoderLayer.mistakes(
    "Change all source words. Does the result move? Count your sublayers.",
    CrossForgotten=wrong(through=only(0, 2)),
)
DecoderLayer.mistakes(
    "Change the first target word. The second word's vector should move. Does it? Count your sublayers.",
    SelfForgotten=wrong(through=only(1, 2)),
)
DecoderLayer.mistakes(
    "Change the weights of up. Does the result move? Count your sublayers.",
    FeedForwardForgotten=wrong(through=only(0, 1)),
)
DecoderLayer.mistakes(laid_open.NOTHING_DROPPED, NothingEverDropped=wrong(around=laid_open.nothing_dropped))
DecoderLayer.mistakes(laid_open.RESIDUAL_DROPPED, RoadDroppedAsWell=wrong(around=laid_open.residual_dropped))
DecoderLayer.mistakes(
    laid_open.DROPPED_IN_EVALUATION, StillDropsInEvaluation=wrong(around=laid_open.dropped_in_evaluation)
)
DecoderLayer.mistakes(
    "With a dropout of 1 in training, every sublayer should add nothing. How many of your three do?",
    CrossNotDropped=wrong(around=at("norm2", laid_open.nothing_dropped)),
    ThoughtsNotDropped=wrong(around=at("norm3", laid_open.nothing_dropped)),
    SelfNotDropped=wrong(around=at("norm1", laid_open.nothing_dropped)),
)
DecoderLayer.mistakes(
    "What does each sublayer read, the layer's input or what the sublayer before it left?",
    AllSideBySide=wrong(through=laid_open.side_by_side),
)
