"""Right answers to `LoRALinear` that look nothing like the reference."""

from __future__ import annotations

from tests.hidden.alternatives.lora.scaffold import ByEinsum, InWeightSpace, WithDropoutLikeThePaper

ALTERNATIVES = [InWeightSpace, ByEinsum, WithDropoutLikeThePaper]
