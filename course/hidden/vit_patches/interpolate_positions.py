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
    tolerance=1e-4,  # places on the grid may be computed in single precision,
    calls=(
        "interpolate_positions(tensor([[9.], [1.], [1.], [1.], [1.]]), (3, 3))",
        "interpolate_positions(tensor([[9.], [1.], [2.], [3.], [4.]]), (2, 2))",
        "interpolate_positions(tensor([[9.], [5.]]), (2, 2))",
        "interpolate_positions(tensor([[9.], [5.]]), (1, 3))",
        "interpolate_positions(numbers(10, 4), (2, 5)).shape",
        "interpolate_positions(numbers(5, 3), (1, 1)).shape",
    ),
)
def interpolate_positions(rng):
    """Bilinear, as the example in the text. No gradient has to flow through, since the embeddings were learned before.

    A grid never shrinks, because there an antialiased picture is as right as another.
    """

    def asked(title, rows, grid, **options):
        return call(title, rows, grid, grad=False, **options)

    wide = asked("five rows, seven columns", rng.normal(10, 5), (5, 7), public=True, weight=3.0)
    yield wide
    yield asked("more columns, as many rows", rng.normal(10, 5), (3, 7), public=True, weight=2.0)
    yield asked("more rows, as many columns", rng.normal(17, 3), (7, 4), weight=2.0)
    yield asked("the same grid", rng.normal(10, 5), (3, 3), public=True).counts_with(wide.title)
    yield asked("a single patch", rng.normal(2, 3), (2, 3), weight=0.5)
    yield asked("thirteen rows become fifteen", rng.normal(170, 2), (15, 15))  # 13 · (15 / 13) is 14.999...
    yield asked("float32", rng.normal(17, 3, dtype=torch.float32), (5, 4))
    yield asked("memory that is not contiguous", noncontiguous(rng.normal(26, 3)), (7, 5), public=True)


def _drawn_out(rows, grid, mode="bilinear", **options):
    """The embeddings (side·side, D) of a square grid on another one: (height·width, D)."""
    side = round(len(rows) ** 0.5)
    picture = rows.T.reshape(1, -1, side, side)
    return F.interpolate(picture, size=tuple(grid), mode=mode, **options)[0].flatten(1).T


def _with_class_row(place):
    """The answer that gets the patches' embeddings by `place(rows, grid)`, and keeps the [CLS] token's row."""
    return lambda positions, new_grid: torch.cat([positions[:1], place(positions[1:], new_grid)])


interpolate_positions.misconception(
    "Enlarge the row 0, 4 of the text to four values. Do 0, 1, 3 and 4 come out?",
    convention="corners aligned, so that the first and the last patch stay at the border",
    name="corners_aligned",
)(_with_class_row(lambda rows, grid: _drawn_out(rows, grid, align_corners=True)))
interpolate_positions.misconception(
    "Enlarge the row 0, 4 of the text to four values. Do 0, 1, 3 and 4 come out?",
    convention="bicubic interpolation, as in many Vision Transformers",
    name="bicubic",
)(_with_class_row(lambda rows, grid: _drawn_out(rows, grid, "bicubic")))
interpolate_positions.mistakes(
    "Enlarge the row 0, 4 of the text to four values. Do yours hold anything between 0 and 4?",
    nearest_value_copied=_with_class_row(lambda rows, grid: _drawn_out(rows, grid, "nearest")),
)
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
    "new_grid is (height, width). Lay your result out that way. Which patches stand side by side?",
    height_and_width_exchanged=_with_class_row(lambda rows, grid: _drawn_out(rows, grid[::-1])),
)
interpolate_positions.mistakes(
    "Patch 3 of a 3 × 3 grid begins a new row. In your result, what lies between patches 2 and 3?",
    drawn_out_as_one_long_row=_with_class_row(
        lambda rows, grid: F.interpolate(rows.T[None], size=grid[0] * grid[1], mode="linear")[0].T
    ),
)
interpolate_positions.mistakes(
    "Let all patches have the same positional embedding. Do its D numbers stay together?",
    columns_taken_for_places=_with_class_row(lambda rows, grid: _drawn_out(rows.reshape(rows.shape[1], -1).T, grid)),
)
