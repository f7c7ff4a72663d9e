"""The judge decides, diagnoses and explains."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from course.exercise import build, call, exercise
from course.exercise.key import key_of, read_key_file, write_key_file
from course.exercise.recording import Recording
from course.exercise.runner import run
from course.exercise.script import Script
from course.exercise.wire import pack, unpack
from course.judge import Verdict, judge
from course.judge.report import UNCONFIRMED, html, text
from tests.exercise.forged import recordings
from tests.judge.sample import cell, coin, sample, tosses


def over_the_wire(answer):
    """Return a function that runs scripts with `answer` as a kernel does, with everything sent as bytes."""

    def respond(script):
        recording = run(Script.from_plain(unpack(pack(script.to_plain()))), answer)
        return Recording.from_plain(unpack(pack(recording.to_plain())))

    return respond


def verdict_on(exercise, answer, seed=7, **options) -> Verdict:
    return judge(key_of(exercise, seed), over_the_wire(answer), 4, **options)


def test_the_reference_gets_full_marks():
    assert verdict_on(sample, cell).kind == "passed"
    assert verdict_on(tosses, coin).score == 4


@pytest.mark.parametrize("exercise", [sample, tosses])
def test_every_misconception_is_recognised_and_scores_below_full(exercise):
    for misconception in exercise.misconceptions:
        verdict = verdict_on(exercise, misconception.wrong)
        assert verdict.score < 4
        assert verdict.misconception == misconception.name, verdict
        assert verdict.hint == misconception.hint
        assert verdict.convention == misconception.convention


def mixture(scores, values):
    weights = scores.softmax(-1)
    return weights @ values, weights


def test_what_is_there_to_be_looked_at_may_be_cut_off_and_what_is_used_may_not(tmp_path):
    looked_at = exercise(mixture, shown=(1,), name="sample")(
        lambda rng: [call("some", rng.normal(3), rng.normal(3, 2), public=True)]
    )
    scale = looked_at.misconception("What do the weights sum to?")(lambda s, v: (mixture(s, v)[0], 2 * s.softmax(-1)))

    def cut(place):
        return lambda *inputs: [r.detach() if k == place else r for k, r in enumerate(mixture(*inputs))]

    def scale_cut(*inputs):
        return scale(*inputs)[0], scale(*inputs)[1].detach()

    write_key_file(tmp_path / "a.key", [looked_at])
    for key in (key_of(looked_at, 7), read_key_file(tmp_path / "a.key").exercises["sample"]):
        assert judge(key, over_the_wire(mixture), 4).kind == "passed"
        assert judge(key, over_the_wire(cut(1)), 4).kind == "passed"
        assert "graph" in judge(key, over_the_wire(cut(0)), 4).message
        assert (
            judge(key, over_the_wire(scale_cut), 4).misconception == judge(key, over_the_wire(scale), 4).misconception
        )
        assert judge(key, over_the_wire(scale), 4).misconception


def test_the_same_diagnosis_from_an_answer_key(tmp_path):
    write_key_file(tmp_path / "a.key", [sample, tosses])
    keys = read_key_file(tmp_path / "a.key").exercises
    for declared in (sample, tosses):
        for misconception in declared.misconceptions:
            verdict = judge(keys[declared.name], over_the_wire(misconception.wrong), 4)
            assert verdict.misconception == misconception.name
    assert judge(keys["rnn_cell"], over_the_wire(cell), 4).kind == "passed"


def not_implemented(x, W, b):
    raise NotImplementedError


def raising(x, W, b):
    return x @ W


def softmax_of_a_mask(x, W, b):
    return (x > 0).softmax(-1)


class Misspelt(torch.nn.Module):
    def foward(self, x, W, b):
        return cell(x, W, b)


def in_place_on_its_own(x, W, b):
    result = torch.exp(x @ W.T)
    result += 1
    return result * 2 if not x.requires_grad else torch.autograd.grad(result.sum(), x)


def without_words(x, W, b):
    raise ValueError


def nothing_flows_back(x, W, b):
    return torch.where(x.sum(1, keepdim=True) > 1e9, (x * 0) @ W.T / 0, cell(x, W, b))


@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        (not_implemented, "missing", "not answered yet"),
        (raising, "error", "RuntimeError"),
        (softmax_of_a_mask, "error", "not implemented for 'Bool', at your line `return (x > 0).softmax(-1)`"),
        (Misspelt(), "error", "no method `forward`"),
        (in_place_on_its_own, "error", "your code changes a tensor in place"),
        (without_words, "error", "raised ValueError, at your line"),
        (nothing_flows_back, "wrong", "the gradient of one input is NaN"),
        (lambda x, W, b: None, "wrong", "got None"),
        (lambda x, W, b: cell(x, W, b).T, "wrong", "axes in the order (1, 0)"),
        (lambda x, W, b: 2 * cell(x, W, b), "wrong", "2 times"),
        (lambda x, W, b: -cell(x, W, b), "wrong", "sign"),
        (lambda x, W, b: cell(x, W, b).tolist(), "wrong", "got a list"),
        (lambda x, W, b: cell(x, W, b).detach(), "wrong", "no gradient"),
        (lambda x, W, b: cell(x, W, b) / 0, "wrong", "infinite"),
        (lambda x, W, b: cell(x, W, b).float(), "partial", "float32"),
        (torch.nn.functional.linear, "forbidden", "F.linear"),
    ],
)
def test_generic_diagnoses(answer, kind, words):
    verdict = verdict_on(sample, answer)
    assert verdict.kind == kind, verdict
    assert words in verdict.message


class Pair:
    """A class with two methods, of which a script calls one after the other."""

    def __init__(self, *_):
        pass

    def twice(self, x):
        return 2 * x

    def thrice(self, x):
        return 3 * x


@exercise(Pair, name="LayerNorm")
def pair(rng):
    for method in ("twice", "thrice", "thrice"):
        x = rng.normal(2, 3)
        made = build(method, 1, public=True).laws_only().call(x, method=method)
        yield made.call(-x, method=method, into="other").law("different", to="other")


@pair.misconception("Is three times the same as twice?")
class Never(Pair):
    def thrice(self, x):
        return 0 * x


def test_of_a_class_that_is_half_answered_what_is_there_counts():
    class Half(Pair):
        def thrice(self, x):
            raise NotImplementedError

    verdict = verdict_on(pair, Half)
    assert verdict.kind == "partial" and 0 < verdict.score < 4
    assert verdict.message == "`thrice` is not answered yet"


@exercise(cell, name="rnn_cell")
def converted(rng):
    yield call("in doubles", *(rng.normal(2, 2) for _ in range(3)), public=True).call(on="out", method="double")


def test_only_methods_of_the_answer_are_called_unwritten():
    assert verdict_on(converted, not_implemented).message == "not answered yet"


class Scale(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(3, dtype=torch.float64))

    def load(self, weight):
        self.weight.copy_(weight)

    def forward(self, x):
        return self.weight * x


class LoadsWithCare(Scale):
    load = torch.no_grad()(Scale.load)


@exercise(LoadsWithCare, name="LayerNorm")
def loaded(rng):
    built = build("loaded", public=True).call(rng.normal(3), method="load")
    yield built.call(rng.normal(2, 3).requires_grad_())


def test_a_parameter_that_is_changed_in_place_is_no_input():
    class ChangesItsInput(LoadsWithCare):
        def forward(self, x):
            x *= 2
            return x

    assert verdict_on(loaded, LoadsWithCare).kind == "passed"
    assert "changes a parameter in place" in verdict_on(loaded, Scale).message
    assert "changes an input in place" in verdict_on(loaded, ChangesItsInput).message


def test_a_message_of_several_lines_is_told_in_one():
    @exercise(cell, name="rnn_cell")
    def refusing(rng):
        yield call("too wide", rng.normal(2, 3), rng.normal(5, 7), rng.normal(5), public=True, raises="RuntimeError")

    def refuses(x, W, b):
        raise TypeError("one\n  two")

    assert "it raised TypeError: one two, at your line `raise TypeError(" in verdict_on(refusing, refuses).message


def test_what_returns_nothing_is_told_so_and_earns_nothing():
    class Prints(Pair):
        def twice(self, x):
            print(2 * x)

        thrice = twice

    verdict = verdict_on(pair, Prints)
    assert verdict.score == 0 and "Is a `return` missing?" in verdict.message


def test_a_mistake_that_does_not_explain_all_that_fails_is_not_named():
    class Zeros(Never):
        def twice(self, x):
            return 0 * x

    assert verdict_on(pair, Never).misconception == "Never"
    assert verdict_on(pair, Zeros).misconception == ""


def test_a_second_mistake_in_what_is_hidden_leaves_the_first_its_name():
    def without_a_bias_or_a_batch(x, W, b):
        return torch.tanh(x @ W.T).squeeze(0)

    @exercise(lambda n: 3 * n, name="count_ngrams")
    def tripled(rng):
        yield call("two", 2, public=True)
        yield call("five", 5)

    tripled.misconception("Who asked for twice as much?")(lambda n: 2 * n)

    assert verdict_on(sample, without_a_bias_or_a_batch).misconception == "no_bias"
    assert verdict_on(sample, lambda x, W, b: cell(x, W, 2 * b).squeeze(0)).misconception == ""
    assert verdict_on(tripled, lambda n: 2 * n).misconception
    by_chance = verdict_on(tripled, lambda n: n**2)
    assert by_chance.misconception == "" and not by_chance.unconfirmed, "a second mistake would look the same"
    ruled_out = verdict_on(tripled, lambda n: 2 * n if n == 2 else 3 * n)
    assert ruled_out.misconception == "" and ruled_out.unconfirmed and UNCONFIRMED in text(ruled_out)


@exercise(lambda x, k: k * x + k, name="order_properties")
def moved(rng):
    yield call("a positive k", rng.normal(3), 3.0, public=True)
    yield call("a negative k", rng.normal(3), -2.0)


moved.mistakes("What is added to k x?", nothing_added=lambda x, k: k * x)
moved.mistakes("Is k ever negative?", size_of_k=lambda x, k: abs(k) * x + k)
moved.mistakes("Is it ever 0?", zero_below=lambda x, k: k * x if k > 0 else 0 * x)


def test_a_hint_of_check_that_a_hidden_case_hides_stands_beside_the_other():
    both = verdict_on(moved, lambda x, k: k * x if k > 0 else abs(k) * x + k)
    assert both.hint == "Is k ever negative? What is added to k x?" and not both.unconfirmed


def test_a_hint_of_check_goes_where_the_hidden_cases_show_a_neighbour_and_is_not_taken_back():
    neighbour = verdict_on(moved, lambda x, k: k * x if k > 0 else 0 * x)
    assert neighbour.hint == "Is it ever 0?" and not neighbour.unconfirmed, "nothing is added here, either"
    assert UNCONFIRMED not in text(neighbour) and "said about this answer" not in html(neighbour)
    assert not verdict_on(moved, lambda x, k: k * x).unconfirmed


@exercise(lambda x, mask=None: x if mask is None else x * mask, name="order_properties")
def masked(rng):
    yield call("no mask", rng.normal(3), public=True)
    for n in range(3):
        yield call(f"mask {n}", rng.normal(3), torch.arange(3) > n - 1, public=True)
    yield call("a long row without a mask", rng.normal(7))
    yield call("a long row with a mask", rng.normal(7), torch.arange(7) > 2)


@pytest.mark.parametrize(
    ("is_wrong", "unconfirmed"),
    [
        (lambda x, mask: mask is not None, False),
        (lambda x, mask: mask is not None or len(x) == 7, False),
        (lambda x, mask: mask is not None and len(x) == 3, True),
    ],
    ids=["so it is", "less is right", "more is right"],
)
def test_where_an_answer_is_right_is_taken_back_only_where_it_is_right_elsewhere(is_wrong, unconfirmed):
    def answer(x, mask=None):
        right = x if mask is None else x * mask
        return right.cos() + 5 if is_wrong(x, mask) else right

    in_public = judge(key_of(masked, public_only=True), lambda script: run(script, answer), 4)
    assert "right only where `mask` is not given" in text(in_public)
    assert verdict_on(masked, answer).unconfirmed == unconfirmed


@exercise(lambda n: {"even": n % 2 == 0, "prime": n in (2, 3, 5, 7)}, name="order_properties")
def kinds_of_numbers(rng):
    for n in (2, 7, 8, 9):
        yield call(f"the number {n}", n, public=True)


@kinds_of_numbers.misconception("Is 2 odd?")
def no_even_prime(n):
    return {"even": n % 2 == 0, "prime": n in (3, 5, 7)}


@kinds_of_numbers.misconception("Is 8 odd?")
def two_alone_is_even(n):
    return {"even": n == 2, "prime": n in (2, 3, 5, 7)}


@pytest.mark.parametrize(
    ("even", "prime", "named"),
    [
        (lambda n: n % 2 == 0, lambda n: n in (3, 5, 7), "no_even_prime"),
        (lambda n: n % 2 == 0, lambda n: False, ""),  # 7 is no prime either: it is not the even one that is missed
        (lambda n: n == 2, lambda n: n in (2, 3, 5, 7, 9), "two_alone_is_even"),  # and another mistake, elsewhere
    ],
)
def test_of_several_questions_a_mistake_explains_its_own_wherever_it_fails(even, prime, named):
    assert verdict_on(kinds_of_numbers, lambda n: {"even": even(n), "prime": prime(n)}).misconception == named


def test_a_changed_input_is_told():
    def in_place(x, W, b):
        result = cell(x, W, b)
        with torch.no_grad():
            x.mul_(2)
        return result

    assert "changed the input `x`" in verdict_on(sample, in_place).message


def test_forbidden_calls_are_read_from_source():
    verdict = verdict_on(sample, cell, source="from torch import softmax as s\ndef f(x): return s(x)")
    assert verdict.kind == "forbidden"
    assert verdict.message == "This exercise does not allow `s`. Build your answer from simpler operations"
    assert verdict_on(sample, cell, source="def f(self, x): return self.softmax(x)").kind == "passed"


class EqualToAll(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return torch.ones((), dtype=torch.bool)

    def __eq__(self, other):
        return True


@pytest.mark.parametrize(
    "answer",
    [
        lambda x, W, b: torch.zeros(x.shape[0], 5, dtype=x.dtype).as_subclass(EqualToAll),
        lambda x, W, b: type("Anything", (), {"__eq__": lambda self, other: True, "shape": (2, 5)})(),
    ],
)
def test_objects_that_claim_equality_gain_nothing(answer):
    assert verdict_on(sample, answer).score == 0


def test_an_error_alone_is_a_misconceptions_only_if_it_says_the_same():
    @exercise(cell, name="rnn_cell")
    def strict(rng):
        yield call("a small batch", rng.normal(2, 3), rng.normal(5, 3), rng.normal(5), public=True)

    @strict.misconception("Which axes meet?")
    def not_transposed(x, W, b):
        return torch.tanh(x @ W + b)

    def other_error(x, W, b):
        raise RuntimeError("out of ideas")

    assert verdict_on(strict, lambda x, W, b: x @ W).misconception == "not_transposed"
    assert verdict_on(strict, other_error).misconception == ""


def too_large(x, W):
    raise RuntimeError("too large")


def nothing_by_nothing(x, W):
    """Return the right values with the first number replaced by NaN."""
    values = torch.tanh(x @ W.T)
    return values.index_put((torch.tensor(0), torch.tensor(0)), torch.tensor(torch.nan).double())


@pytest.mark.parametrize("beyond", [too_large, nothing_by_nothing])
@pytest.mark.parametrize(("most", "named"), [(2, "no_bias"), (3, "")])
def test_a_mistake_is_known_though_up_to_half_of_it_ends_in_an_error_or_in_nan(beyond, most, named):
    @exercise(cell, name="rnn_cell")
    def several(rng):
        for batch in (2, 3, 5, 7):
            yield call(f"a batch of {batch}", rng.normal(batch, 3), rng.normal(5, 3), rng.normal(5))

    @several.misconception("What comes out for x = 0?")
    def no_bias(x, W, b):
        return torch.tanh(x @ W.T)

    def falls(x, W, b):
        return beyond(x, W) if len(x) in (7, 5, 3)[:most] else no_bias(x, W, b)

    assert verdict_on(several, falls).misconception == named


def test_what_cannot_be_examined_is_no_misconception_that_can():
    @exercise(cell, name="rnn_cell")
    def squashed(rng):
        case = call("a small batch", 100 * rng.normal(2, 3), rng.normal(5, 3), rng.normal(5), public=True)
        yield case.laws_only().law("bounded", low=-1.0, high=1.0)

    @squashed.misconception("How large may a state become?")
    def no_tanh(x, W, b):
        return x @ W.T + b

    assert verdict_on(squashed, lambda x, W, b: 2 * (x @ W.T + b)).misconception == "no_tanh"
    named = verdict_on(squashed, lambda x, W, b: "a state")
    assert not named.misconception and "which is a string" in named.message


def test_laws_alone_name_no_mistake_that_leaves_wrong_values_unexplained():
    @exercise(cell, name="rnn_cell")
    def both(rng):
        x, W, b = rng.normal(2, 3), rng.normal(5, 3), rng.normal(5)
        yield call("small inputs", x, W, b, public=True)
        yield call("large inputs", 100 * x, W, b, grad=False).laws_only().law("bounded", low=-1.0, high=1.0)

    @both.misconception("How large may a state become?")
    def grows_with_large_inputs(x, W, b):
        return cell(x, W, b) if x.abs().max() < 10 else x @ W.T

    assert verdict_on(both, grows_with_large_inputs).misconception == "grows_with_large_inputs"
    assert not verdict_on(both, lambda x, W, b: 3 * (x @ W.T)).misconception


def as_numbers(ids):
    return ids.double()


@exercise(as_numbers, name="rnn_cell")
def numbers(rng):
    yield call("whole numbers", rng.integers(1, 9, 4), public=True)


@numbers.misconception("Who asked for twice as much?")
def twice_as_much(ids):
    return 2 * ids.double()


def test_a_mistake_is_known_though_its_weights_may_learn():
    verdict = verdict_on(numbers, lambda ids: 2 * ids * torch.nn.Parameter(torch.ones(4, dtype=torch.float64)))
    assert verdict.misconception == "twice_as_much"


def test_a_gradient_that_is_asked_for_is_part_of_the_mistake():
    assert verdict_on(sample, lambda x, W, b: cell(x, W, b).detach()).misconception == ""


def test_chance_is_no_misconception_that_answers_the_same():
    @exercise(cell, name="rnn_cell")
    def steady(rng):
        x, W, b = rng.normal(2, 3), rng.normal(5, 3), rng.normal(5)
        twice = call("twice", x, W, b, public=True, grad=False).call(x, W, b, on="answer", into="again")
        yield twice.laws_only().law("repeats", to="again")
        yield call("large inputs", 100 * x, W, b, grad=False).laws_only().law("bounded", low=-1.0, high=1.0)

    @steady.misconception("How large may a state become?")
    def no_tanh(x, W, b):
        return x @ W.T + b

    assert verdict_on(steady, no_tanh).misconception == "no_tanh"
    wavering = verdict_on(steady, lambda x, W, b: 100 * torch.randn(len(x), len(b)))
    assert not wavering.misconception and "give different results" in wavering.message


def test_equal_seeds_give_equal_verdicts():
    first, second = verdict_on(sample, raising), verdict_on(sample, raising)
    assert (first.score, first.message, first.cases) == (second.score, second.message, second.cases)


def test_a_verdict_survives_as_plain_values():
    verdict = verdict_on(sample, raising)
    assert Verdict.from_dict(verdict.to_dict()) == verdict


def test_the_outputs_in_an_answer_key_answer_nothing_at_grading(tmp_path):
    write_key_file(tmp_path / "a.key", [sample])
    known = read_key_file(tmp_path / "a.key").exercises["rnn_cell"].cases

    def look_up(script):
        return known[0].expected

    assert judge(key_of(sample, 7), look_up, 4).score == 0


class Doubling(torch.nn.Module):
    def __init__(self, D):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.full((D,), 2.0))

    def forward(self, x):
        return x * self.weight, {"sum": x.sum(), "number": x.numel(), "shape": tuple(x.shape), "none": None}


@exercise(Doubling, name="doubling")
def doubled(rng):
    yield build("a model", 3).call(rng.normal(2, 3)).law("every_parameter_learns")
    yield build("its weights only", 3).call(rng.normal(1, 3)).laws_only().law("something_learns")
    yield build("no size", "three", raises="TypeError").call(rng.normal(1, 3))


@doubled.misconception("And what does weight do?")
def unchanged(D):
    class Unchanged(Doubling):
        def forward(self, x):
            return x, super().forward(x)[1]

    return Unchanged(D)


KEYS = [key_of(exercise, 7) for exercise in (sample, tosses, doubled)]


@pytest.mark.parametrize("key", KEYS, ids=[key.name for key in KEYS])
@given(data=st.data())
@settings(max_examples=200, derandomize=True)
def test_whatever_the_wire_accepts_has_a_verdict(key, data):
    """Reach a verdict always, because an error of the judge counts as a machine fault and is retried."""
    begun = data.draw(st.sampled_from([None, *(known.name for known in key.misconceptions)]))
    cases = iter(key.cases)

    def respond(script):
        held = next(cases)
        true = held.expected if begun is None else held.wrong(begun)
        return Recording.from_plain(unpack(pack(data.draw(recordings(true)).to_plain())))

    verdict = judge(key, respond, 4)
    assert 0 <= verdict.score <= 4 and verdict.kind != "not-graded"
    assert html(verdict) and text(verdict)
