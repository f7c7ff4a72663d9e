"""Layers and models as stand-ins: sent as data, built anew for every run, and read back by name."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from course.exercise import Ref, call, given, stand_in
from course.exercise.runner import run
from course.exercise.script import Script
from course.exercise.stand_ins import make
from course.exercise.wire import pack, unpack

W, b = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), torch.tensor([1.0, 0.0, -1.0])
LINEAR = stand_in("linear", weight=W, bias=b)


def recorded(case, answer):
    script = Script.from_plain(unpack(pack(case.script().to_plain())))
    return run(script, answer)


def chained(**settings):
    words = stand_in("embedding", weight=torch.arange(10.0).view(5, 2))
    body = stand_in("chain", parts={"up": LINEAR, "norm": stand_in("layer_norm", weight=b, bias=b)})
    head = stand_in("linear", weight=torch.ones(2, 3))
    return stand_in("chain", parts={"words": words, "body": body, "head": head}, **settings)


def test_layers_have_the_numbers_described():
    layer = make(LINEAR)
    assert type(layer) is nn.Linear and (layer.in_features, layer.out_features) == (2, 3)
    assert torch.equal(layer.weight, W) and torch.equal(layer.bias, b)
    assert make(stand_in("linear", weight=W.double())).bias is None
    assert make(stand_in("linear", weight=W.double())).weight.dtype == torch.float64
    assert torch.equal(make(stand_in("embedding", weight=W))(torch.tensor([2])), W[2:])
    assert make(stand_in("layer_norm", weight=b)).bias is None


def test_a_described_layer_shares_nothing_with_its_description():
    with torch.no_grad():
        make(LINEAR).weight.zero_()
    assert W.sum() == 21


def test_models_are_named_modules_in_order():
    model = make(chained(frozen=("words.weight",), buffers={"mask": torch.ones(2)}))
    assert [name for name, _ in model.named_modules()] == ["", "words", "body", "body.up", "body.norm", "head"]
    assert [name for name, p in model.named_parameters() if not p.requires_grad] == ["words.weight"]
    assert dict(model.named_buffers()).keys() == {"mask"}
    assert model(torch.tensor([[0, 1, 2]])).shape == (1, 3, 2)


def test_a_parameter_of_no_part_has_its_own_name():
    model = make(chained(own={"posbias": torch.ones(2)}))
    assert dict(model.named_parameters())["posbias"].requires_grad
    assert "posbias" not in {name for name, _ in model.named_modules()}


def test_tied_weights_are_one():
    square = {"one": stand_in("linear", weight=torch.eye(2)), "two": stand_in("linear", weight=torch.ones(2, 2))}
    model = make(stand_in("chain", parts=square, tied={"two.weight": "one.weight"}))
    assert model.two.weight is model.one.weight
    assert len(list(model.parameters())) == 1


def test_an_adapted_layer_acts_with_the_weight_it_is_given():
    factors = {"A": torch.ones(1, 2), "B": torch.ones(3, 1), "r": 1, "alpha": 2.0}
    layer = make(stand_in("adapted", base=LINEAR, total=W + 2, **factors))
    assert torch.allclose(layer(torch.ones(2)), (W + 2).sum(1) + b)
    assert sorted(layer.state_dict()) == ["A", "B", "base.bias", "base.weight"]
    assert [name for name, p in layer.named_parameters() if p.requires_grad] == ["A", "B"]


def test_a_case_gives_a_model_and_reads_what_has_become_of_it():
    def double(model):
        model.body.up.bias.requires_grad_(False)
        with torch.no_grad():
            model.body.up.weight *= 2

    case = (
        given("doubled", model=chained())
        .call(Ref("model"), on="answer", into="out")
        .read("body.up.weight")
        .learning()
        .call(Ref("model"), on="answer", into="again")
        .read("body.up.weight", into="four times")
    )
    for _ in range(2):  # a run changes a model of its own
        out = recorded(case, double).outputs
        assert torch.equal(out["body.up.weight"], 2 * W) and torch.equal(out["four times"], 4 * W)
        assert out["what learns"] == {
            "words.weight": 10, "body.up.weight": 6, "body.norm.weight": 3, "body.norm.bias": 3, "head.weight": 6,
        }  # fmt: skip


def test_gradients_are_those_of_what_learns():
    case = given("frozen", model=chained(frozen=("words.weight", "body.up.weight")))
    case = case.call(torch.tensor([[0, 1, 2]]), on="model").gradients(wrt="parameters")
    learning = {"body.up.bias", "body.norm.weight", "body.norm.bias", "head.weight"}
    gradients = recorded(case, None).outputs["gradients of out"]
    assert {name for name, gradient in gradients.items() if gradient is not None} == learning
    assert gradients["words.weight"] is None and gradients["body.up.weight"] is None
    everything = tuple(name for name, _ in make(chained()).named_parameters())
    case = given("all frozen", model=chained(frozen=everything))
    case = case.call(torch.tensor([[0, 1, 2]]), on="model").gradients(wrt="parameters")
    assert recorded(case, None).outputs["gradients of out"] is None


def test_stand_ins_are_not_recorded_but_what_they_do_is():
    case = given("a layer", layer=LINEAR).call(torch.ones(2), on="layer")
    out = recorded(case, None).outputs
    assert set(out) == {"out"} and torch.allclose(out["out"], W.sum(1) + b)


@pytest.mark.parametrize("shapes", [((3, 1), (1, 2)), ((3, 2), (2, 2))])
def test_factors_are_multiplied_if_their_shapes_are_right(shapes):
    def split(matrix, r):
        return matrix[:, :r], torch.ones(r, 2)

    multiply = stand_in("product", B_shape=(3, 2), A_shape=(2, 2))
    case = given("split", multiply=multiply).call(W, shapes[1][0], Ref("answer"), on="multiply")
    seen = recorded(case, split)
    if shapes == ((3, 2), (2, 2)):
        assert torch.equal(seen.outputs["out"], W @ torch.ones(2, 2))
    else:
        assert seen.raised.name == "ValueError" and "(3, 1)" in seen.raised.message


def test_an_input_changed_on_the_way_through_a_stand_in_is_noticed():
    def split(matrix, r):
        matrix.zero_()
        return matrix, torch.ones(2, 2)

    multiply = stand_in("product", B_shape=(3, 2), A_shape=(2, 2))
    case = given("split", multiply=multiply).call(W, 2, Ref("answer"), on="multiply")
    assert recorded(case, split).mutated == ("out: 0",)
    assert recorded(call("plain", W, 2, grad=False), split).mutated == ("out: 0",)


class Sound(nn.Module):
    """A right LoRA layer that has one more attribute, `scaling`."""

    def __init__(self, base, r, alpha):
        super().__init__()
        self.base, self.r, self.alpha, self.scaling = base, r, alpha, alpha / r
        self.A, self.B = nn.Parameter(torch.zeros(r, 2)), nn.Parameter(torch.zeros(3, r))


class Exchanged(Sound):
    def __init__(self, base, r, alpha):
        super().__init__(base, r, alpha)
        self.A, self.B = self.B, self.A


class WithMore(Sound):
    def __init__(self, base, r, alpha):
        super().__init__(base, r, alpha)
        self.more = nn.Parameter(torch.zeros(1))


class Unfinished(nn.Module):
    def __init__(self, base, r, alpha):
        raise NotImplementedError


def adapted(kind):
    factors = {"A": torch.ones(1, 2), "B": torch.ones(3, 1), "r": 1, "alpha": 2.0}
    return stand_in("adapted", base=LINEAR, total=W + 2, kind=kind, **factors)


def test_an_adapted_layer_is_of_the_answers_own_class_if_that_is_sound():
    def answer(layer):
        return type(layer).__name__, layer.A + 0, [name for name, p in layer.named_parameters() if p.requires_grad]

    case = given("a layer", layer=adapted(Ref("Sound"))).call(Ref("layer"), on="answer")
    name, A, learning = recorded(case, answer).outputs["out"]
    assert name == "Sound" and torch.equal(A, torch.ones(1, 2)) and learning == ["A", "B"]


@pytest.mark.parametrize("name", ["Exchanged", "WithMore", "Unfinished", "W", "pytest", "nowhere to be found"])
def test_an_adapted_layer_is_the_judges_own_otherwise(name):
    case = given("a layer", layer=adapted(Ref(name))).call(torch.ones(2), on="layer")
    seen = recorded(case, lambda: None)
    assert torch.allclose(seen.outputs["out"], (W + 2).sum(1) + b) and seen.raised is None


def test_an_answer_that_is_no_function_has_nothing_beside_it():
    case = given("a layer", layer=adapted(Ref("Sound"))).call(torch.ones(2), on="layer")
    assert recorded(case, Sound).outputs["out"].shape == (3,)


def test_random_rows_follow_the_first_ones():
    first = torch.arange(6.0, dtype=torch.float64).view(3, 2)
    encode = make(stand_in("random_rows", first_rows=first))
    assert torch.equal(encode(5, 2)[:3], first) and encode(5, 2).shape == (5, 2)
    assert not torch.equal(encode(5, 2)[3:], encode(5, 2)[3:])
    assert make(stand_in("random_rows"))(4, 3).shape == (4, 3)


def test_blocks_that_an_answer_joins_are_looked_at_through_what_does_not_depend_on_the_largest_score():
    def merge(first, second):
        return first[0] + 7, second[1], second[2]

    x = torch.tensor([0.0, -torch.inf])
    first, second = (x, x, x[:, None]), (x, torch.tensor([2.0, 0.0]), torch.tensor([[6.0], [0.0]]))
    case = given("joined", look=stand_in("softmax_of_blocks")).call(Ref("answer"), first, second, on="look")
    mean, size = recorded(case, merge).outputs["out"]
    assert mean.tolist() == [[3.0], [0.0]] and size.tolist() == pytest.approx([7 + math.log(2), 0.0])


def test_an_earlier_result_is_looked_at_again():
    kept = torch.zeros(2)

    def writes(x):
        return kept.add_(x)

    case = given("again", look=stand_in("unchanged")).call(torch.ones(2), on="answer", into="first")
    case = case.call(torch.ones(2), on="answer", into="second").call(Ref("first"), on="look", into="first again")
    outputs = recorded(case, writes).outputs
    assert outputs["first"].tolist() == [1, 1] and outputs["first again"].tolist() == [2, 2]
