"""Hidden tests of `interpolate_positions`, which fits learned positional embeddings to another grid."""

import torch
from torch.nn import functional as F

from course.exercise import call, exercise, noncontiguous
from course.reference import vit_patches as reference


@exercise(
    reference.interpolate_positions,
    hints=(
        "How many rows does the result have for a grid of 5 × 7? Which of them belongs to no patch?",
        "Fill column 0 of positions with the number of the patch's row, and lay the result out as (height, width). "
        "What should you see along a row, and down a column?",
        "Begin by setting aside the row that belongs to no patch, and work out the side of the old grid. "
        "F.interpolate reads (B, C, H, W). Which of your axes are H and W, and which one is C? Print the shape that "
        "you hand over.",
    ),
)
def interpolate_positions(rng):
    """Bilinear or bicubic, with or without aligned corners. Only what every such interpolation keeps is compared.

    The embeddings were learned before, so no gradient has to flow through.

    A grid of the same size, embeddings that are all alike, embeddings that change in one direction only, and points of
    the old grid that lie on a point of the new one however its corners are aligned.
    """

    def alike(side, D, **options):
        rows = rng.normal(2, D, **options)
        return rows[[0, *[1] * side**2]]

    def one_way(side, D, axis):
        """Embeddings that rise from patch to patch along one axis of the grid."""
        along = torch.arange(side, dtype=torch.float64) + rng.uniform(1, low=1.0, high=2.0)
        steps = rng.uniform(D, low=0.5, high=1.5)
        grid = along[:, None].expand(side, side) if axis == 0 else along.expand(side, side)
        return torch.cat([rng.normal(1, D), grid.reshape(-1, 1) * steps])

    def moved(title, positions, grid, **options):
        N = grid[0] * grid[1]
        return (
            call(title, positions, grid, grad=False, **options)
            .laws_only()
            .law("shape_is", shape=(N + 1, positions.shape[1]))
            .law("row_is", row=0, value=positions[0], because="the [CLS] token's row should stay first, and as it is")
        )

    same = call("the same grid", rng.normal(10, 5), (3, 3), public=True, grad=False)
    yield same.counts_with("patches that are all alike")
    yield call("patches that are all alike", alike(3, 5), (5, 7), public=True, grad=False)
    for axis, grid, public in ((1, (5, 7), True), (0, (5, 5), True), (0, (7, 5), False), (1, (7, 4), False)):
        across = "across" if axis else "down"
        yield (
            moved(f"embeddings that change only {across}", one_way(3, 4, axis), grid, public=public)
            .law("grid_is_constant", grid=grid, axis=1 - axis,
                 because=f"the embeddings change only {across} the image. Laid out as (height, width), yours do not")
            .law("grid_rises", grid=grid, axis=axis,
                 because=f"the embeddings rise {across} the image, and some neighbours of yours are alike")
        )  # fmt: skip
    some = rng.normal(10, 5)
    yield (
        moved("more columns, as many rows", some, (3, 7), public=True)
        .law(
            "row_is", row=1 + 3, value=some[1 + 1], because="the middle of the top row stays the middle of the top row"
        )
        .law("row_is", row=1 + 7 + 3, value=some[1 + 4], because="the middle of the grid stays the middle of the grid")
    )
    yield (
        moved("the middle stays the middle", some, (5, 7))
        .law("row_is", row=1 + 2 * 7 + 3, value=some[1 + 4], because="the middle of the grid moves")
    )  # fmt: skip
    yield call("fewer patches", alike(5, 3), (3, 2), grad=False)
    yield call("a single patch", alike(1, 3), (2, 3), grad=False, weight=0.5)
    yield call("thirteen rows become fifteen", alike(13, 2), (15, 15), grad=False)  # 13 · (15 / 13) is 14.999...
    for title, rows, grid, public in (
        ("float32", rng.normal(17, 3, dtype=torch.float32), (4, 4), False),
        ("memory that is not contiguous", noncontiguous(rng.normal(26, 3)), (5, 5), True),
    ):
        yield call(title, rows, grid, public=public, grad=False).counts_with("patches that are all alike")


def _drawn_out(rows, grid, mode="bicubic"):
    """The embeddings (side·side, D) of a square grid on another one: (height·width, D)."""
    side = round(len(rows) ** 0.5)
    picture = rows.T.reshape(1, -1, side, side)
    return F.interpolate(picture, size=tuple(grid), mode=mode, align_corners=False)[0].flatten(1).T


def _with_class_row(place):
    """The answer that gets the patches' embeddings by `place(rows, grid)`, and keeps the [CLS] token's row."""
    return lambda positions, new_grid: torch.cat([positions[:1], place(positions[1:], new_grid)])


def _last_row_first(mode):
    return lambda positions, new_grid: torch.cat([positions[-1:], _drawn_out(positions[:-1], new_grid, mode)])


def _last_row_last(mode):
    return lambda positions, new_grid: torch.cat([_drawn_out(positions[:-1], new_grid, mode), positions[-1:]])


def _read_as_columns(mode):
    """The rows (N, D) read as (D, N), in memory's order."""
    return _with_class_row(lambda rows, grid: _drawn_out(rows.reshape(rows.shape[1], -1).T, grid, mode))


interpolate_positions.mistakes(
    "How many rows does the result have, and how many tokens does the sequence have?",
    class_row_lost=lambda positions, new_grid: _drawn_out(positions[1:], new_grid),
)
interpolate_positions.mistakes(
    "Which row of positions belongs to the [CLS] token, before and after?",
    class_row_moved_to_the_end=lambda positions, new_grid: torch.cat(
        [_drawn_out(positions[1:], new_grid), positions[:1]]
    ),
)
interpolate_positions.mistakes(
    "Which row of positions does embed_patches add to the [CLS] token?",
    last_row_taken_for_the_class_word=_last_row_first("bicubic"),
    last_row_kept_as_the_class_word=_last_row_last("bicubic"),
    last_row_taken_in_straight_lines=_last_row_first("bilinear"),
    last_row_kept_in_straight_lines=_last_row_last("bilinear"),
)
interpolate_positions.mistakes(
    "new_grid is (height, width). Lay your result out that way. Which patches stand side by side?",
    height_and_width_exchanged=_with_class_row(lambda rows, grid: _drawn_out(rows, grid[::-1])),
)
interpolate_positions.mistakes(
    "Patch 3 of a 3 × 3 grid begins a new row. In your result, what lies between patches 2 and 3?",
    drawn_out_as_one_long_row=_with_class_row(
        lambda rows, grid: F.interpolate(rows.T[None], size=grid[0] * grid[1], mode="linear", align_corners=False)[0].T
    ),
)
interpolate_positions.mistakes(
    "Let all patches have the same positional embedding. Do its D numbers stay together?",
    columns_taken_for_places=_read_as_columns("bicubic"),
    columns_taken_for_places_in_straight_lines=_read_as_columns("bilinear"),
)
interpolate_positions.mistakes(
    "Let all patches have the same positional embedding. Is every row of your result equal to it?",
    places_written_as_columns=_with_class_row(
        lambda rows, grid: _drawn_out(rows, grid).T.reshape(grid[0] * grid[1], -1)
    ),
)
