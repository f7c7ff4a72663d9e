"""Questions about the code of an answer, with keys that come from executing it. No module here knows a topic."""

from .choosing import ask
from .gathering import gathered
from .processes import Apart
from .question import Choice, Question
from .subject import Subject, Unaskable, subject

__all__ = ["Apart", "Choice", "Question", "Subject", "Unaskable", "ask", "gathered", "subject"]
