"""Wrong answers to `bpe_decode` that no misconception knows by name."""

from __future__ import annotations

import unicodedata

from course.reference.tokens import bpe_decode


def mark_at_the_beginning_lost(pieces):
    return b"".join(pieces).decode("utf-8-sig", errors="replace")


def accents_joined(pieces):
    return unicodedata.normalize("NFC", bpe_decode(pieces))


def last_line_end_lost(pieces):
    return bpe_decode(pieces).removesuffix("\n")


MUTANTS = [mark_at_the_beginning_lost, accents_joined, last_line_end_lost]
