"""Hidden tests of `EncoderLayer`: two sublayers, their residual connections, norms and dropout, and the mask."""

from functools import partial

from course.exercise import exercise
from course.hidden.encoder_decoder import laid_open
from course.hidden.encoder_decoder.laid_open import OpenEncoder, but
from course.hidden.encoder_decoder.scaffold import BUILT_IN_LAYERS, HEADS, loaded_layer, ragged, words
from course.reference import encoder_decoder as reference
from course.reference.encoder_decoder import causal


@exercise(
    reference.EncoderLayer,
    hints=(
        "Draw the way of x through the layer for both norms. Mark where it splits, and where it comes together.",
        "Set all weights and biases of self_attention and down to zero. What must come out, post-norm and pre-norm?",
        "Put the layer into training mode with a dropout of 1. Then every sublayer adds nothing. What is left?",
        "Begin with post-norm and self-attention alone. Which of its two results do you need, and which x is it added"
        " to? Write the second sublayer in the same order, and only then ask which of your lines change when norm is "
        "'pre'.",
    ),
    forbidden=(*BUILT_IN_LAYERS, "blocks.EncoderLayer"),
    name="EncoderLayer",
    calls=(
        "model = set_all(EncoderLayer(2, 1, 3, dropout=0., norm='pre'), 0); model(tensor([[[3., 5.]]]))",
        "model = set_all(EncoderLayer(2, 1, 3, dropout=0., norm='post'), 0); model(tensor([[[3., 5.]]]))",
        "model = set_all(EncoderLayer(2, 1, 3, dropout=0., norm='pre'), 1); model(tensor([[[3., 5.]]]))",
        "model = set_all(EncoderLayer(2, 1, 3, dropout=0., norm='post'), 1); model(tensor([[[3., 5.]]]))",
        "model = set_all(EncoderLayer(2, 1, 3, dropout=0., norm='pre'), 1); model(tensor([[[3., 3.]]]))",
        "model = set_all(EncoderLayer(2, 1, 3, dropout=0., norm='post'), 1); model(tensor([[[3., 3.]]]))",
    ),
)
def EncoderLayer(rng):
    """Both norms, with masks of several shapes, gradients, and a dropout of 1.

    In training that leaves nothing but the residual stream, and in evaluation it changes nothing.
    """

    def layer(title, norm, **settings):
        return loaded_layer(title, reference.EncoderLayer, rng, norm, **settings)

    yield layer("post-norm", "post", public=True, weight=2.0).call(words(rng, 2, 5)).gradients()
    yield layer("pre-norm", "pre", public=True, weight=2.0).call(words(rng, 2, 5)).gradients()
    yield layer("post-norm, padding hidden", "post", public=True).call(words(rng, 3, 5), ragged(rng, 3, 5))
    yield layer("pre-norm, the future hidden", "pre").call(words(rng, 2, 5), causal(5))
    per_head = rng.uniform(2, HEADS, 5, 5) < 0.6
    per_head[..., 0] = True
    yield layer("a mask for every head", "pre").call(words(rng, 2, 5), mask=per_head)
    yield layer("one word alone", "post").call(words(rng, 1, 1))
    yield layer("gradients of the weights", "post").call(words(rng, 2, 3), causal(3)).gradients(wrt="parameters")
    for norm in ("post", "pre"):
        silent = layer(f"{norm}-norm in training, everything dropped", norm, dropout=1.0)
        yield silent.train().call(words(rng, 2, 5))
    for norm in ("post", "pre"):
        awake = layer(f"{norm}-norm in evaluation, nothing dropped", norm, dropout=1.0, weight=0.5)
        yield awake.call(words(rng, 2, 5))


wrong = partial(but, OpenEncoder)

EncoderLayer.mistakes(
    laid_open.NO_RESIDUAL,
    NoResidual=wrong(around=laid_open.no_residual),
)
EncoderLayer.misconception(laid_open.WITH_GELU, convention=laid_open.GELU_CONVENTION, name="SmoothBend")(
    wrong(think=laid_open.with_gelu)
)
EncoderLayer.mistakes(laid_open.ALWAYS_POST, AlwaysPost=wrong(around=laid_open.always_post))
EncoderLayer.mistakes(laid_open.ALWAYS_PRE, AlwaysPre=wrong(around=laid_open.always_pre))
EncoderLayer.mistakes(
    "Change the weights of norm2. Does your result move?",
    OneNormTwice=wrong(norm_of=("norm1", "norm1")),
)


@EncoderLayer.misconception("Hide the last word from all queries and change it. Which vectors move?")
class MaskNotPassedOn(OpenEncoder):
    def attend(self, x, mask):
        return self.self_attention(x, x)[0]


EncoderLayer.mistakes(
    "Two linear maps in a row are one linear map. What stands between your up and down?",
    NothingBetweenUpAndDown=wrong(think=lambda self, x: self.down(self.up(x))),
)


EncoderLayer.mistakes(laid_open.NOTHING_DROPPED, NothingDropped=wrong(around=laid_open.nothing_dropped))
