"""What several exercises of this topic are examined with."""

import torch

from course.exercise import build, stand_in
from course.hidden.shapes import shapes_of

BUILT_IN_LAYERS = (
    *("nn.Transformer", "nn.TransformerEncoder", "nn.TransformerDecoder"),
    *("nn.TransformerEncoderLayer", "nn.TransformerDecoderLayer"),
)

D, HEADS, INNER = 6, 3, 11

PAD, SOS, EOS = 0, 1, 2


def loaded_layer(title, kind, rng, norm, dropout=0.0, **settings):
    """A layer of the answer's in double precision, with the judge's numbers for weights."""
    made = build(title, D, HEADS, INNER, dropout=dropout, norm=norm, **settings)
    state = {name: rng.normal(*shape) for name, shape in shapes_of(kind, D, HEADS, INNER).items()}
    return made.call(method="double", into="model").load(state)


def words(rng, *shape):
    """Vectors of words, (*shape, D), through which gradients flow back."""
    return rng.normal(*shape, D).requires_grad_()


def ragged(rng, B, S):
    """A padding mask (B, 1, 1, S) with a full sentence, one of a single word, and one of padding alone."""
    lengths = torch.tensor([S, 1, 0])[:B]
    return (torch.arange(S) < lengths[:, None])[:, None, None]


NEVER = 50.0
"""A logit so far below the others that its word is never said."""


def oracle(rng, ends, places, vocabulary, states=11):
    """A stand-in model. Source k says eos at position ends[k] if not before (None: never), and never pad or sos."""
    scores = 2 * rng.normal(len(ends), places, states, vocabulary)
    scores[..., [PAD, SOS]] = -NEVER
    for kind, end in enumerate(ends):
        if end is None:
            scores[kind, ..., EOS] = -NEVER
        else:
            scores[kind, end, :, EOS] = NEVER
    return speaker(scores), scores


def speaker(scores):
    """The stand-in that answers with these logits."""
    return stand_in("oracle", scores=scores, pad=PAD, sos=SOS, eos=EOS)


def asking(rng, kinds, wanted, width=5):
    """Sources (B, S) that the oracle takes for the `wanted` kinds of `kinds`, with padding behind some."""
    src = rng.integers(3, 10, len(wanted), width)
    src[1::2, -1] = PAD
    src[:, 0] = 3 + (torch.tensor(wanted) - src[:, 1:].sum(1) - 3) % kinds
    return src


def renumbered(model, src):
    """The same sentences with words, pad, sos and eos counted from the other end, but not the source's words."""
    scores = model.parameters["scores"].flip(-1)
    last = scores.shape[-1] - 1
    pad, sos, eos = (last - special for special in (PAD, SOS, EOS))
    return stand_in("oracle", scores=scores, pad=pad, sos=sos, eos=eos), src.masked_fill(src == PAD, pad)


def on_time(rng, ends, places, vocabulary=7):
    """An oracle for greedy decoding that says eos at just those positions."""
    model, scores = oracle(rng, ends, places, vocabulary)
    for kind, end in enumerate(ends):
        scores[kind, : places if end is None else end, :, EOS] = -NEVER
    return model
