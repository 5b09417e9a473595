"""A transcript format that somebody registers is found, read and named like the library's own."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

import pytest

from ctxcore.errors import FormatError
from ctxcore.formats.reading import FORMATS, parse_transcripts, register_format
from ctxcore.formats.records import Record, Records
from ctxcore.formats.values import Format, Transcript
from ctxcore.messages.values import text_message

LINES = '{"who": "user", "says": "hi"}\n{"who": "assistant", "says": "hello"}'


def says(records: Iterable[Record]) -> Iterator[tuple[str, str]]:
    for record in records:
        if isinstance(record.value, dict) and "says" in record.value:
            yield str(record.value["who"]), str(record.value["says"])


def read_diary(records: Records) -> Iterator[Transcript]:
    said = [text_message("user" if who == "user" else "assistant", t) for who, t in says(records)]
    yield Transcript(
        id=records.name,
        title=records.name,
        format="diary",
        path=records.name,
        messages=tuple(said),
        times=(None,) * len(said),
    )


DIARY = Format(
    name="diary", label="a diary", matches=lambda all_: any(says(all_.head)), read=read_diary
)


@pytest.fixture(autouse=True)
def _own_formats_go() -> Iterator[None]:
    with FORMATS.restored():
        register_format(DIARY)
        yield


def test_its_files_are_read() -> None:
    [found] = parse_transcripts(LINES, name="a.jsonl")

    assert (found.format, [message.text for message in found.messages]) == (
        "diary",
        ["hi", "hello"],
    )


def test_other_files_are_read_as_before() -> None:
    talk = json.dumps([{"role": "user", "content": "hi"}])

    assert parse_transcripts(talk, name="a.json")[0].format == "openai"


def test_a_file_of_no_format_is_told_how_many_there_are() -> None:
    others = len(FORMATS) - 2

    with pytest.raises(FormatError, match=rf"Claude Code session .* or one of {others} other"):
        parse_transcripts("[1]", name="a.json")


def test_it_may_be_asked_first() -> None:
    greedy = Format(name="greedy", label="all", matches=lambda _: True, read=read_diary)
    before = next(iter(FORMATS))
    register_format(greedy, before=before)

    names = list(FORMATS)
    assert names[names.index(before) - 1] == "greedy"
    assert names[-2:] == ["diary", "openai"]


def test_there_is_a_format_to_stand_before() -> None:
    with pytest.raises(KeyError, match="no transcript format named 'nothing'"):
        register_format(Format(name="x", label="", matches=bool, read=read_diary), before="nothing")
