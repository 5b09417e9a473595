"""Where the values of a command's policy come from: options, file, environment, preset."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.cli.files import results, run, run_json, talk, write


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return write(tmp_path / "late.json", talk())


def of_yaml(path: Path, text: str) -> Path:
    config = path.with_name("config.yaml")
    config.write_text(text, encoding="utf-8")
    return config


def test_options_win_over_the_file_and_the_file_over_the_environment(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CTXCORE_POLICY", "dual-threshold")
    config = of_yaml(path, "policy:\n  name: pi\n")
    all_options: list[list[str | Path]] = [
        [],
        ["--config", config],
        ["--config", config, "--preset", "default"],
    ]

    found = [results(run_json("fit", path, *options))[0]["preset"] for options in all_options]

    assert found == ["dual-threshold", "pi", "default"]


def test_a_variables_file_in_the_folder_is_read(path: Path) -> None:
    path.with_name(".env").write_text("CONTEXT_WINDOW_TOKENS=2000\n", encoding="utf-8")

    (one,) = results(run_json("compact", path, "--force"))

    assert one["context"]["breakdown"]["window"] == 2_000


@pytest.mark.parametrize("command", ["fit", "compact"])
def test_a_wrong_value_is_a_usage_error_that_names_its_place(command: str, path: Path) -> None:
    config = of_yaml(path, "policy:\n  trigger_ratio: 80%\n")

    done = run(command, path, "--config", config.name)

    assert done.exit_code == 2
    assert "config.yaml, line 2: policy field 'trigger_ratio' is '80%'" in " ".join(
        done.stderr.replace("│", "").split()
    )


def test_a_missing_file_is_a_usage_error(path: Path) -> None:
    done = run("fit", path, "--config", "none.yaml")

    assert done.exit_code == 2
    assert "none.yaml: cannot be read" in done.stderr
