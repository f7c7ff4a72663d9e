"""Wrong answers to `run_bidirectional` that no misconception knows by name."""

from __future__ import annotations

import torch

from course.reference.lstm_gru import run_bidirectional


def averaged(cell_f, cell_b, xs, h0_f, h0_b):
    return sum(run_bidirectional(cell_f, cell_b, xs, h0_f, h0_b).chunk(2, -1)) / 2


def only_the_ends(cell_f, cell_b, xs, h0_f, h0_b):
    right = run_bidirectional(cell_f, cell_b, xs, h0_f, h0_b)
    H = h0_f.shape[1]
    return torch.cat([right[:, -1, :H], right[:, 0, H:]], -1)


def backward_reads_what_forward_wrote(cell_f, cell_b, xs, h0_f, h0_b):
    right = run_bidirectional(cell_f, cell_b, xs, h0_f, h0_b)
    half = right[..., : h0_f.shape[1]]
    return torch.cat([half, half.flip(1)], -1)


def time_first(cell_f, cell_b, xs, h0_f, h0_b):
    return run_bidirectional(cell_f, cell_b, xs, h0_f, h0_b).transpose(0, 1)


def concatenated_in_time(cell_f, cell_b, xs, h0_f, h0_b):
    return torch.cat(run_bidirectional(cell_f, cell_b, xs, h0_f, h0_b).chunk(2, -1), 1)


def units_interleaved(cell_f, cell_b, xs, h0_f, h0_b):
    right = run_bidirectional(cell_f, cell_b, xs, h0_f, h0_b)
    return torch.stack(right.chunk(2, -1), -1).flatten(-2)


def forward_one_step_behind(cell_f, cell_b, xs, h0_f, h0_b):
    right = run_bidirectional(cell_f, cell_b, xs, h0_f, h0_b)
    H = h0_f.shape[1]
    behind = torch.cat([h0_f[:, None], right[:, :-1, :H]], 1)
    return torch.cat([behind, right[..., H:]], -1)


def words_cut_from_the_graph(cell_f, cell_b, xs, h0_f, h0_b):
    return run_bidirectional(cell_f, cell_b, xs.detach(), h0_f, h0_b)


def turned_round_in_place(cell_f, cell_b, xs, h0_f, h0_b):
    right = run_bidirectional(cell_f, cell_b, xs, h0_f, h0_b)
    with torch.no_grad():
        xs.copy_(xs.flip(1).clone())
    return right


MUTANTS = [
    averaged,
    only_the_ends,
    backward_reads_what_forward_wrote,
    time_first,
    concatenated_in_time,
    units_interleaved,
    forward_one_step_behind,
    words_cut_from_the_graph,
    turned_round_in_place,
]
