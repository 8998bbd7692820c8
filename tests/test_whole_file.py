"""Files are replaced as a whole where that is possible, and written in place elsewhere."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

import bough
from bough.errors import StudyError
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
