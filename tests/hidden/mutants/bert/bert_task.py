"""Wrong answers to `bert_task` that no misconception knows by name."""

from __future__ import annotations

from course.hidden.bert.bert_task import Known, best


class TrainsTheModelItself(Known):
    """A model whose fine-tuning changes its masked language modelling, too."""

    changed = False

    def __call__(self, ids, segments, mask):
        words, pair = super().__call__(ids, segments, mask)
        return words + self.changed, pair

    def word_logits(self, words):
        return super().word_logits(words - self.changed)

    def finetuned(self, ids, segments, mask, labels):
        self.changed = True
        return super().finetuned(ids, segments, mask, labels)


MUTANTS = [TrainsTheModelItself(best, 1.0)]
