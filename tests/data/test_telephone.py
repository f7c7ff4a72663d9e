"""The telephone: a seed decides everything, frames hear the past only, and the marks say where the tones are."""

from __future__ import annotations

import pytest
import torch

from course import data
from course.data import telephone


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def test_sizes_and_padding():
    calls = telephone.draw(200, seeded())
    B, F, T = calls.x.shape
    assert (B, F) == (200, telephone.BINS) and int(calls.lengths.max()) == T
    assert calls.targets.shape == calls.starts.shape == calls.ends.shape == (200, int(calls.counts.max()))
    real = torch.arange(calls.targets.shape[1]) < calls.counts[:, None]
    assert set(calls.targets[real].tolist()) == set(range(1, telephone.LABELS)) and not calls.targets[~real].any()
    assert set(calls.counts.tolist()) == set(range(3, 11))
    assert (calls.ends[real] <= calls.lengths[:, None].expand_as(real)[real]).all()
    seconds = (calls.ends - calls.starts)[real] * telephone.HOP / telephone.RATE
    assert telephone.TONE[0] <= seconds.min() and seconds.max() <= telephone.TONE[1]


def test_behind_a_call_the_next_caller_dials():
    calls = telephone.draw(5, seeded(1))
    short = int(calls.lengths.argmin())
    assert short < 4, "the last call has no next one to look at"
    behind = calls.x[short, :, calls.lengths[short] :]
    torch.testing.assert_close(behind, calls.x[short + 1, :, : behind.shape[1]])


def test_the_tones_are_where_they_are_said_to_be():
    """In the middle of a tone the loudest bins below and above 1 kHz are the key's, at 12 dB and more."""
    calls = telephone.draw(100, seeded(2))
    bins = (telephone.FIRST_BIN + torch.arange(telephone.BINS)) * telephone.RATE / telephone.WINDOW
    near = []
    for row in range(100):
        for k in range(int(calls.counts[row])):
            frame = calls.x[row, :, int((calls.starts[row, k] + calls.ends[row, k]) / 2)]
            low, high = telephone.tones(calls.targets[row, k])
            near.append(
                abs(bins[:12][frame[:12].argmax()] - low) < 40 and abs(bins[12:][frame[12:].argmax()] - high) < 50
            )
    assert sum(map(bool, near)) / len(near) > 0.9


def test_a_frame_hears_the_past_only():
    sound = torch.randn(4000, generator=seeded())
    changed = sound.clone()
    changed[2000:] = 0
    before, after = telephone.spectrogram(sound), telephone.spectrogram(changed)
    assert torch.equal(before[:, 2:25], after[:, 2:25]) and not torch.equal(before[:, 25], after[:, 25])


def test_numbers_are_read_as_they_were_dialled():
    assert telephone.number([5, 10, 1]) == "501" and telephone.number([0, 11]) == "??"
    assert telephone.tones(torch.tensor([5, 10])).tolist() == [[770.0, 1336.0], [941.0, 1336.0]]


def test_load_gives_a_dataset():
    rows = data.load("telephone", rows=3, seed=4)
    calls = telephone.draw(3, seeded(4))
    assert rows["frames"][:] == calls.lengths.tolist()
    assert rows[1]["number"] == telephone.number(calls.targets[1, : calls.counts[1]].tolist())
    torch.testing.assert_close(torch.tensor(rows[2]["x"]), calls.x[2, :, : calls.lengths[2]].T)


def test_a_number_that_rings_can_be_seen():
    sound = telephone.ring("55")
    frames = telephone.spectrogram(sound)
    assert len(sound) == telephone.RATE * (0.1 + 2 * 0.25) and frames.shape == (32, len(sound) // telephone.HOP)


def test_a_batch_has_its_number_of_calls():
    assert {len(column) for column in next(data.stream("hidden_states_task", seeded(2)))} == {telephone.BATCH}


@pytest.mark.parametrize("n", [1, 2])
def test_few_calls_are_no_special_case(n):
    calls = telephone.draw(n, seeded(3))
    assert calls.x.isfinite().all() and len(calls.x) == n
