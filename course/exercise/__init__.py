"""The exercise model: declare, run and record an exercise. No module here knows a topic."""

from . import modules  # importing registers its stand-ins
from .declaration import Exercise, Misconception, exercise, rest_hidden
from .rng import Rng
from .script import Case, build, call, draws, given, given_model, noncontiguous
from .stand_ins import stand_in
from .values import Generator, Ref, StandIn

__all__ = [
    "Case",
    "Exercise",
    "Generator",
    "Misconception",
    "Ref",
    "Rng",
    "StandIn",
    "build",
    "call",
    "draws",
    "exercise",
    "given",
    "given_model",
    "modules",
    "noncontiguous",
    "rest_hidden",
    "stand_in",
]
