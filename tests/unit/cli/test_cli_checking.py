from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.unit.cli.files import errors, results, run, run_json, talk, write


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write(tmp_path / "late.json", talk(60))


def test_a_conversation_that_keeps_all_passes(path: Path) -> None:
    done = run("check", path, "--window", "200000", "--no-rule-lost", "--max-facts-lost", "0")

    assert done.exit_code == 0
    assert done.stdout.startswith("passed  late")
    assert "1 check, 0 failed" in done.stdout


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("--max-cost", "0.000001", "--model", "gpt-4o"), "breach.cost"),
        (("--max-cost", "1", "--model", "unknown"), "breach.cost_unknown"),
        (("--min-reuse", "1"), "breach.reuse"),
        (("--preset", "none"), "breach.refused"),
    ],
)
def test_each_limit_fails_alone(path: Path, options: tuple[str, ...], code: str) -> None:
    done = run("check", path, "--window", "1500", *options, "--json")

    [one] = results(run_json("check", path, "--window", "1500", *options))
    assert done.exit_code == 1
    assert not one["passed"]
    assert code in [breach["code"] for breach in one["breaches"]]


def test_junit_has_a_case_for_each_conversation_and_each_file_that_is_not_read(
    path: Path, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text("{")
    report = tmp_path / "report.xml"

    done = run("check", path, broken, "--window", "1500", "--min-reuse", "1", "--junit", report)

    suite = ElementTree.parse(report).getroot()
    assert done.exit_code == 1
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("2", "1", "1")
    assert "can reuse" in str(suite.findall("testcase/failure")[0].get("message"))


def test_nothing_to_check_is_an_error_of_its_own(tmp_path: Path) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text("{")

    assert run("check", broken).exit_code == 2
    assert errors(run_json("check", broken))


def test_facts_that_are_used_after_they_were_lost_are_counted_and_named() -> None:
    demo = Path(__file__).parents[3] / "data" / "demo_incident.json"

    [one] = results(run_json("check", demo, "--window", "8000", "--max-facts-lost", "3"))

    [breach] = one["breaches"]
    assert breach["code"] == "breach.facts_lost"
    assert breach["facts"]["lost"] > breach["facts"]["most"] == 3
    assert isinstance(breach["at"], int)
