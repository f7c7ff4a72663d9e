"""Chains of answers to real exercises: right except for an earlier mistake, or for a person to decide."""

from __future__ import annotations

import math

import pytest
import torch

from course import check
from course.exercise import call, exercise
from course.exercise.key import key_of
from course.exercise.runner import run
from course.judge.judging import judge
from course.judge.prerequisite import knowing_prerequisite, with_prerequisite
from course.judge.report import html, text
from course.judge.session import Session
from course.judge.verdict import Verdict
from course.source import definitions
from tests.original import ORIGINAL, find

from .sample import FORWARD

SOFTMAX = {
    "right": "powers = (x - x.amax(dim, keepdim=True)).exp()\n    return powers / powers.sum(dim, keepdim=True)",
    "a known mistake": "return x / x.sum(dim, keepdim=True)",
    "an unknown one": "return ((x - x.amax(dim, keepdim=True)).exp() * 3 + 0.37).cumsum(dim) / 7",
    "not written": "# YOUR CODE HERE\n    raise NotImplementedError()",
}
SOFTMAX = {what: f"def softmax(x, dim):\n    {body}" for what, body in SOFTMAX.items()}
FOR_ONE = "def attention_for_one(query, keys, values):\n    weights = softmax(keys @ query / len(query) ** 0.5, 0)\n"
RIGHT, REVERSED = f"{FOR_ONE}    return weights @ values", f"{FOR_ONE}    return weights @ values.flip(0)"
STUB = "def attention_for_one(query, keys, values):\n    softmax\n    # YOUR CODE HERE\n    raise NotImplementedError()"

GIVEN = """
class Weigh:
    def __call__(self, scores):
        return turned(scores)

def turned(scores):
    return softmax(scores, 0)
"""
BY_A_CLASS = (
    "def attention_for_one(query, keys, values):\n    return Weigh()(keys @ query / len(query) ** 0.5) @ values"
)

CELL = {
    "a known mistake": "return torch.tanh(x @ W_x.T + h @ W_h.T)",
    "an unknown one": "return torch.tanh(x @ W_x.T + h @ W_h.T + b) * 0.9 + x.mean() / 7",
}
CELL = {what: f"def rnn_cell(x, h, W_x, W_h, b):\n    {body}" for what, body in CELL.items()}
FROM_NOTHING = FORWARD.replace("h, states = h0", "h, states = h0 * 0 + 0.3")
BPTT = """
def bptt(xs, h0, W_x, W_h, b, grad_h_T):
    hs, _ = rnn_forward(xs, h0, W_x, W_h, b)
    before = torch.cat([h0.unsqueeze(1), hs[:, :-1]], dim=1)
    gradients = {"W_x": torch.zeros_like(W_x), "W_h": torch.zeros_like(W_h), "b": torch.zeros_like(b)}
    grad_h = grad_h_T
    for t in reversed(range(xs.shape[1])):
        delta = (1 - hs[:, t] ** 2) * grad_h
        gradients["W_x"] += delta.T @ xs[:, t]
        gradients["W_h"] += delta.T @ before[:, t]
        gradients["b"] += delta.sum(dim=0)
        grad_h = delta @ W_h
    return {**gradients, "h0": grad_h}
"""
PATCHIFY = (
    "def patchify(images, p):\n    B, C, H, W = images.shape\n    rows = {}\n    return rows.flatten(1, 2).flatten(2)"
)
ROWS = "images.unflatten(3, (W // p, p)).unflatten(2, (H // p, p))"
PATCHIFY = {
    "a known mistake": PATCHIFY.format(f"{ROWS}.permute(0, 2, 4, 3, 5, 1)"),
    "an unknown one": PATCHIFY.format(f"{ROWS}.permute(0, 2, 4, 1, 3, 5).flip(3) * 1.25"),
}
EMBED = """
def embed_patches(images, W, b, cls, positions):
    p = math.isqrt(W.shape[1] // images.shape[1])
    words = patchify(images, p) @ W.T + b
    return torch.cat([cls.expand(len(images), 1, -1), words], dim=1) + positions
"""


@pytest.fixture
def graded(monkeypatch, tmp_path):
    """Return a function that judges solution cells one after the other with hidden cases, as in a graded notebook."""
    monkeypatch.chdir(tmp_path)

    def judged(given: str = "", **sources: str) -> dict[str, Verdict]:
        names = {"torch": torch, "math": math}
        exec(given, names)
        with Session(find, ORIGINAL.item_of, seed=5, sources=sources) as session:
            monkeypatch.setenv("COURSE_JUDGE", session.address)
            session.written = definitions(given)
            for name, source in sources.items():
                exec(source, names)
                session.enter(name)
                check(name, names[name])
                session.leave()
        return session.verdicts

    return judged


def what_of(verdict: Verdict) -> str:
    """Return what happens to a verdict's points under the setting `keep`: kept, by hand, or as tested."""
    kept = verdict.under("keep")
    assert verdict.earned == verdict.score and not verdict.decided_anew, "nothing changes without the setting"
    assert kept.earned == (verdict.points if kept.keeps else verdict.score)
    return "kept" if kept.keeps else "by hand" if kept.by_hand else "as tested"


@pytest.mark.parametrize(
    ("softmax", "answer", "becomes"),
    [
        ("a known mistake", RIGHT, "kept"),
        ("a known mistake", REVERSED, "by hand"),
        ("an unknown one", RIGHT, "by hand"),
        ("an unknown one", REVERSED, "by hand"),
        ("not written", RIGHT, "by hand"),
        ("not written", STUB, "as tested"),
        ("right", REVERSED, "as tested"),
        ("right", RIGHT, "as tested"),
    ],
)
def test_attention_on_a_softmax(graded, softmax, answer, becomes):
    verdicts = graded(softmax=SOFTMAX[softmax], attention_for_one=answer)
    assert what_of(verdicts["attention_for_one"]) == becomes
    assert what_of(verdicts["softmax"]) == "as tested", "a mistake of one's own is never made up for"


@pytest.mark.parametrize(
    ("softmax", "answer", "becomes"),
    [
        ("a known mistake", BY_A_CLASS, "kept"),
        ("a known mistake", f"{BY_A_CLASS}.flip(0)", "by hand"),
        ("an unknown one", BY_A_CLASS, "by hand"),
        ("right", f"{BY_A_CLASS}.flip(0)", "as tested"),
    ],
)
def test_attention_that_calls_a_softmax_through_given_cells(graded, softmax, answer, becomes):
    verdicts = graded(given=GIVEN, softmax=SOFTMAX[softmax], attention_for_one=answer)
    assert what_of(verdicts["attention_for_one"]) == becomes
    assert verdicts["attention_for_one"].rests_on == ("" if softmax == "right" else "softmax")


READER = """
class Reader(torch.nn.Module):
    def forward(self, ids, lengths=None):
        return softmax(torch.zeros(len(ids), 2), 1)
record = fit("rnn_task", Reader, train)
"""


@pytest.mark.parametrize(
    "source", ['check("rnn_task", record.model)', 'model = record.model\ncheck("rnn_task", model)']
)
def test_a_trained_model_rests_on_what_its_given_class_calls(monkeypatch, tmp_path, source):
    monkeypatch.chdir(tmp_path)
    names = {"torch": torch, "fit": lambda *_: None, "train": None}
    exec(f"{SOFTMAX['an unknown one']}\n{READER}", names)
    with Session(find, ORIGINAL.item_of, seed=5, sources={"rnn_task": "def train(model, batches): ..."}) as session:
        monkeypatch.setenv("COURSE_JUDGE", session.address)
        session.verdicts["softmax"] = Verdict("softmax", "wrong", 0, 2)
        session.written = definitions(READER)
        session.enter("rnn_task", source)
        check("rnn_task", names["Reader"]())
        task = session.leave()
    assert (task.rests_on, task.by_hand, task.under("keep").by_hand) == ("softmax", False, True)


@pytest.mark.parametrize(
    ("cell", "forward", "becomes"),
    [
        ("a known mistake", FORWARD, ("kept", "kept")),
        ("an unknown one", FORWARD, ("by hand", "by hand")),
        ("a known mistake", FROM_NOTHING, ("by hand", "by hand")),
    ],
)
def test_a_chain_of_three_recurrent_exercises(graded, cell, forward, becomes):
    verdicts = graded(rnn_cell=CELL[cell], rnn_forward=forward, bptt=BPTT)
    assert (what_of(verdicts["rnn_forward"]), what_of(verdicts["bptt"])) == becomes
    assert verdicts["bptt"].rests_on == "rnn_cell"


@pytest.mark.parametrize(("patchify", "becomes"), [("a known mistake", "kept"), ("an unknown one", "by hand")])
def test_patch_embeddings_on_patches(graded, patchify, becomes):
    verdicts = graded(patchify=PATCHIFY[patchify], embed_patches=EMBED)
    assert bool(verdicts["patchify"].misconception) == (becomes == "kept")
    assert what_of(verdicts["embed_patches"]) == becomes


def shares(x):
    return x.softmax(-1)


def shares_backwards(x):
    return shares(x).flip(-1)


@exercise(shares, hints=("What do your shares sum to?",))
def of_shares(rng):
    yield call("some", rng.normal(3, 5), public=True)


@of_shares.misconception("What do your shares sum to?")
def unscaled(x):
    return x.exp()


@exercise(shares_backwards, hints=("What do your shares sum to?",))
def by_a_law(rng):
    yield call("some", rng.normal(3, 5), public=True).law("sums_to_one").laws_only()


@exercise(shares_backwards, hints=("What do your shares sum to?",))
def by_values(rng):
    yield call("some", rng.normal(3, 5), public=True)


@pytest.mark.parametrize(("asked", "becomes"), [(by_values, "kept"), (by_a_law, "by hand")])
def test_a_law_that_is_broken_as_well_shows_nothing(asked, becomes):
    key = knowing_prerequisite(key_of(asked, 5), asked, of_shares, "unscaled")
    verdict = judge(key, lambda script: run(script, lambda x: x.exp().flip(-1)), 3)
    assert what_of(with_prerequisite(verdict, "shares", key, "def shares_backwards(x): ...")) == becomes


@pytest.mark.parametrize(
    ("setting", "more", "says", "points"),
    [
        (
            "lose",
            {"correct_given_prerequisite": True},
            "This solution is right except for your `softmax` above. It loses 1.5 points",
            "0.5 of 2",
        ),
        (
            "keep",
            {"correct_given_prerequisite": True},
            "This solution is right except for your `softmax` above. So you get the other 1.5 points back",
            "2 of 2",
        ),
        (
            "keep",
            {"cannot_tell": True},
            "Your instructor decides whether this solution is right",
            "0.5 of 2 points so far",
        ),
        ("lose", {"cannot_tell": True}, "which fails too. Fix that first", "0.5 of 2"),
    ],
)
def test_a_report_says_what_becomes_of_the_points(setting, more, says, points):
    verdict = Verdict("attention_for_one", "partial", 0.5, 2, rests_on="softmax", **more).under(setting)
    assert says in text(verdict) and points in text(verdict) and points in html(verdict)
    assert Verdict.from_dict(verdict.to_dict()) == verdict
