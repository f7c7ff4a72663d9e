"""Define the training batches of every task: endless, drawn from one generator, the same for the same seed.

A stream is a generator function. It imports a corpus when the first batch is requested.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

Stream = Callable[[torch.Generator], Iterator[tuple[Tensor, ...]]]


def cbow_task(generator: torch.Generator) -> Iterator[tuple[Tensor, ...]]:
    """Yield running text of the grammar: ids (T,)."""
    from .grammar import batches

    return batches(generator)


def multi_head_attention_task(generator: torch.Generator) -> Iterator[tuple[Tensor, ...]]:
    """Yield playgrounds: names, numbers, friends and rivals (B, S), answers (B, S, 2)."""
    from .relations import batches

    return batches(generator)


def positional_encoding_task(generator: torch.Generator) -> Iterator[tuple[Tensor, ...]]:
    """Yield batches of the echo: ids (B, T), targets (B, T)."""
    from .order import batches

    return batches(generator)


def masking_task(generator: torch.Generator) -> Iterator[tuple[Tensor, ...]]:
    """Yield padded sentences of the grammar: ids (B, T) with a full stop before each, lengths (B,)."""
    from .grammar import sentence_batches

    return sentence_batches(generator)


def rnn_task(generator: torch.Generator) -> Iterator[tuple[Tensor, ...]]:
    """Yield coloured parentheses: ids (B, T), lengths (B,), labels (B,)."""
    from .parentheses import batches

    return batches(generator)


def lstm_gru_task(generator: torch.Generator) -> Iterator[tuple[Tensor, ...]]:
    """Yield longer coloured parentheses in batches of similar lengths: ids (B, T), lengths (B,), labels (B,)."""
    from .parentheses import similar_batches

    return similar_batches(generator)


def bahdanau_attention_task(generator: torch.Generator) -> Iterator[tuple[Tensor, ...]]:
    """Yield dates in five languages in batches of similar lengths: src (B, S), lengths (B,), tgt (B, 11)."""
    from .dates import batches

    return batches(generator)


def encoder_decoder_task(generator: torch.Generator) -> Iterator[tuple[Tensor, ...]]:
    """Yield sentences and their translations: English ids (B, S), French ids (B, T), both with eos, then padded."""
    from .phrases import batches

    return batches(generator)


def gpt_task(generator: torch.Generator) -> Iterator[tuple[Tensor, ...]]:
    """Yield texts of a play: ids (B, 65), beginning with a full stop."""
    from .play import batches

    return batches(generator)


def bert_task(generator: torch.Generator) -> Iterator[tuple[Tensor, ...]]:
    """Yield sentences about animals and things in BERT's form, of similar lengths: ids (B, T), mask (B, T)."""
    from .beings import batches

    return batches(generator)


def self_attention_task(generator: torch.Generator) -> Iterator[tuple[Tensor, ...]]:
    """Yield associative recall: keys (B, S), values (B, S), query (B,), answer (B,)."""
    from .recall import batches

    return batches(generator)


def vit_patches_task(generator: torch.Generator) -> Iterator[tuple[Tensor, ...]]:
    """Yield digits anywhere on a canvas: images (B, 1, 12, 12), labels (B,)."""
    from .digits import batches

    return batches(generator)


def lora_task(generator: torch.Generator) -> Iterator[tuple[Tensor, ...]]:
    """Yield digits of the second domain, rotated negatives: images (B, 1, 8, 8), labels (B,)."""
    from .negatives import batches

    return batches(generator)


def tokens_task(generator: torch.Generator) -> Iterator[tuple[Tensor, ...]]:
    """Yield running text of the grammar: ids (T,)."""
    from .grammar import batches

    return batches(generator)


def hidden_states_task(generator: torch.Generator) -> Iterator[tuple[Tensor, ...]]:
    """Yield telephone calls: frames x (B, F, T), lengths (B,), targets (B, L), target_lengths (B,)."""
    from .telephone import batches

    return batches(generator)


def linear_time_task(generator: torch.Generator) -> Iterator[tuple[Tensor, ...]]:
    """Yield selective copying: ids (B, T + 3), targets (B, 3)."""
    from .copying import batches

    return batches(generator)


def assistant_task(generator: torch.Generator) -> Iterator[tuple[Tensor, ...]]:
    """Yield comparisons of advice: chosen and rejected answers, ids (512, 4) each."""
    from .advice import batches

    return batches(generator)


def cost_task(generator: torch.Generator) -> Iterator[tuple[Tensor, ...]]:
    """Yield texts that topic 15's dictionary wrote: their rows in `definitions.texts()` (8,), ids (8, 64)."""
    from .definitions import batches

    return batches(generator)


def inside_task(generator: torch.Generator) -> Iterator[tuple[Tensor, ...]]:
    """Yield vectors in superposition: x (256, 24)."""
    from .superposition import batches

    return batches(generator)


def reasoning_task(generator: torch.Generator) -> Iterator[tuple[Tensor, ...]]:
    """Yield questions of a calculator, 32 of them 8 times each: ids (256, 9), and what is right, (256,)."""
    from .calculator import batches

    return batches(generator)


STREAMS: dict[str, Stream] = {
    "cbow_task": cbow_task,
    "multi_head_attention_task": multi_head_attention_task,
    "masking_task": masking_task,
    "positional_encoding_task": positional_encoding_task,
    "rnn_task": rnn_task,
    "lstm_gru_task": lstm_gru_task,
    "bahdanau_attention_task": bahdanau_attention_task,
    "encoder_decoder_task": encoder_decoder_task,
    "gpt_task": gpt_task,
    "self_attention_task": self_attention_task,
    "vit_patches_task": vit_patches_task,
    "lora_task": lora_task,
    "tokens_task": tokens_task,
    "hidden_states_task": hidden_states_task,
    "bert_task": bert_task,
    "linear_time_task": linear_time_task,
    "assistant_task": assistant_task,
    "cost_task": cost_task,
    "inside_task": inside_task,
    "reasoning_task": reasoning_task,
}
"""The function that makes a task's batches, by the task's name in the syllabus."""
