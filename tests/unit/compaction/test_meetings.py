"""What a compaction keeps of a meeting whose last speaker asks something."""

from __future__ import annotations

from functools import partial

import pytest

from ctxcore.assembly.rules.words import words_of_speaker
from ctxcore.compaction.compacting import compact
from ctxcore.messages.shapes.reading import parse_messages
from ctxcore.messages.values import JsonObject

CHAIR, OTHERS = "Project Manager", ("Ada", "Ben", "Cleo")
TOPICS = (
    "The battery lasts seventeen months",
    "Rubber buttons cost ninety cents",
    "Titanium casing scratches badly",
    "Kinetic charging needs springs",
    "Speech recognition misunderstands accents",
    "Elderly customers prefer bigger labels",
    "Marketing surveyed four hundred households",
    "Curved shells break when dropped",
    "Infrared reaches eleven metres",
    "Banana yellow matches corporate identity",
)


def said_by(name: str, text: str) -> JsonObject:
    return {"role": "user", "name": name.replace(" ", "_"), "content": f"{name}: {text}"}


def meeting() -> list[JsonObject]:
    """Each topic once, between remarks of the one who asks last."""
    said: list[JsonObject] = []
    for at, topic in enumerate(TOPICS):
        said += [said_by(CHAIR, "Okay ."), said_by(OTHERS[at % 3], f"{topic} .")]
        said += [said_by(CHAIR, word) for word in ("Yeah .", "Right .", "Mm-hmm .")]
    return [*said, said_by(CHAIR, "Shall we ?")]


def test_a_question_of_the_last_speaker_does_not_keep_all_they_said() -> None:
    result = compact(meeting(), max_tokens=240, target_tokens=240, force=True, model="gpt-4o")
    shown = str(result.context.messages)

    assert sum(topic in shown for topic in TOPICS) >= 8


def test_a_meeting_has_no_quotes_beside_what_stays_unless_a_person_names_something() -> None:
    of_meeting = partial(compact, meeting(), max_tokens=400, target_tokens=300, force=True)

    assert not of_meeting(model="gpt-4o").summary
    assert of_meeting(model="gpt-4o", focus="titanium casing").summary


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("Project_Manager", "Project Manager: Shall we?", "Shall we?"),
        ("ada", "Ada：好的？", "好的？"),
        ("Ada", "Adam: no", "Adam: no"),
        (None, "Ada: OK?", "Ada: OK?"),
    ],
)
def test_the_words_of_a_message_are_without_the_name_of_who_says_them(
    name: str | None, text: str, words: str
) -> None:
    raw: JsonObject = {"role": "user", "content": text}
    if name:
        raw["name"] = name

    [message] = parse_messages([raw])

    assert words_of_speaker(message) == words
