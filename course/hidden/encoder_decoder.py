"""Examiner's notes on the Transformer: norms and layers, both towers, decoding, the loss, and sentences to translate.

Constructors are given, so weights are loaded by name and values compared, in double precision. Sizes are distinct
primes where heads allow it (D = 6 with three heads); one case of each has T = S, where exchanged roles keep shapes.
"""

from __future__ import annotations

import random
from functools import lru_cache, partial

import torch
from torch import nn
from torch.nn import functional as F

from course.data import phrases
from course.exercise import build, call, exercise, given_model, noncontiguous, rest_hidden, stand_in
from course.exercise.stand_ins import make
from course.reference import encoder_decoder as reference

BUILT_IN_NORMS = (
    *("F.layer_norm", "nn.LayerNorm", "torch.layer_norm", "torch.native_layer_norm", "F.rms_norm", "nn.RMSNorm"),
    *("F.group_norm", "nn.GroupNorm", "torch.group_norm", "F.instance_norm", "torch.instance_norm"),
    *("F.batch_norm", "torch.batch_norm", "nn.InstanceNorm1d", "nn.BatchNorm1d"),
)
BUILT_IN_LAYERS = (
    *("nn.Transformer", "nn.TransformerEncoder", "nn.TransformerDecoder"),
    *("nn.TransformerEncoderLayer", "nn.TransformerDecoderLayer", "blocks.EncoderLayer"),
)
BUILT_IN_LOSSES = ("F.cross_entropy", "nn.CrossEntropyLoss", "F.kl_div", "nn.KLDivLoss")
D, HEADS, INNER = 6, 3, 11
PAD, SOS, EOS = 0, 1, 2


# -- layer norm ------------------------------------------------------------------------------------------------------


@exercise(
    reference.layer_norm,
    hints=(
        "Take gamma of ones and beta of zeros, and print mean and variance of one word of your result.",
        "Add 100 to all numbers of one word. Should its new vector change? Should that of its neighbour?",
        "Compare your variance with x.var(-1) and with its two settings: by what are the squares divided?",
    ),
    forbidden=BUILT_IN_NORMS,
)
def layer_norm(rng):
    """B, T and D differ; eps once so large that its place shows; a word of equal numbers; one number alone."""

    def inputs(*shape, dtype=torch.float64):
        return 2 * rng.normal(*shape, dtype=dtype) + 1, *(rng.normal(shape[-1], dtype=dtype) for _ in range(2))

    yield call("a small batch", *inputs(2, 3, 7), public=True, weight=2.0)
    yield call("a large eps", *inputs(3, 2, 5), eps=0.5, public=True)
    yield call("words without a batch", *inputs(5, 3))
    yield call("one word", *inputs(11))
    yield call("two numbers a word", *inputs(3, 5, 2), weight=2.0)
    x, gamma, beta = inputs(2, 5, 3)
    yield call("numbers around a thousand", x + 1000, gamma, beta, grad=False)
    yield call("a word of equal numbers", torch.full((2, 1, 5), 3.0).double(), rng.normal(5), rng.normal(5), grad=False)
    yield call("float32", *inputs(2, 3, 5, dtype=torch.float32))
    yield call("memory that is not contiguous", *(noncontiguous(tensor) for tensor in inputs(3, 2, 5)), public=True)


def _normed(x, gamma, beta, eps, dim=-1, correction=0):
    centred = x - x.mean(dim, keepdim=True)
    return gamma * centred / (x.var(dim, correction=correction, keepdim=True) + eps).sqrt() + beta


@layer_norm.misconception("Normalise one sentence alone, then in a batch. May its words change?")
def over_the_batch(x, gamma, beta, eps=1e-5):
    return _normed(x, gamma, beta, eps, dim=0)


@layer_norm.misconception("Print the mean of one word of your result, with gamma of ones and beta of zeros: is it 0?")
def over_the_words(x, gamma, beta, eps=1e-5):
    return _normed(x, gamma, beta, eps, dim=-2 if x.dim() > 1 else -1)


@layer_norm.misconception("A long sentence stands in the batch, too. Should its words change the mean of yours?")
def one_mean_over_all(x, gamma, beta, eps=1e-5):
    return gamma * (x - x.mean()) / (x.var(correction=0) + eps).sqrt() + beta


@layer_norm.misconception("For the numbers 0 and 2, is the variance 1 or 2? What do you divide by?")
def unbiased_variance(x, gamma, beta, eps=1e-5):
    return _normed(x, gamma, beta, eps, correction=1 if x.shape[-1] > 1 else 0)


@layer_norm.misconception("Set eps to 0.5. What exactly does the formula take the root of?")
def eps_outside_the_root(x, gamma, beta, eps=1e-5):
    return gamma * (x - x.mean(-1, keepdim=True)) / (x.var(-1, correction=0, keepdim=True).sqrt() + eps) + beta


@layer_norm.misconception(
    "Two small differences at once: by what does torch's std divide, and where does eps stand?",
    convention="unbiased deviation with eps added to it, as in the Annotated Transformer",
)
def unbiased_and_eps_outside(x, gamma, beta, eps=1e-5):
    deviation = x.var(-1, correction=1 if x.shape[-1] > 1 else 0, keepdim=True).sqrt()
    return gamma * (x - x.mean(-1, keepdim=True)) / (deviation + eps) + beta


@layer_norm.misconception("What comes out for a word of equal numbers? What is eps for?")
def no_eps(x, gamma, beta, eps=1e-5):
    return _normed(x, gamma, beta, 0.0)


@layer_norm.misconception("Set eps to 0.5. Does your result move?")
def an_eps_of_its_own(x, gamma, beta, eps=1e-5):
    return _normed(x, gamma, beta, 1e-5)


@layer_norm.misconception("With gamma of ones and beta of zeros, print the variance of a word of your result: is it 1?")
def squares_summed(x, gamma, beta, eps=1e-5):
    centred = x - x.mean(-1, keepdim=True)
    return gamma * centred / (centred.square().sum(-1, keepdim=True) + eps).sqrt() + beta


@layer_norm.misconception("Multiply all numbers of a word by 10. Should the result change? Variance or deviation?")
def divided_by_the_variance(x, gamma, beta, eps=1e-5):
    return gamma * (x - x.mean(-1, keepdim=True)) / (x.var(-1, correction=0, keepdim=True) + eps) + beta


@layer_norm.misconception(
    "Nothing is subtracted: that is another norm, used in many newer models. Ours has mean 0.",
    convention="RMSNorm, which leaves the mean where it is",
)
def root_mean_square(x, gamma, beta, eps=1e-5):
    return gamma * x / (x.square().mean(-1, keepdim=True) + eps).sqrt() + beta


@layer_norm.misconception("Set gamma to zero: what should be left? What is left of beta in yours?")
def shifted_before_it_is_scaled(x, gamma, beta, eps=1e-5):
    return gamma * (_normed(x, 1.0, 0.0, eps) + beta)


@layer_norm.misconception("Change one word of a sentence. May the vectors of its neighbours move?")
def over_the_whole_sentence(x, gamma, beta, eps=1e-5):
    return _normed(x, gamma, beta, eps, dim=(-2, -1) if x.dim() > 1 else -1)


@layer_norm.misconception("Add 100 to all numbers of a word. Should its new vector move? What has yours taken off?")
def mean_left_where_it_is(x, gamma, beta, eps=1e-5):
    return gamma * x / (x.var(-1, correction=0, keepdim=True) + eps).sqrt() + beta


@layer_norm.misconception("Set gamma to zero. Is anything of x left in your result?")
def gamma_unused(x, gamma, beta, eps=1e-5):
    return _normed(x, 1.0, beta, eps) + 0 * gamma


@layer_norm.misconception("Change beta. Does your result move?")
def beta_unused(x, gamma, beta, eps=1e-5):
    return _normed(x, gamma, 0.0, eps) + 0 * beta


@layer_norm.misconception("Which of the two scales, and which shifts? Set gamma to zero, then beta.")
def gamma_and_beta_exchanged(x, gamma, beta, eps=1e-5):
    return _normed(x, beta, gamma, eps)


@layer_norm.misconception("Change gamma, then beta. Does your result move?")
def gamma_and_beta_unused(x, gamma, beta, eps=1e-5):
    return _normed(x, 1.0, 0.0, eps) + 0 * (gamma + beta)


# -- feed-forward ----------------------------------------------------------------------------------------------------


@exercise(
    reference.feed_forward,
    hints=(
        "Write the shape of every intermediate beside its line. Where is it F wide, and where D?",
        "Set W2 to zero: what must come out? Then b1 to -1000: what must come out now?",
        "Feed two equal words at different places. Do they come out equal?",
    ),
)
def feed_forward(rng):
    """F and D differ, and are once equal, where a forgotten transpose keeps its shape."""

    def inputs(*shape, inner, dtype=torch.float64):
        width = shape[-1]
        sizes = (shape, (inner, width), (inner,), (width, inner), (width,))
        return [rng.normal(*size, dtype=dtype) for size in sizes]

    yield call("a small batch", *inputs(2, 3, 5, inner=7), public=True, weight=2.0)
    yield call("as wide inside as outside", *inputs(2, 3, 5, inner=5), public=True)
    yield call("narrow inside", *inputs(3, 2, 7, inner=2))
    yield call("one word", *inputs(3, inner=11))
    yield call("a batch of one", *inputs(1, 5, 3, inner=2))
    yield call("float32", *inputs(2, 3, 5, inner=7, dtype=torch.float32))
    yield call(
        "memory that is not contiguous", *(noncontiguous(part) for part in inputs(2, 5, 3, inner=7)), public=True
    )


@feed_forward.misconception("Without a bend in the middle two linear maps are one. Is your result linear in x?")
def no_relu(x, W1, b1, W2, b2):
    return (x @ W1.T + b1) @ W2.T + b2


@feed_forward.misconception("Can your result be negative? Where exactly does the formula bend?")
def relu_at_the_end_too(x, W1, b1, W2, b2):
    return reference.feed_forward(x, W1, b1, W2, b2).relu()


@feed_forward.misconception("Can your result be negative? And what bends between the two maps?")
def relu_at_the_end_instead(x, W1, b1, W2, b2):
    return ((x @ W1.T + b1) @ W2.T + b2).relu()


@feed_forward.misconception(
    "Set b1 to -1000. Does anything of x reach W2? What bends, the word or what W1 makes of it?"
)
def relu_on_the_way_in(x, W1, b1, W2, b2):
    return (x.relu() @ W1.T + b1) @ W2.T + b2


@feed_forward.misconception("Set b1 to -1000. What should reach W2, and what does in yours?")
def relu_before_the_bias(x, W1, b1, W2, b2):
    return ((x @ W1.T).relu() + b1) @ W2.T + b2


@feed_forward.misconception("Set x to zero. Which of the two biases can you still see in your result?")
def first_bias_lost(x, W1, b1, W2, b2):
    return (x @ W1.T + 0 * b1).relu() @ W2.T + b2


@feed_forward.misconception("Set W2 to zero: what should be left?")
def second_bias_lost(x, W1, b1, W2, b2):
    return (x @ W1.T + b1).relu() @ W2.T + 0 * b2


@feed_forward.misconception(
    "Weights are stored (out, in). Square matrices hide the difference: try F different from D."
)
def weights_not_transposed(x, W1, b1, W2, b2):
    return (x @ W1 + b1).relu() @ W2 + b2


@feed_forward.misconception("Set W2 and b2 to zero: nothing should be left. The road around comes with the layer.")
def residual_inside(x, W1, b1, W2, b2):
    return x + reference.feed_forward(x, W1, b1, W2, b2)


@feed_forward.misconception(
    "A smoother bend than the paper's of 2017. Ours is the one with the corner.", convention="GELU, as in GPT and BERT"
)
def smooth_bend(x, W1, b1, W2, b2):
    return F.gelu(x @ W1.T + b1) @ W2.T + b2


@feed_forward.misconception(
    "Print what W2 is multiplied with, for a word and for one a hundred times as long. Which numbers grow, which are 0?"
)
def tanh_for_relu(x, W1, b1, W2, b2):
    return (x @ W1.T + b1).tanh() @ W2.T + b2


@feed_forward.misconception(
    "Print what W2 is multiplied with, for a word and for one a hundred times as long. Which numbers grow, which are 0?"
)
def sigmoid_for_relu(x, W1, b1, W2, b2):
    return (x @ W1.T + b1).sigmoid() @ W2.T + b2


@feed_forward.misconception(
    "Print what W2 is multiplied with, for a word and for one a hundred times as long. Which numbers grow, which are 0?"
)
def leaky_for_relu(x, W1, b1, W2, b2):
    return F.leaky_relu(x @ W1.T + b1) @ W2.T + b2


# -- layers ----------------------------------------------------------------------------------------------------------


def _layer(title, kind, rng, norm, dropout=0.0, **settings):
    """A layer of the answer's in double precision, with the judge's numbers for weights."""
    made = build(title, D, HEADS, INNER, dropout=dropout, norm=norm, **settings)
    state = {name: rng.normal(*p.shape) for name, p in kind(D, HEADS, INNER).named_parameters()}
    return made.call(method="double", into="model").load(state)


def _words(rng, *shape):
    return rng.normal(*shape, D).requires_grad_()


def _ragged(rng, B, S):
    """A padding mask (B, 1, 1, S) with a full sentence, and one of a single word."""
    lengths = torch.cat([torch.tensor([S, 1]), rng.integers(1, S + 1, B)])[:B]
    return (torch.arange(S) < lengths[:, None])[:, None, None]


def _below(T):
    return torch.ones(T, T, dtype=torch.bool).tril()


@exercise(
    reference.EncoderLayer,
    hints=(
        "Set all weights and biases of self_attention and down to zero. What must come out, post-norm and pre-norm?",
        "Draw the way of x through the layer for both norms, and mark where it splits and where it comes together.",
        "Which of your lines change when norm is 'pre'? Print mean and variance of a word of the result for both.",
        "Put the layer into training mode with a dropout of 1: every sublayer says nothing then. What is left?",
    ),
    forbidden=BUILT_IN_LAYERS,
    name="EncoderLayer",
)
def EncoderLayer(rng):
    """Both norms, with masks of several shapes; gradients; and dropout 1: in training it leaves the road alone.

    In evaluation it leaves everything alone.
    """

    def layer(title, norm, **settings):
        return _layer(title, reference.EncoderLayer, rng, norm, **settings)

    yield layer("post-norm", "post", public=True, weight=2.0).call(_words(rng, 2, 5)).gradients()
    yield layer("pre-norm", "pre", public=True, weight=2.0).call(_words(rng, 2, 5)).gradients()
    yield layer("post-norm, padding hidden", "post", public=True).call(_words(rng, 3, 5), _ragged(rng, 3, 5))
    yield layer("pre-norm, the future hidden", "pre").call(_words(rng, 2, 5), _below(5))
    per_head = rng.uniform(2, HEADS, 5, 5) < 0.6
    per_head[..., 0] = True
    yield layer("a mask for every head", "pre").call(_words(rng, 2, 5), mask=per_head)
    yield layer("one word alone", "post").call(_words(rng, 1, 1))
    yield layer("gradients of the weights", "post").call(_words(rng, 2, 3), _below(3)).gradients(wrt="parameters")
    for norm in ("post", "pre"):
        silent = layer(f"{norm}-norm in training, everything dropped", norm, dropout=1.0)
        yield silent.train().call(_words(rng, 2, 5))
    for norm in ("post", "pre"):
        awake = layer(f"{norm}-norm in evaluation, nothing dropped", norm, dropout=1.0, weight=0.5)
        yield awake.call(_words(rng, 2, 5))


class _Encoder(reference.EncoderLayer):
    """The reference with its pieces laid open, for wrong ones to take their place."""

    def attend(self, x, mask):
        return self.self_attention(x, x, mask)[0]

    def forward(self, x, mask=None):
        x = self.around(self.norm1, lambda y: self.attend(y, mask), x)
        return self.around(self.norm2, self.think, x)


@EncoderLayer.misconception("Set all weights of the sublayers to zero. Is anything left of x? What should be?")
class NoResidual(_Encoder):
    def around(self, norm, sublayer, x):
        return self.dropout(sublayer(norm(x))) if self.norm == "pre" else norm(self.dropout(sublayer(x)))


@EncoderLayer.misconception(
    "Set the weights and biases of down to zero. What attention has found should be left: is it?"
)
class NoRoadAroundTheFeedForward(_Encoder):
    def forward(self, x, mask=None):
        x = self.around(self.norm1, lambda y: self.attend(y, mask), x)
        return (
            self.dropout(self.think(self.norm2(x))) if self.norm == "pre" else self.norm2(self.dropout(self.think(x)))
        )


@EncoderLayer.misconception("Set the weights and biases of W_o to zero. Is anything of x left? What should be?")
class NoRoadAroundTheAttention(_Encoder):
    def forward(self, x, mask=None):
        if self.norm == "pre":
            return self.around(self.norm2, self.think, self.dropout(self.attend(self.norm1(x), mask)))
        return self.around(self.norm2, self.think, self.norm1(self.dropout(self.attend(x, mask))))


@EncoderLayer.misconception("To what does the feed-forward add: to the words as they came, or as attention left them?")
class RoadFromTheStart(_Encoder):
    def forward(self, x, mask=None):
        y = self.around(self.norm1, lambda z: self.attend(z, mask), x)
        if self.norm == "pre":
            return x + self.dropout(self.think(self.norm2(y)))
        return self.norm2(x + self.dropout(self.think(y)))


@EncoderLayer.misconception(
    "Multiply x by 10 in pre-norm: does what comes out grow? Where does a norm stand, and how often?"
)
class NormedBeforeAndBehind(_Encoder):
    def around(self, norm, sublayer, x):
        return norm(x + self.dropout(sublayer(norm(x) if self.norm == "pre" else x)))


@EncoderLayer.misconception(
    "A smoother bend than the paper's of 2017. Ours is the one with the corner.", convention="GELU, as in GPT and BERT"
)
class SmoothBend(_Encoder):
    def think(self, x):
        return self.down(F.gelu(self.up(x)))


@EncoderLayer.misconception("What is added to what? In post-norm the sum is normed, and so is the road through it.")
class SublayerNormedAlone(_Encoder):
    def around(self, norm, sublayer, x):
        return super().around(norm, sublayer, x) if self.norm == "pre" else x + norm(self.dropout(sublayer(x)))


@EncoderLayer.misconception(
    "In pre-norm, may a norm stand on the road from the first layer to the last? Multiply x by 10."
)
class RoadNormedInPreNorm(_Encoder):
    def around(self, norm, sublayer, x):
        if self.norm == "post":
            return super().around(norm, sublayer, x)
        y = norm(x)
        return y + self.dropout(sublayer(y))


@EncoderLayer.misconception(
    "In pre-norm, may a norm stand on the road from the first layer to the last? Multiply x by 10."
)
class RoadNormedHalfWay(_Encoder):
    def forward(self, x, mask=None):
        if self.norm == "post":
            return super().forward(x, mask)
        x = self.norm2(x + self.dropout(self.attend(self.norm1(x), mask)))
        return x + self.dropout(self.think(x))


@EncoderLayer.misconception(
    "In pre-norm, may a norm stand on the road from the first layer to the last? Multiply x by 10."
)
class NormedAtTheEndInPreNorm(_Encoder):
    def forward(self, x, mask=None):
        x = super().forward(x, mask)
        return self.norm2(x) if self.norm == "pre" else x


@EncoderLayer.misconception("Build it with norm='pre' and with norm='post', from the same weights. Do they differ?")
class AlwaysPost(_Encoder):
    def around(self, norm, sublayer, x):
        return norm(x + self.dropout(sublayer(x)))


@EncoderLayer.misconception("Build it with norm='post'. Has a word of the result mean 0 when norm2 is fresh?")
class AlwaysPre(_Encoder):
    def around(self, norm, sublayer, x):
        return x + self.dropout(sublayer(norm(x)))


@EncoderLayer.misconception("Swap the weights of norm1 and norm2. Does your result notice? Which sublayer has which?")
class NormsExchanged(_Encoder):
    def forward(self, x, mask=None):
        x = self.around(self.norm2, lambda y: self.attend(y, mask), x)
        return self.around(self.norm1, self.think, x)


@EncoderLayer.misconception("Change the weights of norm2. Does your result move?")
class OneNormTwice(_Encoder):
    def forward(self, x, mask=None):
        x = self.around(self.norm1, lambda y: self.attend(y, mask), x)
        return self.around(self.norm1, self.think, x)


@EncoderLayer.misconception("Hide the last word from everybody and change it. Whose vectors move?")
class MaskNotPassedOn(_Encoder):
    def attend(self, x, mask):
        return self.self_attention(x, x)[0]


@EncoderLayer.misconception("Hide the last word from everybody and change it. Whose vectors move?")
class MaskTurnedRound(_Encoder):
    def attend(self, x, mask):
        return super().attend(x, None if mask is None else ~mask)


@EncoderLayer.misconception("What does the second sublayer read: the words as they came, or as attention left them?")
class SublayersSideBySide(_Encoder):
    def forward(self, x, mask=None):
        if self.norm == "pre":
            return x + self.dropout(self.attend(self.norm1(x), mask)) + self.dropout(self.think(self.norm2(x)))
        return self.norm2(x + self.dropout(self.attend(x, mask)) + self.dropout(self.think(x)))


@EncoderLayer.misconception("Which sublayer comes first? Set W_o to zero, and print what goes into up.")
class ThinksBeforeItLooks(_Encoder):
    def forward(self, x, mask=None):
        x = self.around(self.norm2, self.think, x)
        return self.around(self.norm1, lambda y: self.attend(y, mask), x)


@EncoderLayer.misconception("Set down's weights to zero, and its bias to -1. What is added to the words then?")
class BendsOnTheWayOut(_Encoder):
    def think(self, x):
        return super().think(x).relu()


@EncoderLayer.misconception("Is something missing between up and down? Two linear maps in a row are one.")
class NothingBetweenUpAndDown(_Encoder):
    def think(self, x):
        return self.down(self.up(x))


@EncoderLayer.misconception("In pre-norm, who is normed: only the word that asks, or those that are asked, too?")
class OnlyQueriesNormed(_Encoder):
    def forward(self, x, mask=None):
        if self.norm == "post":
            return super().forward(x, mask)
        x = x + self.dropout(self.self_attention(self.norm1(x), x, mask)[0])
        return self.around(self.norm2, self.think, x)


@EncoderLayer.misconception("Put it into training mode, with a dropout of 1. Does it notice?")
class NothingDropped(_Encoder):
    def around(self, norm, sublayer, x):
        return x + sublayer(norm(x)) if self.norm == "pre" else norm(x + sublayer(x))


@EncoderLayer.misconception("With a dropout of 1 in training, every sublayer should say nothing. How many of two do?")
class OnlyAttentionDropped(_Encoder):
    def forward(self, x, mask=None):
        x = self.around(self.norm1, lambda y: self.attend(y, mask), x)
        return x + self.think(self.norm2(x)) if self.norm == "pre" else self.norm2(x + self.think(x))


@EncoderLayer.misconception("With a dropout of 1 in training, every sublayer should say nothing. How many of two do?")
class OnlyThoughtsDropped(_Encoder):
    def forward(self, x, mask=None):
        y = self.attend(self.norm1(x) if self.norm == "pre" else x, mask)
        x = x + y if self.norm == "pre" else self.norm1(x + y)
        return self.around(self.norm2, self.think, x)


@EncoderLayer.misconception("With a dropout of 1, should the road around the sublayer be closed, too?")
class WordsDropped(_Encoder):
    def around(self, norm, sublayer, x):
        x = self.dropout(x) if norm is self.norm1 else x
        return x + sublayer(norm(x)) if self.norm == "pre" else norm(x + sublayer(x))


@EncoderLayer.misconception("With a dropout of 1, should the road around the sublayer be closed, too?")
class DroppedBehindTheNorm(_Encoder):
    def around(self, norm, sublayer, x):
        return super().around(norm, sublayer, x) if self.norm == "pre" else self.dropout(norm(x + sublayer(x)))


@EncoderLayer.misconception("With a dropout of 1, should the road around the sublayer be closed, too?")
class RoadDroppedToo(_Encoder):
    def around(self, norm, sublayer, x):
        return self.dropout(x + sublayer(norm(x))) if self.norm == "pre" else norm(self.dropout(x + sublayer(x)))


@EncoderLayer.misconception("Put it into eval(), with a dropout of 0.5, and call it twice. Why do the results differ?")
class DropsInEvaluation(_Encoder):
    def around(self, norm, sublayer, x):
        if self.norm == "pre":
            return x + F.dropout(sublayer(norm(x)), self.dropout.p)
        return norm(x + F.dropout(sublayer(x), self.dropout.p))


@EncoderLayer.misconception("Attention gave you two things. Which of them are the new words?")
class WeightsComeAlong(_Encoder):
    def forward(self, x, mask=None):
        return super().forward(x, mask), self.self_attention(x, x, mask)[1]


# -- the decoder's layer ---------------------------------------------------------------------------------------------


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


# -- the model -------------------------------------------------------------------------------------------------------

SRC_VOCAB, TGT_VOCAB = 13, 17


@exercise(
    reference.Transformer,
    hints=(
        "Follow one sentence: ids, embeddings times the root of D, places, encoder; print the shape after each step.",
        "Change the last word of tgt_in: at which places do the logits move? Then change the padding of src.",
        "Do the words of both languages get places? What is the size of an embedding before and after the root?",
        "In pre-norm nothing has been normed on the road. What stands at the end of either tower?",
    ),
    forbidden=BUILT_IN_LAYERS,
    tolerance=1e-5,
    name="Transformer",
)
def Transformer(rng):
    """Loaded by name into both norms; padding in the source; masks given, and masks of its own.

    With a dropout of 1 no word is left in training, and every word in evaluation.
    """

    def model(title, norm="post", n_layers=2, dropout=0.0, pad=PAD, **settings):
        sizes = (SRC_VOCAB, TGT_VOCAB, D, HEADS, INNER, n_layers)
        made = build(title, *sizes, dropout=dropout, norm=norm, pad=pad, max_len=11, **settings)
        parameters = reference.Transformer(*sizes, norm=norm).named_parameters()
        state = {name: rng.normal(*p.shape) / (2 if p.dim() > 1 else 1) for name, p in parameters}
        return made.call(method="double", into="model").load(state)

    def ids(B, S, T):
        """The second sentence ends early, in padding."""
        src = rng.integers(3, SRC_VOCAB, B, S)
        src[1:2, S // 2 :] = 0
        return src, torch.cat([torch.ones(B, 1).long(), rng.integers(3, TGT_VOCAB, B, T - 1)], 1)

    yield model("post-norm", public=True, weight=2.0).call(*ids(2, 7, 5))
    yield model("pre-norm", "pre", public=True, weight=2.0).call(*ids(3, 5, 7))
    yield model("one layer each", n_layers=1, public=True).call(*ids(2, 5, 5))
    yield model("three layers, pre-norm", "pre", 3).call(*ids(2, 5, 5))
    yield model("a first word from one word").call(*ids(1, 1, 1))
    src, tgt = ids(3, 7, 5)
    some = (rng.uniform(3, 1, 1, 7) < 0.6) | (torch.arange(7) == 0)
    yield model("masks that are given").call(
        src, tgt, some, _below(5) & (rng.uniform(5, 5) < 0.7) | torch.eye(5).bool()
    )
    yield model("a source mask alone", "pre").call(src, tgt, src_mask=some)
    yield model("nothing hidden at all").call(src, tgt, tgt_mask=torch.ones(5, 5, dtype=torch.bool))
    src, tgt = rng.permutation(SRC_VOCAB - 1).view(2, 6), rng.integers(3, TGT_VOCAB, 2, 5)
    src[1, 4:], last = SRC_VOCAB - 1, SRC_VOCAB - 1
    yield model("padding with another number", pad=last).call(src, tgt.masked_fill(tgt == last, 3))
    yield model("gradients of the weights").call(*ids(2, 5, 3)).gradients(wrt="parameters")
    everything = {"n_layers": 1, "dropout": 1.0, "weight": 0.5}
    yield model("in training, everything dropped", **everything).train().call(*ids(2, 5, 3))
    words = model("in training, the words of both languages dropped", **everything).train()
    yield words.read("encoder").read("decoder").call(*ids(2, 5, 3))  # what is read is put into evaluation
    yield model("in evaluation, nothing dropped", **everything).call(*ids(2, 5, 3))


class _Model(reference.Transformer):
    """The reference with its pieces laid open."""

    def embedded(self, ids, embed):
        return self.dropout(self.placed(ids, embed))

    def placed(self, ids, embed):
        return embed(ids) * embed.embedding_dim**0.5 + self.positions[: ids.shape[1]]

    def towers(self, src, tgt_in, src_mask, tgt_mask):
        memory = self.embedded(src, self.src_embed)
        for layer in self.encoder:
            memory = layer(memory, src_mask)
        memory, x = self.encoder_norm(memory), self.embedded(tgt_in, self.tgt_embed)
        for layer in self.decoder:
            x = layer(x, memory, tgt_mask, src_mask)
        return self.decoder_norm(x)

    def masks(self, src, tgt_in, src_mask, tgt_mask):
        future = reference.causal(tgt_in.shape[1])
        return (
            self.real(src) if src_mask is None else src_mask,
            self.real(tgt_in) & future if tgt_mask is None else tgt_mask,
        )

    def forward(self, src, tgt_in, src_mask=None, tgt_mask=None):
        x = self.towers(src, tgt_in, *self.masks(src, tgt_in, src_mask, tgt_mask))
        return x @ self.tgt_embed.weight.T


@Transformer.misconception("How large is an embedding beside a place's vector? Print both, before you add them.")
class EmbeddingsNotScaled(_Model):
    def placed(self, ids, embed):
        return embed(ids) + self.positions[: ids.shape[1]]


@Transformer.misconception("How large is an embedding beside a place's vector? Print both, before you add them.")
class EmbeddingsMadeSmaller(_Model):
    def placed(self, ids, embed):
        return embed(ids) / embed.embedding_dim**0.5 + self.positions[: ids.shape[1]]


@Transformer.misconception(
    "Print the length of a word's vector in either language, before places. Are they of one kind?"
)
class OnlyTheSourceScaled(_Model):
    def placed(self, ids, embed):
        scale = embed.embedding_dim**0.5 if embed is self.src_embed else 1.0
        return scale * embed(ids) + self.positions[: ids.shape[1]]


@Transformer.misconception(
    "Print the length of a word's vector in either language, before places. Are they of one kind?"
)
class OnlyTheTargetScaled(_Model):
    def placed(self, ids, embed):
        scale = embed.embedding_dim**0.5 if embed is self.tgt_embed else 1.0
        return scale * embed(ids) + self.positions[: ids.shape[1]]


@Transformer.misconception("Print the length of an embedding before and after you scale it. By what root has it grown?")
class ScaledByTheWidth(_Model):
    def placed(self, ids, embed):
        return embed(ids) * embed.embedding_dim + self.positions[: ids.shape[1]]


@Transformer.misconception("Multiply the words, and then give them places: is that what you do, in this order?")
class PlacesScaledToo(_Model):
    def placed(self, ids, embed):
        return (embed(ids) + self.positions[: ids.shape[1]]) * embed.embedding_dim**0.5


@Transformer.misconception("Exchange two words of the source. Do the logits move? Attention alone sees a set.")
class NoPlaces(_Model):
    def placed(self, ids, embed):
        return embed(ids) * embed.embedding_dim**0.5


@Transformer.misconception("Who gets places: the words of the source, those of the target, or both?")
class PlacesForTheSourceOnly(_Model):
    def placed(self, ids, embed):
        x = embed(ids) * embed.embedding_dim**0.5
        return x + self.positions[: ids.shape[1]] if embed is self.src_embed else x


@Transformer.misconception("Exchange two words of the source. Do the logits move? Who gets places in your model?")
class PlacesForTheTargetOnly(_Model):
    def placed(self, ids, embed):
        x = embed(ids) * embed.embedding_dim**0.5
        return x + self.positions[: ids.shape[1]] if embed is self.tgt_embed else x


@Transformer.misconception("Which vector does the very first word get? Places count from 0.")
class PlacesFromOne(_Model):
    def placed(self, ids, embed):
        return embed(ids) * embed.embedding_dim**0.5 + self.positions[1 : 1 + ids.shape[1]]


@Transformer.misconception(
    "Let a word stand in a sentence twice. Do both get the same place's vector, and should they?"
)
class PlacesByTheWord(_Model):
    def placed(self, ids, embed):
        return embed(ids) * embed.embedding_dim**0.5 + self.positions[ids.clamp(max=len(self.positions) - 1)]


@Transformer.misconception("Put it into training mode, with a dropout of 1. Is anything of the words left in it?")
class WordsNotDropped(_Model):
    def embedded(self, ids, embed):
        return self.placed(ids, embed)


@Transformer.misconception("Put it into training mode, with a dropout of 1. Is anything of the words left in it?")
class PlacesNotDropped(_Model):
    def embedded(self, ids, embed):
        return self.dropout(embed(ids) * embed.embedding_dim**0.5) + self.positions[: ids.shape[1]]


@Transformer.misconception(
    "Put it into training mode, with a dropout of 1. Where does dropout act outside the layers, and where should it?"
)
class DroppedAtTheTop(_Model):
    def towers(self, src, tgt_in, src_mask, tgt_mask):
        return self.dropout(super().towers(src, tgt_in, src_mask, tgt_mask))


@Transformer.misconception(
    "Change the last word of tgt_in. At which places may the logits move, when no mask is given?"
)
class FutureInSight(_Model):
    def masks(self, src, tgt_in, src_mask, tgt_mask):
        src_mask, _ = super().masks(src, tgt_in, src_mask, tgt_mask)
        return src_mask, self.real(tgt_in) if tgt_mask is None else tgt_mask


@Transformer.misconception("Translate a sentence alone, and with padding behind it. Are the logits the same?")
class PaddingInSight(_Model):
    def masks(self, src, tgt_in, src_mask, tgt_mask):
        return src_mask, super().masks(src, tgt_in, src_mask, tgt_mask)[1]


@Transformer.misconception(
    "Change what stands in the source's padding. Who still sees it: the encoder's words, or the decoder's?"
)
class PaddingInTheDecodersSight(_Model):
    def towers(self, src, tgt_in, src_mask, tgt_mask):
        memory = self.embedded(src, self.src_embed)
        for layer in self.encoder:
            memory = layer(memory, src_mask)
        memory, x = self.encoder_norm(memory), self.embedded(tgt_in, self.tgt_embed)
        for layer in self.decoder:
            x = layer(x, memory, tgt_mask)
        return self.decoder_norm(x)


@Transformer.misconception(
    "Change what stands in the source's padding. Who still sees it: the encoder's words, or the decoder's?"
)
class PaddingInTheEncodersSight(_Model):
    def towers(self, src, tgt_in, src_mask, tgt_mask):
        memory = self.embedded(src, self.src_embed)
        for layer in self.encoder:
            memory = layer(memory)
        memory, x = self.encoder_norm(memory), self.embedded(tgt_in, self.tgt_embed)
        for layer in self.decoder:
            x = layer(x, memory, tgt_mask, src_mask)
        return self.decoder_norm(x)


@Transformer.misconception("Print the shapes of both masks. In which order does a decoder's layer take them?")
class MasksInAnotherOrder(_Model):
    def towers(self, src, tgt_in, src_mask, tgt_mask):
        memory = self.embedded(src, self.src_embed)
        for layer in self.encoder:
            memory = layer(memory, src_mask)
        memory, x = self.encoder_norm(memory), self.embedded(tgt_in, self.tgt_embed)
        for layer in self.decoder:
            x = layer(x, memory, src_mask, tgt_mask)
        return self.decoder_norm(x)


@Transformer.misconception(
    "Print the source's mask for a sentence with padding. Is True where one may look, or where one may not?",
    convention="True hides, as in nn.Transformer's key_padding_mask",
)
class PaddingMaskInverted(_Model):
    def masks(self, src, tgt_in, src_mask, tgt_mask):
        hidden = (src == self.pad)[:, None, None]
        return hidden if src_mask is None else src_mask, super().masks(src, tgt_in, src_mask, tgt_mask)[1]


@Transformer.misconception(
    "Print the target's mask for three words. Which word sees most of the others, the first or the last?"
)
class PastForFuture(_Model):
    def masks(self, src, tgt_in, src_mask, tgt_mask):
        src_mask, _ = super().masks(src, tgt_in, src_mask, tgt_mask)
        later = reference.causal(tgt_in.shape[1]).T
        return src_mask, self.real(tgt_in) & later if tgt_mask is None else tgt_mask


@Transformer.misconception("May a word look at itself? What would the first one look at otherwise?")
class NobodySeesItself(_Model):
    def masks(self, src, tgt_in, src_mask, tgt_mask):
        src_mask, _ = super().masks(src, tgt_in, src_mask, tgt_mask)
        earlier = reference.causal(tgt_in.shape[1]).tril(-1)
        return src_mask, self.real(tgt_in) & earlier if tgt_mask is None else tgt_mask


@Transformer.misconception(
    "Build it with another number for pad. Which words are hidden then? Which attribute says so?"
)
class PadIsAlwaysZero(_Model):
    def real(self, ids):
        return (ids != 0)[:, None, None]


@Transformer.misconception("Give it masks of your own. Does it use them instead of those that it makes itself?")
class GivenMasksIgnored(_Model):
    def masks(self, src, tgt_in, src_mask, tgt_mask):
        return super().masks(src, tgt_in, None, None)


@Transformer.misconception("Give it a mask that hides nothing at all. Is anything hidden?")
class GivenMasksAndItsOwn(_Model):
    def masks(self, src, tgt_in, src_mask, tgt_mask):
        own_src, own_tgt = super().masks(src, tgt_in, None, None)
        return (
            own_src if src_mask is None else own_src & src_mask,
            own_tgt if tgt_mask is None else own_tgt & tgt_mask,
        )


@Transformer.misconception(
    "Change the second word of tgt_in. Which logits move first? Who shifts, the model or its caller?"
)
class ShiftsOnceMore(_Model):
    def forward(self, src, tgt_in, src_mask=None, tgt_mask=None):
        again = torch.cat([torch.full_like(tgt_in[:, :1], self.sos), tgt_in[:, :-1]], 1)
        return super().forward(src, again, src_mask, tgt_mask)


@Transformer.misconception("Change the weights of the second layer of a tower. Do the logits move?")
class OneLayerAgainAndAgain(_Model):
    def towers(self, src, tgt_in, src_mask, tgt_mask):
        memory = self.embedded(src, self.src_embed)
        for _ in self.encoder:
            memory = self.encoder[0](memory, src_mask)
        memory, x = self.encoder_norm(memory), self.embedded(tgt_in, self.tgt_embed)
        for _ in self.decoder:
            x = self.decoder[0](x, memory, tgt_mask, src_mask)
        return self.decoder_norm(x)


@Transformer.misconception(
    "Change the weights of the last layer of the encoder, then of the decoder. Do the logits move?"
)
class LastEncoderLayerLeftOut(_Model):
    def towers(self, src, tgt_in, src_mask, tgt_mask):
        memory = self.embedded(src, self.src_embed)
        for layer in self.encoder[:-1]:
            memory = layer(memory, src_mask)
        memory, x = self.encoder_norm(memory), self.embedded(tgt_in, self.tgt_embed)
        for layer in self.decoder:
            x = layer(x, memory, tgt_mask, src_mask)
        return self.decoder_norm(x)


@Transformer.misconception("Change the weights of the encoder. Do the logits move? What do you hand to the decoder?")
class EncoderLeftOut(_Model):
    def towers(self, src, tgt_in, src_mask, tgt_mask):
        memory, x = self.embedded(src, self.src_embed), self.embedded(tgt_in, self.tgt_embed)
        for layer in self.decoder:
            x = layer(x, memory, tgt_mask, src_mask)
        return self.decoder_norm(x)


@Transformer.misconception(
    "Which encoder layer does the first decoder layer look at? Every one looks at the finished source."
)
class LayerLooksAtLayer(_Model):
    def towers(self, src, tgt_in, src_mask, tgt_mask):
        memory, x = self.embedded(src, self.src_embed), self.embedded(tgt_in, self.tgt_embed)
        for above, below in zip(self.encoder, self.decoder, strict=True):
            memory = above(memory, src_mask)
            x = below(x, self.encoder_norm(memory), tgt_mask, src_mask)
        return self.decoder_norm(x)


@Transformer.misconception("In pre-norm, who norms what comes out at the top of a tower?")
class NoNormAtTheEnd(_Model):
    def __init__(self, *sizes, **settings):
        super().__init__(*sizes, **settings)
        self.ends = self.encoder_norm, self.decoder_norm

    def towers(self, src, tgt_in, src_mask, tgt_mask):
        memory = self.embedded(src, self.src_embed)
        for layer in self.encoder:
            memory = layer(memory, src_mask)
        x = self.embedded(tgt_in, self.tgt_embed)
        for layer in self.decoder:
            x = layer(x, memory, tgt_mask, src_mask)
        return x


@Transformer.misconception("In pre-norm, multiply the weights of encoder_norm by 2. Do the logits move?")
class EncoderNormForgotten(_Model):
    def towers(self, src, tgt_in, src_mask, tgt_mask):
        memory, x = self.embedded(src, self.src_embed), self.embedded(tgt_in, self.tgt_embed)
        for layer in self.encoder:
            memory = layer(memory, src_mask)
        for layer in self.decoder:
            x = layer(x, memory, tgt_mask, src_mask)
        return self.decoder_norm(x)


@Transformer.misconception("In pre-norm, multiply the weights of decoder_norm by 2. Do the logits move?")
class DecoderNormForgotten(_Model):
    def towers(self, src, tgt_in, src_mask, tgt_mask):
        memory, x = self.embedded(src, self.src_embed), self.embedded(tgt_in, self.tgt_embed)
        for layer in self.encoder:
            memory = layer(memory, src_mask)
        memory = self.encoder_norm(memory)
        for layer in self.decoder:
            x = layer(x, memory, tgt_mask, src_mask)
        return x


@Transformer.misconception(
    "In pre-norm, how often does a tower's own norm act: once at its top, or behind every layer?"
)
class NormBehindEveryLayer(_Model):
    def towers(self, src, tgt_in, src_mask, tgt_mask):
        memory, x = self.embedded(src, self.src_embed), self.embedded(tgt_in, self.tgt_embed)
        for layer in self.encoder:
            memory = self.encoder_norm(layer(memory, src_mask))
        for layer in self.decoder:
            x = self.decoder_norm(layer(x, memory, tgt_mask, src_mask))
        return x


@Transformer.misconception("Sum one row of your result. Are these scores, or have they been through something already?")
class ProbabilitiesForLogits(_Model):
    def forward(self, src, tgt_in, src_mask=None, tgt_mask=None):
        return super().forward(src, tgt_in, src_mask, tgt_mask).softmax(-1)


@Transformer.misconception("Exponentiate one row of your result, and sum it. Have these scores been through something?")
class LogProbabilitiesForLogits(_Model):
    def forward(self, src, tgt_in, src_mask=None, tgt_mask=None):
        return super().forward(src, tgt_in, src_mask, tgt_mask).log_softmax(-1)


@Transformer.misconception("How many words has the target's language, and how many scores has a place of yours?")
class TiedToTheSource(_Model):
    def forward(self, src, tgt_in, src_mask=None, tgt_mask=None):
        x = self.towers(src, tgt_in, *self.masks(src, tgt_in, src_mask, tgt_mask))
        return x @ self.src_embed.weight.T


# -- decoding --------------------------------------------------------------------------------------------------------

NEVER = 50.0
"""A score so far below the others that its word is never said."""


def _oracle(rng, ends, places, vocabulary, moods=11):
    """A stand-in model: source k says eos at place ends[k] if not before (None: never), and never pad or sos."""
    scores = 2 * rng.normal(len(ends), places, moods, vocabulary)
    scores[..., [PAD, SOS]] = -NEVER
    for kind, end in enumerate(ends):
        if end is None:
            scores[kind, ..., EOS] = -NEVER
        else:
            scores[kind, end, :, EOS] = NEVER
    return _speaker(scores), scores


def _speaker(scores):
    """The stand-in that answers with these scores."""
    return stand_in("oracle", scores=scores, pad=PAD, sos=SOS, eos=EOS)


def _asking(rng, kinds, wanted, width=5):
    """Sources (B, S) that the oracle takes for the `wanted` kinds of `kinds`, with padding behind some."""
    src = rng.integers(3, 10, len(wanted), width)
    src[1::2, -1] = PAD
    src[:, 0] = 3 + (torch.tensor(wanted) - src[:, 1:].sum(1) - 3) % kinds
    return src


def _renumbered(model, src):
    """The same sentences where words, pad, sos and eos are counted from the other end; the source's words are not."""
    scores = model.parameters["scores"].flip(-1)
    last = scores.shape[-1] - 1
    pad, sos, eos = (last - special for special in (PAD, SOS, EOS))
    return stand_in("oracle", scores=scores, pad=pad, sos=sos, eos=eos), src.masked_fill(src == PAD, pad)


def _on_time(rng, ends, places, vocabulary=7):
    """An oracle for greedy decoding that says eos at just those places."""
    model, scores = _oracle(rng, ends, places, vocabulary)
    for kind, end in enumerate(ends):
        scores[kind, : places if end is None else end, :, EOS] = -NEVER
    return model


@exercise(
    reference.decode_greedy,
    hints=(
        "What stands in the decoder's input before the first word is known? Print it before every call.",
        "The model gives a row of scores for every place. Which row speaks of the word that is still missing?",
        "Decode three sentences of different lengths together, then each alone. Compare.",
        "What should stand behind an eos, and what does the model still say there?",
    ),
)
def decode_greedy(rng):
    """A stand-in for the model. One sentence of each batch takes all of max_len, so the answer's width is settled."""

    def case(title, ends, wanted, places=7, **settings):
        model = _on_time(rng, ends, places)
        return call(title, model, _asking(rng, len(ends), wanted), grad=False, **settings)

    yield case("three sentences of different lengths", [2, 6, 4], [0, 1, 2], public=True, weight=2.0)
    yield case("a sentence that takes all the places", [4], [0], places=5, public=True)
    yield case("a sentence that never ends", [None, 3, 1], [2, 0, 1, 2], weight=2.0)
    yield case("nothing to say", [0, 5, None], [0, 2, 1])
    yield case("sentences of one length", [3, 3, 3], [2, 1, 0], places=4, weight=2.0)
    yield case("a single word", [0], [0], places=1, weight=0.5)
    yield case("many sentences", [1, 2, 3, 4, None], [*rng.integers(0, 5, 12).tolist(), 4])
    model, src = _renumbered(_on_time(rng, [2, None, 4], 5, 13), _asking(rng, 3, [1, 0, 2]))
    yield call("other numbers for pad, sos and eos", model, src, grad=False, weight=0.5)


def _write(model, src, *, row=-1, start="sos", last_only=False, stop=all, after="pad", steps=0):
    """Greedy decoding with one thing changed."""
    said = torch.full((len(src), 1), getattr(model, start))
    done = torch.zeros(len(src), dtype=torch.bool)
    for _ in range(model.max_len + steps):
        word = model(src, said[:, -1:] if last_only else said)[:, row].argmax(-1)
        if after == "pad":
            word = word.masked_fill(done, model.pad)
        said = torch.cat([said, word[:, None]], 1)
        done = done | (word == model.eos)
        if stop(done.tolist()):
            break
    return said[:, 1:]


@decode_greedy.misconception("Which row of the scores speaks of the next word? Print them after two words.")
def reads_the_first_row(model, src):
    return _write(model, src, row=0)


@decode_greedy.misconception("What did the model see before it chose the third word? Print the decoder's input.")
def feeds_the_last_word_only(model, src):
    return _write(model, src, last_only=True)


@decode_greedy.misconception("Decode three sentences of different lengths together, then alone. Who was cut off?")
def stops_when_one_ends(model, src):
    return _write(model, src, stop=any)


@decode_greedy.misconception("What stands behind an eos in your result? A sentence that has ended says nothing more.")
def writes_on_behind_the_end(model, src):
    return _write(model, src, after="anything", stop=lambda done: False)


@decode_greedy.misconception("What does the first column of your result say? It was there before the model spoke.")
def begins_with_sos(model, src):
    return torch.cat([torch.full((len(src), 1), model.sos), _write(model, src)], 1)[:, : model.max_len]


@decode_greedy.misconception("What does the first column of your result say? It was there before the model spoke.")
def returns_all_that_it_read(model, src):
    return torch.cat([torch.full((len(src), 1), model.sos), _write(model, src)], 1)


@decode_greedy.misconception("Behind an eos you write a pad. And behind the pad, what does the model say to you then?")
def silent_for_one_step_only(model, src):
    said = torch.full((len(src), 1), model.sos)
    for _ in range(model.max_len):
        word = model(src, said)[:, -1].argmax(-1).masked_fill(said[:, -1] == model.eos, model.pad)
        said = torch.cat([said, word[:, None]], 1)
    return said[:, 1:]


@decode_greedy.misconception("How often does a sentence end in your result? What should stand behind its end?")
def ends_again_and_again(model, src):
    ids = _write(model, src)
    return ids.masked_fill(ids == model.pad, model.eos)


@decode_greedy.misconception(
    "Give the model other numbers for pad, sos and eos. Where does your function get them from?"
)
def numbers_of_its_own(model, src):
    class Known:
        pad, sos, eos, max_len = PAD, SOS, EOS, model.max_len

        def __call__(self, *asked):
            return model(*asked)

    return _write(Known(), src)


@decode_greedy.misconception("Where has the eos gone? It belongs to the answer.")
def without_eos(model, src):
    ids = _write(model, src)
    return ids.masked_fill(ids == model.eos, model.pad)


@decode_greedy.misconception("How many words can max_len hold? Count those of a sentence that never ends.")
def one_word_short(model, src):
    return _write(model, src, steps=-1) if model.max_len > 1 else _write(model, src)[:, :0]


@decode_greedy.misconception("How many words can max_len hold? Count those of a sentence that never ends.")
def one_word_too_many(model, src):
    return _write(model, src, steps=1, stop=lambda done: False)


@decode_greedy.misconception("With which word does every target begin in training? With which does yours?")
def begins_from_eos(model, src):
    return _write(model, src, start="eos")


@decode_greedy.misconception("Is every sentence of the batch translated, or one of them again and again?")
def the_first_source_for_all(model, src):
    return _write(model, src[:1].expand_as(src))


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
        model = _on_time(rng, ends, places)
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
        return call(title, _speaker(torch.cat(found)), src, beam, penalty, grad=False, **settings)

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
    model, src = _renumbered(_on_time(rng, [1, None, 3], 4, 13), _asking(rng, 3, [1, 0, 2]))
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


# -- the loss --------------------------------------------------------------------------------------------------------


@exercise(
    reference.label_smoothing_loss,
    hints=(
        "Write down the smoothed target of one token for V = 4 and epsilon = 0.2. Do its numbers sum to one?",
        "With epsilon = 0 it must be the cross-entropy you know. Is it, over the real tokens alone?",
        "Make the logits of a padded place huge. May the loss move? Then add a column of padding: may it move now?",
    ),
    forbidden=BUILT_IN_LOSSES,
)
def label_smoothing_loss(rng):
    """B, T and V differ; ragged masks; epsilon from 0 to 1; whatever stands in the padding."""

    def inputs(B, T, V, lengths, dtype=torch.float64):
        mask = torch.arange(T) < torch.tensor(lengths)[:, None]
        return 2 * rng.normal(B, T, V, dtype=dtype), rng.integers(0, V, B, T), mask

    def case(title, epsilon, *sizes, dtype=torch.float64, **settings):
        logits, targets, mask = inputs(*sizes, dtype=dtype)
        return call(title, logits, targets, epsilon, mask, **settings)

    yield case("a small batch", 0.1, 2, 3, 5, [3, 2], public=True, weight=2.0)
    yield case("no smoothing", 0.0, 3, 5, 7, [5, 1, 2], public=True)
    yield case("much smoothing", 0.5, 3, 2, 5, [1, 2, 2], weight=2.0)
    yield case("nothing but smoothing", 1.0, 2, 5, 3, [3, 5])
    yield case("two words", 0.3, 3, 5, 2, [2, 4, 5])
    yield case("one token", 0.2, 1, 1, 7, [1])
    logits, targets, mask = inputs(3, 7, 5, [7, 1, 3])
    yield call("anything in the padding", torch.where(mask[..., None], logits, 1e4), targets, 0.1, mask)
    scattered = rng.uniform(2, 7) < 0.5
    scattered[:, 3] = True
    yield call("gaps in the mask", *inputs(2, 7, 5, [7, 7])[:2], 0.1, scattered)
    yield call(
        "scores of thousands",
        1e3 * rng.normal(2, 3, 5),
        rng.integers(0, 5, 2, 3),
        0.1,
        mask[:2, :3].clone(),
        grad=False,
    )
    yield case("float32", 0.1, 2, 3, 7, [2, 3], dtype=torch.float32)


def _smoothed(logits, targets, epsilon, share=None, right=None):
    """Losses (B, T) against `right` at the target and `share` at every other word."""
    log_p, V = logits.log_softmax(-1), logits.shape[-1]
    share = epsilon / V if share is None else share
    right = 1 - epsilon + epsilon / V if right is None else right
    at_target = log_p.gather(-1, targets[..., None]).squeeze(-1)
    return -(right - share) * at_target - share * log_p.sum(-1)


@label_smoothing_loss.misconception("Add five columns of padding. Should the loss change? Whose mean is it?")
def padding_counts(logits, targets, epsilon, mask):
    return _smoothed(logits, targets, epsilon).mean()


@label_smoothing_loss.misconception("Padding adds nothing to your sum. By what do you divide it?")
def divided_by_all_places(logits, targets, epsilon, mask):
    return (_smoothed(logits, targets, epsilon).where(mask, torch.zeros(())).sum() / mask.numel()).to(logits.dtype)


@label_smoothing_loss.misconception("Make the logits of a padded place huge. May the loss move?")
def only_divided_by_the_real_places(logits, targets, epsilon, mask):
    return _smoothed(logits, targets, epsilon).sum() / mask.sum()


@label_smoothing_loss.misconception(
    "Make the logits of a padded place huge. May the loss move? Then those of a real one."
)
def mean_over_the_padding(logits, targets, epsilon, mask):
    return _smoothed(logits, targets, epsilon)[~mask].mean()


@label_smoothing_loss.misconception("With all logits equal the loss must be log V. By which factor is yours too small?")
def divided_by_the_vocabulary(logits, targets, epsilon, mask):
    return _smoothed(logits, targets, epsilon)[mask].mean() / logits.shape[-1]


@label_smoothing_loss.misconception(
    "Do the words of a short sentence weigh more than those of a long one? Should they?"
)
def mean_of_sentence_means(logits, targets, epsilon, mask):
    losses = _smoothed(logits, targets, epsilon).masked_fill(~mask, 0.0)
    return (losses.sum(1) / mask.sum(1)).mean()


@label_smoothing_loss.misconception("The sum grows with the batch. What is asked for does not.")
def summed(logits, targets, epsilon, mask):
    return _smoothed(logits, targets, epsilon)[mask].sum()


@label_smoothing_loss.misconception("Set epsilon to 1. Which target should be left, and does your loss see it?")
def epsilon_unused(logits, targets, epsilon, mask):
    return _smoothed(logits, targets, 0.0)[mask].mean()


@label_smoothing_loss.misconception("Write the smoothed target down for V = 4, and sum it. Is it one?")
def only_the_right_word_counts(logits, targets, epsilon, mask):
    return _smoothed(logits, targets, epsilon, share=0.0, right=1 - epsilon)[mask].mean()


@label_smoothing_loss.misconception("Print your smoothed target. Of which type are its numbers, and where is epsilon?")
def whole_numbers_for_shares(logits, targets, epsilon, mask):
    shares = torch.tensor([epsilon / logits.shape[-1], 1 - epsilon]).long()  # what becomes of them in a one-hot target
    return _smoothed(logits, targets, epsilon, share=int(shares[0]), right=int(shares[1]))[mask].mean()


@label_smoothing_loss.misconception(
    "Does the right word get a share of epsilon as well? Write the target down for V = 4.",
    convention="all of epsilon to the other V - 1 words",
)
def shared_by_the_others(logits, targets, epsilon, mask):
    others = epsilon / (logits.shape[-1] - 1)
    return _smoothed(logits, targets, epsilon, share=others, right=1 - epsilon)[mask].mean()


@label_smoothing_loss.misconception("Write the smoothed target down for V = 4, and sum it. Is it one?")
def nothing_taken_from_the_target(logits, targets, epsilon, mask):
    return _smoothed(logits, targets, epsilon, right=1 + epsilon / logits.shape[-1])[mask].mean()


@label_smoothing_loss.misconception(
    "Make the logits of a padded place huge. May the loss move? Your loss has two terms."
)
def smoothing_over_padding_as_well(logits, targets, epsilon, mask):
    log_p = logits.log_softmax(-1)
    right = log_p.gather(-1, targets[..., None]).squeeze(-1)
    return -(1 - epsilon) * right[mask].mean() - epsilon * log_p.mean()


@label_smoothing_loss.misconception(
    "Which of the two is softened: what the model says, or what it should say? Where does epsilon stand in yours?"
)
def prediction_smoothed(logits, targets, epsilon, mask):
    p = (1 - epsilon) * logits.softmax(-1) + epsilon / logits.shape[-1]
    return -p.log().gather(-1, targets[..., None]).squeeze(-1)[mask].mean()


@label_smoothing_loss.misconception("Call it with an epsilon of 0, of 0.1 and of 0.5. Does your loss move?")
def a_tenth_whatever_epsilon(logits, targets, epsilon, mask):
    return _smoothed(logits, targets, 0.1)[mask].mean()


@label_smoothing_loss.misconception("Join two sentences to one long one. Should the loss change? What is it a mean of?")
def divided_by_the_sentences(logits, targets, epsilon, mask):
    return _smoothed(logits, targets, epsilon)[mask].sum() / len(mask)


@label_smoothing_loss.misconception(
    "Which numbers must sum to one: those of a word, or those of a sentence? Try T = 1."
)
def softmax_over_the_sentence(logits, targets, epsilon, mask):
    log_p, V = logits.log_softmax(1), logits.shape[-1]
    right = log_p.gather(-1, targets[..., None]).squeeze(-1)
    return (-(1 - epsilon) * right - epsilon / V * log_p.sum(-1))[mask].mean()


@label_smoothing_loss.misconception(
    "With scores of thousands, print the smallest probability, and its logarithm. When was it lost?"
)
def logarithm_of_zero(logits, targets, epsilon, mask):
    log_p = logits.softmax(-1).log()
    right = log_p.gather(-1, targets[..., None]).squeeze(-1)
    return (-(1 - epsilon) * right - epsilon * log_p.mean(-1))[mask].mean()


@label_smoothing_loss.misconception(
    "With scores of thousands, print the smallest probability, and its logarithm. When was it lost?"
)
def logarithm_of_nearly_zero(logits, targets, epsilon, mask):
    log_p = (logits.softmax(-1) + 1e-9).log()
    right = log_p.gather(-1, targets[..., None]).squeeze(-1)
    return (-(1 - epsilon) * right - epsilon * log_p.mean(-1))[mask].mean()


@label_smoothing_loss.misconception("What is the loss of a model that is certain, and right? Is yours ever above zero?")
def logarithm_forgotten(logits, targets, epsilon, mask):
    p = logits.softmax(-1)
    right = p.gather(-1, targets[..., None]).squeeze(-1)
    return (-(1 - epsilon) * right - epsilon * p.mean(-1))[mask].mean()


@label_smoothing_loss.misconception("Sum the smoothed target of one token. Is it one?")
def target_does_not_sum_to_one(logits, targets, epsilon, mask):
    return _smoothed(logits, targets, epsilon, right=1 - epsilon)[mask].mean()


@label_smoothing_loss.misconception("Set epsilon to 0: the plain cross-entropy should be left. And at 1?")
def epsilon_the_wrong_way_round(logits, targets, epsilon, mask):
    return _smoothed(logits, targets, 1 - epsilon)[mask].mean()


@label_smoothing_loss.misconception("Is epsilon divided among the words, or given to each of them?")
def epsilon_for_every_word(logits, targets, epsilon, mask):
    return _smoothed(logits, targets, epsilon, share=epsilon, right=1.0)[mask].mean()


@label_smoothing_loss.misconception("What is the loss of scores that are all zero? How often did softmax act on yours?")
def softmax_twice(logits, targets, epsilon, mask):
    return _smoothed(logits.softmax(-1), targets, epsilon)[mask].mean()


@label_smoothing_loss.misconception(
    "Its gradient is the same, its value is lower by the target's own entropy. Cross-entropy is asked for.",
    convention="Kullback-Leibler divergence from the smoothed target",
)
def divergence(logits, targets, epsilon, mask):
    V = logits.shape[-1]
    share, right = torch.tensor(epsilon / V).double(), torch.tensor(1 - epsilon + epsilon / V).double()
    entropy = -torch.xlogy(right, right) - (V - 1) * torch.xlogy(share, share)
    return (_smoothed(logits, targets, epsilon)[mask].mean() - entropy).to(logits.dtype)


# -- the schedule ----------------------------------------------------------------------------------------------------


@exercise(
    reference.warmup_schedule,
    hints=(
        "At which step are the two terms equal? Compute both by hand there, one before it and one after.",
        "Plot it over 20,000 steps for a width of 512 and 4,000 steps of warm-up. Where is its peak, and how high?",
    ),
)
def warmup_schedule(rng):
    """Before, at and after the peak; several widths."""
    yield call("the paper's peak", 4000, 512, 4000, public=True)
    # of 4000, the first step is as good as zero
    yield call("the first step", 1, 512, 40, public=True).counts_with("the paper's peak")
    yield call("long after", 100_000, 512, 4000, public=True)
    for _ in range(4):
        warmup = int(rng.integers(10, 500, 1))
        step, width = int(rng.integers(1, 1000, 1)), int(rng.integers(3, 99, 1))
        yield call(f"step {step} of {warmup}, width {width}", step, width, warmup)
    yield call("one step of warm-up", 1, 7, 1)
    yield call("just before the peak", 30, 5, 31)
    yield call("just after the peak", 43, 11, 41)


@warmup_schedule.misconception("Compute the rate of step 1. Is it the smallest of all, or the largest?")
def the_larger_of_both(step, d_model, warmup):
    return d_model**-0.5 * max(step**-0.5, step * warmup**-1.5)


@warmup_schedule.misconception("Plot the first steps. Should they not rise slowly?")
def no_warmup(step, d_model, warmup):
    return d_model**-0.5 * step**-0.5


@warmup_schedule.misconception("Plot 20,000 steps. Does it ever come down again?")
def never_falls(step, d_model, warmup):
    return d_model**-0.5 * min(step, warmup) * warmup**-1.5


@warmup_schedule.misconception("What happens to the rate when the model gets wider? The root stands below.")
def multiplied_by_the_root_of_the_width(step, d_model, warmup):
    return d_model**0.5 * min(step**-0.5, step * warmup**-1.5)


@warmup_schedule.misconception("Double the width. Does your rate move?")
def width_left_out(step, d_model, warmup):
    return min(step**-0.5, step * warmup**-1.5)


@warmup_schedule.misconception("Are both terms equal at step = warmup? With your exponent they meet elsewhere.")
def another_power_of_warmup(step, d_model, warmup):
    return d_model**-0.5 * min(step**-0.5, step * warmup**-0.5)


@warmup_schedule.misconception("Are both terms equal at step = warmup? With your exponent they meet elsewhere.")
def step_divided_by_warmup(step, d_model, warmup):
    return d_model**-0.5 * min(step**-0.5, step / warmup)


@warmup_schedule.misconception("Double the width, before the peak and after it. Does your rate move, both times?")
def width_left_out_after_the_peak(step, d_model, warmup):
    return d_model**-0.5 * step * warmup**-1.5 if step < warmup else step**-0.5


@warmup_schedule.misconception("Make the model four times as wide. By what does the rate shrink, and by what is it to?")
def divided_by_the_width(step, d_model, warmup):
    return min(step**-0.5, step * warmup**-1.5) / d_model


@warmup_schedule.misconception("With which number does the count of steps begin?")
def one_step_late(step, d_model, warmup):
    return d_model**-0.5 * min(max(step - 1, 1) ** -0.5, (step - 1) * warmup**-1.5)


@warmup_schedule.misconception("With which number does the count of steps begin?")
def counts_from_zero(step, d_model, warmup):
    return d_model**-0.5 * min((step + 1) ** -0.5, (step + 1) * warmup**-1.5)


@warmup_schedule.misconception("After the peak, does the rate fall like 1/step or like 1/sqrt(step)?")
def falls_too_fast(step, d_model, warmup):
    return d_model**-0.5 * min(warmup**0.5 / step, step * warmup**-1.5)


# -- who sees whom ---------------------------------------------------------------------------------------------------


@exercise(
    reference.architecture_masks,
    hints=(
        "Draw the three squares for a source of three words and a target of two. Which cells may be looked at?",
        "Which architecture reads a text that is there already, and which has to write one? Who may see the future?",
        "In the cross-attention, whose lengths tell what is padding: of those who ask, or of those who are asked?",
    ),
)
def architecture_masks(rng):
    """Each architecture: what must be seen, what must not, and which attentions it has. Rows of padding are free."""

    def ragged(B, T):
        """Lengths in any order: the full one, a single word, the full one but for a word, and others."""
        lengths = torch.cat([torch.tensor([T, 1, T - 1]), rng.integers(1, T + 1, B)])[:B]
        return lengths[rng.permutation(B)]

    def real(lengths):
        return torch.arange(int(lengths.max())) < lengths[:, None]

    def looked_at(case, key, asking, asked, hidden=None, own=False):
        """Laws for one mask: every real word that asks, over words that are real, hidden as future, or padding."""
        rows, columns = asking[:, None, :, None], asked[:, None, None, :]
        shape = torch.broadcast_shapes(rows.shape, columns.shape)
        future = torch.zeros(shape[-2:], dtype=torch.bool) if hidden is None else hidden
        itself = torch.eye(*shape[-2:]).bool() if own else torch.zeros(shape[-2:]).bool()
        open_, closed = (rows & columns & ~future & ~itself).expand(shape), (rows & columns & future).expand(shape)
        case = case.law("mask_fits", key=key, shape=shape).law("mask_is_boolean", key=key)
        case = case.law(
            "mask_is", key=key, allowed=True, where=open_, because=f"{key}: a word is hidden that may be looked at"
        )
        if hidden is not None:
            case = case.law("mask_is", key=key, allowed=False, where=closed, because=f"{key}: the future can be seen")
        if own:
            case = case.law(
                "mask_is",
                key=key,
                allowed=True,
                where=(rows & columns & itself),
                because=f"{key}: a word cannot see itself",
            )
        padding = (rows & ~columns).expand(shape)
        return case.law("mask_is", key=key, allowed=False, where=padding, because=f"{key}: padding can be looked at")

    def case(kind, src, tgt=None, **settings):
        arguments = (kind, src) if tgt is None else (kind, src, tgt)
        made = call(f"{kind}, lengths {src.tolist()}" + (f" and {tgt.tolist()}" if tgt is not None else ""), *arguments,
                    **settings).laws_only()  # fmt: skip
        names = {"encoder": ["encoder_self"], "decoder": ["decoder_self"]}
        has = names.get(kind, ["encoder_self", "decoder_self", "cross"])
        if "encoder_self" in has:
            made = looked_at(made, "encoder_self", real(src), real(src))
        if "decoder_self" in has:
            writing = real(src if tgt is None else tgt)
            future = torch.ones(writing.shape[1], writing.shape[1], dtype=torch.bool).triu(1)
            made = looked_at(made, "decoder_self", writing, writing, future, own=True)
        if "cross" in has:
            made = looked_at(made, "cross", real(tgt), real(src))
        for key in ("encoder_self", "decoder_self", "cross"):
            if key not in has:
                made = made.law("none_at", key=key, because=f"a pure {kind} has no {key}: that should be None")
        return made

    some = case("encoder", ragged(3, rng.choice([5, 6, 8, 9])), public=True)
    yield some
    yield case("decoder", ragged(3, rng.choice([5, 6, 8, 9])), public=True)
    short, long = rng.choice([4, 5, 6]), rng.choice([7, 8, 9, 11])
    yield case("encoder-decoder", ragged(3, short), ragged(3, long), public=True, weight=2.0)
    yield case("encoder-decoder", ragged(2, long), ragged(2, short - 1), weight=2.0)
    lengths = ragged(5, rng.choice([5, 6, 7, 8]))
    yield case("encoder-decoder", lengths, lengths.roll(1))
    yield case("decoder", ragged(2, long))
    yield case("encoder", torch.tensor([1]), weight=0.5).counts_with(some.title)


def _masks(kind, src_lengths, tgt_lengths=None, *, source=None, cross=None, writing=None):
    """The reference's masks with some made otherwise: functions of the reference's own."""
    masks = reference.architecture_masks(kind, src_lengths, tgt_lengths)
    for key, change in (("encoder_self", source), ("cross", cross), ("decoder_self", writing)):
        if masks[key] is not None and change is not None:
            masks[key] = change(masks[key])
    return masks


@architecture_masks.misconception("Print one mask. Is True where one may look, or where one may not?")
def inverted(kind, src_lengths, tgt_lengths=None):
    return _masks(kind, src_lengths, tgt_lengths, source=torch.logical_not, cross=torch.logical_not,
                  writing=torch.logical_not)  # fmt: skip


@architecture_masks.misconception("An encoder reads a text that is there. Why should a word not see the next one?")
def encoder_sees_only_the_past(kind, src_lengths, tgt_lengths=None):
    return _masks(kind, src_lengths, tgt_lengths, source=lambda m: m & reference.causal(m.shape[-1]))


@architecture_masks.misconception("When a word is written, which words are there? Draw the decoder's square.")
def decoder_sees_the_future(kind, src_lengths, tgt_lengths=None):
    return _masks(kind, src_lengths, tgt_lengths, writing=lambda m: m.any(-2, keepdim=True))


@architecture_masks.misconception("May a word look at itself? What would the first one look at otherwise?")
def strict_triangle(kind, src_lengths, tgt_lengths=None):
    return _masks(kind, src_lengths, tgt_lengths, writing=lambda m: m.tril(-1))


@architecture_masks.misconception("Print the decoder's square. Which side of the diagonal is the past?")
def past_for_future(kind, src_lengths, tgt_lengths=None):
    def turned(mask):
        return mask.any(-2, keepdim=True) & torch.ones(mask.shape[-1], mask.shape[-1], dtype=torch.bool).triu()

    return _masks(kind, src_lengths, tgt_lengths, writing=turned)


@architecture_masks.misconception("Change what stands behind a short sentence: may anybody see it?")
def padding_in_sight(kind, src_lengths, tgt_lengths=None):
    return _masks(kind, src_lengths, tgt_lengths, source=torch.ones_like, cross=torch.ones_like)


@architecture_masks.misconception("In the cross-attention, whose words are looked at? Their lengths decide.")
def cross_by_the_targets_lengths(kind, src_lengths, tgt_lengths=None):
    masks = reference.architecture_masks(kind, src_lengths, tgt_lengths)
    if masks["cross"] is not None:
        masks["cross"] = (torch.arange(int(src_lengths.max())) < tgt_lengths[:, None])[:, None, None]
    return masks


@architecture_masks.misconception("A row of the cross-attention's mask has a place for each word of which text?")
def cross_as_wide_as_the_target(kind, src_lengths, tgt_lengths=None):
    masks = reference.architecture_masks(kind, src_lengths, tgt_lengths)
    if masks["cross"] is not None:
        masks["cross"] = (torch.arange(int(tgt_lengths.max())) < tgt_lengths[:, None])[:, None, None]
    return masks


@architecture_masks.misconception("The whole source is there before the first word is written. What is there to hide?")
def cross_sees_only_the_past(kind, src_lengths, tgt_lengths=None):
    def shortened(mask):
        return mask & torch.ones(int(tgt_lengths.max()), mask.shape[-1], dtype=torch.bool).tril()

    return _masks(kind, src_lengths, tgt_lengths, cross=shortened)


@architecture_masks.misconception(
    "Which attentions does a pure encoder have, and which a pure decoder? Say None for the others."
)
def masks_for_all(kind, src_lengths, tgt_lengths=None):
    lengths = src_lengths if tgt_lengths is None else tgt_lengths
    return reference.architecture_masks("encoder-decoder", src_lengths, lengths)


@architecture_masks.misconception(
    "Broadcast your mask to (B, h, T, S) by hand. Which of its axes meets which, and are they of one size?"
)
def no_axis_for_the_heads(kind, src_lengths, tgt_lengths=None):
    masks = reference.architecture_masks(kind, src_lengths, tgt_lengths)
    return {key: None if mask is None else mask.squeeze(1) for key, mask in masks.items()}


@architecture_masks.misconception("A mask says yes or no. What type has yours?")
def numbers_for_truth(kind, src_lengths, tgt_lengths=None):
    masks = reference.architecture_masks(kind, src_lengths, tgt_lengths)
    return {key: None if mask is None else mask.float() for key, mask in masks.items()}


# -- the task --------------------------------------------------------------------------------------------------------


OTHERS = frozenset({"la", "les", "l'", "un", "une", "mon", "ma", "mes", "ton", "ta", "tes", "notre", "nos"})
"""Determiners that half-learned French might all call `le`."""


def _as_in_french(words):
    return phrases.aligned(words)[0]


def _as_in_english(words):
    """The French words in the order of the English ones."""
    french, places = phrases.aligned(words)
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
    """A model that knows the rules and does not look at what it has said."""
    return _saying(_sentences(src), tgt_in)


@exercise(
    by_the_grammar,
    name="encoder_decoder_task",
    hints=(
        "Translate a few sentences of the training set with your model. If even those are wrong, how low is the loss?",
        "Print one row of tgt_in below the same row of tgt. Is the word to be guessed already in sight?",
        "A low loss and poor translations: at which places do the logits move when you change the last word of tgt_in?",
        "Plot the learning rate over the steps of your run. Does it ever come to its peak?",
    ),
    forbidden=BUILT_IN_LAYERS,
)
def encoder_decoder_task(rng):
    """Sentences that no stream contains. The judge asks for one word after the other; targets never leave its side.

    Over forty seeds the notebook's model translates 77 to 97 % without a fault, all but one more than 86 %, with a BLEU
    of 0.88 to 0.98; without places it is 55 to 57 %, and 0.70.
    """

    def asked(title, count, keep=lambda pair: True, **settings):
        """The case without its bar, and what laws on its translations need."""
        chance = random.Random(rng.seed())
        pairs: list = []
        while len(pairs) < count:
            pairs += [pair for pair in phrases.draw(count, chance) if keep(pair)]
        src = phrases.encode([pair[0] for pair in pairs[:count]], "english")
        targets = phrases.encode([pair[1] for pair in pairs[:count]], "french")
        case = given_model(title, **settings).laws_only()
        case = case.unroll(src, torch.full((count, 1), phrases.SOS), steps=targets.shape[1])
        case = case.law("says", word=phrases.EOS, share=0.7, because="few of the sentences come to an end")
        case = case.law("mostly_unlike", targets=_sentences(src, _as_in_english), share=0.6, eos=phrases.EOS,
                        because="the words stand in the order of the English ones")  # fmt: skip
        return case, {"targets": targets, "eos": phrases.EOS}

    def moves(pair):
        """Whether some French word stands before one that comes earlier in English."""
        return list(pair[2]) != sorted(pair[2])

    some, right = asked("half of some sentences", 60, keep=moves, public=True)
    yield some.law("bleu_at_least", bar=0.4, **right).law("exact_match_at_least", bar=0.5, **right)
    new, right = asked("new sentences, 70 % right to the last word", 300, weight=3.0)
    yield new.law("exact_match_at_least", bar=0.7, **right)
    yield new.judged_again("new sentences, BLEU of 0.8", weight=2.0).law("bleu_at_least", bar=0.8, **right)
    yield new.judged_again("more than single words: BLEU of 0.4").law("bleu_at_least", bar=0.4, **right)
    drawn = phrases.draw(20, random.Random(rng.seed()))
    pairs = [pair for pair in drawn if len(pair[0]) < 20]  # with eos and three pads they fit into the model's 24 places
    src, tgt = (phrases.encode([pair[i] for pair in pairs], name) for i, name in enumerate(("english", "french")))
    tgt_in = torch.cat([torch.full((len(tgt), 1), phrases.SOS), tgt[:, :-1]], 1)
    yield (
        given_model("words that are not there yet", public=True)
        .laws_only()
        .call(src, tgt_in, into="whole")
        .call(src, tgt_in[:, :3], into="beginning")
        .law("begins_with", of="whole", to="beginning", dim=1, within=1e-3,
             because="later words of tgt_in change what is said of earlier ones: the future is in sight")
        .counts_with("more than single words: BLEU of 0.4")
    )  # fmt: skip
    yield (
        given_model("padding behind the source", public=True)
        .laws_only()
        .call(src, tgt_in, into="plain")
        .call(F.pad(src, (0, 3), value=phrases.PAD), tgt_in, into="padded")
        .law("equal", of="plain", to="padded", within=1e-3, because="padding behind the source changes the logits")
        .counts_with("more than single words: BLEU of 0.4")
    )


@encoder_decoder_task.misconception(
    "Of what it says hardly anything is right, and few of its sentences end. Does the loss fall, and how far? Do its "
    "parameters move in a step?"
)
def says_nothing(src, tgt_in, src_mask=None, tgt_mask=None):
    return torch.linspace(1, 0, len(phrases.vocabulary("french"))).expand(*tgt_in.shape, -1)


@encoder_decoder_task.misconception(
    "The words are right, and stand as in English. Do your words have places, in both languages?"
)
def word_for_word(src, tgt_in, src_mask=None, tgt_mask=None):
    return _saying(_sentences(src, _as_in_english), tgt_in)


@encoder_decoder_task.misconception(
    "It is on its way: verbs and nouns come, and what must agree with them does not yet. Does the loss still fall when "
    "the budget ends? How soon, and how high, does the learning rate rise?"
)
def half_learned(src, tgt_in, src_mask=None, tgt_mask=None):
    return _saying(_sentences(src, _with_one_determiner), tgt_in)


@encoder_decoder_task.misconception(
    "It says everything, and never that it is done. Does eos stand in the targets of your loss?"
)
def does_not_end(src, tgt_in, src_mask=None, tgt_mask=None):
    said = _sentences(src)
    return _saying(said.masked_fill(said == phrases.EOS, 3).masked_fill(said == phrases.PAD, 3), tgt_in)


@encoder_decoder_task.misconception(
    "Given the right words it is perfect, left alone it is lost: it has learned to copy what it should guess."
)
def copies_the_next_word(src, tgt_in, src_mask=None, tgt_mask=None):
    """Says what stands one place further on in its own input; where that ends, the word before again."""
    return _saying(torch.cat([tgt_in[:, 1:], tgt_in[:, -1:]], 1), tgt_in)


@encoder_decoder_task.misconception("Translate a sentence alone and in a batch. Who looks at the padding?")
def looks_at_padding(src, tgt_in, src_mask=None, tgt_mask=None):
    return by_the_grammar(src, tgt_in) * (1 + (src == phrases.PAD).double().mean())
