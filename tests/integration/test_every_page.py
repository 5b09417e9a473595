"""Every page in every language: nothing there yet, little, more than fits, what can never fit.

Each stands in its shell without an error, has no key in place of a text and no text of another
language, and says what is there or what to do next.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest
from streamlit.testing.v1.element_tree import Block

from ctxcore.json_types import JsonObject
from ctxcore.store.values import SessionInfo
from dashboard.page_registry import PAGES as REGISTERED
from dashboard.texts import FALLBACK, Language, catalogue, languages, text_of
from tests.dashboard_app import PAGES, WINDOW_TOKENS, Dashboard, open_dashboard

FOUR_WORDS = re.compile(r"(?:\b[A-Za-z]{2,}[,;:]? ){3,}[A-Za-z]{2,}")
"""English that is no name: the sessions here are Chinese."""
NOT_WORDS = re.compile(r"`[^`]*`|(?s:<style>.*</style>)|<[^>]*>|\S*[/_.=@]\S*")
"""Code, styles, markup, addresses: the same in every language."""
AREAS = "|".join(sorted({key.split(".")[0] for key in catalogue(FALLBACK)}))
KEY = re.compile(rf"\b(?:{AREAS})(?:\.[a-z_]+)+\b")
SHOWN = ("label", "help", "placeholder", "body")


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """What a user has, and the text that each page then shows."""

    name: str
    fill: Callable[[Dashboard], SessionInfo | None]
    told: dict[str, str]


def nothing(app: Dashboard) -> None:
    """A user who never said anything."""
    app.engine.user()


def little(app: Dashboard) -> SessionInfo:
    """One question and its answer."""
    return _session(app, turns=1)


def more_than_fits(app: Dashboard) -> SessionInfo:
    """More than the window, which a compaction makes fit."""
    session = _session(app, turns=60)
    context = app.engine.context(session.id)
    assert context.budget is not None
    assert sum(run.before_tokens for run in context.runs) > WINDOW_TOKENS > context.tokens
    return session


def what_never_fits(app: Dashboard) -> SessionInfo:
    """A system prompt larger than the window."""
    return _session(app, turns=1, system="每次回答前先核对订单号。" * WINDOW_TOKENS)


def _session(app: Dashboard, *, turns: int, system: str = "") -> SessionInfo:
    session = app.engine.create_session("订单", system=system)
    said: list[JsonObject] = []
    for number in range(turns):
        said.append({"role": "user", "content": f"第 {number} 个问题：" + "订单到哪里了？" * 5})
        said.append({"role": "assistant", "content": "包裹还在路上。" * 8})
    app.engine.append(session.id, said)
    return session


WITH_NOTHING = {
    "chat": "chat.suggestion.first",
    "context": "context.empty",
    "usage": "usage.empty",
    "compaction": "compaction.no_session",
    "lab": "lab.no_sessions",
    "sessions": "sessions.empty",
    "reports": "reports.savings.empty",
    "settings": "settings.search.hint",
    "health": "health.errors.none",
}
WITH_LITTLE = {
    **WITH_NOTHING,
    "chat": "chat.strip.turns",
    "context": "context.verdicts",
    "usage": "usage.account",
    "compaction": "compaction.empty",
    "lab": "lab.empty",
    "sessions": "sessions.fork",
}
WITH_TOO_MUCH = {**WITH_LITTLE, "chat": "chat.strip.due", "context": "compact.outside"}
WITH_WHAT_NEVER_FITS = {
    **WITH_LITTLE,
    "chat": "reason.budget.no_room",
    "context": "reason.budget.no_room",
}
STATES = (
    State(name="nothing", fill=nothing, told=WITH_NOTHING),
    State(name="little", fill=little, told=WITH_LITTLE),
    State(name="more than fits", fill=more_than_fits, told=WITH_TOO_MUCH),
    State(name="what never fits", fill=what_never_fits, told=WITH_WHAT_NEVER_FITS),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Visited:
    """A dashboard in one of the states, and its session."""

    app: Dashboard
    state: State
    session: SessionInfo | None


@pytest.fixture(scope="module", params=STATES, ids=lambda state: state.name)
def visited(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Visited]:
    """One dashboard for all tests of a state: a visit changes nothing but the language."""
    state: State = request.param
    with (
        pytest.MonkeyPatch.context() as patch,
        open_dashboard(tmp_path_factory.mktemp("pages"), patch) as app,
    ):
        yield Visited(app=app, state=state, session=state.fill(app))


@pytest.mark.parametrize("language", languages())
@pytest.mark.parametrize("page", PAGES)
def test_a_page_says_what_is_there_and_what_to_do(
    visited: Visited, page: str, language: Language
) -> None:
    app = visited.app
    app.engine.store.save_setting("language:local", language)
    app.reopen()
    app.run()

    app.go(page)

    assert app.at.sidebar.selectbox(key="shell_language").value == language
    if visited.session is not None:
        assert app.at.sidebar.selectbox(key="shell_session").value == visited.session.id
        assert app.at.query_params["session"] == visited.session.id
    shown = list(shown_texts(app))
    told = visited.state.told[page]
    assert any(as_pattern(told, language).search(text) for text in shown), told
    assert [text for text in shown if KEY.search(text)] == []
    assert [text for text in shown if is_foreign(text, language)] == []


def test_every_page_is_visited() -> None:
    assert set(PAGES) == set(REGISTERED)


def as_pattern(key: str, language: Language) -> re.Pattern[str]:
    """The text of a key, with anything in its blanks."""
    text = text_of(key, language)
    assert text is not None, key
    return re.compile(".*".join(map(re.escape, re.split(r"\{[^}]*\}", text))))


def is_foreign(text: str, language: Language) -> bool:
    """Whether a text on a page in another language is English."""
    if language == FALLBACK:
        return False
    return text in only_english(language) or FOUR_WORDS.search(NOT_WORDS.sub("", text)) is not None


@cache
def only_english(language: Language) -> frozenset[str]:
    """The English texts that are none of a language."""
    return frozenset(catalogue(FALLBACK).values()) - set(catalogue(language).values())


def shown_texts(app: Dashboard) -> Iterator[str]:
    """Everything that is written on the page: in elements, tables and charts."""
    for element in _elements(app.at._tree):  # what stands at the bottom is in no public part
        yield from _texts_of(element)


def _elements(block: Block) -> Iterator[Any]:
    for child in block.children.values():
        yield child
        if isinstance(child, Block):
            yield from _elements(child)


def _texts_of(element: Any) -> Iterator[str]:
    options = getattr(element, "options", None)
    proto = getattr(element, "proto", None)
    found = [getattr(holder, name, "") for holder in (element, proto) for name in SHOWN]
    if element.type == "plotly_chart":
        found.append(_written(json.loads(element.proto.spec)))
    elif element.type == "dataframe":
        found += [list(element.value.columns), element.value.to_numpy().tolist()]
    else:  # the value of a choice is a code
        found.append(options or getattr(element, "value", ""))
    yield from _strings(found)


def _written(spec: object) -> list[object]:
    """What a chart has in words; its other strings are codes."""
    if isinstance(spec, list):
        return [_written(one) for one in spec]
    if not isinstance(spec, dict):
        return []
    words = [spec.get(name) for name in ("text", "name", "ticktext", "hovertemplate")]
    return [*words, *map(_written, spec.values())]


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from _strings(list(value.values()))
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _strings(one)
