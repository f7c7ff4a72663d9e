"""Wrong answers to `accept_draft`: a beginner's first attempts, and others that no misconception knows by name."""

from __future__ import annotations

import torch

from course.reference.cost import accept_draft as right

# -- first attempts ----------------------------------------------------------------------------------------------------


def accepting(which=-1, stays=lambda p, q, u: u * q < p, chosen=lambda up_to, u: up_to > u * up_to[-1]):
    """An answer with this uniform number behind the guesses, this condition, and this choice of a token."""

    def accept(p, q, draft, uniforms):
        kept, weights = [], p[-1]
        for i, x in enumerate(draft.tolist()):
            if not stays(p[i, x], q[i, x], uniforms[i]):
                weights = (p[i] - q[i]).clamp(min=0)
                break
            kept.append(x)
        u = uniforms[len(kept) if which is None else which]
        return torch.tensor([*kept, int(chosen(weights.cumsum(0), u).int().argmax())])

    return accept


def guesses_alone(p, q, draft, uniforms):
    each = torch.arange(len(draft))
    return draft[uniforms[:-1] < p[each, draft] / q[each, draft]]


def dice_of_its_own(p, q, draft, uniforms):
    kept = right(p, q, draft, uniforms)[:-1]
    a = len(kept)
    weights = (p[a] - q[a]).clamp(min=0) if a < len(draft) else p[a]
    weights = weights if bool(weights.any()) else p[a]
    return torch.cat([kept, torch.multinomial(weights, 1, generator=torch.Generator().manual_seed(0))])


def likeliest_behind_them(p, q, draft, uniforms):
    a = len(right(p, q, draft, uniforms)) - 1
    weights = (p[a] - q[a]).clamp(min=0) if a < len(draft) else p[a]
    return torch.cat([draft[:a], weights.argmax()[None]])


def counts_those_that_stay_anywhere(p, q, draft, uniforms):
    each = torch.arange(len(draft))
    a = int((uniforms[:-1] * q[each, draft] < p[each, draft]).sum())
    up_to = ((p[a] - q[a]).clamp(min=0) if a < len(draft) else p[a]).cumsum(0)
    return torch.cat([draft[:a], (up_to > uniforms[-1] * up_to[-1]).int().argmax()[None]])


FIRST_ATTEMPTS = {
    guesses_alone: "expected the shape (2,), got (1,)",
    dice_of_its_own: "guesses of a model that agrees",
    likeliest_behind_them: "guesses of a model that agrees",
    counts_those_that_stay_anywhere: "the worked example",
}

# -- others ------------------------------------------------------------------------------------------------------------

own_uniform = accepting(which=None)
weights_not_divided = accepting(chosen=lambda up_to, u: up_to > u)
chosen_at_nought = accepting(chosen=lambda up_to, u: up_to >= u * up_to[-1])
stays_if_equal = accepting(stays=lambda p, q, u: u * q <= p)
stays_if_p_likes_it_more = accepting(stays=lambda p, q, u: p >= q)

MUTANTS = [own_uniform, weights_not_divided, chosen_at_nought, stays_if_equal, stays_if_p_likes_it_more]
