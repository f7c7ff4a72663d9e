"""Hidden tests of `choose_by_likelihood`: log p of each choice behind the prompt, divided by lengths if given."""

from __future__ import annotations

import torch

from course.exercise import call, exercise, stand_in
from course.reference import inside as reference

V, THREE = 13, "three choices"


@exercise(
    reference.choose_by_likelihood,
    hints=(
        "A choice of two tokens has the probabilities 0.5 and 0.4. What is the logarithm of its probability?",
        "The prompt has T tokens. Which logits are about the first token of the choice, and which about its last?",
        "Begin with one choice. Append it to the prompt, hand all to the model as ids (1, T + n), and print the shape "
        "of the logits. How many rows of them are about the choice?",
    ),
    calls=(
        "choose_by_likelihood(counter(), tensor([1]), [tensor([2]), tensor([4])])",
        "choose_by_likelihood(counter(), tensor([1]), [tensor([3, 3]), tensor([2, 4])])",
        "choose_by_likelihood(counter(), tensor([1]), [tensor([4]), tensor([0, 0, 1])])",
        "choose_by_likelihood(counter(), tensor([1]), [tensor([4]), tensor([0, 0, 1])], lengths=[1., 3.])",
        "choose_by_likelihood(counter(), tensor([4, 0, 3]), [tensor([3]), tensor([4, 0])])",
        "choose_by_likelihood(counter(), tensor([], dtype=torch.long), [tensor([1])])",
        "choose_by_likelihood(counter(), tensor([1]), [])",
    ),
)
def choose_by_likelihood(rng):
    """Choices of unlike lengths, so that lengths decide; a prompt of one token; nothing to choose from."""

    def model(seed_scale=2.0):
        return stand_in("cached_writer", scores=seed_scale * rng.normal(29, V))

    def tokens(*sizes):
        return [rng.integers(0, V, size) for size in sizes]

    def asked(title, T, *sizes, **options):
        return call(title, model(), *tokens(T), tokens(*sizes), **options)

    yield asked(THREE, 5, 2, 3, 1, public=True, weight=2.0)
    by_length = "divided by lengths"
    yield asked(by_length, 3, 7, 2, 5, 3, lengths=[7.0, 2.0, 5.0, 3.0], public=True, weight=2.0)
    yield asked("lengths that are no numbers of tokens", 3, 2, 5, 3, 4, lengths=[17.0, 11.0, 29.0, 5.0], weight=2.0)
    yield asked("many choices", 2, 3, 1, 4, 1, 5, 2, 6)
    yield asked("a prompt of one token", 1, 2, 3, 5)
    yield asked("choices of one token", 7, 1, 1, 1, 1)
    yield asked("a single choice", 3, 5, weight=0.5).counts_with(THREE)
    for title, T, sizes in (("an empty prompt", 0, (2, 3)), ("an empty choice", 3, (2, 0)), ("no choices", 3, ())):
        wrong = asked(title, T, *sizes, raises="ValueError", weight=0.5, public=title == "an empty prompt")
        yield wrong.counts_with(THREE)


def _checked(prompt, choices):
    if not len(prompt) or not len(choices) or not all(map(len, choices)):
        raise ValueError("an empty prompt, an empty choice or no choices at all")


def _choosing(score, divide=True):
    """The answer in which `score(log-probabilities of all tokens but the first, logits, n, choice)` is a choice's."""

    def choose(model, prompt, choices, lengths=None):
        _checked(prompt, choices)
        scores = []
        for choice in choices:
            ids = torch.cat([prompt, choice])[None]
            logits = model(ids)[0][0]
            log_p = logits[:-1].log_softmax(-1).gather(-1, ids[0, 1:, None]).squeeze(-1)
            scores.append(score(log_p, logits, len(choice), ids[0]))
        found = torch.stack(scores)
        if lengths is not None and divide:
            found = found / torch.tensor(lengths, dtype=found.dtype)
        return int(found.argmax()), found

    return choose


choose_by_likelihood.mistakes(
    "The prompt is given. Print how many log-probabilities you add up for a choice of two tokens.",
    prompts_last_token_counted=_choosing(lambda log_p, logits, n, ids: log_p[-n - 1 :].sum()),
    prompt_counted=_choosing(lambda log_p, logits, n, ids: log_p.sum()),
)
choose_by_likelihood.mistakes(
    "Take a choice of one token. Is its score zero? Which logits say how likely the first token of a choice is?",
    first_token_forgotten=_choosing(lambda log_p, logits, n, ids: log_p[len(log_p) - n + 1 :].sum()),
)
choose_by_likelihood.mistakes(
    "Logits at a position come from a model that has read the token there. Which token are they about?",
    logits_one_late=_choosing(
        lambda log_p, logits, n, ids: logits[-n:].log_softmax(-1).gather(-1, ids[-n:, None]).sum()
    ),
)
choose_by_likelihood.mistakes(
    "A logarithm of a probability is never above 0. Are your scores?",
    raw_logits=_choosing(lambda log_p, logits, n, ids: logits[-n - 1 : -1].gather(-1, ids[-n:, None]).sum()),
)
choose_by_likelihood.mistakes(
    "Take a choice of two tokens with probabilities 0.5 and 0.4, and no lengths. What is its score? Is a mean asked "
    "for?",
    always_the_mean=_choosing(lambda log_p, logits, n, ids: log_p[-n:].mean()),
)
choose_by_likelihood.mistakes(
    "Call it with lengths and without. Do the scores differ?",
    lengths_ignored=_choosing(lambda log_p, logits, n, ids: log_p[-n:].sum(), divide=False),
)


@choose_by_likelihood.misconception("Print your scores beside your choice. Is it the largest of them?")
def chosen_before_dividing(model, prompt, choices, lengths=None):
    best, _ = reference.choose_by_likelihood(model, prompt, choices)
    return best, reference.choose_by_likelihood(model, prompt, choices, lengths)[1]
