"""The references of topic 20 against the models that they look into, and against worked examples."""

from __future__ import annotations

import pytest
import torch
from torch import nn, tensor

from course import blocks
from course.reference.inside import (
    SparseAutoencoder,
    calibration_error,
    choose_by_likelihood,
    control_labels,
    direct_attribution,
    induction_score,
    logit_lens,
    patch,
    wilson_interval,
)


@pytest.fixture
def model():
    torch.manual_seed(0)
    return blocks.OpenGPT(20, 16, 2, 4, 2, 24).double().eval()


IDS = torch.randint(20, (2, 9), generator=torch.Generator().manual_seed(1))


def watched(model, modules):
    seen = []
    handles = [module.register_forward_hook(lambda module, given, output: seen.append(output)) for module in modules]
    with torch.no_grad():
        logits, _ = model(IDS)
    for handle in handles:
        handle.remove()
    return logits, torch.stack(seen)


def test_an_open_model_says_what_a_closed_one_says_also_behind_a_cache(model):
    closed = blocks.GPT(20, 16, 2, 4, 2, 24).double().load_published(model.state_dict())
    assert torch.allclose(model(IDS)[0], closed(IDS)[0])
    _, cache = model(IDS[:, :5])
    assert torch.allclose(model(IDS[:, 5:], cache)[0], closed(IDS)[0][:, 5:])


def test_the_lens_behind_the_last_layer_is_the_model(model):
    logits, (stream,) = watched(model, [model.stream])
    assert torch.allclose(logit_lens(stream, model.norm.weight, model.words.weight), logits)


def test_shares_of_all_parts_add_up_to_the_models_logits(model):
    added = [part for layer in model.layers for part in (*layer.added, layer.fed)]
    logits, parts = watched(model, [model.embedding, *added])
    right, wrong = IDS, (IDS + 1) % 20
    shares = direct_attribution(parts, model.norm.weight, model.words.weight, right, wrong)
    lead = logits.gather(-1, right[..., None]) - logits.gather(-1, wrong[..., None])
    assert torch.allclose(shares.sum(0), lead.squeeze(-1))


def test_induction_scores_of_the_worked_examples():
    attention = torch.zeros(1, 1, 5, 5)
    attention[0, 0, 3, :4], attention[0, 0, 4] = tensor([0.1, 0.6, 0.1, 0.2]), tensor([0.1, 0.2, 0.5, 0.1, 0.1])
    assert induction_score(attention, tensor([[0, 1, 2, 0, 1]])).tolist() == pytest.approx([0.55])
    assert induction_score(attention, torch.arange(5)[None]).tolist() == [0.0]


def test_a_patched_stream_is_the_other_runs(model):
    other = (IDS + 3) % 20
    _, (stream,) = watched(model, [model.stream])
    logits, _ = patch(model, model.stream, other, stream, tensor(True))
    assert torch.allclose(logits, model(IDS)[0])
    assert torch.allclose(patch(model, model.stream, other, stream, tensor(False))[0], model(other)[0])


def test_control_labels_keep_the_tokens_of_a_word_together():
    words, labels = tensor([3, 1, 3, 3, 1]), tensor([0, 1, 0, 0, 1])
    drawn = torch.stack([control_labels(words, labels, torch.Generator().manual_seed(i)) for i in range(50)])
    assert bool((drawn[:, [0, 0, 1]] == drawn[:, [2, 3, 4]]).all()) and len(drawn.unique(dim=0)) == 4


def test_a_feature_halved_with_its_column_doubled_changes_nothing():
    torch.manual_seed(0)
    model, x = SparseAutoencoder(5, 7).double(), torch.randn(11, 5).double()
    before = model(x)[0], model.loss(x, 0.3)
    with torch.no_grad():
        model.W_enc[2] /= 2
        model.b_enc[2] /= 2
        model.W_dec[:, 2] *= 2
    assert torch.allclose(model(x)[0], before[0]) and torch.allclose(model.loss(x, 0.3), before[1])


def test_probabilities_of_all_choices_of_one_token_sum_to_one(model):
    best, scores = choose_by_likelihood(model, IDS[0], [tensor([token]) for token in range(20)])
    assert scores.exp().sum().item() == pytest.approx(1.0) and best == int(scores.argmax())


def test_wilsons_ends_are_z_standard_errors_away():
    for right, n in ((7, 10), (0, 10), (10, 10), (870, 1000)):
        for q in wilson_interval(right, n):
            assert abs(right / n - q) == pytest.approx(1.96 * (q * (1 - q) / n) ** 0.5, abs=1e-8)


def test_a_calibration_error_of_the_worked_example():
    confidence = tensor([0.95, 0.92, 0.98, 0.55, 0.57], dtype=torch.float64)
    assert calibration_error(confidence, tensor([True, True, False, True, False])) == pytest.approx(0.194)


def test_impossible_input_is_refused(model):
    one, gamma = torch.ones(1, 3), torch.ones(3)
    for wrong in (
        lambda: logit_lens(one, gamma, torch.ones(4, 2)),
        lambda: direct_attribution(torch.ones(2, 5, 3), gamma, torch.ones(4, 3), tensor([1])),
        lambda: choose_by_likelihood(model, IDS[0], []),
        lambda: wilson_interval(3, 2),
    ):
        with pytest.raises(ValueError, match=r"cannot be|for parts|an empty"):
            wrong()


def test_a_hook_is_gone_after_an_error():
    layer = nn.Linear(2, 2)
    with pytest.raises(RuntimeError):
        patch(layer, layer, torch.ones(1, 3), tensor(0.0), tensor(True))
    assert not layer._forward_hooks
