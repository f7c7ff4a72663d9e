"""Whether a course saves as ours is configured to, so that its results may be saved without nbgrader's converter."""

from __future__ import annotations

from typing import Any

from course.grading.nbgrader_bridge.configure import AUTOGRADE, MENDED, SANITISE

OWN_WAYS = frozenset(
    (
        "BaseConverter",
        "Converter",
        "FilesWriter",
        "WriterBase",
        "NotebookExporter",
        "NbConvertBase",
        "Preprocessor",
        "NbGraderPreprocessor",
        "SaveAutoGrades",
        "SaveVerdicts",
        "KeepLatePenalties",
        "Mended",
        "ReadMended",
    )
)
"""Classes whose settings the converter alone obeys: where a course sets any, nbgrader saves."""

SETTINGS: dict[str, dict[str, Any]] = {
    "Autograde": {"exporter_class": MENDED, "sanitize_preprocessors": SANITISE, "autograde_preprocessors": AUTOGRADE},
    "AssignLatePenalties": {"plugin_class": "course.grading.nbgrader_bridge.late_penalty.LatePolicy"},
    "Exporter": {"optimistic_validation": True},
    "CourseDirectory": {"groupshared": False, "student_id_exclude": "", "notebook_id": "*"},
}
"""What else may be said of these classes, if it is said."""


def saves_as_ours(config: Any) -> bool:
    """Whether a configuration names no steps, hooks, plugins or rights of its own for what autograding saves."""
    if OWN_WAYS & set(config):
        return False
    return _has_only(config, "Autograde", SETTINGS["Autograde"]) and all(
        _agrees(config, section, wanted) for section, wanted in SETTINGS.items()
    )


def _has_only(config: Any, section: str, wanted: dict[str, Any]) -> bool:
    return set(config.get(section, {})) == set(wanted)


def _agrees(config: Any, section: str, wanted: dict[str, Any]) -> bool:
    said = config.get(section, {})
    if section in ("AssignLatePenalties", "Exporter") and set(said) - set(wanted):
        return False
    return all(_plain(said[name]) == _plain(value) for name, value in wanted.items() if name in said)


def _plain(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
