"""Hidden tests of `generate`: what it feeds back, and from which distribution it samples each token."""

from functools import partial

import torch
from torch.nn import functional as F

from course.exercise import call, draws, exercise, stand_in
from course.reference import rnn as reference


def _certain(rng, clocks, vocabulary):
    """Logits (clocks, V, V) that leave no choice. After each token at each clock, one successor is certain.

    Divided by a temperature of one half, their exponentials are still finite.
    """
    successors = torch.stack([rng.permutation(vocabulary) for _ in range(clocks)])  # (P, V)
    return 250.0 * F.one_hot(successors, vocabulary).double()


@exercise(
    reference.generate,
    hints=(
        "Follow three steps with pencil and paper. What is `token` at each of them, and what is `h`?",
        "Sample a thousand tokens at a temperature of 0.1 and at 10. Which text is bolder?",
        "Begin with a single step. Call `step` on the start token, and print the shape of the logits. Make "
        "probabilities of them, sample one token and print it. What does the next call of `step` need?",
    ),
    calls=(
        "step = lambda token, h: (tensor([[0., 0., 99.]]), h); generate(step, zeros(1), 0, 3, 1., gen(0))",
        (
            "step = lambda token, h: (99. * F.one_hot((token + 1) % 3, 3), h); generate(step, zeros(1), 0, "
            "4, 1., gen(0))"
        ),
        "step = lambda token, h: (99. * F.one_hot(h, 3), h + 1); generate(step, tensor([0]), 2, 3, 1., gen(0))",
        (
            "step = lambda token, h: (99. * F.one_hot((token + 1) % 3, 3), h); generate(step, zeros(1), 2, "
            "1, 1., gen(0))"
        ),
        (
            "step = lambda token, h: (99. * F.one_hot((token + 1) % 3, 3), h); generate(step, zeros(1), 1, "
            "2, 0.01, gen(0))"
        ),
        "step = lambda token, h: (99. * F.one_hot(token, 3), h); generate(step, zeros(1), 1, 3, 1., gen(0))",
    ),
)
def generate(rng):
    """Certain successors show what it feeds back. Uncertain ones show how it samples."""
    start_state = torch.ones(1, 1).double()  # not zero, which is what somebody may begin with who ignores it
    shares = torch.tensor([0.30, 0.22, 0.18, 0.14, 0.12, 0.04], dtype=torch.float64)

    def urn(title, length, temperature, **settings):
        """The same shares after every token. The rarest one comes dozens of times, unless it is left out."""
        probabilities = shares[rng.permutation(len(shares))]
        logits = (temperature * probabilities.log()).expand(1, len(shares), len(shares)).clone()
        step, because = stand_in("clock_step", logits=logits), "the samples do not follow softmax(logits / temperature)"
        because += ". Tally a thousand of them. Does every token come, and each as often as it should?"
        return (
            draws(title, 1, step, start_state, 0, length, temperature, rng.generator(), **settings)
            .law("shape_is", shape=(1, length))
            .law("frequencies", probabilities=probabilities, draws=length, because=because)
        )

    def written(title, clocks, vocabulary, length, temperature, **settings):
        step = stand_in("clock_step", logits=_certain(rng, clocks, vocabulary))
        start = int(rng.integers(0, vocabulary, 1))
        return call(title, step, start_state, start, length, temperature, rng.generator(), grad=False, **settings)

    def chance(title, temperature, spread, length=1500, **settings):
        """After each token the same four shares in another order, far from those at a temperature of one."""
        steps = torch.arange(4, dtype=torch.float64)
        logits = torch.stack([spread * steps[rng.permutation(4)] for _ in range(4)])[None]
        step = stand_in("clock_step", logits=logits)
        return (
            draws(title, 1, step, start_state, 2, length, temperature, rng.generator(), **settings)
            .law("shape_is", shape=(1, length), because="the result should hold `length` tokens, without the start")
            .law("whole_numbers", because="tokens are whole numbers, so return a LongTensor")
            .law("frequencies", probabilities=torch.softmax(logits[0] / temperature, -1), draws=length, start=2)
        )

    yield written("no choice, and no memory needed", 1, 7, 5, 1.0, public=True)
    yield written("no choice, by a clock in the state", 3, 7, 11, 1.0, public=True)
    yield chance("a temperature of two", 2.0, 2.0, 3000, public=True, weight=2.0)
    yield chance("a temperature of one half", 0.5, 0.8, weight=3.0)
    yield urn("a temperature of nine", 1000, 9.0, weight=2.0)
    yield written("one token", 2, 5, 1, 0.5).counts_with("no choice, by a clock in the state")
    yield written("a long text", 5, 11, 60, 2.0)
    step, generator = stand_in("clock_step", logits=rng.normal(1, 11, 11)), rng.generator()
    settings = {"grad": False, "public": True, "weight": 2.0}
    twice = call("the same generator, the same text", step, start_state, 0, 40, 1.0, generator, **settings)
    yield (
        twice.call(step, start_state, 0, 40, 1.0, generator, on="answer", into="again")
        .call(step, start_state, 0, 40, 1.0, rng.generator(), on="answer", into="other")
        .draws(2, step, start_state, 0, 40, 1.0, rng.generator(), into="in a row")
        .laws_only()
        .law("equal", to="again", because="the same generator gave two texts. Does every random number come from "
             "`generator`?")
        .law("different", to="other", because="two generators gave the same text of 40 tokens. Where do your random "
             "numbers come from?")
        .law("slices_differ", of="in a row", because="two texts written one after the other with one generator are "
             "the same. Does yours set its seed again each time?")
    )  # fmt: skip


def _write(step, h, start, length, temperature, generator, *, feed=None, scores=None, draw=None, keep=True):
    """The right loop with one piece exchanged."""
    token, written = torch.tensor([start]), []
    for _ in range(length):
        logits, new = step(token, h)
        h = new if keep else h
        p = torch.softmax(scores(logits, temperature) if scores else logits / temperature, -1)
        drawn = draw(p) if draw else torch.multinomial(p, 1, generator=generator)[0]
        written.append(drawn)
        token = feed(start) if feed else drawn
    return torch.cat(written)


@generate.misconception(
    "What does your network read at the second step, the start again or the token it has just written?"
)
def feeds_the_start_every_time(*inputs):
    return _write(*inputs, feed=lambda start: torch.tensor([start]))


generate.mistakes(
    "Write twice with different generators. Does anything change? Should the likeliest token always win?",
    always_the_likeliest=partial(_write, draw=lambda p: p.argmax(-1)),
)
generate.mistakes(
    "Print the probabilities of one step, and their shape. Along which axis do they sum to one? What do all V add "
    "up to?",
    softmax_over_the_wrong_axis=partial(_write, scores=lambda logits, _: 0.0 * logits),  # V times 1 is as good as 1/V
)


@generate.misconception("Print what you hand to `multinomial`. Is every number above zero, and do they sum to one?")
def logits_for_probabilities(step, h, start, length, temperature, generator):
    token, written = torch.tensor([start]), []
    for _ in range(length):
        logits, h = step(token, h)
        token = torch.multinomial(logits[0] / temperature, 1, generator=generator)
        written.append(token)
    return torch.cat(written)


generate.mistakes(
    "At a temperature of 0.1, is your text bolder or tamer than at 1? And what does the formula say?",
    temperature_multiplied=partial(_write, scores=lambda logits, temperature: logits * temperature),
)
generate.mistakes("`step` returns a state. Where does it go?", state_not_carried_on=partial(_write, keep=False))
generate.mistakes(
    "Write with two different h0. Does anything change? Which of your lines reads the state that you were given?",
    begins_with_zeros=lambda step, h0, *others: reference.generate(step, torch.zeros_like(h0), *others),
)


@generate.misconception("Call it with length = 1. What comes out? Should the start be written again?")
def start_among_the_tokens(step, h0, start, length, temperature, generator):
    written = reference.generate(step, h0, start, length, temperature, generator)
    return torch.cat([torch.tensor([start]), written])[:length]
