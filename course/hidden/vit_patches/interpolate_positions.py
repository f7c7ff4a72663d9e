"""Hidden tests of `interpolate_positions`."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from course.exercise import call, exercise, noncontiguous
from course.reference import vit_patches as reference


@exercise(
    reference.interpolate_positions,
    hints=(
        "How many rows has the result for a grid of 5 × 7? Which of them have nothing to do with places in the image?",
        "Fill column 0 of positions with the number of the patch's row, and lay the result out as (height, width).",
        "F.interpolate reads (B, C, H, W). Which of your axes are H and W, and what plays the channels?",
    ),
)
def interpolate_positions(rng):
    """Bilinear, bicubic, with or without aligned corners: compared is what every such interpolation keeps.

    What is drawn larger are weights that were learned: whether a gradient flows through is not asked.

    A grid of the same size, marks that are all alike, marks that change in one direction only; and points of the old
    grid that lie on a point of the new one however its corners are aligned.
    """

    def alike(side, D, **options):
        rows = rng.normal(2, D, **options)
        return rows[[0, *[1] * side**2]]

    def one_way(side, D, axis):
        """Marks that rise from patch to patch along one axis of the grid."""
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
            .law("row_is", row=0, value=positions[0], because="the class word's row should stay first, and as it is")
        )

    same = call("the same grid", rng.normal(10, 5), (3, 3), public=True, grad=False)
    yield same.counts_with("patches that are all alike")
    yield call("patches that are all alike", alike(3, 5), (5, 7), public=True, grad=False)
    for axis, grid, public in ((1, (5, 7), True), (0, (5, 5), True), (0, (7, 5), False), (1, (7, 4), False)):
        across = "across" if axis else "down"
        yield (
            moved(f"marks that change only {across}", one_way(3, 4, axis), grid, public=public)
            .law("grid_is_constant", grid=grid, axis=1 - axis,
                 because=f"the marks change only {across} the image; laid out as (height, width), yours do otherwise")
            .law("grid_rises", grid=grid, axis=axis,
                 because=f"the marks rise {across} the image; some neighbours of yours are alike")
        )  # fmt: skip
    some = rng.normal(10, 5)
    yield (
        moved("more columns, as many rows", some, (3, 7))
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


def _drawn_out(positions, grid, mode="bicubic"):
    """The patches' rows alone, as they should be: (height·width, D)."""
    return _stretched(positions[1:].T, grid, mode)


def _stretched(columns, grid, mode="bicubic"):
    """What a picture (D, height·width) of whatever makes it up becomes on another grid: (height·width, D)."""
    side = round(columns.numel() ** 0.5 / len(columns) ** 0.5)
    picture = columns.reshape(1, -1, side, side)
    options = {} if mode == "nearest" else {"align_corners": False}
    return F.interpolate(picture, size=tuple(grid), mode=mode, **options)[0].flatten(1).T


@interpolate_positions.misconception("How many rows has the result, and how many words has the sequence?")
def class_row_lost(positions, new_grid):
    return _drawn_out(positions, new_grid)


@interpolate_positions.misconception("Which row of positions belongs to the class word, before and after?")
def class_row_moved_to_the_end(positions, new_grid):
    return torch.cat([_drawn_out(positions, new_grid), positions[:1]])


@interpolate_positions.misconception("Which row of positions does embed_patches add to the class word?")
def last_row_taken_for_the_class_word(positions, new_grid):
    return torch.cat([positions[-1:], _drawn_out(positions.roll(1, 0), new_grid)])


@interpolate_positions.misconception("Which row of positions does embed_patches add to the class word?")
def last_row_kept_as_the_class_word(positions, new_grid):
    return torch.cat([_drawn_out(positions.roll(1, 0), new_grid), positions[-1:]])


@interpolate_positions.misconception("Which row of positions does embed_patches add to the class word?")
def last_row_taken_in_straight_lines(positions, new_grid):
    return torch.cat([positions[-1:], _drawn_out(positions.roll(1, 0), new_grid, "bilinear")])


@interpolate_positions.misconception("Which row of positions does embed_patches add to the class word?")
def last_row_kept_in_straight_lines(positions, new_grid):
    return torch.cat([_drawn_out(positions.roll(1, 0), new_grid, "bilinear"), positions[-1:]])


@interpolate_positions.misconception("The class word stands nowhere in the image. Should its row change?")
def class_row_averaged(positions, new_grid):
    return torch.cat([positions.mean(0, keepdim=True), _drawn_out(positions, new_grid)])


@interpolate_positions.misconception(
    "new_grid is (height, width). Lay your result out that way: who stands beside whom?"
)
def height_and_width_exchanged(positions, new_grid):
    return torch.cat([positions[:1], _drawn_out(positions, (new_grid[1], new_grid[0]))])


@interpolate_positions.misconception(
    "Patch 3 of a 3 × 3 grid begins a new row. In your result, what lies between patches 2 and 3?"
)
def drawn_out_as_one_long_row(positions, new_grid):
    row = positions[1:].T[None]  # (1, D, N)
    longer = F.interpolate(row, size=new_grid[0] * new_grid[1], mode="linear", align_corners=False)[0].T
    return torch.cat([positions[:1], longer])


@interpolate_positions.misconception("The class word's row is no neighbour of the first patch. What did you draw out?")
def class_row_drawn_out_with_the_rest(positions, new_grid):
    row = positions.T[None]
    return F.interpolate(row, size=new_grid[0] * new_grid[1] + 1, mode="linear", align_corners=True)[0].T


@interpolate_positions.misconception(
    "Are two neighbours in your new grid ever exactly alike? Between two marks lie others."
)
def nearest_mark_copied(positions, new_grid):
    return torch.cat([positions[:1], _drawn_out(positions, new_grid, mode="nearest")])


@interpolate_positions.misconception("Let all patches have the same mark. Do D numbers of one mark stay together?")
def columns_taken_for_places(positions, new_grid):
    return torch.cat([positions[:1], _stretched(_read_as_columns(positions[1:]), new_grid)])


@interpolate_positions.misconception("Let all patches have the same mark. Do D numbers of one mark stay together?")
def columns_taken_for_places_in_straight_lines(positions, new_grid):
    return torch.cat([positions[:1], _stretched(_read_as_columns(positions[1:]), new_grid, "bilinear")])


@interpolate_positions.misconception(
    "Number the patches of a 3 × 3 grid as patchify does. Which of them stands below patch 0, and which one in yours?"
)
def grid_laid_on_its_side(positions, new_grid):
    turned = positions[1:].T.unflatten(1, (round((len(positions) - 1) ** 0.5), -1)).mT
    return torch.cat([positions[:1], _stretched(turned.flatten(1), new_grid)])


@interpolate_positions.misconception("Let all patches have the same mark. Is every row of your result that mark?")
def places_written_as_columns(positions, new_grid):
    longer = _drawn_out(positions, new_grid)
    return torch.cat([positions[:1], longer.T.reshape(longer.shape)])


def _read_as_columns(rows):
    """(N, D) read as (D, N), in memory's order."""
    return rows.reshape(rows.shape[1], -1)
