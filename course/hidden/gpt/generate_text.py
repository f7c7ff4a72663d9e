"""Hidden tests of `generate_text`: what the model reads at each call, and what comes back."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from course.exercise import Ref, exercise, given, stand_in
from course.hidden.gpt.next_token import ROWS
from course.reference import gpt as reference

CHOSEN = "three texts, no choice"


@exercise(
    reference.generate_text,
    hints=(
        "How many tokens a text do you return for n = 3, and how often is the model called? Write down the shape of "
        "what it is given at each call.",
        "The model returns logits for every token that it read. Which of them predict the next one?",
        "Begin with the first call by hand, without a loop. The prompt goes in, and logits and a cache come out. Draw "
        "one token for each text, and print its shape. What does the second call need?",
    ),
    calls=(
        "model = counter(); generate_text(model, tensor([[0]]), 3, gen(0), temperature=0)",
        "model = counter(); generate_text(model, tensor([[0, 3]]), 2, gen(0), temperature=0)",
        "model = counter(); generate_text(model, tensor([[4], [1]]), 2, gen(0), temperature=0)",
        "model = counter(); generate_text(model, tensor([[2]]), 1, gen(0), top_k=1)",
        "model = counter(); generate_text(model, tensor([[4, 4, 4]]), 1, gen(0), temperature=0)",
        "model = counter(); generate_text(model, tensor([[0], [0]]), 4, gen(0), temperature=0).shape",
    ),
)
def generate_text(rng):
    """A stand-in for the model whose scores depend on all tokens so far. It notes the shapes of what it reads."""

    def certain(states=11, vocabulary=7):
        """In each state one token is certain, also at a temperature of two."""
        return 250.0 * F.one_hot(rng.integers(0, vocabulary, states), vocabulary).double()

    def written(title, B, T, n, scores=None, how=None, **settings):
        scores = certain() if scores is None else scores
        case = given(title, model=stand_in("cached_writer", scores=scores), **settings)
        ids = rng.integers(0, scores.shape[1], B, T)
        return case.call(Ref("model"), ids, n, rng.generator(), on="answer", **(how or {})).read("calls", on="model")

    yield written(CHOSEN, 3, 5, 7, public=True, weight=3.0)
    yield written("a prompt of one token", 2, 1, 5, public=True)
    yield written("one token of one text", 1, 4, 1).counts_with(CHOSEN)
    yield written("a long text", 2, 3, 40, weight=2.0)
    yield written("another vocabulary", 4, 6, 9, scores=certain(13, 17))
    zero = {"temperature": 0.0}
    yield written("temperature 0 takes the likeliest", 3, 4, 6, rng.normal(11, 7), zero, public=True, weight=2.0)
    p = torch.tensor([0.5, 0.3, 0.15, 0.05], dtype=torch.float64)
    for title, how, shares in (
        ("draws from the model's probabilities", {}, p),
        ("hands on temperature and top_k", {"temperature": 0.5, "top_k": 2}, torch.tensor([0.7353, 0.2647, 0, 0])),
        ("hands on top_p", {"top_p": 0.6}, torch.tensor([0.625, 0.375, 0, 0])),
    ):
        case = written(title, ROWS // 3, 2, 3, p.log()[None], how, public=bool(how)).laws_only()
        case = case.law("shape_is", shape=(ROWS // 3, 3), because="n tokens for each text: ids of shape (B, n)")
        yield case.law("frequencies", probabilities=shares / shares.sum(), draws=ROWS)
    case = given("the same generator, the same text", model=stand_in("cached_writer", scores=rng.normal(11, 7)))
    ids, generator = rng.integers(0, 7, 3, 4), rng.generator()
    for into, throws in (("out", generator), ("again", generator), ("other", rng.generator())):
        case = case.call(Ref("model"), ids, 20, throws, on="answer", into=into)
    same = "the same generator gave two texts. Do you hand it on to next_token?"
    other = "two generators gave the same text. Do you hand them on to next_token?"
    case = case.laws_only().law("equal", to="again", because=same).law("different", to="other", because=other)
    yield case.counts_with(CHOSEN)


def _write(model, ids, n, generator, *, read=lambda said, token: token, row=-1, keep=True, prompt=False, **how):
    """The right loop with one piece exchanged."""
    said, now, cache = ids, ids, None
    for _ in range(n):
        logits, cache = model(now, cache if keep else None)
        token = reference.next_token(logits[:, row], generator=generator, **how)[:, None]
        said = torch.cat([said, token], 1)
        now = read(said, token)
    return said if prompt else said[:, ids.shape[1] :]


@generate_text.misconception(
    "Print the shapes that you hand over. What is in the cache already need not be read again. What would it cost to "
    "write 1,000 tokens so?"
)
def reads_everything_again(model, ids, n, generator, **how):
    return _write(model, ids, n, generator, read=lambda said, token: said, keep=False, **how)


@generate_text.misconception(
    "The cache holds the prompt, and you hand over the prompt again. How many tokens has the model read at the third "
    "call?"
)
def reads_everything_behind_the_cache(model, ids, n, generator, **how):
    return _write(model, ids, n, generator, read=lambda said, token: said, **how)


@generate_text.misconception("At the second call the model reads one token. How should it know of those before it?")
def cache_not_handed_over(model, ids, n, generator, **how):
    return _write(model, ids, n, generator, keep=False, **how)


@generate_text.misconception("The prompt has five tokens, and so logits at five positions. Which ones do you read?")
def reads_the_first_row(model, ids, n, generator, **how):
    return _write(model, ids, n, generator, row=0, **how)


@generate_text.misconception("For n = 3, how many columns has your result? The prompt is not asked for.")
def returns_the_prompt(model, ids, n, generator, **how):
    return _write(model, ids, n, generator, prompt=True, **how)


@generate_text.misconception("Call it with temperature=0, twice with different generators. What becomes of `how`?")
def how_is_ignored(model, ids, n, generator, **how):
    return _write(model, ids, n, generator)


@generate_text.misconception("Call it with top_k=1, twice with different generators. Do both texts agree?")
def temperature_alone_handed_on(model, ids, n, generator, temperature=1.0, **how):
    return _write(model, ids, n, generator, temperature=temperature)


def _from_the_first_text(rows):
    """The right loop, which draws from the first text's logits for so many rows (None: all), and expands the draws."""

    def answer(model, ids, n, generator, **how):
        now, cache, written = ids, None, []
        for _ in range(n):
            logits, cache = model(now, cache)
            first = logits[:1, -1].expand(rows or len(ids), -1)
            now = reference.next_token(first, generator=generator, **how)[:, None].expand(len(ids), 1)
            written.append(now)
        return torch.cat(written, 1)

    return answer


generate_text.mistakes(
    "Let two unlike texts go on at a temperature of 0, together and each alone. Does each get the same tokens?",
    first_text_for_all=_from_the_first_text(None),
    one_token_for_all_texts=_from_the_first_text(1),
)


@generate_text.misconception("How often is the model called for n = 3? What becomes of the logits of its last call?")
def one_call_too_many(model, ids, n, generator, **how):
    written = _write(model, ids, n, generator, **how)
    model(written[:, -1:], None)
    return written
