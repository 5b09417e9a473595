from __future__ import annotations

from pathlib import Path

import pytest

from tests.losing_sessions import PART, recorded_session
from tests.processes import printed_by
from tests.unit.cli.files import results, run, run_json, talk, write


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a session that lost something, one that did not, and a foreign file."""
    monkeypatch.chdir(tmp_path)
    made = tmp_path / "sessions"
    made.mkdir()
    (made / "lost.jsonl").write_text(recorded_session(), encoding="utf-8")
    write(made / "talk.json", talk(3))
    (made / "other.json").write_text('{"version": 2}', encoding="utf-8")
    return made


def test_a_folder_gets_a_summary_and_a_page(folder: Path) -> None:
    done = run("autopsy", folder)

    assert done.exit_code == 0
    assert "2; 1 file without one" in done.stdout
    assert "things that were needed later" in done.stdout
    assert "lost by default" in done.stdout
    page = Path("ctxcore-autopsy.html").read_text(encoding="utf-8")
    assert PART in page
    assert "wrote ctxcore-autopsy.html" in done.stderr
    assert run("autopsy", folder).exit_code == 0  # the page is written anew


def test_a_named_page_is_not_overwritten_unless_it_is_said(folder: Path) -> None:
    assert run("autopsy", folder, "--html", "mine.html", "--no-texts").exit_code == 0
    assert PART not in Path("mine.html").read_text(encoding="utf-8")

    again = run("autopsy", folder, "--html", "mine.html")

    assert again.exit_code == 2
    assert "pass --overwrite" in again.stderr


def test_secrets_are_left_out_of_the_page_and_counted(folder: Path) -> None:
    key = "AKIA" + "Q3EGRZ7WTN5X" + "2MLB"
    recorded = recorded_session().replace(PART, key)
    (folder / "lost.jsonl").write_text(recorded, encoding="utf-8")

    assert run("autopsy", folder).exit_code == 0
    assert key in Path("ctxcore-autopsy.html").read_text(encoding="utf-8")
    done = run("autopsy", folder, "--redact")

    page = Path("ctxcore-autopsy.html").read_text(encoding="utf-8")
    assert done.exit_code == 0
    assert "secrets left out: 1 × AWS key" in done.stderr
    assert key not in done.stdout + page
    assert "[redacted: AWS key 1]" in page


def test_the_page_is_written_in_chinese(folder: Path) -> None:
    run("autopsy", folder, "--lang", "zh")
    page = Path("ctxcore-autopsy.html").read_text(encoding="utf-8")

    assert "次压缩，丢失了后来需要的" in page
    assert "改动的文件" in page or "路径" in page
    assert "Where the tokens went" not in page


def test_the_document_has_everything_and_no_page_is_written(folder: Path) -> None:
    document = run_json("autopsy", folder)

    assert document["totals"]["folds"] == 1
    lost = [one for one in results(document) if one["folds"]]
    assert lost[0]["folds"][0]["needed"] >= lost[0]["folds"][0]["gone"] > 0
    assert [Path(one["path"]).name for one in document["errors"]] == ["other.json"]
    assert not Path("ctxcore-autopsy.html").exists()


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("sessions/other.json",), 1, "no conversation in 1 file"),
        (("nowhere",), 1, "no such file or folder"),
        (("sessions", "--preset", "best"), 2, "none of"),
    ],
)
def test_what_cannot_be_examined_is_told(
    folder: Path, arguments: tuple[str, ...], code: int, told: str
) -> None:
    done = run("autopsy", *arguments)

    assert done.exit_code == code
    assert told in " ".join(done.stderr.split())
    assert folder.is_dir()


def test_without_a_path_the_folders_of_known_programs_are_examined(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = folder / "home"
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    missing = run("autopsy")
    (home / ".claude" / "projects" / "app").mkdir(parents=True)
    (home / ".claude/projects/app/s.jsonl").write_text(recorded_session(), encoding="utf-8")

    assert missing.exit_code == 2
    assert "~/.codex/sessions" in missing.stderr
    assert run("autopsy").exit_code == 0


def test_many_files_are_examined_by_several_processes_with_the_same_result(folder: Path) -> None:
    script = f"""
from ctxcore.autopsy import running
running.FEW_BYTES = 0
alone, shared = (running.autopsy([{str(folder)!r}], workers=workers) for workers in (1, 2))
print(len(alone.sessions), shared == alone)
"""
    assert printed_by(script) == "2 True\n"
