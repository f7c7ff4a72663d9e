"""Hidden tests of `architecture_masks`."""

from __future__ import annotations

import torch

from course.exercise import call, exercise
from course.reference import encoder_decoder as reference


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
