"""Who hands in what: edits of the solved notebook, in the words students write."""

from __future__ import annotations

from dataclasses import dataclass, field

MARKOV, ATTENTION, TRANSFORMER = "01_markov_ngrams", "06_self_attention", "10_encoder_decoder"
DUE = "2027-01-31T23:59:00+01:00"
IN_TIME, TWO_DAYS_LATE = "2027-01-30 20:15:00+01:00", "2027-02-02 10:00:00+01:00"

OWN_CELLS = """

# %% [markdown]
# Two questions of your instructor's own.

# %% nbgrader={"grade_id": "own_rows", "grade": true, "points": 2}
import torch
assert softmax(torch.ones(2, 3), 1).shape == (2, 3)
assert torch.allclose(softmax(torch.tensor([[0.0, 0.0], [0.0, 0.0]]), 1), torch.full((2, 2), 0.5))

# %% [markdown] nbgrader={"grade_id": "own_why", "grade": true, "points": 3, "solution": true}
# Because the scores grow with the width.
"""
"""Cells of the instructor's own, written below the source of topic 06."""


@dataclass(frozen=True)
class HandIn:
    """One hand-in: `answers` replace solution cells by name, `text` is the whole file where it is no notebook.

    `blank` takes the released notebook for the solved one, `done` keeps that many answers, `deleted` names cells that
    are gone, `copied` those pasted once more below, and `before` puts code in front of a check.
    """

    answers: dict[str, str] = field(default_factory=dict)
    text: str | None = None
    blank: bool = False
    done: int | None = None
    deleted: tuple[str, ...] = ()
    copied: tuple[str, ...] = ()
    before: tuple[str, str] = ("", "")
    trained: bool = True
    came: str = IN_TIME


CLASS: dict[str, dict[str, HandIn]] = {
    MARKOV: {
        "ada": HandIn(),
        "bo": HandIn(blank=True),
        "cy": HandIn(
            {
                "count_ngrams": (
                    "def count_ngrams(tokens, n):\n"
                    "    if n < 1:\n"
                    "        raise ValueError('n < 1')\n"
                    "    return Counter(tuple(tokens[i:i + n]) for i in range(len(tokens) - n))\n"
                ),
                "perplexity": "def perplexity(log_probs):\n    return float(torch.exp(-log_probs.sum()))\n",
            }
        ),
        "dee": HandIn(
            {
                "transition_matrix": (
                    "def transition_matrix(ids, vocab_size, alpha=0.0):\n"
                    "    return torch.zeros(vocab_size)[ids, ids] + alpha\n"
                )
            }
        ),
        "eve": HandIn(
            {"perplexity": "def perplexity(log_probs):\n    return float(2.0 ** (-log_probs.mean()))\n"},
            came=TWO_DAYS_LATE,
        ),
        "fay": HandIn(copied=("count_ngrams-solution", "perplexity")),
        "gus": HandIn(text='{"cells": ['),
        "hal": HandIn(done=3),
        "ida": HandIn(deleted=("perplexity",)),
        "jon": HandIn(
            {
                "sample_text": (
                    "def sample_text(P, start, length, generator):\n"
                    "    text = []\n"
                    "    for _ in range(length):\n"
                    "        start = int(P[start].argmax())\n"
                    "        text.append(start)\n"
                    "    return torch.tensor(text)\n"
                )
            }
        ),
    },
    ATTENTION: {
        "ada": HandIn(),
        "bo": HandIn(blank=True, trained=False),
        "cy": HandIn({"softmax": "def softmax(x, dim):\n    return x.exp() / x.exp().sum(dim, keepdim=True)\n"}),
        "dee": HandIn(
            {
                "attention_for_one": (
                    "def attention_for_one(query, keys, values):\n    return softmax(keys @ query, 0) @ values\n"
                ),
                "crossover_length": "def crossover_length(d):\n    return d\n",
            }
        ),
        "eve": HandIn(came=TWO_DAYS_LATE),
        "fay": HandIn(trained=False),
        "gus": HandIn(text="%PDF-1.7 my homework as a scan"),
        "hal": HandIn({"softmax": "def softmax(x, dim):\n    return torch.softmax(x, dim)\n"}),
        "ida": HandIn(done=4, trained=False),
        "jon": HandIn({"softmax": "def softmax(x, dim):\n    return torch.ones_like(x)\n"}),
    },
    TRANSFORMER: {
        "ada": HandIn(),
        "bo": HandIn(blank=True, trained=False),
        "cy": HandIn(
            {
                "layer_norm": (
                    "def layer_norm(x, gamma, beta, eps=1e-5):\n"
                    "    centred = x - x.mean(-1, keepdim=True)\n"
                    "    return gamma * centred / (x.var(-1, keepdim=True) + eps).sqrt() + beta\n"
                )
            }
        ),
        "dee": HandIn(
            {"feed_forward": ("def feed_forward(x, W1, b1, W2, b2):\n    return (x @ W1.T + b1) @ W2.T + b2\n")}
        ),
        "eve": HandIn(came=TWO_DAYS_LATE),
        "fay": HandIn(
            {
                "label_smoothing_loss": (
                    "def label_smoothing_loss(logits, targets, epsilon, mask):\n"
                    "    log_p = logits.log_softmax(-1)\n"
                    "    right = log_p.gather(-1, targets[..., None]).squeeze(-1)\n"
                    "    return -((1 - epsilon) * right + epsilon * log_p.mean(-1)).mean()\n"
                )
            }
        ),
        "gus": HandIn(text=""),
        "hal": HandIn(
            {
                "warmup_schedule": (
                    "def warmup_schedule(step, d_model, warmup):\n"
                    "    return d_model ** -0.5 * min(step ** -0.5, step * warmup ** -0.5)\n"
                )
            }
        ),
        "ida": HandIn(done=5, trained=False),
        "jon": HandIn(before=("label_smoothing_loss", "import os\nos._exit(0)")),
    },
}

BY_HAND: dict[tuple[str, str, str], tuple[float, float, str]] = {
    ("ada", MARKOV, "markov_ngrams_question"): (1.5, 0.0, "Say why, too."),
    ("ada", ATTENTION, "self_attention_question"): (2.0, 0.5, "Lovely."),
    ("ada", ATTENTION, "own_why"): (2.5, 0.0, ""),
    ("eve", TRANSFORMER, "encoder_decoder_question"): (1.0, 0.0, "Late, and good."),
}
"""Points, extra credit and comment that a person gives in formgrader, by student, topic and cell."""
