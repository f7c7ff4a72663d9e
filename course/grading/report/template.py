"""Fill the HTML templates beside this module; the pages load no other files, and text from students is escaped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from course.judge.report import sentence


def fill(template: str, **facts: Any) -> str:
    """Return the page that a template makes of `facts`."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["number"] = lambda value: f"{value:.4g}"
    environment.filters["percent"] = lambda value: f"{100 * value:.0f} %"
    environment.filters["breakable"] = _breakable
    environment.filters["sentence"] = lambda plain: Markup(sentence(plain))  # noqa: S704, escaped there
    return environment.get_template(template).render(facts)


def _breakable(name: str) -> Markup:
    """Return a name that may break across lines after its underscores."""
    return Markup("_<wbr>").join(name.split("_"))
