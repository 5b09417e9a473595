"""`ctxcore policy`: the fields that are declared, and the values that hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from ctxcore.cli.policies import field_document, fields_table, markdown_tables, written
from ctxcore.policy.fields import fields_of
from ctxcore.policy.values import Policy
from tests.unit.cli.files import results, run, run_json
from tests.unit.test_policy_fields import Bolder

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(autouse=True)
def _nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def lines_of(*args: str) -> dict[str, list[str]]:
    """The words of each line by its first; wide enough for all to stand on one."""
    lines = run("policy", *args, columns=400).stdout.splitlines()
    return {words[0]: words[1:] for words in map(str.split, lines) if words}


def test_every_field_is_listed_with_its_group_range_and_default() -> None:
    lines = lines_of("fields")

    assert [name for name in lines if name in fields_of(Policy)] == list(fields_of(Policy))
    assert " ".join(lines["trigger_ratio"]) == "when a number from 0.01 to 1, or none 0.8"
    assert " ".join(lines["is_shadow"]) == "when yes or no false"


def test_a_preset_stands_beside_where_it_differs() -> None:
    lines = lines_of("fields", "--preset", "pi")

    assert lines["window_tokens"][-2:] == ["none", "80000"]
    assert " ".join(lines["keep_turns"]).endswith("[2] [2, 1, 0]")
    assert lines["trigger_ratio"][-1] == "0.8"


def test_names_of_fields_are_whole_in_a_narrow_terminal() -> None:
    shown = run("policy", "fields", columns=60).stdout

    assert [name for name in fields_of(Policy) if f"{name} " not in shown] == []


def test_json_says_all_of_a_field() -> None:
    found = {one["name"]: one for one in results(run_json("policy", "fields"))}

    assert list(found) == list(fields_of(Policy))
    assert found["lower_tokens"]["allowed"]["text"] == "a whole number of at least 1, or none"
    assert found["lower_tokens"]["allowed"]["code"] == "allowed.or_none"
    assert found["lower_tokens"]["presets"] == {"dual-threshold": 30_000}
    assert found["lower_tokens"]["environment"] == "CTXCORE_POLICY_LOWER_TOKENS"
    assert found["fold_as"]["choices"] == ["summary", "truncation", "choice"]


def test_the_tables_of_the_docs_are_what_is_printed() -> None:
    page = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")

    stands = page.partition("<!-- fields -->")[2].partition("<!-- end of fields -->")[0]
    assert stands.strip() == run("policy", "fields", "--markdown").stdout.strip()


def test_a_new_field_is_listed_without_another_line() -> None:
    declared = list(fields_of(Bolder).values())

    assert "boldness" in map(str, fields_table(declared, None).columns[0].cells)
    assert "| `boldness` | `none` |" in markdown_tables(declared)
    assert field_document(fields_of(Bolder)["boldness"])["environment"] == "CTXCORE_POLICY_BOLDNESS"


def test_a_value_is_written_as_a_variable_takes_it() -> None:
    values = (None, True, 0.5, (2, 1), (("bash", 400),), "pi")

    assert [written(value) for value in values] == [
        *("none", "true", "0.5", "[2, 1]", '[["bash", 400]]', "pi")
    ]


def test_the_policy_that_holds_says_where_each_value_is_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.yaml").write_text("policy:\n  fresh_turns: 5\n", encoding="utf-8")
    monkeypatch.setenv("CTXCORE_POLICY_UPPER_TOKENS", "900")

    (found,) = results(run_json("policy", "show", "pi", "--config", "a.yaml"))

    assert list(found) == list(fields_of(Policy))
    assert found["keep_turns"] == {"value": [2, 1, 0], "source": "preset pi"}
    assert found["fresh_turns"] == {"value": 5, "source": "a.yaml, line 2"}
    assert found["upper_tokens"] == {
        "value": 900,
        "source": "environment variable CTXCORE_POLICY_UPPER_TOKENS",
    }
    assert lines_of("show", "pi")["keep_turns"] == ["[2,", "1,", "0]", "preset", "pi"]


@pytest.mark.parametrize("args", [("fields", "--preset", "x"), ("show", "x")])
def test_an_unknown_preset_is_a_usage_error(args: tuple[str, ...]) -> None:
    done = run("policy", *args)

    assert done.exit_code == 2
    assert "not one of default" in " ".join(done.stderr.replace("│", "").split())


def test_a_removed_field_in_a_file_is_a_usage_error_that_says_so(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("policy:\n  max_failures: 5\n", encoding="utf-8")

    done = run("policy", "show", "--config", "a.yaml")

    assert done.exit_code == 2
    assert "the field was removed in 0.1.0" in " ".join(done.stderr.replace("│", "").split())
