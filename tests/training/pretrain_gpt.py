"""`make weights`: trains the GPT of topic 15 on WordNet's definitions, and writes `course/data/wordnet/`.

    python -m tests.training.pretrain_gpt --wordnet /usr/share/wordnet

One thread, one seed, and products in bfloat16, which is twice as fast where the processor knows it. Weights are
written every few hundred batches, so that a run may be cut short. The best weights come at the end, where the learning
rate has fallen to zero.
"""

from __future__ import annotations

import argparse
import math
import random
import time
from collections.abc import Iterator
from pathlib import Path

import safetensors.torch
import torch
from torch import Tensor
from torch.nn import functional as F

from course.data import wordnet
from course.reference import gpt
from tests.training import wordnet_text
from tests.training.learn_merges import write_merges

SEED, STEPS, BATCH, LENGTH = 0, 17_000, 8, 256
RATE, WARM_UP, DECAY, CLIP = 4e-3, 0.03, 0.1, 1.0
LOGGED, KEPT = 100, 500


def batches(lines: list[list[int]], device: str) -> Iterator[Tensor]:
    """Endless windows (B, T + 1) of lines one after the other, in a new order in every round."""
    shuffle, size = random.Random(SEED), BATCH * LENGTH
    while True:
        shuffle.shuffle(lines)
        ids = torch.tensor([wordnet.END] + [token for line in lines for token in (*line, wordnet.END)])
        ids = ids[: (len(ids) - 1) // size * size + 1]
        starts = torch.arange(0, len(ids) - 1, LENGTH)
        for chosen in starts[torch.randperm(len(starts))].split(BATCH):
            yield torch.stack([ids[start : start + LENGTH + 1] for start in chosen]).to(device)


def rate(step: int, steps: int) -> float:
    """The share of the learning rate at a step: a straight rise, then half a wave of the cosine."""
    rise = WARM_UP * steps
    return step / rise if step < rise else 0.5 * (1 + math.cos(math.pi * (step - rise) / (steps - rise)))


def loss_of(model: gpt.GPT, ids: Tensor) -> Tensor:
    """The mean negative log-probability of the tokens ids[:, 1:], in nats."""
    logits, _ = model(ids[:, :-1])
    return F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())


@torch.no_grad()
def bits_per_byte(model: gpt.GPT, lines: list[str], device: str = "cpu") -> float:
    """Bits that the model needs for a byte of lines, each read alone, with the byte 0 behind it counted."""
    nats, size = 0.0, 0
    for i in range(0, len(lines), 64):
        several = [[wordnet.END, *wordnet.encode(line), wordnet.END] for line in lines[i : i + 64]]
        width = max(map(len, several))
        ids = torch.tensor([line + [wordnet.END] * (width - len(line)) for line in several], device=device)
        known = (
            torch.arange(width, device=device) < torch.tensor([len(line) for line in several], device=device)[:, None]
        )
        logits, _ = model(ids[:, :-1])
        log_p = logits.log_softmax(-1).gather(-1, ids[:, 1:, None]).squeeze(-1)
        nats -= log_p[known[:, 1:]].double().sum().item()
        size += sum(len(line.encode()) + 1 for line in lines[i : i + 64])
    return nats / math.log(2) / size


def train(text: wordnet_text.Text, steps: int, device: str) -> gpt.GPT:
    """A model after so many batches, written to the package every few hundred."""
    torch.manual_seed(SEED)
    model = gpt.GPT(**wordnet.SIZES).to(device)
    matrices = [weight for weight in model.parameters() if weight.ndim == 2]
    scales = [weight for weight in model.parameters() if weight.ndim == 1]
    groups = [{"params": matrices, "weight_decay": DECAY}, {"params": scales, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=RATE, betas=(0.9, 0.95), fused=True)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: rate(step + 1, steps))
    begun, total = time.monotonic(), 0.0
    stream = batches([wordnet.encode(line) for line in text.train], device)
    for step in range(1, steps + 1):
        with torch.autocast(device, torch.bfloat16):
            loss = loss_of(model, next(stream))
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        optimizer.step()
        schedule.step()
        total += loss.item()
        if step % LOGGED == 0:
            seconds = time.monotonic() - begun
            print(f"step {step:6}  loss {total / LOGGED:.3f}  {seconds:6.0f} s", flush=True)
            total = 0.0
        if step % KEPT == 0 or step == steps:
            write(model)
            part = text.held_out if step == steps else text.held_out[:500]
            print(f"step {step:6}  held-out bits per byte {bits_per_byte(model, part, device):.4f}", flush=True)
    return model


def write(model: gpt.GPT) -> None:
    """Save the weights in half precision."""
    state = {name: weight.detach().half().cpu().contiguous() for name, weight in model.state_dict().items()}
    safetensors.torch.save_file(state, wordnet.WEIGHTS)


def main() -> None:
    """Read the text, train merges and weights, and say how good they are."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wordnet", type=Path, help="the folder with data.noun; else Debian's package is fetched")
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--device", default="cpu")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    text = wordnet_text.read(asked.wordnet)
    merges = wordnet_text.trained_merges(text.train, wordnet.SIZES["vocab"] - 256)
    write_merges(merges, wordnet.MERGES)
    train(text, asked.steps, asked.device)


if __name__ == "__main__":
    main()
