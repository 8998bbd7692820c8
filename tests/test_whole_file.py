"""Files are replaced as a whole where that is possible, and written in place elsewhere."""

from __future__ import annotations

import errno
import os
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

import bough
from bough.errors import StudyError
from bough.study import export_study
from bough.whole_file import write_file


@pytest.fixture
def closed_folder() -> Iterator[Path]:
    """A folder that takes no new files, with a file that everybody may write."""
    with tempfile.TemporaryDirectory() as name:
        file = Path(name, "a.txt")
        file.write_text("former")
        file.chmod(0o666)
        os.chmod(name, 0o555)
        yield Path(name)
        os.chmod(name, 0o755)


def code_without_rights_of_root(file: Path, parts: Iterable[str]) -> int:
    """0 if the file was written in another process, 3 if the error said that permission is missing."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            if os.geteuid() == 0:
                os.setuid(65534)
            write_file(file, parts)
            code = 0
        except StudyError as error:
            code = 3 if "Permission denied" in str(error) else 2
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def test_a_file_in_a_folder_that_takes_no_new_ones(closed_folder: Path) -> None:
    assert code_without_rights_of_root(closed_folder / "a.txt", ["ne", "w"]) == 0
    assert (closed_folder / "a.txt").read_text() == "new"
    assert code_without_rights_of_root(closed_folder / "b.txt", ["new"]) == 3
    (closed_folder / "a.txt").chmod(0o444)
    assert code_without_rights_of_root(closed_folder / "a.txt", ["newer"]) == 3
    assert (closed_folder / "a.txt").read_text() == "new"


def test_all_names_of_a_file_have_what_was_written(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("former")
    os.link(tmp_path / "a.txt", tmp_path / "b.txt")
    write_file(tmp_path / "a.txt", ["é\r\n", b"\xff"])
    assert (tmp_path / "b.txt").read_bytes() == "é\r\n".encode() + b"\xff"


def failing_parts() -> Iterator[str]:
    yield "half"
    raise StudyError("the study was deleted")


def test_parts_that_fail_leave_the_former_text(closed_folder: Path, tmp_path: Path) -> None:
    assert code_without_rights_of_root(closed_folder / "a.txt", failing_parts()) == 2
    assert (closed_folder / "a.txt").read_text() == "former"
    (tmp_path / "a.txt").write_text("former")
    os.link(tmp_path / "a.txt", tmp_path / "b.txt")
    for name in ("a.txt", "c.txt"):
        with pytest.raises(StudyError, match="the study was deleted"):
            write_file(tmp_path / name, failing_parts())
    assert (tmp_path / "b.txt").read_text() == "former"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.txt", "b.txt"]


WRITES_TO_STDOUT = "from bough.whole_file import write_file; write_file('/dev/stdout', ['new'])"


def test_standard_output_that_is_a_file() -> None:
    with tempfile.TemporaryFile() as output:
        output.write(b"former, ")
        output.flush()
        subprocess.run([sys.executable, "-c", WRITES_TO_STDOUT], stdout=output, check=True)
        output.seek(0)
        assert output.read() == b"former, new"


def test_standard_output_that_is_a_named_file_stays_that_file(tmp_path: Path) -> None:
    with open(tmp_path / "a.txt", "w+b") as output:
        subprocess.run([sys.executable, "-c", WRITES_TO_STDOUT], stdout=output, check=True)
        assert output.read() == b"new"
    assert [file.name for file in tmp_path.iterdir()] == ["a.txt"]


@pytest.mark.parametrize(
    ("function", "number"), [("os.replace", errno.EBUSY), ("builtins.open", errno.EROFS)]
)
def test_a_file_that_cannot_be_replaced_is_written_in_place(
    function: str, number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where it is mounted by itself, into a folder that is perhaps read-only."""
    (tmp_path / "a.txt").write_text("former")
    inode, works = (tmp_path / "a.txt").stat().st_ino, open

    def refuses(name: Any, *arguments: Any, **named: Any) -> Any:
        if Path(name).suffix == ".tmp":
            raise OSError(number, os.strerror(number))
        return works(name, *arguments, **named)

    monkeypatch.setattr(function, refuses)
    write_file(tmp_path / "a.txt", ["new"])
    assert (tmp_path / "a.txt").read_text() == "new" and (tmp_path / "a.txt").stat().st_ino == inode
    assert [file.name for file in tmp_path.iterdir()] == ["a.txt"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give a file away")
def test_a_file_of_another_user_stays_theirs(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("former")
    os.chown(tmp_path / "a.txt", 1234, 1234)
    write_file(tmp_path / "a.txt", ["new"])
    status = (tmp_path / "a.txt").stat()
    assert (status.st_uid, status.st_gid, (tmp_path / "a.txt").read_text()) == (1234, 1234, "new")
    assert [file.name for file in tmp_path.iterdir()] == ["a.txt"]


def test_a_database_is_not_replaced(tmp_path: Path) -> None:
    study = bough.Study(
        bough.Space({"x": bough.Float(0, 1)}), name="s", storage=f"sqlite:///{tmp_path}/s", method="random"
    )
    study.add({"x": 0.5}, 1.0)
    with pytest.raises(StudyError, match=r"cannot write .*/s: it is a database of SQLite, name another file"):
        export_study(study, tmp_path / "s")
    assert study.best.value == 1.0
    with sqlite3.connect(tmp_path / "s") as database:
        assert database.execute("SELECT count(*) FROM bough_trials").fetchone() == (1,)
    database.close()


@pytest.mark.parametrize("name", ["r.html", "f.html", "f.json"])
def test_a_report_or_a_figure_that_cannot_be_written_leaves_the_former_file(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = bough.Study(bough.Space({"x": bough.Float(0, 1)}), method="random", seed=0)
    study.add({"x": 0.5}, 1.0)

    def write() -> None:
        if name == "r.html":
            bough.plot.report(study, tmp_path / name)
        else:
            bough.plot.save(bough.plot.history(study), tmp_path / name)

    write()
    before = (tmp_path / name).read_bytes()
    study.add({"x": 0.25}, 2.0)

    def full_disk(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("os.fsync", full_disk)
        with pytest.raises(StudyError, match=rf"cannot write .*{name}: No space left on device"):
            write()
    assert (tmp_path / name).read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == [name]
    write()
    assert (tmp_path / name).read_bytes() != before
