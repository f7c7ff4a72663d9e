"""Configure nbgrader to grade with the judge: `configure(c, course)` for an `nbgrader_config.py`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from course.course import Course
from course.grading.nbgrader_bridge.config_file import stop_at_faults
from course.grading.nbgrader_bridge.course_of import hand_on
from course.grading.nbgrader_bridge.patches import (
    change_formgrader,
    guard_collecting,
    guard_exchange,
    guard_feedback,
    guard_submissions,
    guard_topics,
    read_odd_timestamps,
    share_gradebooks,
)

RESULTS = Path(".course", "results")
"""The folder for results of executions, relative to the course's folder."""

MENDED = "course.grading.nbgrader_bridge.sanitise.Mended"

SANITISE = (
    "course.grading.nbgrader_bridge.sanitise.Repair",
    "nbgrader.preprocessors.ClearOutput",
    "nbgrader.preprocessors.DeduplicateIds",
    "course.grading.nbgrader_bridge.sanitise.RestoreKernelspec",
    "course.grading.nbgrader_bridge.sanitise.RestoreCells",
    "nbgrader.preprocessors.CheckCellMetadata",
)
"""The steps of autograding's first pass. The steps from `sanitise` undo what students do to notebooks."""

AUTOGRADE = (
    "course.grading.nbgrader_bridge.autograde_steps.JudgedExecute",
    "nbgrader.preprocessors.IgnorePattern",
    "nbconvert.preprocessors.ClearMetadataPreprocessor",
    "nbgrader.preprocessors.LimitOutput",
    "course.grading.nbgrader_bridge.autograde_steps.SaveVerdicts",
    "course.grading.nbgrader_bridge.late_penalty.KeepLatePenalties",
    "nbgrader.preprocessors.CheckCellMetadata",
)
"""The steps of autograding's second pass. `JudgedExecute` runs the judge outside the student's process."""


def configure(c: Any, course: Course | None = None) -> None:
    """Add the judge to an nbgrader configuration: sanitising, execution, saving, feedback.

    With a `course`, results are cached in its folder, so that nothing is executed twice. Released cells that no graded
    cell depends on are not run.
    """
    stop_at_faults()
    if course is not None:
        hand_on(c, course)
        c.JudgedExecute.results = str(course.root / RESULTS)
        c.JudgedExecute.given = str(course.root / c.CourseDirectory.get("source_directory", "source"))
    # A damaged or unowned file among the downloads does not stop the collection of the others.
    c.ZipCollectApp.extractor_plugin = "course.grading.nbgrader_bridge.unpacking.TolerantExtractor"
    c.ZipCollectApp.collector_plugin = "course.grading.nbgrader_bridge.zip_collect.TopicCollector"
    # A name with a comma stays one column of the exported table.
    c.ExportApp.plugin_class = "course.grading.nbgrader_bridge.quoted_csv.QuotedCsv"
    # Exercises without points become optional or are removed, before nbgrader records the graded cells.
    c.GenerateAssignment.preprocessors.insert(0, "course.grading.release.steps.FitWithoutPoints")
    # The notebook's head says when it opens and is due.
    c.GenerateAssignment.preprocessors.append("course.grading.release.steps.TellDates")
    # Texts refer to no topic that the class leaves out.
    c.GenerateAssignment.preprocessors.append("course.grading.release.steps.FitBoxes")
    # `course.toml` may choose another of the three written questions.
    c.GenerateAssignment.preprocessors.append("course.grading.release.steps.ChooseQuestion")
    # Widgets get a still picture, which is shown where no kernel runs.
    c.GenerateAssignment.preprocessors.append("course.grading.release.steps.AddStills")
    # Damaged or unusual notebook files are mended as they are read.
    c.Autograde.exporter_class = MENDED
    c.Autograde.sanitize_preprocessors = list(SANITISE)
    c.Autograde.autograde_preprocessors = list(AUTOGRADE)
    # Feedback shows the student's work and the judge's messages, asks about the code, offers regrade requests, and
    # shows nothing of hidden tests. Late penalties are computed again, because graders give some of the points later.
    c.GenerateFeedback.preprocessors = [
        "course.grading.nbgrader_bridge.late_penalty.KeepLatePenalties",
        "nbgrader.preprocessors.GetGrades",
        "course.grading.nbgrader_bridge.feedback_page.SubmissionNotes",
        "course.grading.nbgrader_bridge.feedback_page.TrimHiddenTests",
        "course.grading.nbgrader_bridge.own_code.AskAboutCode",
        "course.grading.nbgrader_bridge.regrade_section.OfferRequests",
        "nbgrader.preprocessors.ClearHiddenTests",
        "nbconvert.preprocessors.CSSHTMLHeaderPreprocessor",
        "course.grading.nbgrader_bridge.feedback_page.Readable",
    ]
    # The page states its language, runs no script and needs no network.
    c.GenerateFeedback.exporter_class = "course.grading.nbgrader_bridge.feedback_page.FeedbackPage"
    # Students' HTML is shown in formgrader's pages and in feedback, and runs in neither.
    c.HTMLExporter.preprocessors.append("course.grading.nbgrader_bridge.safe_html.SafeHtml")
    c.HTMLExporter.filters.update({"markdown2html": "course.grading.nbgrader_bridge.safe_html.markdown2html"})
    # A deleted test cell is restored and scored, instead of waiting for a manual grade for ever.
    c.OverwriteCells.add_missing_cells = True
    # With nbclient's default tag a student could have any cell skipped, tests included.
    c.Execute.skip_cells_with_tag = ""
    if course is not None and not course.is_original:  # course.toml sets the penalty; nbgrader knows the arrival time
        c.AssignLatePenalties.plugin_class = "course.grading.nbgrader_bridge.late_penalty.LatePolicy"
    guard_submissions()
    guard_topics()
    guard_collecting()
    guard_exchange()
    guard_feedback()
    change_formgrader()
    read_odd_timestamps()
    share_gradebooks()
