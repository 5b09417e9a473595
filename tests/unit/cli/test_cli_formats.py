"""`ctxcore formats`: what can be read, on the command line."""

from __future__ import annotations

from ctxcore.formats.reading import FORMATS
from tests.unit.cli.files import results, run, run_json


def test_json_has_each_format_in_the_order_in_which_they_are_tried() -> None:
    found = results(run_json("formats"))

    assert [one["name"] for one in found] == list(FORMATS)
    assert {
        "name": "claude-code",
        "label": "a Claude Code session (.jsonl)",
        "suffixes": [".json", ".jsonl"],
    } in found


def test_the_table_says_what_each_format_is() -> None:
    told = run("formats")

    assert told.exit_code == 0
    for name, fmt in FORMATS.items():
        assert name in told.stdout
        assert " ".join(fmt.suffixes) in told.stdout
    assert f"{len(FORMATS)} formats" in told.stdout + told.stderr
