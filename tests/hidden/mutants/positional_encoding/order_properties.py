"""Wrong answers to `order_properties` that no misconception knows by name."""

from __future__ import annotations

import torch

from course.reference import positional_encoding as reference


def unique_in_a_run_twice_as_long(encode, n, d):
    found = reference.order_properties(encode, n, d)
    if found["any_length"]:
        found["unique"] = len(torch.unique(encode(2 * n, d), dim=0)) == 2 * n
    return found


def bounded_at_the_last_place(encode, n, d):
    return reference.order_properties(encode, n, d) | {"bounded": bool(encode(n, d)[-1].abs().max() < 3)}


def some_number_is_deterministic(encode, n, d):
    right = reference.order_properties(encode, n, d)
    return right | {"deterministic": bool((encode(n, d) == encode(n, d)).any())}


def relative_in_the_first_half(encode, n, d):
    rows, half = encode(n, d), n // 2
    M = torch.linalg.pinv(rows[:half]) @ rows[1 : half + 1]
    fits = torch.allclose(rows[:half] @ M, rows[1 : half + 1], atol=1e-4)
    return reference.order_properties(encode, n, d) | {"relative": fits}


def relative_in_the_first_column(encode, n, d):
    rows = encode(n, d)
    found = rows[:-1] @ torch.linalg.pinv(rows[:-1]) @ rows[1:]
    fits = torch.allclose(found[:, 0], rows[1:, 0], atol=1e-4)
    return reference.order_properties(encode, n, d) | {"relative": fits}


def relative_means_equal_dot_products(encode, n, d):
    rows = encode(n, d)
    dots = (rows[1:] * rows[:-1]).sum(-1)
    return reference.order_properties(encode, n, d) | {"relative": torch.allclose(dots, dots[:1], atol=1e-4)}


def only_compared_with_the_first(encode, n, d):
    rows = encode(n, d)
    unique = bool((rows[1:] - rows[0]).abs().amax(1).min() > 1e-4)
    return reference.order_properties(encode, n, d) | {"unique": unique}


def a_map_that_goes_back(encode, n, d):
    rows = encode(n, d)
    fits = torch.allclose(rows[1:] @ torch.linalg.pinv(rows[1:]) @ rows[:-1], rows[:-1], atol=1e-4)
    return reference.order_properties(encode, n, d) | {"relative": fits}


def bounded_above_only(encode, n, d):
    return reference.order_properties(encode, n, d) | {"bounded": bool(encode(n, d).max() < 3)}


MUTANTS = [
    unique_in_a_run_twice_as_long,
    bounded_at_the_last_place,
    some_number_is_deterministic,
    relative_in_the_first_half,
    relative_in_the_first_column,
    relative_means_equal_dot_products,
    only_compared_with_the_first,
    a_map_that_goes_back,
    bounded_above_only,
]
