"""Right answers to `extract_answer` that look nothing like the reference."""

from __future__ import annotations

import re


def by_a_pattern(text):
    found = re.search(r"=\s*([+-]?[0-9]+)\s*\Z", text)
    return int(found[1]) if found else None


def by_hand(text):
    if "=" not in text:
        return None
    last = text.split("=")[-1].strip()
    digits = last[1:] if last[:1] in ("+", "-") else last
    if not digits or any(letter not in "0123456789" for letter in digits):
        return None
    return -int(digits) if last[0] == "-" else int(digits)


ALTERNATIVES = [by_a_pattern, by_hand]
