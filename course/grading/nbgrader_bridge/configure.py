"""What an `nbgrader_config.py` needs for grading with the judge: `configure(c, root)`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from course.grading.nbgrader_bridge.config_file import stop_at_faults
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
from course.syllabus import OUTLINE

RESULTS = Path(".course", "results")
"""Where, in a course's folder, the results of executions are kept."""

MENDED = "course.grading.nbgrader_bridge.sanitise.Mended"

SANITISE = (
    "course.grading.nbgrader_bridge.sanitise.Repair",
    "nbgrader.preprocessors.ClearOutput",
    "nbgrader.preprocessors.DeduplicateIds",
    "course.grading.nbgrader_bridge.sanitise.RestoreKernelspec",
    "course.grading.nbgrader_bridge.sanitise.RestoreCells",
    "nbgrader.preprocessors.CheckCellMetadata",
)
"""The steps of autograding's first pass. Those of `sanitise` undo what students do to notebooks."""

AUTOGRADE = (
    "course.grading.nbgrader_bridge.judged_execute.JudgedExecute",
    "nbgrader.preprocessors.IgnorePattern",
    "nbconvert.preprocessors.ClearMetadataPreprocessor",
    "nbgrader.preprocessors.LimitOutput",
    "course.grading.nbgrader_bridge.save_verdicts.SaveVerdicts",
    "course.grading.nbgrader_bridge.late_penalty.KeepLatePenalties",
    "nbgrader.preprocessors.CheckCellMetadata",
)
"""Those of its second. `JudgedExecute` lets the judge decide, outside the student's process."""


def configure(c: Any, root: Path | None = None) -> None:
    """Add the judge to an nbgrader configuration: sanitising, execution, saving, feedback.

    With the course's folder `root`, results are kept there, so that nothing is executed twice, and cells that the
    course gave out and nothing graded depends on are not run.
    """
    stop_at_faults()
    if root is not None:
        c.JudgedExecute.results = str(root / RESULTS)
        c.JudgedExecute.given = str(root / c.CourseDirectory.get("source_directory", "source"))
    # Of what was downloaded, what is damaged or nobody's does not keep the others from being collected.
    c.ZipCollectApp.extractor_plugin = "course.grading.nbgrader_bridge.unpacking.TolerantExtractor"
    c.ZipCollectApp.collector_plugin = "course.grading.nbgrader_bridge.zip_collect.TopicCollector"
    # A name with a comma is one column of the exported table.
    c.ExportApp.plugin_class = "course.grading.nbgrader_bridge.quoted_csv.QuotedCsv"
    # Exercises without points are optional or leave, before nbgrader records the graded cells.
    c.GenerateAssignment.preprocessors.insert(0, "course.grading.nbgrader_bridge.fit_without_points.FitWithoutPoints")
    # A text refers to no topic that the class leaves out.
    c.GenerateAssignment.preprocessors.append("course.grading.nbgrader_bridge.fit_boxes.FitBoxes")
    # A class may get another of the three written questions.
    c.GenerateAssignment.preprocessors.append("course.grading.nbgrader_bridge.choose_question.ChooseQuestion")
    # Widgets have a picture of themselves where nothing runs.
    c.GenerateAssignment.preprocessors.append("course.grading.nbgrader_bridge.add_pictures.AddStills")
    # A submission is read however odd its file is.
    c.Autograde.exporter_class = MENDED
    c.Autograde.sanitize_preprocessors = list(SANITISE)
    c.Autograde.autograde_preprocessors = list(AUTOGRADE)
    # Feedback shows what a student wrote and what the judge said, and nothing of hidden tests. What late work loses is
    # counted anew: a person gives some of the points after grading.
    c.GenerateFeedback.preprocessors = [
        "course.grading.nbgrader_bridge.late_penalty.KeepLatePenalties",
        "nbgrader.preprocessors.GetGrades",
        "course.grading.nbgrader_bridge.feedback_page.SubmissionNotes",
        "course.grading.nbgrader_bridge.feedback_page.TrimHiddenTests",
        "nbgrader.preprocessors.ClearHiddenTests",
        "nbconvert.preprocessors.CSSHTMLHeaderPreprocessor",
        "course.grading.nbgrader_bridge.feedback_page.Readable",
    ]
    # It is a page that says its language, runs no script and needs no network.
    c.GenerateFeedback.exporter_class = "course.grading.nbgrader_bridge.offline_page.FeedbackPage"
    # What students wrote stands in formgrader's pages and in feedback, and runs in neither.
    c.HTMLExporter.preprocessors.append("course.grading.nbgrader_bridge.safe_html.SafeHtml")
    c.HTMLExporter.filters.update({"markdown2html": "course.grading.nbgrader_bridge.safe_html.markdown2html"})
    # A deleted test cell comes back and scores, instead of waiting for a manual grade for ever.
    c.OverwriteCells.add_missing_cells = True
    # With nbclient's default tag a student could have any cell skipped, tests included.
    c.Execute.skip_cells_with_tag = ""
    if OUTLINE is not None:  # late work loses what course.toml says; nbgrader knows when it came
        c.AssignLatePenalties.plugin_class = "course.grading.nbgrader_bridge.late_penalty.LatePolicy"
    guard_submissions()
    guard_topics()
    guard_collecting()
    guard_exchange()
    guard_feedback()
    change_formgrader()
    read_odd_timestamps()
    share_gradebooks()
