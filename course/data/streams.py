"""The training batches of every task: endless, drawn from one generator, the same for the same seed.

A stream is a generator function. It imports what it needs from a corpus when the first batch is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

Stream = Callable[[torch.Generator], Iterator[tuple[Tensor, ...]]]


def cbow_task(generator: torch.Generator) -> Iterator[tuple[Tensor, ...]]:
    """Running text of the grammar: ids (T,)."""
    from .grammar import batches

    return batches(generator)


def multi_head_attention_task(generator: torch.Generator) -> Iterator[tuple[Tensor, ...]]:
    """Playgrounds: names, numbers, friends and rivals (B, S), answers (B, S, 2)."""
    from .relations import batches

    return batches(generator)


def positional_encoding_task(generator: torch.Generator) -> Iterator[tuple[Tensor, ...]]:
    """The echo: ids (B, T), targets (B, T)."""
    from .order import batches

    return batches(generator)


def masking_task(generator: torch.Generator) -> Iterator[tuple[Tensor, ...]]:
    """Sentences of the grammar, padded: ids (B, T) with a full stop before each, lengths (B,)."""
    from .grammar import sentence_batches

    return sentence_batches(generator)


def rnn_task(generator: torch.Generator) -> Iterator[tuple[Tensor, ...]]:
    """Coloured parentheses: ids (B, T), lengths (B,), labels (B,)."""
    from .parentheses import batches

    return batches(generator)


def lstm_gru_task(generator: torch.Generator) -> Iterator[tuple[Tensor, ...]]:
    """Longer coloured parentheses, batches of similar lengths: ids (B, T), lengths (B,), labels (B,)."""
    from .parentheses import similar_batches

    return similar_batches(generator)


def bahdanau_attention_task(generator: torch.Generator) -> Iterator[tuple[Tensor, ...]]:
    """Dates in five languages, batches of similar lengths: src (B, S), lengths (B,), tgt (B, 11)."""
    from .dates import batches

    return batches(generator)


def encoder_decoder_task(generator: torch.Generator) -> Iterator[tuple[Tensor, ...]]:
    """Sentences and their translations: English ids (B, S), French ids (B, T), both with eos, then padded."""
    from .phrases import batches

    return batches(generator)


def gpt_task(generator: torch.Generator) -> Iterator[tuple[Tensor, ...]]:
    """Texts of a play: ids (B, 65), a full stop in front."""
    from .play import batches

    return batches(generator)


def bert_task(generator: torch.Generator) -> Iterator[tuple[Tensor, ...]]:
    """Sentences about animals and things, in BERT's form, batches of similar lengths: ids (B, T), mask (B, T)."""
    from .beings import batches

    return batches(generator)


def self_attention_task(generator: torch.Generator) -> Iterator[tuple[Tensor, ...]]:
    """Associative recall: keys (B, S), values (B, S), query (B,), answer (B,)."""
    from .recall import batches

    return batches(generator)


def vit_patches_task(generator: torch.Generator) -> Iterator[tuple[Tensor, ...]]:
    """Digits anywhere on a canvas: images (B, 1, 12, 12), labels (B,)."""
    from .digits import batches

    return batches(generator)


def lora_task(generator: torch.Generator) -> Iterator[tuple[Tensor, ...]]:
    """Digits of the second domain, negatives on their side: images (B, 1, 8, 8), labels (B,)."""
    from .negatives import batches

    return batches(generator)


def tokens_task(generator: torch.Generator) -> Iterator[tuple[Tensor, ...]]:
    """Running text of the grammar: ids (T,)."""
    from .grammar import batches

    return batches(generator)


def hidden_states_task(generator: torch.Generator) -> Iterator[tuple[Tensor, ...]]:
    """Calls on a telephone: frames x (B, F, T), lengths (B,), targets (B, L), target_lengths (B,)."""
    from .telephone import batches

    return batches(generator)


def linear_time_task(generator: torch.Generator) -> Iterator[tuple[Tensor, ...]]:
    """Selective copying: ids (B, T + 3), targets (B, 3)."""
    from .copying import batches

    return batches(generator)


def assistant_task(generator: torch.Generator) -> Iterator[tuple[Tensor, ...]]:
    """Comparisons of advice: chosen and rejected answers, ids (512, 4) each."""
    from .advice import batches

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
}
"""Task name (as in the syllabus) -> the function that makes its batches."""
