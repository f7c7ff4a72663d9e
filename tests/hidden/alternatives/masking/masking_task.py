"""Right answers to `masking_task` that look nothing like the reference."""

from __future__ import annotations

from course.data import grammar


class Unsure:
    """The grammar, mixed with a little of its bare frequencies."""

    def __init__(self, trust):
        self.trust = trust

    def __call__(self, ids, lengths):
        language = grammar.language()
        p = language.next_word(ids[:, 1:])
        return (self.trust * p + (1 - self.trust) * language.frequencies).clamp(min=1e-12).log().float()


ALTERNATIVES = [Unsure(0.97), Unsure(0.9)]
