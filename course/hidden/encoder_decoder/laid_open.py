"""Encoder and decoder layers in pieces, wrong pieces for either, and the hints that both kinds share."""

from torch.nn import functional as F

from course.reference import encoder_decoder as reference


class OpenEncoder(reference.EncoderLayer):
    """The encoder's layer in pieces; `norm_of` names the norm of each sublayer."""

    norm_of: tuple[str, ...] = ("norm1", "norm2")

    def attend(self, x, mask):
        return self.self_attention(x, x, mask)[0]

    def forward(self, x, mask=None):
        return one_by_one(self, x, lambda y: self.attend(y, mask), self.think)


class OpenDecoder(reference.DecoderLayer):
    """The decoder's layer in pieces."""

    norm_of = ("norm1", "norm2", "norm3")

    def cross(self, x, memory, src_mask):
        return self.cross_attention(x, memory, src_mask)[0]

    def forward(self, x, memory, tgt_mask=None, src_mask=None):
        attentions = (lambda y: self.self_attention(y, y, tgt_mask)[0]), (lambda y: self.cross(y, memory, src_mask))
        return one_by_one(self, x, *attentions, self.think)


def one_by_one(layer, x, *sublayers):
    """Return what the last of the sublayers leaves, each with its norm."""
    for norm, sublayer in zip(layer.norm_of, sublayers, strict=True):
        x = layer.around(getattr(layer, norm), sublayer, x)
    return x


def but(layer, **pieces):
    """The `layer` with these pieces in place of its own."""
    return type(f"{layer.__name__}But", (layer,), pieces)


# -- `around`: a sublayer with its residual connection, its norm and its dropout ---------------------------------------


def pre_norm(norm, sublayer, x):
    return x + sublayer(norm(x))


def post_norm(norm, sublayer, x):
    return norm(x + sublayer(x))


def joined(pre=pre_norm, post=post_norm, dropout=lambda layer, y: layer.dropout(y)):
    """An `around` that computes `pre` in pre-norm and `post` in post-norm, and applies `dropout` to the sublayer."""

    def around(layer, norm, sublayer, x):
        way = pre if layer.norm == "pre" else post
        return way(norm, lambda y: dropout(layer, sublayer(y)), x)

    return around


no_residual = joined(pre=lambda norm, sublayer, x: sublayer(norm(x)), post=lambda norm, sublayer, x: norm(sublayer(x)))
always_post = joined(pre=post_norm)
always_pre = joined(post=pre_norm)
nothing_dropped = joined(dropout=lambda layer, y: y)


# -- `think`: the feed-forward sublayer --------------------------------------------------------------------------------


def with_gelu(layer, x):
    return layer.down(F.gelu(layer.up(x)))


# -- hints for either kind ---------------------------------------------------------------------------------------------

NO_RESIDUAL = "Set all weights and biases of the sublayers to zero. Is anything left of x? What should be left?"
ALWAYS_POST = (
    "Build it with norm='pre', and set all weights and biases of the sublayers to zero. Does x come out unchanged?"
)
ALWAYS_PRE = "Build it with norm='post' and fresh norms. Is the mean of each word in the result 0?"
WITH_GELU = (
    "Plot your activation near 0. It is smooth there, and the one of the paper of 2017 has a corner. Which one is it?"
)
GELU_CONVENTION = "GELU, as in GPT and BERT"
NOTHING_DROPPED = "Put it into training mode with a dropout of 1. Does the result change?"
