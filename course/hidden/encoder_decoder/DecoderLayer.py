"""Hidden tests of `DecoderLayer`: three sublayers with their norms, queries and keys, and which mask hides what."""

from functools import partial

from course.exercise import exercise
from course.hidden.encoder_decoder import laid_open
from course.hidden.encoder_decoder.laid_open import OpenDecoder, but
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
    calls=(
        "DecoderLayer(4, 2, 8, dropout=0.)(numbers(2, 3, 4), numbers(2, 5, 4)).shape",
        (
            "model = set_all(DecoderLayer(2, 1, 3, dropout=0., norm='pre'), 0); model(tensor([[[3., 5.]]]), "
            "tensor([[[7., 9.]]]))"
        ),
        (
            "model = set_all(DecoderLayer(2, 1, 3, dropout=0., norm='post'), 0); model(tensor([[[3., 5.]]]), "
            "tensor([[[7., 9.]]]))"
        ),
        (
            "model = set_all(DecoderLayer(2, 1, 3, dropout=0., norm='pre'), 1); model(tensor([[[3., 3.]]]), "
            "tensor([[[0., 0.]]]))"
        ),
        (
            "model = set_all(DecoderLayer(2, 1, 3, dropout=0., norm='pre'), 1); model(tensor([[[3., 3.]]]), "
            "tensor([[[1., 1.]]]))"
        ),
        (
            "model = set_all(DecoderLayer(2, 1, 3, dropout=0., norm='post'), 1); model(tensor([[[3., 3.]]]), "
            "tensor([[[1., 1.]]]))"
        ),
    ),
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
    "Change a source word. Does the result move? Where do the keys of your second attention come from?",
    CrossLooksAtItself=wrong(cross=lambda self, x, memory, mask: self.cross_attention(x, x, mask)[0]),
)
DecoderLayer.mistakes(
    "Print the shapes of both masks. Which one has a column for each source word?",
    MasksExchanged=masked(lambda tgt, src: (src, tgt)),
)


@DecoderLayer.misconception("In pre-norm, double the memory. The result should change. How often is the memory normed?")
class MemoryNormedAgain(OpenDecoder):
    def cross(self, x, memory, src_mask):
        return super().cross(x, self.norm2(memory) if self.norm == "pre" else memory, src_mask)


DecoderLayer.mistakes(laid_open.NO_RESIDUAL, NoRoadAround=wrong(around=laid_open.no_residual))
DecoderLayer.mistakes(laid_open.ALWAYS_POST, DecodesAlwaysPost=wrong(around=laid_open.always_post))
DecoderLayer.mistakes(laid_open.ALWAYS_PRE, DecodesAlwaysPre=wrong(around=laid_open.always_pre))
