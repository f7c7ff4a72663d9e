"""Wrong answers to `chat_ids` that no misconception knows by name."""

from __future__ import annotations

import torch

from course.reference import assistant as reference


def whole_numbers_for_truth(turns, special):
    ids, learned = reference.chat_ids(turns, special)
    return ids, learned.long()


def last_turn_always_learned(turns, special):
    ids, learned = reference.chat_ids(turns, special)
    if turns:
        learned[len(ids) - len(turns[-1][1]) - 1 :] = True
    return ids, learned


def empty_turns_left_out(turns, special):
    return reference.chat_ids([turn for turn in turns if turn[1]], special)


def floats(turns, special):
    ids, learned = reference.chat_ids(turns, special)
    return ids.float(), learned


def same_role_joined(turns, special):
    joined = []
    for role, words in turns:
        if joined and joined[-1][0] == role:
            joined[-1] = (role, joined[-1][1] + list(words))
        else:
            joined.append((role, list(words)))
    return reference.chat_ids(joined, special)


def first_words_learned_only(turns, special):
    ids, learned = reference.chat_ids(turns, special)
    return ids, learned & torch.cat([torch.ones(min(1, len(ids)), dtype=torch.bool), ~learned[:-1]])


MUTANTS = [whole_numbers_for_truth, last_turn_always_learned, empty_turns_left_out, floats, same_role_joined,
           first_words_learned_only]  # fmt: skip
