"""Hidden tests of `EncoderLayer`."""

from __future__ import annotations

from torch.nn import functional as F

from course.exercise import exercise
from course.hidden.encoder_decoder.scaffold import BUILT_IN_LAYERS, HEADS, _below, _layer, _ragged, _words
from course.reference import encoder_decoder as reference


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
