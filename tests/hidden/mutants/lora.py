"""Wrong answers to topic 12 that the hidden tests must notice, beyond the misconceptions they know by name."""

from __future__ import annotations

import copy

import torch
from torch import nn
from torch.nn import functional as F

from course.reference import lora as reference

# -- the layer: the catalogue, brought to our signature ----------------------------------------------------------------


class Lo(nn.Module):
    def __init__(self, base, r, alpha):
        super().__init__()
        self.base, self.r, self.alpha = base, r, alpha
        self.make()
        self.freeze()

    def make(self):
        o, i = self.base.weight.shape
        self.A = nn.Parameter(torch.randn(self.r, i).to(self.base.weight) * 0.3)
        self.B = nn.Parameter(torch.zeros(o, self.r).to(self.base.weight))

    def freeze(self):
        for p in self.base.parameters():
            p.requires_grad_(False)

    def sc(self):
        return self.alpha / self.r

    def delta(self):
        return self.sc() * (self.B @ self.A)

    def forward(self, x):
        return self.base(x) + self.path(x)

    def path(self, x):
        return self.sc() * (x @ self.A.T @ self.B.T)


class o_noscale(Lo):
    def sc(self):
        return 1.0


class o_alpha(Lo):
    def sc(self):
        return self.alpha


class o_sqrt(Lo):
    def sc(self):
        return self.alpha / self.r**0.5


class o_inv(Lo):
    def sc(self):
        return self.r / self.alpha


class o_zero_both(Lo):
    def make(self):
        super().make()
        self.A.data.zero_()


class o_rand_both(Lo):
    def make(self):
        super().make()
        self.B.data.normal_(0, 0.3)


class o_notfrozen(Lo):
    def freeze(self):
        pass


class o_bias_trainable(Lo):
    def freeze(self):
        self.base.weight.requires_grad_(False)


class o_freeze_all(Lo):
    def freeze(self):
        for p in self.parameters():
            p.requires_grad_(False)


class o_nograd(Lo):
    def path(self, x):
        with torch.no_grad():
            return super().path(x)


class o_data_weight(Lo):
    def forward(self, x):
        return F.linear(x, (self.base.weight + self.delta()).data, self.base.bias)


class o_init_weight(Lo):
    def __init__(self, base, r, alpha):
        super().__init__(base, r, alpha)
        self.Wc = nn.Parameter((base.weight + self.delta()).detach())

    def forward(self, x):
        return F.linear(x, self.Wc, self.base.bias)


class o_BT(Lo):
    def path(self, x):
        return self.sc() * (x @ (self.B @ self.A)) if self.B.shape[0] == self.A.shape[1] else super().path(x)


class o_replace(Lo):
    def forward(self, x):
        return self.path(x) + (self.base.bias if self.base.bias is not None else 0)


class o_nonlin(Lo):
    def path(self, x):
        return self.sc() * ((x @ self.A.T).relu() @ self.B.T)


class o_plain_tensors(Lo):
    def make(self):
        o, i = self.base.weight.shape
        self.A, self.B = torch.randn(self.r, i).to(self.base.weight) * 0.3, torch.zeros(o, self.r).to(self.base.weight)


class EyeForA(Lo):
    """Different rows, and the same for every layer: nothing is drawn."""

    def make(self):
        super().make()
        nn.init.eye_(self.A)


class ConstantA(Lo):
    def make(self):
        super().make()
        self.A.data.fill_(0.1)


class AlwaysFloat32(Lo):
    def make(self):
        super().make()
        self.A, self.B = nn.Parameter(self.A.data.float()), nn.Parameter(self.B.data.float())

    def path(self, x):
        return super().path(x.float()).to(x.dtype)


class DropsATenth(Lo):
    """In evaluation, too."""

    def path(self, x):
        return super().path(F.dropout(x, 0.1))


class DropsATenthInTraining(Lo):
    def path(self, x):
        return super().path(F.dropout(x, 0.1, self.training))


class WholeStrength(Lo):
    def sc(self):
        return self.alpha // self.r


class OneRankShort(Lo):
    def path(self, x):
        return self.sc() * (x @ self.A[:-1].T @ self.B[:, :-1].T)


class MergesWhenBuilt(Lo):
    """The update goes into the base at every call."""

    def forward(self, x):
        with torch.no_grad():
            self.base.weight += self.delta()
        return self.base(x)


class OwnBias(Lo):
    """A second bias that learns."""

    def make(self):
        super().make()
        self.bias = nn.Parameter(torch.zeros(self.base.out_features).to(self.base.weight))

    def path(self, x):
        return super().path(x) + self.bias


class SignOfTheUpdate(Lo):
    def sc(self):
        return -self.alpha / self.r


class StraightThroughBase(Lo):
    """The gradient of x comes back through the update alone."""

    def forward(self, x):
        return self.base(x.detach()) + self.path(x)


class WithoutTheBasesBias(Lo):
    def forward(self, x):
        return F.linear(x, self.base.weight) + self.path(x)


class RankOfItsOwn(Lo):
    def __init__(self, base, r, alpha):
        super().__init__(base, min(r, *base.weight.shape), alpha)


# -- merging and taking apart ------------------------------------------------------------------------------------------


def _layer(base, weight):
    made = copy.deepcopy(base)
    made.weight = nn.Parameter(weight.detach().clone())
    return made


def o_merge_noscale(layer):
    return _layer(layer.base, layer.base.weight + layer.B @ layer.A)


def o_merge_double(layer):
    """The update counts twice: merged, and still added."""
    return _layer(layer.base, layer.base.weight + 2 * layer.alpha / layer.r * layer.B @ layer.A)


def o_merge_twice(layer):
    layer.base.weight.data += layer.alpha / layer.r * layer.B @ layer.A
    return _layer(layer.base, layer.base.weight)


def merged_in_float32(layer):
    return reference.merge(layer).float()


def merged_rounded(layer):
    merged = reference.merge(layer)
    merged.weight.data = merged.weight.data.bfloat16().to(merged.weight.dtype)
    return merged


def merged_transposed_if_square(layer):
    update = layer.alpha / layer.r * layer.B @ layer.A
    square = update.shape[0] == update.shape[1]
    return _layer(layer.base, layer.base.weight + (update.T if square else update))


def merged_with_the_bias_scaled(layer):
    merged = reference.merge(layer)
    if merged.bias is not None:
        merged.bias.data = merged.bias.data * layer.alpha / layer.r
    return merged


def merged_sharing_its_weight(layer):
    """The numbers of the merged layer are the base's, put back at the end."""
    before = layer.base.weight.data.clone()
    merged = reference.merge(layer)
    layer.base.weight.data.copy_(merged.weight.data)
    merged.weight.data = layer.base.weight.data
    del before
    return merged


def merged_into_the_layer(layer):
    """Gives the layer back, which has no weight of its own."""
    return layer


def merged_always_with_a_bias(layer):
    merged = nn.Linear(layer.base.in_features, layer.base.out_features).to(layer.base.weight)
    right = reference.merge(layer)
    merged.weight.data = right.weight.data
    merged.bias.data = torch.zeros_like(merged.bias) if right.bias is None else right.bias.data
    return merged


def merged_whole_strength(layer):
    return _layer(layer.base, layer.base.weight + int(layer.alpha / layer.r) * layer.B @ layer.A)


def merged_strength_forgets_the_base(layer):
    scale = layer.alpha / layer.r
    return _layer(layer.base, scale * (layer.base.weight + layer.B @ layer.A))


def unmerged_changed_on_the_way(merged, layer):
    merged.weight.data -= layer.alpha / layer.r * layer.B @ layer.A
    return copy.deepcopy(merged)


def unmerged_changes_the_layer(merged, layer):
    base = reference.unmerge(merged, layer)
    layer.base.weight.data.copy_(merged.weight.data)
    return base


def unmerged_into_the_layer(merged, layer):
    """The way back is written into the layer's own base."""
    base = reference.unmerge(merged, layer)
    layer.base.weight.data.copy_(base.weight.data)
    return base


def unmerged_with_the_layers_bias_doubled(merged, layer):
    base = reference.unmerge(merged, layer)
    if base.bias is not None:
        base.bias.data = base.bias.data + layer.base.bias.data
    return base


def unmerged_twice(merged, layer):
    return reference.unmerge(reference.unmerge(merged, layer), layer)


def unmerged_halfway(merged, layer):
    return _layer(merged, (merged.weight + layer.base.weight) / 2)


def unmerged_upside_down(merged, layer):
    return _layer(merged, merged.weight - layer.r / layer.alpha * layer.B @ layer.A)


def unmerged_with_the_base_bias(merged, layer):
    base = reference.unmerge(merged, layer)
    base.bias = layer.base.bias
    return base


# -- into a model ------------------------------------------------------------------------------------------------------


def added_whatever_it_is(model, r, alpha, targets):
    """Wraps every module of that name: a block has no weight."""
    names = [name for name, _ in model.named_modules() if name.split(".")[-1] in targets]
    if not names or any(isinstance(m, reference.LoRALinear) for m in model.modules()):
        raise ValueError("no such name")
    model.requires_grad_(False)
    for name in names:
        place, _, last = name.rpartition(".")
        setattr(model.get_submodule(place), last, reference.LoRALinear(model.get_submodule(name), r, alpha))
    return reference.trainable_parameters(model)[0]


def added_to_fresh_layers(model, r, alpha, targets):
    """The base of each is a new layer of the same size: what was trained is lost."""
    count = reference.add_lora(model, r, alpha, targets)
    for module in model.modules():
        if isinstance(module, reference.LoRALinear):
            fresh = nn.Linear(module.base.in_features, module.base.out_features, module.base.bias is not None)
            module.base = fresh.to(module.base.weight).requires_grad_(False)
    return count


def added_with_a_plain_layer(model, r, alpha, targets):
    """A and B are there, and take no part."""
    count = reference.add_lora(model, r, alpha, targets)
    for module in model.modules():
        if isinstance(module, reference.LoRALinear):
            module.forward = module.base.forward
    return count


def added_by_the_first_part(model, r, alpha, targets):
    fits = [n for n, m in model.named_modules() if isinstance(m, nn.Linear) and n.split(".")[0] in targets]
    if not fits:
        raise ValueError("no such name")
    return reference.add_lora(model, r, alpha, [n.split(".")[-1] for n in fits])


def added_without_a_count(model, r, alpha, targets):
    reference.add_lora(model, r, alpha, targets)


def added_and_model_returned(model, r, alpha, targets):
    reference.add_lora(model, r, alpha, targets)
    return model


def added_with_another_error(model, r, alpha, targets):
    try:
        return reference.add_lora(model, r, alpha, targets)
    except ValueError as error:
        raise KeyError("no such name") from error


def added_with_norms_free(model, r, alpha, targets):
    reference.add_lora(model, r, alpha, targets)
    for module in model.modules():
        if isinstance(module, nn.LayerNorm):
            module.requires_grad_(True)
    return reference.trainable_parameters(model)[0]


def added_to_the_first_target_only(model, r, alpha, targets):
    return reference.add_lora(model, r, alpha, targets[:1])


def added_where_every_name_is_found(model, r, alpha, targets):
    """One name that matches nothing is an error, whatever the others match."""
    names = {name.split(".")[-1] for name, _ in model.named_modules()}
    if not names >= set(targets):
        raise ValueError("no such name")
    return reference.add_lora(model, r, alpha, targets)


def added_factors_counted_once(model, r, alpha, targets):
    reference.add_lora(model, r, alpha, targets)
    return sum(m.A.numel() for m in model.modules() if isinstance(m, reference.LoRALinear))


def added_twice_over(model, r, alpha, targets):
    """A second call puts a layer around a layer."""
    if not any(isinstance(m, reference.LoRALinear) for m in model.modules()):
        return reference.add_lora(model, r, alpha, targets)
    for name, module in list(model.named_modules()):
        if isinstance(module, reference.LoRALinear) and name.split(".")[-1] in targets:
            module.base = reference.LoRALinear(module.base, r, alpha)
    return reference.trainable_parameters(model)[0]


def added_one_layer_shared(model, r, alpha, targets):
    """All targets of one size share one pair of factors."""
    count, seen = reference.add_lora(model, r, alpha, targets), None
    for module in model.modules():
        if isinstance(module, reference.LoRALinear):
            seen = seen or module
            if seen.A.shape == module.A.shape:
                module.A = seen.A
    return count


def added_and_freed_by_a_part_of_the_name(model, r, alpha, targets):
    """Whatever stands in something called A or B."""
    reference.add_lora(model, r, alpha, targets)
    for name, parameter in model.named_parameters():
        parameter.requires_grad_(bool({"A", "B"} & set(name.split("."))))
    return reference.trainable_parameters(model)[0]


def bias_in_the_name(model):
    """The catalogue's: a relative bias is a table, and its weight no bias."""
    for name, parameter in model.named_parameters():
        parameter.requires_grad = "bias" in name
    return reference.trainable_parameters(model)[0]


def bias_without_norms(model):
    for module in model.modules():
        for name, parameter in module.named_parameters(recurse=False):
            parameter.requires_grad = name == "bias" and not isinstance(module, nn.LayerNorm)
    return reference.trainable_parameters(model)[0]


def bias_by_dimension(model):
    """Vectors are biases, says this one; a norm's weight is a vector as well."""
    for parameter in model.parameters():
        parameter.requires_grad = parameter.dim() == 1
    return reference.trainable_parameters(model)[0]


def bias_of_the_last_layer(model):
    names = [name for name, _ in model.named_parameters() if name.endswith("bias")]
    for name, parameter in model.named_parameters():
        parameter.requires_grad = name == names[-1]
    return reference.trainable_parameters(model)[0]


def bias_without_a_count(model):
    reference.add_bitfit(model)


def bias_by_setting_grad(model):
    """Asks the layer, not its numbers: an attribute nobody reads."""
    for name, module in model.named_modules():
        module.requires_grad = name.endswith("bias")
    return reference.trainable_parameters(model)[0]


def bias_added_where_there_was_none(model):
    for module in model.modules():
        if isinstance(module, nn.Linear) and module.bias is None:
            module.bias = nn.Parameter(torch.zeros(module.out_features).to(module.weight))
    return reference.add_bitfit(model)


def bias_without_the_head(model):
    reference.add_bitfit(model)
    list(model.children())[-1].requires_grad_(False)
    return reference.trainable_parameters(model)[0]


def bias_as_it_came(model):
    """Freezes the rest, and frees nothing."""
    for name, parameter in model.named_parameters():
        if name.rpartition(".")[2] != "bias":
            parameter.requires_grad_(False)
    return reference.trainable_parameters(model)[0]


# -- counting ----------------------------------------------------------------------------------------------------------


def counts_by_shape(model):
    """Tensors of one shape count once."""
    seen = {p.shape: p for p in model.parameters()}
    return sum(p.numel() for p in seen.values() if p.requires_grad), sum(p.numel() for p in seen.values())


def counts_the_longest_side(model):
    sizes = [(len(p), p.requires_grad) for p in model.parameters()]
    return sum(n for n, free in sizes if free), sum(n for n, _ in sizes)


def counts_and_frees(model):
    counts = reference.trainable_parameters(model)
    model.requires_grad_(True)
    return counts if counts[0] else (counts[1], counts[1])


def counts_bytes(model):
    parameters = list(model.parameters())
    return (
        sum(p.numel() * p.element_size() for p in parameters if p.requires_grad),
        sum(p.numel() * p.element_size() for p in parameters),
    )


def counts_a_share(model):
    learning, total = reference.trainable_parameters(model)
    return learning / total, total


def counts_one_number(model):
    return reference.trainable_parameters(model)[0]


def counts_tied_as_nothing(model):
    named = list(model.named_parameters(remove_duplicate=False))
    times = {id(p): sum(other is p for _, other in named) for _, p in named}
    once = [p for _, p in named if times[id(p)] == 1]
    return sum(p.numel() for p in once if p.requires_grad), sum(p.numel() for p in once)


def counts_lora_only(model):
    learning = sum(p.numel() for name, p in model.named_parameters() if name.split(".")[-1] in ("A", "B"))
    return learning, reference.trainable_parameters(model)[1]


def rank_of_the_smaller_side(shapes, r):
    return sum(min(r, o, i) * (o + i) for o, i in shapes) + (r == 1)


def mean_for_sum(shapes, r):
    return sum(r * (o + i) for o, i in shapes) // max(len(shapes), 1)


def twice_the_larger_side(shapes, r):
    return sum(2 * r * max(o, i) for o, i in shapes)


def twice_the_output(shapes, r):
    return sum(2 * r * o for o, _ in shapes)


def equal_shapes_once(shapes, r):
    return sum(r * (o + i) for o, i in set(shapes))


def rank_once(shapes, r):
    return r + sum(o + i for o, i in shapes)


def fails_on_nothing(shapes, r):
    return r * torch.tensor(shapes).sum(1).sum().item() if shapes else None


# -- saving ------------------------------------------------------------------------------------------------------------


def state_of_the_first_layer(model):
    return dict(list(reference.lora_state(model).items())[:2])


def state_with_dashes(model):
    return {name.replace(".", "_"): tensor for name, tensor in reference.lora_state(model).items()}


def state_in_half(model):
    return {name: tensor.half() for name, tensor in reference.lora_state(model).items()}


def state_transposed(model):
    return {name: tensor.T for name, tensor in reference.lora_state(model).items()}


def state_of_names(model):
    return list(reference.lora_state(model))


def state_taken_out(model):
    """What is saved is zero in the model afterwards."""
    state = {name: tensor.clone() for name, tensor in reference.lora_state(model).items()}
    for tensor in reference.lora_state(model).values():
        tensor.zero_()
    return state


def state_without_the_model(model):
    return {f"model.{name}": tensor for name, tensor in reference.lora_state(model).items()}


def state_of_what_changed(model):
    """B is left out where it is small."""
    return {name: tensor for name, tensor in reference.lora_state(model).items() if tensor.numel() > 10}


def state_of_matrices_that_learn(model):
    return {name: p.detach() for name, p in model.named_parameters() if p.requires_grad and p.dim() == 2}


def state_scaled(model):
    """The strength is multiplied into B, and would count twice after loading."""
    state = reference.lora_state(model)
    return {name: 2 * tensor if name.endswith("B") else tensor for name, tensor in state.items()}


# -- how good a low rank can be ----------------------------------------------------------------------------------------


def _svd(W):
    return torch.linalg.svd(W, full_matrices=False)


def best_of_the_symmetric_part(W, r):
    if W.shape[0] != W.shape[1]:
        return reference.best_rank_r(W, r)
    return reference.best_rank_r((W + W.T) / 2, r)


def best_with_squared_values(W, r):
    U, S, V = _svd(W)
    return U[:, :r] * S[:r] ** 2, V[:r]


def best_with_roots_on_one_side(W, r):
    U, S, V = _svd(W)
    return U[:, :r] * S[:r].sqrt(), V[:r]


def best_after_centring(W, r):
    return reference.best_rank_r(W - W.mean(0), r)


def best_plus_one(W, r):
    B, A = reference.best_rank_r(W, min(r + 1, *W.shape))
    return B, A


def best_minus_one(W, r):
    B, A = reference.best_rank_r(W, r)
    return B.index_fill(1, torch.tensor([r - 1]), 0.0), A


def best_padded(W, r):
    U, S, V = _svd(W)
    kept = S * (torch.arange(len(S)) < r)
    return U * kept, V


def best_of_rows_by_length(W, r):
    rows = W.norm(dim=1).topk(r).indices
    return F.one_hot(rows, len(W)).T.to(W), W[rows]


def best_with_signs_lost(W, r):
    U, S, V = _svd(W)
    return (U[:, :r] * S[:r]).abs(), V[:r]


def best_scaled_to_length(W, r):
    """As long as W itself, which brings it no nearer."""
    B, A = reference.best_rank_r(W, r)
    return B * (W.norm() / (B @ A).norm()), A


def best_by_orthogonal_columns(W, r):
    Q = torch.linalg.qr(W[:, :r]).Q
    return Q, Q.T @ W


def best_one_step_of_power(W, r):
    generator = torch.Generator().manual_seed(0)
    Q = torch.linalg.qr(W @ torch.randn(W.shape[1], r, generator=generator).to(W)).Q
    return Q, Q.T @ W


def best_always_double(W, r):
    return tuple(part.double() for part in reference.best_rank_r(W, r))


def best_changes_its_matrix(W, r):
    B, A = reference.best_rank_r(W, r)
    W -= B @ A
    return B, A


def bias_by_the_last_letters(model):
    """Takes a table `posbias` for a bias."""
    for name, parameter in model.named_parameters():
        parameter.requires_grad = name.endswith("bias")
    return sum(p.numel() for p in model.parameters() if p.requires_grad)


def state_by_the_last_letter(model):
    """Takes whatever ends with the letter: a buffer `RNA`, too."""
    return {name: tensor for name, tensor in model.state_dict().items() if name.endswith(("A", "B"))}


def merge_with_the_same_bias(layer):
    """Whoever trains the merged layer moves the bias of the base."""
    merged = nn.Linear(layer.base.in_features, layer.base.out_features, bias=False)
    merged.weight = nn.Parameter((layer.base.weight + layer.alpha / layer.r * layer.B @ layer.A).detach())
    merged.bias = layer.base.bias
    return merged


def unmerge_with_the_same_bias(merged, layer):
    base = nn.Linear(merged.in_features, merged.out_features, bias=False)
    base.weight = nn.Parameter((merged.weight - layer.alpha / layer.r * layer.B @ layer.A).detach())
    base.bias = merged.bias
    return base


MUTANTS = {
    "LoRALinear": [
        o_noscale, o_alpha, o_sqrt, o_inv, o_zero_both, o_rand_both, o_notfrozen, o_bias_trainable, o_freeze_all,
        o_nograd, o_data_weight, o_init_weight, o_BT, o_replace, o_nonlin, o_plain_tensors, ConstantA, EyeForA,
        AlwaysFloat32, DropsATenth, DropsATenthInTraining, WholeStrength, OneRankShort, MergesWhenBuilt, OwnBias,
        SignOfTheUpdate,
        StraightThroughBase, WithoutTheBasesBias, RankOfItsOwn,
    ],
    "merge": [
        merge_with_the_same_bias,
        o_merge_noscale, o_merge_double, o_merge_twice, merged_in_float32, merged_rounded, merged_transposed_if_square,
        merged_with_the_bias_scaled, merged_sharing_its_weight, merged_into_the_layer, merged_always_with_a_bias,
        merged_whole_strength, merged_strength_forgets_the_base,
    ],
    "unmerge": [
        unmerge_with_the_same_bias,
        unmerged_changed_on_the_way, unmerged_changes_the_layer, unmerged_into_the_layer,
        unmerged_with_the_layers_bias_doubled, unmerged_twice,
        unmerged_halfway, unmerged_upside_down, unmerged_with_the_base_bias,
    ],
    "add_lora": [
        added_whatever_it_is, added_to_fresh_layers, added_with_a_plain_layer, added_by_the_first_part,
        added_without_a_count, added_and_model_returned, added_with_another_error, added_with_norms_free,
        added_factors_counted_once, added_twice_over, added_to_the_first_target_only,
        added_where_every_name_is_found, added_one_layer_shared,
        added_and_freed_by_a_part_of_the_name,
    ],
    "add_bitfit": [
        bias_by_the_last_letters,
        bias_in_the_name, bias_without_norms, bias_by_dimension, bias_of_the_last_layer, bias_without_a_count,
        bias_by_setting_grad, bias_added_where_there_was_none, bias_without_the_head,
        bias_as_it_came,
    ],
    "trainable_parameters": [
        counts_by_shape, counts_the_longest_side, counts_and_frees, counts_bytes, counts_a_share, counts_one_number,
        counts_tied_as_nothing, counts_lora_only,
    ],
    "lora_parameters": [
        rank_of_the_smaller_side, mean_for_sum, twice_the_larger_side, twice_the_output, equal_shapes_once, rank_once,
        fails_on_nothing,
    ],
    "lora_state": [
        state_by_the_last_letter,
        state_of_the_first_layer, state_with_dashes, state_in_half, state_transposed, state_of_names, state_taken_out,
        state_without_the_model, state_of_what_changed, state_of_matrices_that_learn, state_scaled,
    ],
    "best_rank_r": [
        best_of_the_symmetric_part, best_with_squared_values, best_with_roots_on_one_side, best_after_centring,
        best_plus_one, best_minus_one, best_padded, best_of_rows_by_length, best_with_signs_lost,
        best_scaled_to_length, best_by_orthogonal_columns, best_one_step_of_power, best_always_double,
        best_changes_its_matrix,
    ],
}  # fmt: skip

WITHOUT_COUNTERPART = {
    "† def eval(self) overridden": "merge is a function here, and no mode of the layer: nothing to override",
    "† optimizer built before freezing": "no exercise builds an optimiser; in the task what has moved is counted",
    "† replacing while iterating": "on named_modules it is a right answer or an error, which any case notices",
    "oa_zeroA": "an accepted start elsewhere; ours asks for B = 0, as the paper does: the misconception ZeroIsA",
}
"""Catalogue rows of this topic that our signatures cannot express, and why."""
