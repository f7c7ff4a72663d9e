"""What MkDocs calls while it builds the site: adds the notebooks' pages, the repository's own, and MathJax.

A notebook's page has the outputs of its executed copy. Without a copy of the source as it stands, it has none.
"""

from __future__ import annotations

import re
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import nbformat
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from course.grading.course_files.catalogue import hours, six_weeks  # noqa: E402
from course.grading.course_files.setup_cell import binder_address, colab_address  # noqa: E402
from course.hidden import predictions  # noqa: E402
from course.study_paths import VOLUMES  # noqa: E402
from course.syllabus import BRANCH, OURS, SOURCE, Topic  # noqa: E402
from website.executed import executed_copy  # noqa: E402
from website.fonts import write_fonts  # noqa: E402
from website.home import WRITERS_TEXT, prose, with_home  # noqa: E402
from website.pages import page  # noqa: E402

STATIC = ("site.css", "mathematics.js", "writer.js", "player.js", "remember.js")
FONTS = ROOT / "build" / "fonts"
HOME = "index.md"
OF_THE_REPOSITORY = {
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changes.md",
    "course/data/wordnet/model_card.md": "model-card.md",
    "course/data/chat/model_card.md": "model-card-chat.md",
}
"""Pages that stand elsewhere in the repository, and what the site calls them."""


def on_files(files: Files, config: Any) -> Files:
    """Add what does not stand in docs/."""
    for name, target in OF_THE_REPOSITORY.items():
        files.append(File.generated(config, target, content=(ROOT / name).read_text("utf-8")))
    for name in STATIC:
        files.append(File.generated(config, f"assets/{name}", abs_src_path=str(ROOT / "website" / name)))
    files.append(File.generated(config, "assets/tex-svg.js", abs_src_path=str(mathjax())))
    for name, path in write_fonts(FONTS).items():
        files.append(File.generated(config, f"assets/fonts/{name}.woff2", abs_src_path=str(path)))
    files.append(File.generated(config, WRITERS_TEXT, content=prose([_release(topic) for topic in OURS])))
    shown = [topic for topic in OURS if _release(topic).is_file()]
    for topic in shown:
        for file in _notebook(topic, config):
            files.append(file)
    files.append(File.generated(config, "notebooks/index.md", content=_contents(shown)))
    return files


def on_config(config: Any) -> Any:
    """List the notebooks where mkdocs.yml says `notebooks/*`."""
    pages = [f"notebooks/{topic.folder}.md" for topic in OURS if _release(topic).is_file()]
    for entry in config.nav:
        for title, value in entry.items() if isinstance(entry, dict) else ():
            if isinstance(value, list) and "notebooks/*" in value:
                entry[title] = [item for item in value if item != "notebooks/*"] + pages
    return config


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Links that hold in the repository hold on the site; names of code blocks, which tests go by, do not show."""
    markdown = re.sub(r"^(```\w+) [\w-]+$", r"\1", markdown, flags=re.M)
    if page.file.src_uri == HOME:
        markdown = with_home(markdown, colab_address(_release(OURS[0]).relative_to(ROOT).as_posix()))
    up = "../" * page.file.src_uri.count("/")
    for name, target in OF_THE_REPOSITORY.items():
        markdown = markdown.replace(f"]({up}../{name}", f"]({up}{target}")
    markdown = re.sub(r"\]\(\.\./assignments/(?:\w+/)?(\w+)\.ipynb", r"](notebooks/\1.md", markdown)
    markdown = re.sub(r"\]\((?:\.\./)?docs/([\w/-]+\.md)", r"](\1", markdown)
    markdown = re.sub(r"\]\((?:\.\./)?(RELEASING|SECURITY)\.md", rf"]({SOURCE}/blob/{BRANCH}/\1.md", markdown)
    return re.sub(r"\]\(\.\./README\.md", "](index.md", markdown)


def on_post_page(output: str, page: Any, **_: Any) -> str:
    """Give the home page its style, and the theme's dialog for searching the name that screen readers announce.

    A page without formulas does without MathJax, which has two megabytes.
    """
    if page.file.src_uri == HOME:
        output = output.replace("<body ", '<body class="home" ', 1)
    if "arithmatex" not in output:
        output = re.sub(r'<script src="[^"]*(?:mathematics|tex-svg)\.js"></script>', "", output)
    return output.replace(
        'data-md-component="search" role="dialog"', 'data-md-component="search" role="dialog" aria-label="Search"'
    )


def mathjax() -> Path:
    """MathJax with its letters in one file, from the package that brings it."""
    spec = find_spec("mathjax")
    assert spec is not None and spec.origin is not None, "the site needs django-static-mathjax: make docs installs it"
    return Path(spec.origin).parent / "static" / "mathjax" / "es5" / "tex-svg.js"


def _release(topic: Topic) -> Path:
    return ROOT / "assignments" / topic.folder / f"{topic.folder}.ipynb"


def _notebook(topic: Topic, config: Any) -> list[File]:
    release = nbformat.read(_release(topic), as_version=4)
    made = page(topic.folder, release, executed_copy(topic), predictions(topic))
    title, _, text = made.text.partition("\n")
    files = [
        File.generated(config, f"notebooks/{topic.folder}.md", content=f"{title}\n\n{_openers(topic)}\n{text}"),
        File.generated(config, f"notebooks/{topic.folder}.ipynb", abs_src_path=str(_release(topic))),
    ]
    return files + [File.generated(config, f"notebooks/{name}", content=data) for name, data in made.pictures.items()]


def _openers(topic: Topic) -> str:
    """Links in Markdown that open or download the topic's notebook."""
    path = _release(topic).relative_to(ROOT).as_posix()
    return (
        f"[Open in Colab]({colab_address(path)}){{ .md-button .md-button--primary }}\n"
        f"[Open in Binder]({binder_address(path)}){{ .md-button }}\n"
        f"[Download]({topic.folder}.ipynb){{ .md-button download={topic.folder}.ipynb }}\n"
    )


def _contents(topics: list[Topic]) -> str:
    head = "# Notebooks\n\n"
    head += "As students get them: the cells to fill in are empty, the figures are those of a finished run.\n"
    for volume in VOLUMES:
        listed = [topic for topic in topics if volume.holds(topic)]
        head += f"\n## {volume.title}\n\nThis volume teaches {volume.about}.\n\n{_table(listed)}\n"
    return f"{head}\n## If you have six weeks\n\n{six_weeks()}\n"


def _table(topics: list[Topic]) -> str:
    rows = [
        f"| [{topic.number:02d} {topic.title}]({topic.folder}.md) | {topic.lecture} | "
        f"{len(topic.items)} | {topic.points} | {hours(sum(item.minutes for item in topic.items))} | {_open(topic)} |"
        for topic in topics
    ]
    head = ["| notebook | lecture | graded cells | points | about | open |", "|---|---|--:|--:|--:|---|"]
    return "\n".join([*head, *rows])


def _open(topic: Topic) -> str:
    path = _release(topic).relative_to(ROOT).as_posix()
    return f"[Colab]({colab_address(path)}), [Binder]({binder_address(path)}), [.ipynb]({topic.folder}.ipynb)"
