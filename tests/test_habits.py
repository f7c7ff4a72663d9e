"""What a release rests on: one version, dated changes, links that hold on a package index, an address of one's own."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from hatchling.builders.sdist import SdistBuilder

from course.syllabus import SOURCE
from hatch_build import absolute
from website.address import GITHUB, stamp

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def test_the_version_is_dated_and_cited_as_it_is() -> None:
    cited = dict(re.findall(r"^(version|date-released): (.+)$", (ROOT / "CITATION.cff").read_text("utf-8"), re.M))
    headings = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.M)
    assert headings[0] == "Unreleased" and all(re.fullmatch(r"[\d.]+ - \d{4}-\d\d-\d\d", one) for one in headings[1:])
    assert headings[1:2] == ([f"{PROJECT['version']} - {cited['date-released']}"] if "date-released" in cited else [])
    assert cited["version"] == PROJECT["version"]


def test_changes_stand_under_the_usual_headings() -> None:
    kinds = {"What changes a grade", "Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    assert set(re.findall(r"^### (.+)$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.M)) <= kinds


def test_a_package_index_shows_a_readme_whose_links_hold() -> None:
    shown = absolute((ROOT / "README.md").read_text("utf-8"), PROJECT["urls"]["Source"])
    links = re.findall(r"\]\(([^)]+)\)", shown)
    assert f"{SOURCE}/blob/main/docs/student.md" in links
    assert all(link.startswith(("https://", "#")) for link in links)


def test_every_address_of_the_project_is_the_one_that_is_set() -> None:
    assert all(url.startswith(SOURCE) for url in PROJECT["urls"].values())


def test_another_address_stands_everywhere_afterwards(tmp_path: Path) -> None:
    names = ["README.md", "pyproject.toml", "CITATION.cff", "SECURITY.md", "docs/instructor.md", "course/syllabus.py"]
    names += ["assignments/index.ipynb", "assignments/06_self_attention/06_self_attention.ipynb"]
    for name in [*names, "LICENSE"]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    assert stamp(tmp_path, [*names, "LICENSE"], f"{GITHUB}ada/her-course.git") == names
    for name in names:
        text = (tmp_path / name).read_text("utf-8")
        assert "ada/her-course" in text and SOURCE.removeprefix(GITHUB) not in text


@pytest.mark.parametrize("url", ["", "github.com/ada/course", "https://gitlab.com/ada/course", f"{GITHUB}ada"])
def test_what_is_no_address_is_refused(url: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="is no address like https://github"):
        stamp(tmp_path, [], url)


def test_the_sdist_holds_what_its_makefile_names() -> None:
    held = {Path(file.relative_path).as_posix() for file in SdistBuilder(str(ROOT)).recurse_included_files()}
    makefile = (ROOT / "Makefile").read_text("utf-8")
    folders = {name.split(".")[0] for name in re.findall(r"python -m (?!pip|venv|mkdocs)([\w.]+)", makefile)}
    assert folders == {"bench", "tests", "website"}
    for folder in (*folders, "docs", "binder", "solutions", "assignments"):
        assert any(name.startswith(f"{folder}/") for name in held), folder
    assert {"constraints.txt", "mkdocs.yml", "hatch_build.py", "CITATION.cff", ".ci/run", "course/py.typed"} <= held
