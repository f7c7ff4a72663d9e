"""Wrong answers to `chat_ids` that no misconception knows by name."""

from __future__ import annotations

from course.reference import assistant as reference


def last_turn_always_learned(turns, special):
    ids, learned = reference.chat_ids(turns, special)
    if turns:
        learned[len(ids) - len(turns[-1][1]) - 1 :] = True
    return ids, learned


def empty_turns_left_out(turns, special):
    return reference.chat_ids([turn for turn in turns if turn[1]], special)


def same_role_joined(turns, special):
    joined = []
    for role, words in turns:
        if joined and joined[-1][0] == role:
            joined[-1] = (role, joined[-1][1] + list(words))
        else:
            joined.append((role, list(words)))
    return reference.chat_ids(joined, special)


MUTANTS = [last_turn_always_learned, empty_turns_left_out, same_role_joined]
