"""Stores sessions of the OpenAI Agents SDK, and keeps its agents within their model's window.

Items are stored as messages, so that everything that reads sessions reads these, with the items
themselves beside those messages from which they cannot be written again.
"""

from __future__ import annotations

import json
import logging
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Unpack

from ctxcore.assembly.states import CompactionState
from ctxcore.engine.asynchronous import run_in_thread
from ctxcore.engine.core import ContextEngine
from ctxcore.gateway.values import ModelUsage
from ctxcore.integrations.requirements import require
from ctxcore.integrations.window import STATE_KEY, Window, WindowSettings, function_definition
from ctxcore.json_types import JsonObject, JsonValue
from ctxcore.messages.canonical import (
    canonical_at,
    digest_of_texts,
    parse_canonical,
    to_canonical,
    type_of,
)
from ctxcore.messages.shapes.reading import codec_of, write_messages
from ctxcore.messages.values import Message, Opaque
from ctxcore.reasons.places import Place, PlaceCode
from ctxcore.store.values import AGENTS_SDK, MessageInfo

require("agents", extra="openai-agents")

from agents import (
    Agent,
    FunctionTool,
    ModelResponse,
    RunContextWrapper,
    RunHooks,
    TResponseInputItem,
)
from agents.memory import SessionSettings
from agents.run_config import CallModelData, ModelInputData

_ITEMS: Final = "items"
_STATES: Final = "states"
_MOST_CONVERSATIONS: Final = 1_000  # chosen: states of a few KB each
_UNBOUND: Final = CompactionState().to_json()
"""The state of a conversation that was never compacted."""

_LOGGER = logging.getLogger("ctxcore.integrations")


class ContextSession:
    """A session of the Agents SDK in the store of an engine.

    What is popped or cleared is excluded there: agents get it no more, and people can still read
    it and bring it back. Faults of the store are raised, since a lost item would change what an
    agent knows.
    """

    def __init__(
        self,
        session_id: str,
        engine: ContextEngine,
        *,
        session_settings: SessionSettings | None = None,
    ) -> None:
        """The session of this id, made with the first items.

        Args:
            session_id: its id in the store as well.
            engine: of the user whom the session belongs to.
            session_settings: the SDK's own; a `limit` there moves the beginning of every request.
        """
        self.session_id = session_id
        self.session_settings = session_settings
        self.engine = engine
        self._writing = threading.RLock()
        self._held: dict[str, JsonObject] = {}
        self._unsaved: dict[str, JsonObject] = {}

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """The items, oldest first; the latest `limit` of them if there is one.

        Raises:
            StoreError: they cannot be read. NotAllowedError: the session is another user's.
        """
        if limit is None and self.session_settings is not None:
            limit = self.session_settings.limit
        items = await run_in_thread(self._items)
        return items if limit is None else items[max(len(items) - limit, 0) :]

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Appends items, all or none.

        Raises:
            MessageError: one of them is no JSON. StoreError: they cannot be stored.
        """
        if not items:
            return
        await run_in_thread(lambda: self._add(items))

    async def pop_item(self) -> TResponseInputItem | None:
        """Takes the latest item out of the session; None if there is none.

        Its block (a call with its results, say) is excluded, and the other items of the block are
        appended anew.
        """
        return await run_in_thread(self._pop)

    async def clear_session(self) -> None:
        """Takes all items out of the session."""
        await run_in_thread(self._clear)

    async def states(self) -> Mapping[str, JsonObject]:
        """What compactions left behind, by how a conversation begins."""
        await run_in_thread(self._rows)
        return {**self._held, **self._unsaved}

    def hold(self, begins: str, state: JsonObject) -> None:
        """Keeps what a compaction left behind; it is stored with the next items."""
        if _lasting(self._held.get(begins, _UNBOUND)) != _lasting(state):
            self._unsaved[begins] = state

    def _rows(self) -> list[MessageInfo]:
        """The messages that are not excluded."""
        engine = self.engine
        engine.outside_calls.open_session(self.session_id, origin=AGENTS_SDK)
        rows = engine.store.messages(self.session_id)
        for row in rows:
            self._held.update(_beside(row.message).get(_STATES, {}))
        marked = {
            mark.seq for mark in engine.store.marks(self.session_id) if mark.kind == "exclude"
        }
        blocks = {row.block for row in rows if row.seq in marked}
        return [row for row in rows if row.block not in blocks]

    def _items(self) -> list[Any]:
        return [item for row in self._rows() for item in _items_of(row.message)]

    def _add(self, items: Sequence[Any]) -> None:
        *messages, last = _messages(items)
        with self._writing:
            self.engine.outside_calls.open_session(self.session_id, origin=AGENTS_SDK)
            saved = dict(self._unsaved)
            if saved:
                last = _with_beside(last, {_STATES: {**saved}})
            self.engine.append(self.session_id, [*messages, last])
            self._held.update(saved)
            for begins, state in saved.items():
                if self._unsaved.get(begins) is state:  # else a call has made a newer one
                    del self._unsaved[begins]

    def _pop(self) -> Any:
        with self._writing:
            rows = self._rows()
            if not rows:
                return None
            block = [row for row in rows if row.block == rows[-1].block]
            *rest, popped = [item for row in block for item in _items_of(row.message)]
            self.engine.exclude(self.session_id, block[-1].seq - 1)
            if rest:
                self._add(rest)
            return popped

    def _clear(self) -> None:
        with self._writing:
            last_of_block = {row.block: row.seq for row in self._rows()}
            for seq in last_of_block.values():
                self.engine.exclude(self.session_id, seq - 1)


class UsageHooks(RunHooks[Any]):
    """Stores the usage of each call of a run with its session; pass it as the run's `hooks`."""

    def __init__(self, session: ContextSession, *, model: str | None = None) -> None:
        """Hooks for the runs of a session; `model` goes before the agent's."""
        self._session = session
        self._model = model

    async def on_llm_end(
        self, context: RunContextWrapper[Any], agent: Agent[Any], response: ModelResponse
    ) -> None:
        """Stores what the provider reported; nothing where it reported nothing."""
        usage = _usage(response)
        if not usage.input_tokens and not usage.output_tokens:
            return
        session, model = self._session, self._model or model_name(agent)
        calls = session.engine.outside_calls

        def record() -> None:
            calls.open_session(session.session_id, origin=AGENTS_SDK)
            calls.record_usage(session.session_id, usage, model=model)

        try:
            await run_in_thread(record)
        except Exception:  # the user's run must not fail because of us
            _LOGGER.exception("The usage of a call was not stored session=%s", session.session_id)


class ContextFilter:
    """Sends each call of agents within the window: the `call_model_input_filter` of a run.

    The items of the run and of its session stay whole. What keeps the prefix of requests stable is
    stored with `session`; without one it is in this object, by how a conversation begins.
    """

    def __init__(
        self, session: ContextSession | None = None, **settings: Unpack[WindowSettings]
    ) -> None:
        """A filter for the runs of one session, or for any number of runs without one.

        Args:
            session: where states are stored.
            settings: those of `Window`; without `max_tokens` and `model` the agent's model decides.

        Raises:
            PolicyError: there is no preset of this name.
        """
        self.window = Window(**settings)
        self._session = session
        self._states: OrderedDict[str, JsonObject] = OrderedDict()

    async def __call__(self, data: CallModelData[Any]) -> ModelInputData:
        """What is sent in place of the input of a call."""
        given, agent = data.model_data, data.agent
        if not given.input:
            return given
        front = [{"role": "system", "content": given.instructions}] if given.instructions else []
        begins = _digest(given.input[0])
        kept = await self.window.akeep(
            [*front, *given.input],
            await self._state(begins),
            tools=[
                function_definition(one.name, one.description, one.params_json_schema)
                for one in agent.tools
                if isinstance(one, FunctionTool)
            ],
            model=model_name(agent),
        )
        if kept.state is not None:
            self._hold(begins, kept.state)
        if front and kept.messages and kept.messages[0].get("role") == "system":
            said = _text(kept.messages[0]["content"])
            return ModelInputData(input=kept.messages[1:], instructions=said)
        return ModelInputData(input=kept.messages, instructions=given.instructions)

    async def _state(self, begins: str) -> JsonObject | None:
        if begins not in self._states and self._session is not None:
            try:
                stored = (await self._session.states()).get(begins)
            except Exception:
                if self.window.strict:
                    raise
                _LOGGER.exception("The state of a session was not read; it is made anew")
                stored = None
            return stored
        return self._states.get(begins)

    def _hold(self, begins: str, state: JsonObject) -> None:
        self._states[begins] = state
        self._states.move_to_end(begins)
        if len(self._states) > _MOST_CONVERSATIONS:
            self._states.popitem(last=False)
        if self._session is not None:
            self._session.hold(begins, state)


def model_name(agent: Agent[Any]) -> str | None:
    """The name of an agent's model; None where it has none of its own."""
    name = agent.model if isinstance(agent.model, str) else getattr(agent.model, "model", None)
    return name if isinstance(name, str) else None


def _text(content: str | list[dict[str, str]]) -> str:
    """The text of a system message, to whose parts a context may have added some."""
    parts = [content] if isinstance(content, str) else [part["text"] for part in content]
    return "\n\n".join(parts)


def _usage(response: ModelResponse) -> ModelUsage:
    usage = response.usage
    return ModelUsage(
        input_tokens=usage.input_tokens,
        cached_tokens=usage.input_tokens_details.cached_tokens,
        output_tokens=usage.output_tokens,
        reasoning_tokens=usage.output_tokens_details.reasoning_tokens,
        cache_write_tokens=getattr(usage.input_tokens_details, "cache_write_tokens", None),
    )


def _messages(items: Sequence[Any]) -> list[Message]:
    """`items` as messages, with those beside them that could not be written again.

    An item of no known kind is a message without text.
    """
    refused: list[int] = []
    read = codec_of("responses").to(enumerate(items), lambda at, error: refused.append(at))
    places = read.places or tuple((at,) for at in range(len(read.messages)))
    found = [*zip(places, read.messages, strict=True), *(_unknown(items, at) for at in refused)]
    return [
        _with_items(message, [parse_canonical(_canonical(items, at)) for at in ats])
        for ats, message in sorted(found, key=lambda one: one[0])
    ]


def _unknown(items: Sequence[Any], at: int) -> tuple[tuple[int, ...], Message]:
    opaque = Opaque(provider=type_of(items[at]) or "item", raw=_canonical(items, at))
    return (at,), Message(role="assistant", content=(opaque,))


def _canonical(items: Sequence[Any], at: int) -> str:
    return canonical_at(items[at], Place(PlaceCode.MESSAGE, at))


def _with_items(message: Message, items: list[JsonValue]) -> Message:
    is_same = write_messages([message], "responses") == items
    return message if is_same else _with_beside(message, {_ITEMS: items})


def _items_of(message: Message) -> list[Any]:
    found = _beside(message).get(_ITEMS)
    return write_messages([message], "responses") if found is None else found


def _beside(message: Message) -> dict[str, Any]:
    """What is stored beside a message; a session may hold other messages too."""
    extra = {} if message.extra is None else parse_canonical(message.extra)
    found = extra.get(STATE_KEY) if isinstance(extra, dict) else None
    return found if isinstance(found, dict) else {}


def _with_beside(message: Message, values: JsonObject) -> Message:
    beside: JsonObject = {**_beside(message), **values}
    return replace(message, extra=to_canonical({STATE_KEY: beside}))


def _lasting(state: JsonObject) -> JsonObject:
    """What of a state later requests depend on: not the digests of all messages, which change with
    every call, nor that nothing was recalled for a request.
    """
    recalls: Any = state.get("recalls") or []
    lasting = {key: value for key, value in state.items() if key != "seen"}
    return {**lasting, "recalls": [[seq, hits] for seq, hits in recalls if hits]}


def _digest(item: Any) -> str:
    return digest_of_texts([json.dumps(item, sort_keys=True, default=str)])
