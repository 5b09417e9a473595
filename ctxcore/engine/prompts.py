"""Sets and reads the system prompt and the tool definitions of stored sessions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from ctxcore.engine.events import SYSTEM_CHANGED, TOOLS_CHANGED
from ctxcore.engine.services import EngineServices, to_definitions
from ctxcore.messages.arguments import checked_system
from ctxcore.messages.canonical import to_ordered
from ctxcore.messages.values import JsonObject
from ctxcore.plain import Plain
from ctxcore.tokens.count import count_tools


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemVersion(Plain):
    """One system message of a session."""

    place: int
    """Its place in the history, from 0."""
    text: str
    at: datetime | None
    in_force: bool


class SystemPrompts:
    """The system prompts and tool definitions of sessions, as described in `ContextEngine`."""

    def __init__(self, services: EngineServices) -> None:
        self._services = services

    def set_system(self, session_id: str, text: str | None) -> None:
        wanted = checked_system(text) or None
        self._services.session(session_id, "change")
        if wanted == self.system(session_id):
            return
        target, store = self._services.call_target(session_id), self._services.store
        seq = store.set_system(
            session_id, wanted, counter=target.call.counter, at=self._services.clock()
        )
        views = (target.view, self._services.renew(target).view)
        before, after = (
            sum(row.tokens for row in view.get(view.anchors().system)) for view in views
        )
        body: JsonObject = {"seq": seq, "before_tokens": before, "tokens": after}
        self._services.journal.record(SYSTEM_CHANGED, body, session_id=session_id)

    def system(self, session_id: str) -> str | None:
        view = self._services.store.view(session_id)
        texts = [row.message.text for row in view.get(view.anchors().system)]
        return "\n\n".join(filter(None, texts)) or None

    def versions(self, session_id: str) -> list[SystemVersion]:
        view = self._services.store.view(session_id)
        anchors = view.anchors()
        return [
            SystemVersion(
                place=row.seq - 1,
                text=row.message.text,
                at=row.said_at,
                in_force=row.seq in anchors.system,
            )
            for row in view.get(anchors.prompts)
        ]

    def set_tools(self, session_id: str, tools: Sequence[Mapping[str, object]]) -> None:
        definitions = to_definitions(tools)
        session = self._services.session(session_id, "change")
        if to_ordered([*definitions]) == to_ordered([*session.tools]):
            return
        now = self._services.clock()
        self._services.store.set_tools(session_id, definitions, at=now)
        counter = self._services.counter(session)
        body: JsonObject = {
            "before_tools": len(session.tools),
            "tools": len(definitions),
            "before_tokens": count_tools(session.tools, counter),
            "tokens": count_tools(definitions, counter),
        }
        self._services.journal.record(TOOLS_CHANGED, body, session_id=session_id)
