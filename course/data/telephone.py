"""Numbers dialled on a telephone: two tones for each key, of unknown length, in noise, without marks of their times.

    key 5 sounds 770 Hz and 1336 Hz together        6  1  1  0  →  ▁▁▆▆▁▂▂▂▁▁▂▂▁▁▁▇▇▁

Each tone lasts 60 to 200 milliseconds and each pause 40 to 160. A frequency is off by up to 1.5 %, and the noise may be
as strong as the tones. A *call* is one number of 3 to 10 digits. A network reads its spectrogram, with a frame every
20 milliseconds, and each frame covers only the past. All calls follow each other in one recording, so after the end of
a call the next caller dials.

The keys 1 to 9 are their own labels, and the key 0, which comes last on a telephone, is 10. So 0 is free for CTC's
blank.

Glossary: B calls, F bins of frequency, T frames, L digits.

Source: the frequencies are those of ITU-T recommendation Q.23 (1988).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from .cache import datasets_library

if TYPE_CHECKING:
    from datasets import Dataset

KEYS = "1234567890"
"""The keys in the order of their labels, of which the first is 1."""
LABELS = 1 + len(KEYS)
"""Classes of a frame, including the blank."""
LOW, HIGH = (697.0, 770.0, 852.0, 941.0), (1209.0, 1336.0, 1477.0)
"""The tones of a key's row and of its column, in Hz."""

RATE = 4000
"""Samples a second, more than twice the highest tone."""
HOP, WINDOW = 80, 128
"""Samples between frames (20 ms), and samples that a frame covers (32 ms)."""
FIRST_BIN, BINS = 20, 32
"""The first bin and the number of bins in use, of width `RATE / WINDOW` = 31.25 Hz: those from 625 to 1594 Hz."""

DIGITS = (3, 10)
TONE, PAUSE = (0.06, 0.2), (0.04, 0.16)
"""Shortest and longest duration, in seconds."""
NOISE = (0.0, 15.0)
"""Range of the ratio of both tones' power to the noise's, in decibels."""
DETUNED = 0.015
BATCH = 16
"""Calls in a training batch."""


class Calls(NamedTuple):
    """Calls as frames x (B, F, T) with lengths (B,), and digits (B, L), padded with zero after the `counts` (B,).

    `starts` and `ends` (B, L) are the times at which each tone begins and ends, in frames.
    """

    x: Tensor
    lengths: Tensor
    targets: Tensor
    counts: Tensor
    starts: Tensor
    ends: Tensor


def tones(labels: Tensor) -> Tensor:
    """Return the two frequencies of each label, in Hz: labels of any shape (…) -> (…, 2)."""
    low = [LOW[i // 3] for i in range(9)] + [LOW[3]]
    high = [HIGH[i % 3] for i in range(9)] + [HIGH[1]]
    return torch.tensor([low, high]).T[labels - 1]


def draw(n: int, generator: torch.Generator) -> Calls:
    """Draw `n` calls. All randomness comes from `generator`."""
    fewest, most = DIGITS
    counts = torch.randint(fewest, most + 1, (n,), generator=generator)
    targets = torch.randint(1, LABELS, (n, most), generator=generator)
    dialled = torch.arange(most) < counts[:, None]  # (n, L)
    targets = targets * dialled
    samples, starts = _samples(dialled, generator)  # (n, 1 + 2 L): a pause, then tone and pause for each digit
    tape = _sound(targets, samples, generator)
    frames = spectrogram(tape)  # (F, frames of all calls)
    lengths = samples.sum(1) // HOP
    begins = lengths.cumsum(0) - lengths
    places = begins[:, None] + torch.arange(int(lengths.max()))  # after the last call follows the first one
    x = frames[:, places % frames.shape[1]].transpose(0, 1).contiguous()  # (F, n, T) -> (n, F, T)
    longest = int(counts.max())
    ends = (starts + samples[:, 1::2]) / HOP
    return Calls(x, lengths, targets[:, :longest], counts, starts[:, :longest] / HOP, ends[:, :longest])


def _samples(dialled: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Draw the lengths of each call's pauses and tones in samples (n, 1 + 2 L), and its tones' starts (n, L)."""
    n, most = dialled.shape

    def drawn(bounds: tuple[float, float], columns: int) -> Tensor:
        low, high = (round(seconds * RATE) for seconds in bounds)
        return torch.randint(low, high + 1, (n, columns), generator=generator)

    samples = torch.zeros(n, 1 + 2 * most, dtype=torch.long)
    samples[:, :1] = 2 * drawn(PAUSE, 1)
    samples[:, 1::2] = drawn(TONE, most) * dialled
    samples[:, 2::2] = drawn(PAUSE, most) * dialled
    samples[:, -1] += 2 * HOP + -samples.sum(1) % HOP  # a call ends in silence, and with a whole frame
    return samples, samples.cumsum(1)[:, :-1:2]


def _sound(targets: Tensor, samples: Tensor, generator: torch.Generator) -> Tensor:
    """Return the sound of all calls in sequence, tones and noise: (samples of all,)."""
    n, most = targets.shape
    off = 1 + DETUNED * (2 * torch.rand(n, most, 2, generator=generator) - 1)
    phases = 2 * math.pi * torch.rand(n, most, 2, generator=generator)
    decibels = NOISE[0] + (NOISE[1] - NOISE[0]) * torch.rand(n, generator=generator)
    lasts = samples[:, 1::2]  # length of each tone (n, L), 0 without a key
    dialled = lasts > 0
    pitch = (tones(targets.clamp(min=1)) * off / RATE)[dialled]  # cycles per sample of every tone
    within = torch.arange(int(lasts.max()))
    low, high = (
        (2 * math.pi * turns[:, None] * within + phase[:, None]).sin()
        for turns, phase in zip(pitch.unbind(1), phases[dialled].unbind(1), strict=True)
    )
    tape = torch.randn(int(samples.sum()), generator=generator)
    tape *= (10 ** (-decibels / 20)).repeat_interleave(samples.sum(1))
    is_tone = (torch.arange(samples.shape[1]) % 2 == 1).repeat(n).repeat_interleave(samples.flatten())
    tape[is_tone] += (low + high)[within < lasts[dialled][:, None]]
    return tape


@lru_cache(maxsize=1)
def _waves() -> Tensor:
    """Return a window's cosines and sines, faded in and out: (WINDOW, 2 F)."""
    angle = 2 * math.pi / WINDOW * torch.outer(torch.arange(WINDOW), torch.arange(FIRST_BIN, FIRST_BIN + BINS))
    return torch.hann_window(WINDOW)[:, None] * torch.cat([angle.cos(), angle.sin()], 1)


def spectrogram(sound: Tensor) -> Tensor:
    """Return the log power in each bin and frame: sound (N,) -> (F, N / HOP), most of it between -2 and 2.

    Frame t covers the WINDOW samples that end with its hop. Before the beginning comes the end of the sound.
    """
    sound = sound[: len(sound) // HOP * HOP]
    heard = torch.cat([sound[len(sound) - (WINDOW - HOP) :], sound]).unfold(0, WINDOW, HOP)  # (frames, WINDOW)
    cosine, sine = (heard @ _waves()).split(BINS, 1)
    return (((cosine**2 + sine**2 + 0.1).log() - 4.0) / 2.0).T


def ring(number: str, rate: int = RATE, decibels: float = 20.0, seed: int = 0) -> Tensor:
    """Return one number as a sound (N,) of `rate` samples a second: tones of 0.15 seconds, pauses of 0.1, and noise.

    All browsers play 8,000 samples a second, but not all of them play 4,000.
    """
    labels = [KEYS.index(key) + 1 for key in number]
    tone, pause = round(0.15 * rate), round(0.1 * rate)
    pieces = [torch.zeros(pause)]
    for low, high in tones(torch.tensor(labels)).tolist():
        angle = 2 * math.pi / rate * torch.arange(tone)
        pieces += [(low * angle).sin() + (high * angle).sin(), torch.zeros(pause)]
    sound = torch.cat(pieces)
    return sound + 10 ** (-decibels / 20) * torch.randn(len(sound), generator=torch.Generator().manual_seed(seed))


def number(labels: list[int]) -> str:
    """Return labels as the keys that were dialled, with `?` for other numbers."""
    return "".join(KEYS[label - 1] if 1 <= label < LABELS else "?" for label in labels)


def load(rows: int = 1000, seed: int = 0) -> Dataset:
    """Return `rows` calls with columns number, frames and x, a list of frames, always the same for one seed.

    They are drawn as fast as a cache could be read, so they are not cached.
    """
    calls = draw(rows, torch.Generator().manual_seed(seed))
    numbers = [number(row[:count].tolist()) for row, count in zip(calls.targets, calls.counts, strict=True)]
    heard = [x[:, :length].T.tolist() for x, length in zip(calls.x, calls.lengths.tolist(), strict=True)]
    return datasets_library().Dataset.from_dict({"number": numbers, "frames": calls.lengths.tolist(), "x": heard})


def batches(generator: torch.Generator) -> Iterator[tuple[Tensor, Tensor, Tensor, Tensor]]:
    """Yield endless training batches: x (B, F, T), lengths (B,), targets (B, L), target_lengths (B,)."""
    while True:
        calls = draw(BATCH, generator)
        yield calls.x, calls.lengths, calls.targets, calls.counts
