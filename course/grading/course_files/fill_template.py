"""Fill a template in a folder, which becomes a page that loads no other files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from course.judge.report import sentence


def filled(folder: Path, template: str, **facts: Any) -> str:
    """Return the page that a template in `folder` makes of `facts`. All text in them is escaped."""
    environment = Environment(
        loader=FileSystemLoader(folder),
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
