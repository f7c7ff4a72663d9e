"""Hidden tests of `architecture_masks`: what each attention may look at, in each architecture."""

import torch

from course.exercise import call, exercise
from course.reference import encoder_decoder as reference

KEYS = ("encoder_self", "decoder_self", "cross")
HAS = {"encoder": KEYS[:1], "decoder": KEYS[1:2], "encoder-decoder": KEYS}
"""Which attentions an architecture has."""


@exercise(
    reference.architecture_masks,
    hints=(
        "Draw the three masks for a source of three words and a target of two. Which cells are True?",
        "Which architecture reads a finished text, and which has to write one? In which may a word see the future?",
        "In cross, do the columns belong to words of the source or of the target? Which lengths say what is padding?",
        "Begin with a dictionary of three times None. Then write two parts, a padding mask from lengths, and a causal"
        " mask of a given width. For each of the three kinds, write down which entry needs which part, and of which "
        "text.",
    ),
    calls=(
        "architecture_masks('encoder', tensor([1, 2]))",
        "architecture_masks('decoder', tensor([2]))",
        "architecture_masks('encoder-decoder', tensor([1]), tensor([2]))",
        "architecture_masks('encoder-decoder', tensor([2]), tensor([1]))",
        "architecture_masks('encoder-decoder', tensor([1, 3]), tensor([2, 1]))['cross']",
        "architecture_masks('encoder-decoder', tensor([4, 3]), tensor([2, 1]))['decoder_self'].shape",
    ),
)
def architecture_masks(rng):
    """For each architecture, what must be seen, what must not, and which attentions it has. Padding's rows are free."""

    def ragged(B, T):
        """Lengths in any order, with the full one, a single word, the full one but for a word, and others."""
        lengths = torch.cat([torch.tensor([T, 1, T - 1]), rng.integers(1, T + 1, B)])[:B]
        return lengths[rng.permutation(B)]

    some = _case("encoder", ragged(3, rng.choice([5, 6, 8, 9])), public=True)
    yield some
    yield _case("decoder", ragged(3, rng.choice([5, 6, 8, 9])), public=True)
    short, long = rng.choice([4, 5, 6]), rng.choice([7, 8, 9, 11])
    yield _case("encoder-decoder", ragged(3, short), ragged(3, long), public=True, weight=2.0)
    yield _case("encoder-decoder", ragged(2, long), ragged(2, short - 1), weight=2.0)
    lengths = ragged(5, rng.choice([5, 6, 7, 8]))
    yield _case("encoder-decoder", lengths, lengths.roll(1))
    yield _case("decoder", ragged(2, long))
    yield _case("encoder", torch.tensor([1]), weight=0.5).counts_with(some.title)


def _case(kind, *lengths, **settings):
    """An architecture's masks for these lengths, of the source and of the target where it reads two texts."""
    title = " and ".join(str(one.tolist()) for one in lengths)
    case = call(f"{kind}, lengths {title}", kind, *lengths, **settings).laws_only()
    src, tgt = (torch.arange(int(one.max())) < one[:, None] for one in (lengths[0], lengths[-1]))
    asking = {"encoder_self": (src, src), "decoder_self": (tgt, tgt), "cross": (tgt, src)}
    for key in HAS[kind]:
        case = _looked_at(case, key, *asking[key])
    for key in KEYS:
        if key not in HAS[kind]:
            case = case.law(
                "none_at", key=key, because=f"{key} should be None, because a pure {kind} has no such attention"
            )
    return case


def _looked_at(case, key, asking, asked):
    """Laws for one mask: every query that is a real word, over keys that are real, hidden as future, or padding."""
    rows, columns = asking[:, None, :, None], asked[:, None, None, :]
    real, padding = rows & columns, rows & ~columns
    square = torch.ones(real.shape[-2:], dtype=torch.bool)
    future, itself = (square.triu(1), square.triu() & square.tril()) if key == "decoder_self" else (~square, ~square)
    case = case.law("mask_fits", key=key, shape=real.shape).law("mask_is_boolean", key=key)

    def law(case, allowed, where, because):
        return case.law("mask_is", key=key, allowed=allowed, where=where, because=f"{key}: {because}")

    case = law(case, True, real & ~future & ~itself, "it hides a word that should be allowed")
    if key == "decoder_self":
        case = law(case, False, real & future, "it allows words of the future")
        case = law(case, True, real & itself, "it hides a word from itself")
    return law(case, False, padding, "it allows padding")


def _masks(kind, src_lengths, tgt_lengths=None, **changed):
    """The reference's masks, those `changed` by functions of the reference's own."""
    masks = reference.architecture_masks(kind, src_lengths, tgt_lengths)
    for key, change in changed.items():
        if masks[key] is not None:
            masks[key] = change(masks[key])
    return masks


@architecture_masks.misconception(
    "Print one mask of a source without padding. In this course True means allowed. Does yours say so?"
)
def inverted(kind, src_lengths, tgt_lengths=None):
    return _masks(kind, src_lengths, tgt_lengths, **dict.fromkeys(KEYS, torch.logical_not))


@architecture_masks.misconception(
    "An encoder reads a finished text. Print row 0 of its mask. May the first word see the second one?"
)
def encoder_sees_only_the_past(kind, src_lengths, tgt_lengths=None):
    return _masks(kind, src_lengths, tgt_lengths, encoder_self=lambda m: m & reference.causal(m.shape[-1]))


@architecture_masks.misconception("Draw the decoder's mask. Which words are known when it writes the first one?")
def decoder_sees_the_future(kind, src_lengths, tgt_lengths=None):
    return _masks(kind, src_lengths, tgt_lengths, decoder_self=lambda m: m.any(-2, keepdim=True))


@architecture_masks.misconception("Print the decoder's mask. Which side of the diagonal is the past?")
def past_for_future(kind, src_lengths, tgt_lengths=None):
    def turned(mask):
        return mask.any(-2, keepdim=True) & reference.causal(mask.shape[-1]).T

    return _masks(kind, src_lengths, tgt_lengths, decoder_self=turned)


@architecture_masks.misconception(
    "In cross, do the columns belong to words of the source or of the target? Which lengths did you use?"
)
def cross_by_the_targets_lengths(kind, src_lengths, tgt_lengths=None):
    def wrong_lengths(mask):
        return (torch.arange(mask.shape[-1]) < tgt_lengths[:, None])[:, None, None]

    return _masks(kind, src_lengths, tgt_lengths, cross=wrong_lengths)


@architecture_masks.misconception(
    "Print the first row of cross. The whole source is known before the first word is written. Which keys need hiding?"
)
def cross_sees_only_the_past(kind, src_lengths, tgt_lengths=None):
    def shortened(mask):
        return mask & torch.ones(int(tgt_lengths.max()), mask.shape[-1], dtype=torch.bool).tril()

    return _masks(kind, src_lengths, tgt_lengths, cross=shortened)
