"""Hidden tests of `warmup_schedule`: the rise, the peak and the fall of the learning rate."""

from course.exercise import call, exercise
from course.reference import encoder_decoder as reference


@exercise(
    reference.warmup_schedule,
    hints=(
        "At which step are the two terms equal? Compute both by hand there, one before it and one after. Which is "
        "smaller where?",
        "Begin with two variables, one for each term in the brackets. Print them for the steps 1, 125, 250 and 1000, "
        "with a warm-up of 250. What is still missing before they give the table in the text, where D = 64?",
    ),
    calls=(
        "warmup_schedule(1, 1, 1)",
        "warmup_schedule(4, 1, 4)",
        "warmup_schedule(16, 1, 4)",
        "warmup_schedule(1, 4, 4)",
        "warmup_schedule(100, 1, 4)",
        "warmup_schedule(4, 100, 4)",
    ),
)
def warmup_schedule(rng):
    """Before, at and after the peak; several widths."""
    yield call("the paper's peak", 4000, 512, 4000, public=True)
    # of 4000, an early step is as good as zero
    yield call("the third step", 3, 512, 40, public=True).counts_with("the paper's peak")
    yield call("long after", 100_000, 512, 4000, public=True)
    for _ in range(4):
        warmup = int(rng.integers(10, 500, 1))
        step, width = int(rng.integers(1, 1000, 1)), int(rng.integers(3, 99, 1))
        yield call(f"step {step} of {warmup}, width {width}", step, width, warmup)
    yield call("one step of warm-up", 1, 7, 1)
    yield call("just before the peak", 30, 5, 31)
    yield call("just after the peak", 43, 11, 41)


@warmup_schedule.misconception("Plot the first steps. Does the rate rise slowly?")
def no_warmup(step, d_model, warmup):
    return d_model**-0.5 * step**-0.5


@warmup_schedule.misconception("Plot 20,000 steps. Does it ever come down again?")
def never_falls(step, d_model, warmup):
    return d_model**-0.5 * min(step, warmup) * warmup**-1.5


@warmup_schedule.misconception("Double the width. Does your rate rise or fall? What does the formula say?")
def multiplied_by_the_root_of_the_width(step, d_model, warmup):
    return d_model**0.5 * min(step**-0.5, step * warmup**-1.5)


@warmup_schedule.misconception("Double the width. Does your rate move?")
def width_left_out(step, d_model, warmup):
    return min(step**-0.5, step * warmup**-1.5)


@warmup_schedule.misconception("Compute both terms at step = warmup. They should be equal there. Are yours?")
def another_power_of_warmup(step, d_model, warmup):
    return d_model**-0.5 * min(step**-0.5, step * warmup**-0.5)


@warmup_schedule.misconception("Print your rate at step 1 and compute it by hand. Which step does your formula use?")
def counts_from_zero(step, d_model, warmup):
    return d_model**-0.5 * min((step + 1) ** -0.5, (step + 1) * warmup**-1.5)
