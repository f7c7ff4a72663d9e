"""Hidden tests of `rollout`: what is read at each call, where each row ends, and which tokens are its own."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from course.exercise import Ref, exercise, given, stand_in
from course.reference import reasoning as reference

CERTAIN = "five prompts, each token certain"
SOFT = "five prompts, tokens by chance"
END = 3
ROWS = 3000
"""Rows of a batch whose draws are counted."""


@exercise(
    reference.rollout,
    hints=(
        "Let two rows go on, one for two tokens and one for five. Write down ids, mask and log_p, (2, T + 5) each.",
        "How often does the model read the prompt, and what does it read at the second call?",
        "At a temperature of 2 a token is drawn from other probabilities than at 1. Which of them does log_p hold?",
        "Begin without an end: draw n tokens for each row, and keep the log-probability of each. Then note which rows "
        "are alive, before and after each token. Is the end token itself drawn by the row?",
    ),
    calls=(
        "model = counter(); rollout(model, tensor([[0]]), 3, 9, gen(0), 0.01)[0]",
        "model = counter(); rollout(model, tensor([[0]]), 5, 2, gen(0), 0.01)[0]",
        "model = counter(); rollout(model, tensor([[0], [3]]), 4, 4, gen(0), 0.01)[0]",
        "model = counter(); rollout(model, tensor([[0], [3]]), 4, 4, gen(0), 0.01)[1]",
        "model = counter(); rollout(model, tensor([[2, 0]]), 2, 2, gen(0), 0.01)[1]",
    ),
)
def rollout(rng):
    """Certain tokens compare by value, drawn ones by laws. Some rows end at once, some never, one has an end inside."""

    def certain(states=13, vocabulary=7):
        """In each state one token is certain, at a temperature of two, too."""
        return 250.0 * F.one_hot(rng.integers(0, vocabulary, states), vocabulary).double()

    def written(title, B, T, n, scores, *how, **settings):
        ids = rng.integers(0, scores.shape[1], B, T)
        ids[0, 0] = END
        case = given(title, model=stand_in("cached_writer", scores=scores), **settings)
        return case.call(Ref("model"), ids, n, END, rng.generator(), *how, on="answer").read("calls", on="model"), ids

    ending = certain()
    ending[::3] = 250.0 * F.one_hot(torch.tensor(END), 7).double()  # rows end soon, at unlike times
    endless = certain()
    endless[:, END] = -500.0
    yield written(CERTAIN, 5, 3, 11, ending, public=True, weight=3.0)[0]
    yield written("nobody ends", 3, 4, 6, endless, public=True)[0]
    at_once = 250.0 * F.one_hot(torch.full((13,), END), 7).double()
    yield written("all end at once", 2, 3, 5, at_once)[0].counts_with(CERTAIN)
    yield written("prompts of one token", 4, 1, 9, ending)[0]
    yield written("one token", 3, 5, 1, endless)[0].counts_with(CERTAIN)
    p = torch.tensor([0.35, 0.2, 0.15, 0.3], dtype=torch.float64)
    for title, public, *how in ((SOFT, True), ("a temperature of 0.5", True, 0.5), ("a temperature of 2", False, 2.0)):
        scores = rng.normal(13, 5)
        scores[:, END] += 0.5
        case, ids = written(title, 5, 3, 12, scores, *how, public=public, weight=2.0)
        yield case.laws_only().law("written_by", scores=scores, prompts=ids, end=END, temperature=(how or [1.0])[0])
        case, _ = written(
            f"the share of each token, {title}", ROWS, 2, 1, p.log()[None], *how, public=public and bool(how)
        )
        shares = p ** (1 / (how or [1.0])[0])
        yield (
            case.laws_only()
            .law("tokens_there", place=2, probabilities=shares / shares.sum(), draws=ROWS)
            .counts_with(SOFT)
        )


def _roll(model, prompts, n, end, generator, temperature=1.0, *, told=None, drawn=None, begun=False, all_end=False,
          counts_end=True, counts_padding=False, again=False, keeps_padding=True):  # fmt: skip
    """The right loop with one piece exchanged."""
    ids, own, log_p, cache, read = prompts, [], [], None, prompts
    alive = ~(prompts == end).any(1) if begun else torch.ones(len(prompts), dtype=torch.bool)
    for _ in range(n):
        if not alive.any():
            break
        logits, cache = model(ids if again else read, None if again else cache)
        said = logits[:, -1]
        p = (said / (drawn or temperature)).softmax(-1)
        token = torch.multinomial(p, 1, generator=generator)
        if keeps_padding:
            token = token.where(alive[:, None], end)
        one = (said / (told or temperature)).log_softmax(-1).gather(1, token)
        is_own = torch.ones_like(alive) if counts_padding else alive
        after = alive & (token[:, 0] != end)
        own.append((is_own if counts_end else after)[:, None])
        log_p.append(one * own[-1])
        ids, read, alive = torch.cat([ids, token], 1), token, after
        if all_end and not alive.all():
            break
    before = torch.zeros(prompts.shape, dtype=torch.float64)
    return ids, torch.cat([before.bool(), *own], 1), torch.cat([before, *log_p], 1)


rollout.mistakes(
    "Let a row end at its first token. Its end token was drawn, too. Is it in the mask?",
    end_not_own=lambda *args, **how: _roll(*args, **how, counts_end=False),
)
rollout.mistakes(
    "Let one row end and another one go on. How many tokens of the first are True in your mask?",
    padding_counted=lambda *args, **how: _roll(*args, **how, counts_padding=True),
)
rollout.mistakes(
    "Let one row end early. Do the others get their n tokens?",
    first_end_ends_all=lambda *args, **how: _roll(*args, **how, all_end=True),
)
rollout.mistakes(
    "Draw many tokens at a temperature of 0.5, and count them. Does log_p say the same as the counts?",
    log_p_without_the_temperature=lambda *args, **how: _roll(*args, **how, told=1.0),
    drawn_without_the_temperature=lambda *args, **how: _roll(*args, **how, drawn=1.0),
)
rollout.mistakes(
    "Put an end token into a prompt. Has the answer ended before it begins?",
    end_in_the_prompt=lambda *args, **how: _roll(*args, **how, begun=True),
)
rollout.mistakes(
    "Print the shapes that the model reads. What does the cache know already?",
    reads_everything_again=lambda *args, **how: _roll(*args, **how, again=True),
)
