"""Hidden tests of `chat_ids`: role tokens, words and end tokens in order, and which of them the model has to say."""

from __future__ import annotations

import torch

from course.exercise import call, exercise
from course.reference import assistant as reference


@exercise(
    reference.chat_ids,
    hints=(
        "Write the chat user [11 12], assistant [21] on paper, with a role token before every turn and an end token "
        "behind it.",
        "Go through the ids one by one. Which of them does the program that asks put there, and which must the model "
        "say? When does it stop?",
        "Begin with two empty lists and a loop over the turns. How many entries does a turn of two words add to each "
        "of them, and which are they for the user?",
    ),
    calls=(
        "chat_ids([('user', [1]), ('assistant', [2])], {'system': 10, 'user': 11, 'assistant': 12, 'end': 13})",
        "chat_ids([('assistant', [])], {'system': 10, 'user': 11, 'assistant': 12, 'end': 13})",
        "chat_ids([('user', [1, 2])], {'system': 10, 'user': 11, 'assistant': 12, 'end': 13})",
        "chat_ids([], {'system': 10, 'user': 11, 'assistant': 12, 'end': 13})",
        "chat_ids([('system', [5]), ('user', [6])], {'system': 10, 'user': 11, 'assistant': 12, 'end': 13})[0]",
        ("chat_ids([('assistant', [7, 8]), ('user', [9])], {'system': 10, 'user': 11, 'assistant': 12, 'end': 13})[1]"),
    ),
)
def chat_ids(rng):
    """Numbers of the special tokens are drawn; turns repeat, are empty, or are missing."""
    ids = (20 + rng.permutation(60)).tolist()
    special = dict(zip(("end", "user", "system", "assistant"), ids[:4], strict=True))

    def words(n):
        return rng.integers(100, 999, n).tolist()

    two = [("user", words(3)), ("assistant", words(2))]
    yield call("a question and its answer", two, {"system": 7, "user": 1, "assistant": 2, "end": 3}, public=True)
    several = [("system", words(2)), ("user", words(1)), ("assistant", words(4)), ("user", words(3))]
    yield call("two answers", [*several, ("assistant", words(2))], special, public=True, weight=2.0)
    yield call("a question alone", several, special, weight=2.0).counts_with("two answers")
    empty = [("user", []), ("assistant", []), ("user", words(2)), ("assistant", words(1))]
    yield call("empty turns", empty, special, public=True)
    twice = [("user", words(2)), ("user", words(1)), ("assistant", words(2)), ("assistant", words(3))]
    yield call("a role twice in a row", twice, special)
    yield call("an answer without a question", [("assistant", words(5))], special)
    yield call("no turns at all", [], special, weight=0.5, public=True).counts_with("two answers")


def _chat(turns, special, *, role_token=False, end=True, roles=("assistant",), stop=True, prompt=False):
    """The right loop with one piece exchanged: what is learned, and what is written."""
    ids, learned = [], []
    for role, words in turns:
        own = role in roles
        ids += [special[role], *words, *([special["end"]] if stop else [])]
        learned += [own and role_token, *[own] * len(words), *([own and end] if stop else [])]
    if prompt:
        ids, learned = [*ids, special["assistant"]], [*learned, False]
    return torch.tensor(ids, dtype=torch.long), torch.tensor(learned, dtype=torch.bool)


def _last_answer_alone(turns, special):
    ids, learned = _chat(turns, special)
    behind = sum(len(words) + 2 for _, words in turns[:-1]) if turns and turns[-1][0] == "assistant" else len(ids)
    learned[:behind] = False
    return ids, learned


chat_ids.mistakes(
    "How does the model learn to stop? Look at the last id of an answer, and at `learned` there.",
    end_not_learned=lambda turns, special: _chat(turns, special, end=False),
)
chat_ids.mistakes(
    "To ask the model, you append the assistant's role token yourself, and the model goes on. Does it ever have to say "
    "that token?",
    role_token_learned=lambda turns, special: _chat(turns, special, role_token=True),
)
chat_ids.mistakes(
    "A model that learns this also learns to ask questions. Whose words should it say?",
    everything_learned=lambda turns, special: _chat(turns, special, roles=("system", "user", "assistant")),
)
chat_ids.mistakes(
    "A chat with two answers teaches twice. Count the learned tokens of the first answer.",
    last_answer_alone=_last_answer_alone,
)
chat_ids.mistakes(
    "Write the chat down with one special token in front of each turn and one behind it. How many ids are there for "
    "two turns?",
    ends_forgotten=lambda turns, special: _chat(turns, special, stop=False),
)
chat_ids.mistakes(
    "Look at the last id. Is it the end token of the last turn? The program that asks appends the next role token.",
    prompt_appended=lambda turns, special: _chat(turns, special, prompt=True),
)


@chat_ids.misconception(
    "Is `learned[t]` about `ids[t]` itself, or about the token behind it? Look at the end of an answer.",
    convention="labels shifted to the position that predicts them",
)
def learned_one_early(turns, special):
    ids, learned = _chat(turns, special)
    return ids, torch.cat([learned[1:], learned[:0].new_zeros(min(1, len(ids)))])
