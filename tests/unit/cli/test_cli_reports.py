"""Commands for savings, shadow mode and alerts; policies as files, their changes and effects."""

from __future__ import annotations

import csv
import io
from contextlib import closing
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import pytest

from ctxcore import ContextEngine, open_store
from ctxcore.engine.policies import save_figures
from ctxcore.reasons.report_codes import AlertCode
from ctxcore.settings.loading import read_text
from ctxcore.store.values import CallInfo, Scope
from tests.unit.cli.files import errors, results, run, run_json

START = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A database of the operator `local`, with two calls under a policy, one of them compacted."""
    file, ticks = tmp_path / "chat.db", count()
    with closing(open_store(str(file))) as store:
        engine = ContextEngine(
            store,
            new_id=lambda: "harbour-0001",
            clock=lambda: START + timedelta(minutes=next(ticks)),
        )
        engine.create_session("Harbour", model="m")
        save_figures(store, "m", {"input_price": 3e-6, "output_price": 15e-6})
        mine = Scope(kind="user", owner="local")
        engine.save_policy(mine, {"trigger_ratio": 0.6})
        version = engine.save_policy(mine, {"trigger_ratio": 0.7, "name": "pi"})
        store.record_calls(
            [
                CallInfo(
                    id=str(number),
                    session_id="harbour-0001",
                    created_at=START + timedelta(hours=1),
                    purpose="answer",
                    model="m",
                    policy_version_id=version.id,
                    estimate={"recent": 1_000},
                    without_tokens=without,
                    input_tokens=1_000,
                    output_tokens=10,
                )
                for number, without in enumerate((1_000, 201_000))
            ]
        )
        why = AlertCode.RULES_LOST(count=1, rules=("never\x1b[31m push",))
        store.raise_alert("harbour-0001", "rules:c", why, user_id="local", at=START)
        store.create_user("eve", at=START)
    return file


def test_savings_are_told_by_month_and_version_with_their_sum(path: Path) -> None:
    done = run("savings", "--database", path)

    assert "2026-03" in done.stdout
    assert "#2" in done.stdout
    assert "200,000 · $0.60" in done.stdout
    assert "without compactions" in done.stderr
    [saving] = results(run_json("savings", "--database", path))
    assert (saving["unsent_tokens"], saving["net_dollars"]) == (200_000, pytest.approx(0.6))


def test_savings_as_csv_have_the_same_numbers(path: Path) -> None:
    [row] = csv.DictReader(io.StringIO(run("savings", "--csv", "--database", path).stdout))

    assert (row["month"], row["user_id"], row["unsent_tokens"]) == ("2026-03", "local", "200000")
    assert float(row["net_dollars"]) == pytest.approx(0.6)


def test_another_user_s_savings_are_their_own(path: Path) -> None:
    done = run("savings", "--user", "eve", "--database", path)

    assert "no calls were made here" in done.stderr


def test_the_history_names_author_field_and_values(path: Path) -> None:
    done = run("policy", "history", "--database", path)

    rows = [line.split() for line in done.stdout.splitlines() if "trigger_ratio" in line]
    assert [row[3:] for row in rows] == [
        ["user:local", "2", "trigger_ratio", "0.6", "0.7"],
        ["user:local", "1", "trigger_ratio", "inherited", "0.6"],
    ]
    newest, first = results(run_json("policy", "history", "--database", path))
    assert [change["field"] for change in newest["changes"]] == ["name", "trigger_ratio"]
    assert (first["by"], first["version"]) == ("local", 1)
    table = list(
        csv.DictReader(io.StringIO(run("policy", "history", "--csv", "--database", path).stdout))
    )
    assert [row["field"] for row in table] == ["name", "trigger_ratio", "trigger_ratio"]
    assert "ever changed" in run("policy", "history", "--by", "eve", "--database", path).stderr


def test_effects_say_how_many_calls_are_missing(path: Path) -> None:
    done = run("policy", "effects", "--database", path)

    assert "under it: not yet, 2 of 50 calls" in done.stdout
    assert "traffic may differ" in done.stderr
    newest, first = results(run_json("policy", "effects", "--database", path))
    assert (newest["after"]["calls"], newest["is_told"]) == (2, False)
    assert first["after"]["calls"] == 0
    everybody = run("policy", "effects", "--scope", "everybody", "--database", path)
    assert "never changed" in everybody.stderr


def test_an_exported_policy_is_imported_with_a_preview_first(path: Path, tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    run("policy", "export", "--out", file, "--database", path)
    text = file.read_text(encoding="utf-8")
    assert read_text(text, name="p").overrides == {"trigger_ratio": 0.7, "name": "pi"}
    file.write_text(text.replace("0.7", "0.8"), encoding="utf-8")

    preview = run("policy", "import", file, "--database", path)
    again = run("policy", "import", file, "--database", path)
    saved = run("policy", "import", file, "--yes", "--database", path)
    same = run("policy", "import", file, "--yes", "--database", path)

    assert [word in preview.stdout for word in ("trigger_ratio", "0.7", "0.8")] == [True] * 3
    assert preview.stdout == again.stdout
    assert "not saved" in preview.stderr
    assert "saved for user:local" in saved.stderr
    assert "changes nothing" in same.stderr


def test_a_whole_policy_is_written_for_everybody(path: Path) -> None:
    done = run("policy", "export", "--scope", "everybody", "--whole", "--database", path)

    written = read_text(done.stdout, name="p").overrides
    assert written["name"] == "default"
    assert len(written) > 50


def test_a_refused_file_is_named_with_line_and_field(path: Path, tmp_path: Path) -> None:
    file = tmp_path / "bad.yaml"
    file.write_text("policy:\n  trigger_ratio: 7\n", encoding="utf-8")

    done = run("policy", "import", file, "--yes", "--database", path)

    assert done.exit_code == 1
    assert "bad.yaml, line 2" in done.stderr
    assert "'trigger_ratio' is 7" in done.stderr
    [error] = errors(run_json("policy", "import", file, "--database", path))
    assert error["kind"] == "PolicyError"


@pytest.mark.parametrize("scope", ["nobody", "user:", "group"])
def test_a_scope_of_another_form_is_refused(path: Path, scope: str) -> None:
    done = run("policy", "effects", "--scope", scope, "--database", path)

    assert done.exit_code == 2
    assert "group:NAME" in done.stderr


def test_alerts_are_listed_and_marked_as_seen(path: Path) -> None:
    listed = run("alerts", "--database", path)
    seen = run("alerts", "--see", "--database", path)

    assert "lost 1 standing instructions" in listed.stdout.replace("\n", " ")
    assert "\x1b" not in listed.stdout
    assert "1 alert marked as seen" in seen.stderr
    assert "no new alerts" in run("alerts", "--database", path).stderr
    [alert] = results(run_json("alerts", "--all", "--database", path))
    assert (alert["seen_by"], alert["code"]) == ("local", "alert.rules_lost")


def test_alerts_are_for_operators(path: Path) -> None:
    done = run("alerts", "--user", "eve", "--database", path)

    assert done.exit_code == 1
    assert "no access" in done.stderr


def test_shadow_mode_without_plans_says_so(path: Path) -> None:
    assert "no policy in shadow mode" in run("shadow", "--database", path).stderr


def test_a_policy_is_shown_as_yaml(tmp_path: Path) -> None:
    done = run("policy", "show", "pi", "--yaml")

    assert read_text(done.stdout, name="p").overrides["name"] == "pi"
