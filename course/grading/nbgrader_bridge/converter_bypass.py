"""Decide whether a course saves in the standard way, so that results can bypass nbgrader's converter."""

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
"""Classes whose settings only the converter obeys: if a course sets any of these, nbgrader saves."""

SETTINGS: dict[str, dict[str, Any]] = {
    "Autograde": {"exporter_class": MENDED, "sanitize_preprocessors": SANITISE, "autograde_preprocessors": AUTOGRADE},
    "AssignLatePenalties": {"plugin_class": "course.grading.nbgrader_bridge.late_penalty.LatePolicy"},
    "Exporter": {"optimistic_validation": True},
    "CourseDirectory": {"groupshared": False, "student_id_exclude": "", "notebook_id": "*"},
}
"""The only values that a standard configuration may set for other classes."""


def can_bypass_converter(config: Any) -> bool:
    """Return whether a configuration has no custom steps, hooks, plugins or file permissions for autograding."""
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
