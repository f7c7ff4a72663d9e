"""Reading before fine-tuning over ten seeds: the notebook's loops clear every bar, and the commonest bugs do not.

Measured on one core with the budget of the syllabus (64,000 sentences, 8 to 10 s of training), ten seeds. The loss is
in nats a hidden word above the best possible, 1.94. The accuracy is about nouns without labels, five splits each.

    the notebook's loops                     0.03 - 0.06     98.5 - 100 %
    LoRA and QLoRA of rank 4                 as above        96 - 100 %, 99 - 100 %
    the head alone, on [CLS] or the mean     as above        69 - 95 %, 86 - 97 %
    fifty labels alone                                       44 - 57 %
    the mask turned round, three seeds       0.88 - 0.90     43 - 58 %
    nothing hidden                           4.76            49 %
    the loss of every word, three seeds      0.06 - 0.10     99.6 - 100 %
    a learning rate of 0.0002, of 0.03       0.81, 1.20      51 %, 52 %

After 600 of the 1,000 batches the worst of ten seeds had 89 %, with single splits at 73 %.
"""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.optim.lr_scheduler import LambdaLR

from course import blocks
from course.data import beings
from course.reference.bert import Bert
from tests.original import points_of
from tests.training import judged
from tests.training.judged import verdict_on

pytestmark = pytest.mark.slow

SEEDS = range(10)
SIZES = len(beings.words()), 48, 4, 96, 2


class Classifier(nn.Module):
    """A BERT and a head on the vector of `[CLS]`."""

    def __init__(self, body: Bert) -> None:
        super().__init__()
        self.body, self.head = body, nn.Linear(body.words.embedding_dim, 2)

    def forward(self, ids, segments, mask):
        return self.head(self.body(ids, segments, mask)[0][:, 0])


class Reader(Bert):
    """The notebook's model: it fine-tunes a copy of itself."""

    def body(self) -> Bert:
        return copy.deepcopy(self)

    def finetuned(self, ids, segments, mask, labels):
        classifier = Classifier(self.body()).train()
        optimizer = torch.optim.AdamW(classifier.parameters(), lr=1e-3)
        for _ in range(12):
            for rows in torch.randperm(len(ids)).split(10):
                loss = F.cross_entropy(classifier(ids[rows], segments[rows], mask[rows]), labels[rows])
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        return classifier.eval()


class FromScratch(Reader):
    """Fine-tuning begins with fresh weights."""

    def body(self) -> Bert:
        return Bert(*SIZES)


def hidden_words(seed, *, p=beings.HIDDEN, inverted=False, everywhere=False):
    """The loss on hidden words; with a mask turned round, or of all words, where a bug makes it so."""
    generator = torch.Generator().manual_seed(seed)

    def loss(model, ids, mask):
        special = beings.is_special(ids)
        inputs, labels = blocks.mlm_corrupt(ids, special, SIZES[0], beings.mask_id(), generator, p)
        labels = ids.masked_fill(special, -100) if everywhere else labels
        words, _ = model(inputs, torch.zeros_like(ids), ~mask if inverted else mask)
        return F.cross_entropy(model.word_logits(words).flatten(0, 1), labels.flatten())

    return loss


def warmed_up(optimizer, steps):
    """Rise over a tenth of the steps, then fall to zero."""
    return LambdaLR(optimizer, lambda step: min((step + 1) / (0.1 * steps), (steps - step) / (0.9 * steps)))


def pretrained(seed, model=Reader, lr=6e-3, **bug):
    """The notebook's model and loop, and its budget."""
    options = {"optimizer": torch.optim.AdamW, "schedule": warmed_up, "loss": hidden_words(seed, **bug)}
    clip = lambda parameters: nn.utils.clip_grad_norm_(parameters, 1.0)  # noqa: E731
    return judged.trained("bert_task", lambda: model(*SIZES), seed, lr=lr, clip=clip, **options)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_notebooks_loops_get_full_marks(seed):
    assert verdict_on("bert_task", pretrained(seed), seed).kind == "passed"


@pytest.mark.parametrize("seed", SEEDS)
def test_fifty_labels_alone_do_not(seed):
    verdict = verdict_on("bert_task", pretrained(seed, FromScratch), seed)
    assert verdict.score < points_of("bert_task") / 2


@pytest.mark.parametrize(
    "bug",
    [{"inverted": True}, {"everywhere": True, "p": 0.0}, {"lr": 2e-4}, {"lr": 3e-2}],
    ids=["mask turned round", "nothing hidden", "small steps", "large steps"],
)
def test_the_commonest_bugs_do_not(bug):
    assert verdict_on("bert_task", pretrained(0, **bug), 0).score < points_of("bert_task") / 2


def test_asking_for_every_word_is_seen_by_nobody():
    """The notebook tells it as a story: only the printed loss is too good to be true."""
    assert verdict_on("bert_task", pretrained(0, everywhere=True), 0).score > 0.6 * points_of("bert_task")
