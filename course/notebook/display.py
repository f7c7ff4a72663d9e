"""Show something in a notebook, or print it where there is none."""

from __future__ import annotations

import re
import sys
from html import unescape
from typing import Any

from ..judge.report import sentence


def in_notebook() -> bool:
    """Whether this runs in a Jupyter kernel (JupyterLab, Colab, VS Code), which shows HTML."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and hasattr(shell, "kernel")


def plain(html: str) -> str:
    """Return what a line of HTML says, without its tags."""
    return unescape(re.sub(r"<[^>]+>", "", html))


def say(text: str) -> None:
    """Shows a sentence: in the page's own font, where lines break between words; printed where there is no notebook."""
    style = "font-family:system-ui,sans-serif;font-size:13px;color:inherit;max-width:52em"
    show(f'<div style="{style}">{sentence(text)}</div>', text)


def show(html: str, text: str, display_id: str | None = None) -> Any:
    """Shows `html` in a notebook, prints `text` elsewhere; returns the display handle if there is one."""
    if not in_notebook():
        print(text)
        return None
    from IPython.display import display

    bundle = {"text/html": html, "text/plain": text}
    return display(bundle, raw=True, display_id=display_id) if display_id else display(bundle, raw=True)
