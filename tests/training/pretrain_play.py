"""`make play`: trains the GPT of topic 20 on the play, and writes `course/data/play_model/weights.safetensors`.

    python -m tests.training.pretrain_play --seeds 0 1 2 --folder FOLDER

With a folder it writes `0.safetensors`, `1.safetensors` and so on there, so that the weights can be compared. One
thread, so the same machine and the same torch write the same file.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import safetensors.torch
import torch
from torch import nn
from torch.nn import functional as F

from course import blocks
from course.data import play, play_model

TEXTS, BATCH, DRAWN = 60_000, 16, 480
RATE, DECAY, WARM_UP = 4e-3, 0.01, 100
INNER = 0.02
"""Standard deviation of W_o and W_down at the start: with 1/√D the first layer drowns the embeddings."""
LOGGED = 625


def new_model() -> blocks.GPT:
    """A model whose layers add little to the stream at the start."""
    model = blocks.GPT(**play_model.SIZES)
    for name, weight in model.named_parameters():
        if weight.ndim == 2:
            adds = name.endswith(("W_o.weight", "W_down.weight"))
            nn.init.normal_(weight, std=INNER if adds else play_model.SIZES["d_model"] ** -0.5)
    return model


def train(seed: int, texts: int = TEXTS) -> blocks.GPT:
    """A model that has read so many texts, each once."""
    torch.manual_seed(seed)
    model, generator = new_model(), torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=DECAY)
    steps, step, begun, total = texts // BATCH, 0, time.process_time(), 0.0
    while step < steps:
        for ids in play.draw(DRAWN, generator).split(BATCH):
            step += 1
            optimizer.param_groups[0]["lr"] = RATE * min(step / WARM_UP, (steps - step) / (steps - WARM_UP))
            logits, _ = model(ids[:, :-1])
            loss = F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
            if step % LOGGED == 0:
                print(f"seed {seed}  texts {step * BATCH:6}  loss {total / LOGGED:.3f}", flush=True)
                total = 0.0
    print(f"seed {seed}  {time.process_time() - begun:.0f} s of processor time", flush=True)
    return model.eval()


def write(model: nn.Module, file: Path) -> None:
    """Save the weights in half precision."""
    state = {name: weight.detach().half().contiguous() for name, weight in model.state_dict().items()}
    safetensors.torch.save_file(state, file)


def main() -> None:
    """Train the shipped seed, or several to compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[play_model.SEED])
    parser.add_argument("--folder", type=Path, help="where to write SEED.safetensors; else the shipped file is written")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    for seed in asked.seeds:
        write(train(seed), asked.folder / f"{seed}.safetensors" if asked.folder else play_model.WEIGHTS)


if __name__ == "__main__":
    main()
