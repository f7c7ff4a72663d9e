"""Encoder and decoder layers in pieces, wrong pieces for either, and the hints that both kinds share."""

from torch.nn import functional as F

from course.reference import encoder_decoder as reference


class OpenEncoder(reference.EncoderLayer):
    """The encoder's layer in pieces; `norm_of` names the norm of each sublayer."""

    norm_of: tuple[str, ...] = ("norm1", "norm2")

    def attend(self, x, mask):
        return self.self_attention(x, x, mask)[0]

    def forward(self, x, mask=None):
        return self.through(paired(self, lambda y: self.attend(y, mask), self.think), x)

    def through(self, steps, x):
        return one_by_one(self, steps, x)


class OpenDecoder(reference.DecoderLayer):
    """The decoder's layer in pieces; `norm_of` names the norm of each sublayer."""

    norm_of: tuple[str, ...] = ("norm1", "norm2", "norm3")

    def look(self, x, tgt_mask):
        return self.self_attention(x, x, tgt_mask)[0]

    def cross(self, x, memory, src_mask):
        return self.cross_attention(x, memory, src_mask)[0]

    def forward(self, x, memory, tgt_mask=None, src_mask=None):
        attentions = (lambda y: self.look(y, tgt_mask)), (lambda y: self.cross(y, memory, src_mask))
        return self.through(paired(self, *attentions, self.think), x)

    def through(self, steps, x):
        return one_by_one(self, steps, x)


def but(layer, **pieces):
    """The `layer` with these pieces in place of its own."""
    return type(f"{layer.__name__}But", (layer,), pieces)


def turned_round(mask):
    return None if mask is None else ~mask


# -- `through`: the order of the sublayers, and what each of them reads ------------------------------------------------


def paired(layer, *sublayers):
    """The steps of a layer: each sublayer with its norm."""
    return [(getattr(layer, norm), sublayer) for norm, sublayer in zip(layer.norm_of, sublayers, strict=True)]


def one_by_one(layer, steps, x):
    """Each sublayer reads what the one before left."""
    for norm, sublayer in steps:
        x = layer.around(norm, sublayer, x)
    return x


def only(*indices):
    """The steps at these indices alone, in this order."""
    return lambda layer, steps, x: one_by_one(layer, [steps[index] for index in indices], x)


def side_by_side(layer, steps, x):
    """Every sublayer reads the words as they came."""
    if layer.norm == "pre":
        return x + sum(layer.dropout(sublayer(norm(x))) for norm, sublayer in steps)
    return steps[-1][0](x + sum(layer.dropout(sublayer(x)) for _, sublayer in steps))


def second_residual_from_the_start(layer, steps, x):
    """The second sublayer adds to the words as they came."""
    (norm1, first), (norm2, second), *others = steps
    y = layer.around(norm1, first, x)
    if layer.norm == "pre":
        x = x + layer.dropout(second(norm2(y)))
    else:
        x = norm2(x + layer.dropout(second(y)))
    return one_by_one(layer, others, x)


def normed_at_the_end(layer, steps, x):
    """The last norm acts in pre-norm, too, behind all sublayers."""
    x = one_by_one(layer, steps, x)
    return steps[-1][0](x) if layer.norm == "pre" else x


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


def at(place, mistaken):
    """An `around` that is `mistaken` at the norm of this name, and right elsewhere."""

    def around(layer, norm, sublayer, x):
        way = mistaken if norm is getattr(layer, place) else reference.EncoderLayer.around
        return way(layer, norm, sublayer, x)

    return around


def residual_dropped(layer, norm, sublayer, x):
    if layer.norm == "pre":
        return layer.dropout(x + sublayer(norm(x)))
    return norm(layer.dropout(x + sublayer(x)))


no_residual = joined(pre=lambda norm, sublayer, x: sublayer(norm(x)), post=lambda norm, sublayer, x: norm(sublayer(x)))
added_to_itself = joined(
    pre=lambda norm, sublayer, x: 2 * sublayer(norm(x)), post=lambda norm, sublayer, x: norm(2 * sublayer(x))
)
normed_before_and_behind = joined(pre=lambda norm, sublayer, x: norm(x + sublayer(norm(x))))
sublayer_normed_alone = joined(post=lambda norm, sublayer, x: x + norm(sublayer(x)))
residual_normed = joined(pre=lambda norm, sublayer, x: norm(x) + sublayer(norm(x)))
not_normed = joined(pre=lambda norm, sublayer, x: x + sublayer(x))
always_post = joined(pre=post_norm)
always_pre = joined(post=pre_norm)
nothing_dropped = joined(dropout=lambda layer, y: y)
dropped_in_evaluation = joined(dropout=lambda layer, y: F.dropout(y, layer.dropout.p))


# -- `think`: the feed-forward sublayer --------------------------------------------------------------------------------


def with_gelu(layer, x):
    return layer.down(F.gelu(layer.up(x)))


def without_relu(layer, x):
    return layer.down(layer.up(x))


# -- hints for either kind ---------------------------------------------------------------------------------------------

NO_RESIDUAL = "Set all weights and biases of the sublayers to zero. Is anything left of x? What should be left?"
SUBLAYER_NORMED_ALONE = (
    "Build it with norm='post' and fresh norms. Is each word's mean 0 in the result? What goes into your norms?"
)
RESIDUAL_NORMED = "In pre-norm, multiply x by 10. The result should grow, too. Does a norm act on the residual stream?"
ALWAYS_POST = (
    "Build it with norm='pre', and set all weights and biases of the sublayers to zero. Does x come out unchanged?"
)
WITH_GELU = (
    "Plot your activation near 0. It is smooth there, and the one of the paper of 2017 has a corner. Which one is it?"
)
GELU_CONVENTION = "GELU, as in GPT and BERT"
WITHOUT_RELU = "Two linear maps in a row are one linear map. What stands between your up and down?"
NOTHING_DROPPED = "Put it into training mode with a dropout of 1. Does the result change?"
RESIDUAL_DROPPED = "In training, with a dropout of 1, nothing is left of x. Is x dropped, too, or never added?"
DROPPED_IN_EVALUATION = "Call eval() on a layer with a dropout of 0.5, and run it twice. Why do the results differ?"
