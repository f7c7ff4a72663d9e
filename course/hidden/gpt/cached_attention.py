"""Hidden tests of `cached_attention`: heads in groups, positions and mask behind a cache, and the cache itself."""

from __future__ import annotations

import torch

from course.exercise import Ref, exercise, given
from course.hidden.gpt.scaffold import BUILT_IN_ATTENTION
from course.reference import gpt as reference
from course.reference.multi_head_attention import merge_heads, split_heads
from course.reference.positional_encoding import rope

FORKED = "two ways to go on from one cache"


@exercise(
    reference.cached_attention,
    hints=(
        "Write down the shape of queries, keys and values in heads. How wide is a head, and how many groups do the "
        "rows of `W_k` make?",
        "At which position stands the first token behind a cache of five? Which keys may it see?",
        "Feed a text at once, then its first five tokens and the rest behind the cache. Where do the results part? "
        "Call it twice with one and the same cache, and two different texts. Do they disturb each other?",
        "Begin without a cache. Cut the three products into heads, and rotate what RoPE rotates. Then bring what the "
        "heads find back to (B, T, D). Only then think of `past`.",
    ),
    forbidden=(*BUILT_IN_ATTENTION, "blocks.GPT"),
    tolerance=1e-5,
    calls=(
        "cached_attention(tensor([[[2., 0.], [4., 2.]]]), zeros(2, 2), eye(2), eye(2), eye(2), 1)[0]",
        "cached_attention(tensor([[[2., 4.]]]), zeros(2, 2), eye(2), eye(2), tensor([[0., 1.], [1., 0.]]), 1)[0]",
        "cached_attention(tensor([[[2., 4., 0., 0.]]]), zeros(4, 4), zeros(2, 4), eye(4)[:2], eye(4), 2)[0]",
        (
            "past = cached_attention(tensor([[[6., 0.]]]), zeros(2, 2), eye(2), eye(2), eye(2), 1)[1]; "
            "cached_attention(tensor([[[2., 0.]]]), zeros(2, 2), eye(2), eye(2), eye(2), 1, past)[0]"
        ),
        (
            "past = cached_attention(tensor([[[1., 0.], [3., 0.]]]), zeros(2, 2), eye(2), eye(2), eye(2), 1)[1]; "
            "cached_attention(tensor([[[5., 0.], [7., 0.]]]), zeros(2, 2), eye(2), eye(2), eye(2), 1, past)[0]"
        ),
        "cached_attention(numbers(3, 5, 8), numbers(8, 8), numbers(4, 8), numbers(4, 8), numbers(8, 8), 4)[0].shape",
    ),
)
def cached_attention(rng):
    """Chunks of several tokens behind a cache show where masks and positions begin."""

    def weights(D, heads, groups):
        wide = D // heads * groups
        return [rng.normal(*shape) / D**0.5 for shape in ((D, D), (wide, D), (wide, D), (D, D))]

    def attend(case, D, heads, groups, B, *lengths):
        """A text chunk by chunk, each behind the cache of those before it."""
        matrices, past = weights(D, heads, groups), []
        for i, length in enumerate(lengths, 1):
            y, into = rng.normal(B, length, D), "out" if len(lengths) == 1 else f"chunk {i}"
            case = case.call(y, *matrices, heads, *past, on="answer", into=into, carries=[f"cache {i}"])
            past = [Ref(f"cache {i}")]
        return case

    def learns(title, D, heads, groups, B, T, **settings):
        """A text at once, and the gradients of tokens and weights."""
        tracked = [x.requires_grad_() for x in (rng.normal(B, T, D), *weights(D, heads, groups))]
        case = given(title, **settings)
        return case.call(*tracked, heads, on="answer", carries=["cache"]).gradients()

    yield learns("a text at once", 24, 4, 2, 3, 7, public=True, weight=2.0)
    yield learns("six heads in three groups", 12, 6, 3, 2, 5)
    yield attend(given("one group for all"), 20, 5, 1, 2, 7)
    yield attend(given("a group for each head"), 12, 3, 3, 2, 5)
    by_token = given("token by token behind the cache", public=True, weight=2.0)
    yield attend(by_token, 24, 4, 2, 2, 3, 1, 1)
    by_chunk = given("chunks of several tokens behind the cache", public=True, weight=2.0)
    yield attend(by_chunk, 24, 4, 2, 2, 4, 3, 2)
    yield attend(given("a long chunk behind a short one"), 12, 2, 1, 1, 2, 7)
    yield attend(given("three hundred tokens"), 8, 2, 1, 1, 290, 10)
    matrices = weights(24, 4, 2)
    fork = given(FORKED, public=True, weight=2.0)
    chunks = {"text": (4, None), "one": (2, "text"), "another": (3, "text"), "one, continued": (1, "one")}
    for into, (T, before) in {**chunks, "a new text": (5, None)}.items():
        past = [Ref(f"cache of {before}")] if before else []
        fork = fork.call(
            rng.normal(2, T, 24), *matrices, 4, *past, on="answer", into=into, carries=[f"cache of {into}"]
        )
    yield fork


def _attending(
    split=split_heads,
    places=lambda known, T: torch.arange(known, known + T),
    rotate=lambda q, k, v, places: (rope(q, places), rope(k, places), v),
    keys=lambda past, new: torch.cat([past, new], 2),
    values=lambda past, new: torch.cat([past, new], 2),
    mask=lambda T, known: torch.ones(T, known + T, dtype=torch.bool).tril(known),
    merge=merge_heads,
    mix=lambda found, W_o: found @ W_o.T,
    keep=lambda new, together: together,
):
    """The attention with some of its pieces exchanged."""

    def attention(y, W_q, W_k, W_v, W_o, n_heads, past=None):
        d_head = W_q.shape[0] // n_heads
        q, k, v = (split(y @ W.T, W.shape[0] // d_head) for W in (W_q, W_k, W_v))
        T, known = y.shape[1], 0 if past is None else past[0].shape[2]
        q, k, v = new = rotate(q, k, v, places(known, T))
        if past is not None:
            k, v = keys(past[0], k), values(past[1], v)
        found = reference.grouped_attention(q, k, v, mask(T, known))
        return mix(merge(found), W_o), keep(new[1:], (k, v))

    return attention


def _in_front(past, new):
    return torch.cat([new, past], 2)


def _halves(x, places):
    d_head = x.shape[-1]
    columns = torch.cat([torch.arange(0, d_head, 2), torch.arange(1, d_head, 2)])
    return rope(x[..., columns.argsort()], places)[..., columns]


cached_attention.mistakes(
    "Let all tokens of y be equal. Then all values are equal, and whatever a token looks at, it finds the same. Are "
    "the rows of your result equal?",
    values_rotated=_attending(rotate=lambda q, k, v, places: (rope(q, places), rope(k, places), rope(v, places))),
)
cached_attention.mistakes(
    "Exchange the first two tokens of a text. Should what the last one finds move? Does it?",
    nothing_rotated=_attending(rotate=lambda q, k, v, places: (q, k, v)),
    only_queries_rotated=_attending(rotate=lambda q, k, v, places: (rope(q, places), k, v)),
)
cached_attention.mistakes(
    "The first token behind a cache of five: at which position does your RoPE put it? Print the positions you use.",
    rotates_from_zero_behind_a_cache=_attending(places=lambda known, T: torch.arange(T)),
)
cached_attention.mistakes(
    "Print the key of the second token as it is in the cache after one call, two and three. Should it move?",
    cached_keys_rotated_again=_attending(
        keys=lambda past, new: torch.cat([rope(past, torch.arange(past.shape[2])), new], 2)
    ),
)
cached_attention.mistakes(
    "Three tokens behind a cache of four: write down the seven keys and which of them each token may see. Which corner "
    "of the mask is the diagonal in?",
    mask_aligned_at_the_top_left=_attending(mask=lambda T, known: torch.ones(T, known + T, dtype=torch.bool).tril()),
)
cached_attention.mistakes(
    "Change the last token of a text. Which rows of your result move?",
    sees_the_future=_attending(mask=lambda T, known: None),
)
cached_attention.mistakes(
    "Let `torch.arange` number a tensor of shape (1, 2, D), and cut it into heads as you do. Does each head hold "
    "numbers of both tokens?",
    heads_cut_by_reshaping=_attending(split=lambda x, n: x.reshape(x.shape[0], n, x.shape[1], -1)),
)
cached_attention.mistakes(
    "Let `torch.arange` number what attention leaves, (B, h, T, d), and join the heads as you do. Do the first D "
    "numbers belong to one token?",
    heads_joined_by_reshaping=_attending(merge=lambda x: x.reshape(x.shape[0], x.shape[2], -1)),
)
cached_attention.mistakes(
    "Set `W_o` to zero. What should come out?", W_o_forgotten=_attending(mix=lambda found, _: found)
)
cached_attention.mistakes(
    "The mask counts keys from the left. Which token does the first key of your second call belong to?",
    new_tokens_in_front_of_the_cache=_attending(keys=_in_front, values=_in_front),
)
cached_attention.mistakes(
    "Read three tokens, then two, then one. How many keys does the cache hold after each call?",
    cache_holds_the_last_chunk_alone=_attending(keep=lambda new, together: new),
    past_not_read=lambda y, W_q, W_k, W_v, W_o, n_heads, past=None: _attending()(y, W_q, W_k, W_v, W_o, n_heads),
)
cached_attention.misconception(
    "Your rotation pairs column i of a head with i + d/2. The published weights were trained with neighbours as pairs.",
    convention="half-split pairs, as in GPT-NeoX and LLaMA",
    name="rotates_halves",
)(_attending(rotate=lambda q, k, v, places: (_halves(q, places), _halves(k, places), v)))


@cached_attention.misconception(
    "Print the keys that are in the cache before and after you hand it over. Is it still the same cache?"
)
def cache_changed_in_place(y, W_q, W_k, W_v, W_o, n_heads, past=None):
    found, present = reference.cached_attention(y, W_q, W_k, W_v, W_o, n_heads, past)
    if past is not None:
        past[:] = present
    return found, [*present]
