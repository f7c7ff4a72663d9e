"""Wrong answers to `choose_by_likelihood`: a beginner's first attempts, and others that no misconception knows."""

from __future__ import annotations

import torch

from course.reference.inside import choose_by_likelihood as right


def a_list_of_numbers(model, prompt, choices, lengths=None):
    best, scores = right(model, prompt, choices, lengths)
    return best, scores.tolist()


def scores_alone(model, prompt, choices, lengths=None):
    return right(model, prompt, choices, lengths)[1]


def no_error_for_nothing(model, prompt, choices, lengths=None):
    scores = []
    for choice in choices:
        log_p = model(torch.cat([prompt, choice])[None])[0][0].log_softmax(-1)
        scores.append(sum(log_p[len(prompt) - 1 + i, token] for i, token in enumerate(choice)))
    found = torch.stack(scores)
    if lengths is not None:
        found = found / torch.tensor(lengths, dtype=found.dtype)
    return int(found.argmax()), found


FIRST_ATTEMPTS = {
    a_list_of_numbers: "expected a tensor of shape (3,), got a list",
    scores_alone: "expected a tuple, got a tensor of shape (3,)",
    no_error_for_nothing: "your code should raise ValueError",
}


def each_token_behind_the_prompt_alone(model, prompt, choices, lengths=None):
    best, _ = right(model, prompt, choices, lengths)
    log_p = model(prompt[None])[0][0, -1].log_softmax(-1)
    scores = torch.stack([log_p[choice].sum() for choice in choices])
    return best, scores if lengths is None else scores / torch.tensor(lengths, dtype=scores.dtype)


def multiplied_by_the_lengths(model, prompt, choices, lengths=None):
    _, scores = right(model, prompt, choices)
    if lengths is not None:
        scores = scores * torch.tensor(lengths, dtype=scores.dtype)
    return int(scores.argmax()), scores


MUTANTS = [each_token_behind_the_prompt_alone, multiplied_by_the_lengths]
