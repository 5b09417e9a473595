"""An MCP server over a user's stored sessions: status, search, original outputs, compaction."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any, Final, TypedDict

from ctxcore import __version__
from ctxcore.assembly.recall_hits import hits_text
from ctxcore.compression.own_tools import (
    EXPAND_ANSWER_TOKENS,
    EXPAND_NAME,
    RECALL_NAME,
    RECALL_RESULTS,
)
from ctxcore.engine.core import ContextEngine
from ctxcore.errors import ContextError
from ctxcore.integrations.requirements import require
from ctxcore.store.values import CompactionInfo, SessionInfo
from ctxcore.tokens.count import counter_for

require("mcp", extra="mcp")

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import Field

_INSTRUCTIONS: Final = (
    "Sessions that ctxcore stores: how full their context is, everything that was said in them, "
    "compactions that can be undone. Without a session, tools use the one that changed last."
)
_LISTED: Final = 20  # sessions; chosen: what a model reads at once
_RECALLED_TOKENS: Final = 2_000

FindSession = Callable[[str], SessionInfo]
"""Finds a session by its id or the beginning of one."""

Session = Annotated[
    str, Field(description="Id of a session, or its beginning; empty: the one that changed last")
]


class SessionStatus(TypedDict):
    """How full the context of a session is; sizes in tokens.

    `hidden_messages` are those that the model is not sent: folded, or outside the window.
    """

    session: str
    title: str
    model: str | None
    messages: int
    tokens: int
    usable_tokens: int | None
    segments: dict[str, int]
    hidden_messages: int


class Done(TypedDict):
    """What a compaction or an undo did; sizes in tokens."""

    session: str
    done: bool
    message: str
    tokens_before: int
    tokens_after: int


def make_server(engine: ContextEngine, find: FindSession, *, session: str = "") -> MCPServer[Any]:
    """A server over the sessions that the user of `engine` may see.

    Args:
        engine: on the user's sessions.
        find: finds a session by what a tool calls it.
        session: the session of tools that name none; empty: the one that changed last.
    """
    server: MCPServer[Any] = MCPServer(
        "ctxcore", version=__version__, instructions=_INSTRUCTIONS, log_level="WARNING"
    )
    verbs = _Verbs(engine, find, session)
    reads, writes = ToolAnnotations(read_only_hint=True), ToolAnnotations(destructive_hint=False)
    server.tool("list_sessions", annotations=reads)(verbs.list_sessions)
    server.tool("context_status", annotations=reads)(verbs.context_status)
    server.tool(RECALL_NAME, annotations=reads)(verbs.recall_history)
    server.tool(EXPAND_NAME, annotations=reads)(verbs.expand_tool_output)
    server.tool("compact_now", annotations=writes)(verbs.compact_now)
    server.tool("undo", annotations=writes)(verbs.undo)
    return server


class _Verbs:
    """The tools. Their docstrings are what models read."""

    def __init__(self, engine: ContextEngine, find: FindSession, session: str) -> None:
        self._engine = engine
        self._find = find
        self._session = session

    def list_sessions(
        self, title: Annotated[str, Field(description="Only titles that contain this")] = ""
    ) -> list[dict[str, Any]]:
        """Lists the stored sessions, the one that changed last first."""
        found = self._engine.sessions(title=title, limit=_LISTED)
        return [
            {"session": one.id, "title": one.title, "messages": one.length, "model": one.model}
            for one in found
        ]

    def context_status(self, session: Session = "") -> SessionStatus:
        """Tells how full the context of a session is, and what fills it."""
        found = self._found(session)
        with _refusals():
            context = self._engine.context(found.id)
        parts = {
            name: size
            for name, size in context.breakdown.to_dict().items()
            if isinstance(size, int) and size
        }
        return SessionStatus(
            session=found.id,
            title=found.title,
            model=found.model,
            messages=found.length,
            tokens=context.tokens,
            usable_tokens=context.budget.usable_tokens if context.budget else None,
            segments=parts,
            hidden_messages=sum(
                run.last - run.first + 1
                for run in context.runs
                if run.verdict in ("summarized", "dropped")
            ),
        )

    def recall_history(
        self,
        query: Annotated[str, Field(description="Words to look for, e.g. names, numbers, dates")],
        session: Session = "",
        max_results: Annotated[int, Field(ge=1, le=50)] = RECALL_RESULTS,
    ) -> str:
        """Searches all that was said in a session, also what was folded, and quotes the best."""
        found = self._found(session)
        hits = self._engine.recall(found.id, query, limit=max_results)
        counter = counter_for(found.model or self._engine.default_model)
        told = hits_text(hits, counter, max_tokens=_RECALLED_TOKENS)
        return told or f"Nothing said in {found.title!r} is about {query!r}; try other words."

    def expand_tool_output(
        self,
        ref: Annotated[str, Field(description="The message with the original, e.g. m12")],
        session: Session = "",
        path: Annotated[str, Field(description="A value in JSON, e.g. items[3].name")] = "",
        rows: Annotated[str, Field(description="Lines or items from 0, e.g. 10:20")] = "",
        grep: Annotated[str, Field(description="A regular expression or plain words")] = "",
        max_tokens: Annotated[int, Field(ge=1, le=20_000)] = EXPAND_ANSWER_TOKENS,
    ) -> str:
        """Reads exact parts of a tool output that stands shortened in the context."""
        found = self._found(session)
        with _refusals():
            return self._engine.expand(
                found.id,
                ref,
                path=path or None,
                rows=rows or None,
                grep=grep or None,
                max_tokens=max_tokens,
            )

    def compact_now(
        self,
        session: Session = "",
        focus: Annotated[str, Field(description="What the summary should keep above all")] = "",
    ) -> Done:
        """Folds older messages of a session into a summary; `undo` takes it back."""
        found = self._found(session)
        with _refusals():
            info = self._engine.compact(found.id, focus=focus)
        before, after = _sizes(info)
        return Done(
            session=found.id,
            done=info is not None,
            message="Compacted." if info else "Nothing may be folded now.",
            tokens_before=before,
            tokens_after=after,
        )

    def undo(self, session: Session = "") -> Done:
        """Takes back the last compaction of a session, so that its messages are sent again."""
        found = self._found(session)
        with _refusals():
            info = self._engine.undo(found.id)
        after, before = _sizes(info)  # without it, and with it
        return Done(
            session=found.id,
            done=info is not None,
            message="Undone." if info else "There is no compaction to undo.",
            tokens_before=before,
            tokens_after=after,
        )

    def _found(self, name: str) -> SessionInfo:
        """The session that a tool means.

        Raises:
            ToolError: there is none, or several; the text says what there is.
        """
        if name or self._session:
            with _refusals():
                return self._find(name or self._session)
        latest = self._engine.sessions(limit=1)
        if not latest:
            raise ToolError("No session is stored yet; import one with: ctxcore import FILE")
        return latest[0]


@contextmanager
def _refusals() -> Iterator[None]:
    """Tells errors of the library as refusals of a tool, which a model can read."""
    try:
        yield
    except ContextError as error:
        raise ToolError(str(error)) from error


def _sizes(info: CompactionInfo | None) -> tuple[int, int]:
    """The next call without a compaction and with it, in tokens; 0 where that is not known."""
    effect = info.effect if info is not None else None
    return (effect.without_tokens, effect.with_tokens) if effect else (0, 0)
