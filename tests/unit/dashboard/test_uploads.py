"""Limits of uploads: one owner, and the server and the documentation agree with it."""

from __future__ import annotations

import tomllib
from pathlib import Path

from ctxcore.formats.markdown import MARKDOWN
from ctxcore.formats.reading import FORMATS, find_transcripts, readable_suffixes, register_format
from ctxcore.formats.values import Format
from dashboard.uploads import IMPORT_MEGABYTES, TEXT_MEGABYTES, import_types

ROOT = Path(__file__).resolve().parents[3]


def test_the_server_takes_what_the_largest_uploader_offers() -> None:
    config = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))

    assert config["server"]["maxUploadSize"] == max(IMPORT_MEGABYTES, TEXT_MEGABYTES)


def test_the_documentation_names_the_limits() -> None:
    told = (ROOT / "docs" / "dashboard.md").read_text(encoding="utf-8")

    assert f"transcripts of up to {IMPORT_MEGABYTES} MB" in told
    assert f"texts for the model of up to {TEXT_MEGABYTES} MB" in told


def test_every_suffix_of_a_format_can_be_uploaded_and_is_read_in_folders(tmp_path: Path) -> None:
    mine = Format(
        name="mine",
        label="mine",
        matches=lambda _: False,
        read=lambda _records: iter(()),
        suffixes=(".mine",),
    )
    with FORMATS.restored():
        register_format(mine)
        for suffix in readable_suffixes():
            # Of Markdown only conversations are looked at: folders have much else of it.
            text = "<!-- ctxcore.markdown 1 -->" if suffix in MARKDOWN.suffixes else "{}"
            (tmp_path / f"talk{suffix}").write_text(text, encoding="utf-8")
        (tmp_path / "README.md").write_text("# Read me", encoding="utf-8")
        (tmp_path / "notes.txt").write_text("{}", encoding="utf-8")

        assert {"json", "jsonl", "traj", "mine"} <= {*import_types()}
        assert {path.suffix for path in find_transcripts(tmp_path)} == {*readable_suffixes()}
