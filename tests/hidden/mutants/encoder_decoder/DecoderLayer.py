"""Wrong answers to `DecoderLayer` that no misconception knows by name."""

from __future__ import annotations

from course.reference import encoder_decoder as reference


class DecoderMemoryDetached(reference.DecoderLayer):
    def forward(self, x, memory, tgt_mask=None, src_mask=None):
        return super().forward(x, memory.detach(), tgt_mask, src_mask)


class DecoderOpensEmptyRows(reference.DecoderLayer):
    """Attend to a source that is padding only."""

    def forward(self, x, memory, tgt_mask=None, src_mask=None):
        return super().forward(x, memory, tgt_mask, None if src_mask is None else src_mask | ~src_mask.any(-1, True))


MUTANTS = [DecoderMemoryDetached, DecoderOpensEmptyRows]
