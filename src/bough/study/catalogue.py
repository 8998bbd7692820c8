"""The studies of a storage: list, reopen, copy, delete, export and import them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from bough.errors import StudyError
from bough.space import Space
from bough.storage import Amendment, Storage, StudyRecord, open_storage
from bough.study.formats.files import read_study_file, study_lines
from bough.study.revising.revisions import names_asked, revision_of, revisions_of
from bough.study.stopping.curves import reports_in
from bough.study.study import Study
from bough.suffixes import EXPORTS, format_of
from bough.trial import Trial
from bough.whole_file import checked_path, write_file

__all__ = [
    "copy_study",
    "create_study",
    "delete_study",
    "export_study",
    "import_study",
    "open_study",
    "studies",
]


def studies(storage: str | Storage) -> list[StudyRecord]:
    """All studies of a storage, in the order of their creation."""
    return open_storage(storage, create=False).find()


def open_study(name: str, storage: str | Storage) -> Study:
    """The study of that name; StudyError if there is none.

    If it learned its space from its objective, run it again with an objective that asks for parameters.
    """
    opened = open_storage(storage, create=False)
    return _opened(_find(name, opened), opened)


def delete_study(name: str, storage: str | Storage) -> None:
    """Delete a study with all its trials; StudyError if there is no study of that name."""
    opened = open_storage(storage, create=False)
    opened.delete(_find(name, opened).id)


def copy_study(study: Study, name: str, storage: str | Storage) -> Study:
    """A new study with the trials of this one; trials that are running are queued in the new study."""
    return create_study(*_checked_study(study).snapshot(), name, storage)


def export_study(study: Study, path: str | Path) -> None:
    """Write a study and its trials to a file of JSON lines; ``.csv`` is a table of its trials instead.

    The formats are those of ``bough export``; only JSON lines can be imported as a whole study.
    """
    advice = ".jsonl (the whole study) or .csv (a table)"
    if format_of(checked_path(path), EXPORTS, advice) == "csv":
        from bough.study.formats.table_export import csv_lines  # loads NumPy

        lines = csv_lines(_checked_study(study).space, study.trials, feasible=bool(study.goals.limits))
    else:
        lines = study_lines(_checked_study(study))
    write_file(path, lines)


def import_study(
    path: str | Path, storage: str | Storage, name: str | None = None, space: Space | None = None
) -> Study:
    """Create a study from an exported file, in one transaction; ``name`` renames it.

    Nothing is stored if anything in the file is wrong. space: only for files that ``bough export`` of version
    0.1 wrote, which lack the space.
    """
    record, trials, amendments = read_study_file(path, name, space)
    return create_study(record, trials, amendments, record.name, storage)


def create_study(
    record: StudyRecord,
    trials: list[Trial],
    amendments: list[Amendment],
    name: str,
    storage: str | Storage | None,
) -> Study:
    """Store a study from a file or another storage, in one transaction; its running trials are queued."""
    for amendment in amendments:
        if amendment.trial is not None and amendment.trial >= len(trials):
            raise StudyError(f"study {name!r} has no trial {amendment.trial}, which an amendment names")
    opened = open_storage(storage)
    waiting = [
        trial
        if trial.is_finished
        else replace(trial, state="queued", worker=None, started=None, expires=None)
        for trial in trials
    ]
    revisions = revisions_of(Space.from_json(record.space), amendments)
    for trial in waiting:
        revisions[revision_of(trial.number, revisions)].space.validate(trial.config)
    reports = [report for trial in waiting for report in reports_in(trial)]
    return _opened(opened.create(replace(record, name=name), waiting, amendments, reports=reports), opened)


def _opened(record: StudyRecord, storage: Storage) -> Study:
    """The study of a record: a ``LearnedStudy`` if it learned its space."""
    study = Study.of_record(record, storage)
    if not names_asked(study.amendments):
        return study
    from bough.study.learned_study import LearnedStudy  # models, which other studies may not need

    return LearnedStudy.of_record(record, storage)


def _checked_study(study: Study) -> Study:
    """The study; StudyError for its name, which ``delete_study`` takes."""
    if not hasattr(study, "snapshot"):
        raise StudyError(f"give the study, not {study!r:.80}: bough.open_study(name, storage)")
    return study


def _find(name: str, storage: Storage) -> StudyRecord:
    found = storage.find(name) if isinstance(name, str) else []
    if not found:
        names = ", ".join(repr(record.name) for record in storage.find()[:10])
        raise StudyError(
            f"there is no study {name!r}; "
            + (f"there are {names}" if names else "the storage has no study yet")
        )
    return found[0]
