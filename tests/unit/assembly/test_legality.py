"""`lint`: each rule of each provider, by an example that breaks it alone."""

from __future__ import annotations

import pytest

from ctxcore.assembly.legality import PROVIDERS, lint
from ctxcore.tokens.families import Provider

STRICT: tuple[Provider, ...] = ("anthropic", "gemini", "bedrock")
OPENAI: tuple[Provider, ...] = ("openai",)

Raw = dict[str, object]


def user(text: str = "hi", **more: object) -> Raw:
    """A user's message."""
    return {"role": "user", "content": text, **more}


def said(text: str = "hello") -> Raw:
    """An assistant's message."""
    return {"role": "assistant", "content": text}


def calls(*ids: str, arguments: str = "{}", text: str | None = None) -> Raw:
    """An assistant's message with calls."""
    function = {"name": "search", "arguments": arguments}
    made = [{"id": call_id, "type": "function", "function": function} for call_id in ids]
    return {"role": "assistant", "content": text, "tool_calls": made}


def result(call_id: str) -> Raw:
    """What a tool returned."""
    return {"role": "tool", "tool_call_id": call_id, "content": "42"}


CASES: list[tuple[str, list[Raw], str, int, tuple[Provider, ...]]] = [
    ("no call before a result", [user(), result("a")], "orphan_result", 1, PROVIDERS),
    (
        "a result of another call",
        [user(), calls("a"), result("a"), result("b")],
        "orphan_result",
        3,
        PROVIDERS,
    ),
    ("no result", [user(), calls("a")], "missing_result", 1, PROVIDERS),
    (
        "a result too late",
        [user(), calls("a"), user(), result("a")],
        "missing_result",
        1,
        PROVIDERS,
    ),
    ("one id twice in a message", [user(), calls("a", "a"), result("a")], "call_id", 1, PROVIDERS),
    ("no id", [user(), calls(""), result("")], "call_id", 1, PROVIDERS),
    (
        "one id twice",
        [user(), calls("a"), result("a"), said(), user(), calls("a"), result("a")],
        "call_id",
        5,
        STRICT,
    ),
    ("an assistant first", [said(), user()], "first_role", 0, STRICT),
    ("two users", [user(), user()], "alternation", 1, STRICT),
    ("two assistants", [user(), said(), said()], "alternation", 2, STRICT),
    ("arguments", [user(), calls("a", arguments="[1]"), result("a")], "arguments", 1, STRICT),
    ("no arguments", [user(), calls("a", arguments=""), result("a")], "arguments", 1, STRICT),
    ("an empty message", [user(), said("")], "empty", 1, STRICT),
    ("white space", [user(" \n")], "empty", 0, STRICT),
    ("white space before a call", [user(), calls("a", text="\n"), result("a")], "empty", 1, STRICT),
    (
        "a refusal alone",
        [user(), {"role": "assistant", "content": None, "refusal": "no"}],
        "empty",
        1,
        STRICT,
    ),
    ("a name with a space", [user(name="Ada Lovelace")], "name", 0, OPENAI),
    ("no role", [{"content": "hi"}], "format", 0, PROVIDERS),
]


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    ("messages", "rule", "at", "minding"), [case[1:] for case in CASES], ids=[c[0] for c in CASES]
)
def test_a_provider_minds(
    messages: list[Raw], rule: str, at: int, minding: tuple[Provider, ...], provider: Provider
) -> None:
    found = [(violation.rule, violation.at) for violation in lint(messages, provider)]

    assert ((rule, at) in found) is (provider in minding)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_sound_conversation_has_nothing_to_refuse(provider: Provider) -> None:
    system: Raw = {"role": "system", "content": ""}
    sound = [system, user(), calls("a", "b"), result("b"), result("a"), said(), system, user()]

    assert lint(sound, provider) == []
    assert lint([], provider) == []


def test_results_may_precede_a_user_message() -> None:
    assert lint([user(), calls("a"), result("a"), user("stop")], "anthropic") == []


def test_an_unknown_provider_is_refused() -> None:
    with pytest.raises(ValueError, match="openai, anthropic, gemini, bedrock"):
        lint([], "nobody")  # type: ignore[arg-type]  # wrong on purpose
