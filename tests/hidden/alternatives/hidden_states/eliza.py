"""Right answers to `eliza` that look nothing like the reference."""

from __future__ import annotations

import re

TABLE = {"i": "you", "me": "you", "am": "are", "my": "your", "you": "I", "your": "my"}


def letter_by_letter(rules, said):
    def exchanged(text):
        out, word = "", ""
        for letter in text + " ":
            if letter.isalnum():
                word += letter
            else:
                out, word = out + TABLE.get(word.lower(), word) + letter, ""
        return out[:-1]

    for pattern, answer in rules:
        if match := re.search("(?i)" + pattern, said):
            return answer.format(*[exchanged(group) for group in match.groups()])
    raise AssertionError


def one_pattern_for_all_words(rules, said):
    words = re.compile(r"\b(" + "|".join(sorted(TABLE, key=len, reverse=True)) + r")\b", re.IGNORECASE)
    for pattern, answer in rules:
        match = next(re.finditer(pattern, said, re.IGNORECASE), None)
        if match is not None:
            for number, group in enumerate(match.groups()):
                answer = answer.replace("{" + str(number) + "}", words.sub(lambda w: TABLE[w[0].lower()], group))
            return answer
    return None


ALTERNATIVES = [letter_by_letter, one_pattern_for_all_words]
