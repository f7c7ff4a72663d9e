"""Hidden tests of `reasoning_task`: a calculator that rewards have taught, asked at temperature 1."""

from __future__ import annotations

import torch

from course.data import calculator
from course.exercise import Ref, exercise, given, stand_in

FULL, PASS, LEARNED = 0.9, 0.6, 0.4
"""Shares of right answers. The supervised weights have less than 0.35: see the task's test in tests/training."""
ROOM = 24
"""Tokens that an answer may take. The longest worked one takes 21."""


class Pupil:
    """Answers as a trained model would: `model(ids, cache)` -> logits of what `answer` says to each question."""

    def __init__(self, answer):
        self.answer = answer

    def __call__(self, ids, cache=None):
        said = (
            [calculator.decode(row) for row in ids.tolist()]
            if cache is None
            else [text + calculator.TOKENS[row[-1]] for text, row in zip(cache, ids.tolist(), strict=True)]
        )
        logits = torch.zeros(*ids.shape, len(calculator.TOKENS))
        for k, text in enumerate(said):
            line, begun = text[: calculator.LENGTH], len(text) - calculator.LENGTH
            wanted = (self.answer(line) + calculator.TOKENS[calculator.END])[begun : begun + 1]
            logits[k, -1, calculator.TOKENS.index(wanted) if wanted else calculator.END] = 250.0
        return logits, said


def at_once(line, share=1.0, off=1):
    """The right digit at once, in about this `share` of the lines, and one that lies `off` beside it in the others."""
    lucky = hash(tuple(map(ord, line))) % 1000 < 1000 * share
    return f"={(calculator.value(line) + (0 if lucky else off)) % 10}"


@exercise(
    Pupil(lambda line: calculator.worked(line)[:-1]),
    name="reasoning_task",
    hints=(
        "Print the mean reward of every tenth batch. It begins below a third. Does it rise?",
        "Print one group of eight: the question, the answers, their rewards and advantages. Are all eight answers to "
        "one question, and do right ones have positive advantages?",
        "What are the ratios in the first epoch of a round, before the first step? And in the last one?",
        "Begin with one batch and no training: `rollout`, the text of each row's own tokens, `extract_answer`, and "
        "rewards (32, 8). Then compute log_p of the same ids by one call of the model, and compare it with that of "
        "`rollout`.",
    ),
)
def reasoning_task(rng):
    """New questions, answered at temperature 1 by noise of the judge's. Bars: tests/training/test_reasoning_task.py."""

    def asked(title, n, bar, **options):
        lines = calculator.questions(n, torch.Generator().manual_seed(rng.seed()))
        uniform = rng.uniform(n, ROOM, len(calculator.TOKENS)).clamp(1e-12, 1 - 1e-12)
        case = given(title, writer=stand_in("sampler", noise=-(-uniform.log()).log()), **options)
        case = case.call(calculator.prompts(lines), Ref("answer"), on="writer").laws_only()
        right = torch.tensor([calculator.value(line) for line in lines])
        return case.law("answers_right", tokens=calculator.TOKENS, end=calculator.END, targets=right, bar=bar)

    some = asked(f"200 questions, {PASS:.0%} right", 200, PASS, public=True)
    yield some.shows("answers_right", full=FULL, called="the share of right answers")
    yield some.judged_again(f"200 questions, {LEARNED:.0%} right", bar=LEARNED, weight=0.1)
    many = asked(f"600 others, {FULL:.0%} right", 600, FULL, weight=3.0)
    yield many
    yield many.judged_again(f"{PASS:.0%} right", bar=PASS, weight=2.0)
    yield many.judged_again(f"{LEARNED:.0%} right, more than before", bar=LEARNED)


reasoning_task.mistakes(
    "Your model answers no better than before. Is a right answer praised or blamed, do the eight advantages of a group "
    "belong to one question, and does the gradient reach the optimizer's parameters through log_p?",
    no_better=Pupil(lambda line: at_once(line, 0.28)),
)
reasoning_task.mistakes(
    "Your model has learned a little. Print the mean reward of the first and the last round. How large is a step, and "
    "do prompts or padding count among the own tokens?",
    a_little=Pupil(lambda line: at_once(line, 0.5)),
)
reasoning_task.mistakes(
    "Your model has learned, and not enough. Does the reward still rise at the end? How large is a step, and how many "
    "steps does a round make?",
    halfway=Pupil(lambda line: at_once(line, 0.75)),
)
