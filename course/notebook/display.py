"""Show HTML in a notebook, or print text elsewhere."""

from __future__ import annotations

import re
import sys
from html import unescape
from typing import Any

from ..judge.report import sentence


def in_notebook() -> bool:
    """Return whether this runs in a Jupyter kernel (JupyterLab, Colab, VS Code), which shows HTML."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and hasattr(shell, "kernel")


def plain(html: str) -> str:
    """Return the text of a line of HTML without its tags."""
    return unescape(re.sub(r"<[^>]+>", "", html))


def say(text: str) -> None:
    """Show a sentence as HTML, in the page's font and with line breaks between words, or print it elsewhere."""
    style = "font-family:system-ui,sans-serif;font-size:13px;color:inherit;max-width:52em"
    show(f'<div style="{style}">{sentence(text)}</div>', text)


def show(html: str, text: str, display_id: str | None = None) -> Any:
    """Show `html` in a notebook, or print `text` elsewhere. Return the display handle if there is one."""
    if not in_notebook():
        print(text)
        return None
    from IPython.display import display

    bundle = {"text/html": html, "text/plain": text}
    return display(bundle, raw=True, display_id=display_id) if display_id else display(bundle, raw=True)
