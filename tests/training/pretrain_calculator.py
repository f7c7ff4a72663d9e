"""`make calculator`: trains topic 21's calculator on worked examples, and writes its weights.

    python -m tests.training.pretrain_calculator --seed 0

People mostly wrote the result alone. In the first 1,200 steps 60 % of the examples have steps, in the last 800 it is
12 %. So the model knows how steps go, and rarely writes them.
"""

from __future__ import annotations

import argparse

import safetensors.torch
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from course.data import calculator
from course.reference import gpt

STEPS, BATCH, RATE, WARM, CLIP, LOGGED = 2_000, 64, 5e-3, 50, 1.0, 200
EARLY, WITH_STEPS = 1_200, (0.6, 0.12)
"""So many steps are early, and the share of the examples with steps, early and late."""


def examples(n: int, share: float, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Draw examples, `share` of them with steps: ids (n, 30), padded with the end, and lengths (n,)."""
    written = []
    for line, chance in zip(calculator.questions(n, generator), torch.rand(n, generator=generator), strict=True):
        short = f"={calculator.value(line)};"
        written.append(calculator.encode(line + (calculator.worked(line) if chance < share else short)))
    width = calculator.LENGTH + calculator.LONGEST
    ids = torch.full((n, width), calculator.END)
    for row, tokens in zip(ids, written, strict=True):
        row[: len(tokens)] = torch.tensor(tokens)
    return ids, torch.tensor([len(tokens) for tokens in written])


def loss(model: gpt.GPT, ids: Tensor, lengths: Tensor) -> Tensor:
    """Mean of -log p over the tokens of the answers, ends included."""
    place = torch.arange(1, ids.shape[1])
    learned = (place >= calculator.LENGTH) & (place < lengths[:, None])
    logits, _ = model(ids[:, :-1])
    return F.cross_entropy(logits[learned], ids[:, 1:][learned])


def train(seed: int) -> gpt.GPT:
    """Return the supervised model of a seed."""
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    model = gpt.GPT(**calculator.SIZES)  # topic 15's, whose embeddings begin small
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE)
    for step in range(STEPS):
        optimizer.param_groups[0]["lr"] = RATE * min((step + 1) / WARM, (STEPS - step) / (STEPS - WARM))
        value = loss(model, *examples(BATCH, WITH_STEPS[step >= EARLY], generator))
        optimizer.zero_grad()
        value.backward()
        nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        optimizer.step()
        if step % LOGGED == LOGGED - 1:
            print(f"step {step + 1:5}  loss {value.item():.3f}", flush=True)
    return model.eval()


def rounded(model: gpt.GPT) -> dict[str, Tensor]:
    """Return the weights in half precision."""
    return {name: tensor.detach().half().contiguous() for name, tensor in model.state_dict().items()}


def main() -> None:
    """Train one seed, and write its weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--to", default=str(calculator.WEIGHTS), help="the file to write")
    chosen = parser.parse_args()
    safetensors.torch.save_file(rounded(train(chosen.seed)), chosen.to)


if __name__ == "__main__":
    main()
