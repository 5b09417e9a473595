"""Owns what goes into and out of an engine as files: exports, imports, previews of imports.

An import is parsed and checked as a whole before its first row is written; a session that could
not be written whole is taken back.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from ctxcore.assembly.records import Compaction
from ctxcore.compaction.triggers import input_size
from ctxcore.engine.native import (
    NativeFile,
    Whole,
    digest,
    is_native,
    parse_native,
    to_call,
    to_lines,
)
from ctxcore.engine.services import EngineServices
from ctxcore.formats.reading import parse_transcripts
from ctxcore.formats.values import RecordedCompaction, Transcript
from ctxcore.messages.blocks import cut_points
from ctxcore.messages.openai import to_openai
from ctxcore.messages.values import Message
from ctxcore.reasons.codes import OutcomeCode, TriggerCode
from ctxcore.reasons.values import Reason
from ctxcore.store.values import CallInfo, ImportedCompaction, MarkKind, Scope, SessionInfo
from ctxcore.text.languages import detect_language
from ctxcore.tokens.families import TokenCounter

ExportFormat = Literal["native", "openai", "markdown"]
EXPORT_FORMATS: tuple[ExportFormat, ...] = ("native", "openai", "markdown")
Progress = Callable[[int, int], None]

_BATCH = 1_000  # messages a write: long enough to be fast, short enough to show progress


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportPreview:
    """What a file holds, before anything of it is written."""

    place: int
    """Which conversation of the file it is, from 0."""
    title: str
    format: str
    messages: int
    compactions: int
    problems: tuple[Reason, ...]
    model: str | None


class Exchange:
    """The verbs that read and write files; texts in, texts out."""

    def __init__(self, services: EngineServices) -> None:
        self._services = services

    def whole(self, session_id: str) -> Whole:
        """Everything a session is."""
        store, session = self._services.store, self._services.session(session_id)
        policy = store.policy(Scope(kind="session", owner=session_id))
        return Whole(
            session=session,
            messages=store.messages(session_id),
            marks=store.marks(session_id),
            compactions=store.compactions(session_id),
            calls=store.calls(session_id),
            imported=store.imported_compactions(session_id),
            settings=policy.overrides if policy else {},
        )

    def digest(self, session_id: str) -> str:
        """A hash of what the session holds; ids and times do not count."""
        return digest(self.whole(session_id))

    def export(self, session_id: str, form: ExportFormat) -> str:
        """The session as a file's text."""
        whole = self.whole(session_id)
        if form == "native":
            return "".join(f"{line}\n" for line in to_lines(whole))
        if form == "openai":
            messages = [to_openai(info.message) for info in whole.messages]
            body = {"messages": messages, "tools": list(whole.session.tools)}
            return json.dumps(body, ensure_ascii=False, indent=1) + "\n"
        return "".join(_markdown(whole))

    def preview(self, text: str, *, name: str) -> list[ImportPreview]:
        """What `text` holds; nothing is written.

        Raises:
            FormatError, ImportRefusedError: it is no conversation this library reads.
        """
        if is_native(text):
            return [_preview_native(parse_native(text, name=name), name)]
        return [
            _preview_transcript(transcript, place)
            for place, transcript in enumerate(parse_transcripts(text, name=name))
        ]

    def import_(
        self,
        text: str,
        *,
        name: str,
        places: Sequence[int] | None = None,
        on_progress: Progress | None = None,
    ) -> list[SessionInfo]:
        """The conversations of `text` (or those at `places`) as new sessions.

        Raises:
            FormatError, ImportRefusedError: it is no conversation this library reads.
        """
        if is_native(text):
            return [self._import_native(parse_native(text, name=name), on_progress)]
        transcripts = parse_transcripts(text, name=name)
        wanted = range(len(transcripts)) if places is None else places
        return [self._import_transcript(transcripts[place], on_progress) for place in wanted]

    def _import_transcript(
        self, transcript: Transcript, on_progress: Progress | None
    ) -> SessionInfo:
        session = self._new_session(
            transcript.title, transcript.model, transcript.format, transcript.tools
        )

        def fill() -> None:
            self._append(session, transcript.messages, transcript.times, on_progress)
            self._services.store.record_calls(list(self._recorded_calls(session, transcript)))
            self._record_compactions(session, transcript)

        return self._filled(session, fill)

    def _import_native(self, file: NativeFile, on_progress: Progress | None) -> SessionInfo:
        model, tools = file.head.get("model"), file.head.get("tools")
        session = self._new_session(
            str(file.head.get("title", "")),
            model if isinstance(model, str) else None,
            str(file.head.get("origin", "import")),
            [tool for tool in tools if isinstance(tool, dict)] if isinstance(tools, list) else [],
        )

        def fill() -> None:
            store, now = self._services.store, self._services.clock()
            if file.settings:
                scope = Scope(kind="session", owner=session.id)
                store.save_policy(scope, file.settings, by=self._services.user_id, at=now)
            self._append(session, file.messages, file.times, on_progress, file.shorts)
            if file.goal_seq is not None:
                store.set_goal(session.id, file.goal_seq)
            store.set_working_state(session.id, file.working)
            for kind, seq in file.marks:
                mark: MarkKind = "pin" if kind == "pin" else "exclude"
                store.add_mark(session.id, seq, mark, at=now)
            store.record_imported_compactions(session.id, file.imported)
            self._restore_compactions(session, file)
            calls = (
                to_call(raw, call_id=self._services.new_id(), session_id=session.id, at=now)
                for raw in file.calls
            )
            store.record_calls(list(calls))

        return self._filled(session, fill)

    def _new_session(
        self, title: str, model: str | None, origin: str, tools: Sequence[object]
    ) -> SessionInfo:
        self._services.user()
        return self._services.store.create_session(
            self._services.new_id(),
            user_id=self._services.user_id,
            at=self._services.clock(),
            title=title,
            model=model,
            origin=origin,
            tools=[tool for tool in tools if isinstance(tool, dict)],
        )

    def _filled(self, session: SessionInfo, fill: Callable[[], None]) -> SessionInfo:
        """The session once `fill` has written it; gone again if that fails."""
        try:
            fill()
        except BaseException:
            self._services.store.purge(session.id)
            raise
        while self._services.store.index_pending(session.id, limit=_BATCH):
            pass  # searchable in steps, so that a stop in between loses nothing
        return self._services.store.session(session.id)

    def _append(
        self,
        session: SessionInfo,
        messages: Sequence[Message],
        times: Sequence[datetime | None],
        on_progress: Progress | None,
        shorts: Sequence[str | None] | None = None,
    ) -> None:
        target = self._services.call_target(session.id)
        for start in range(0, len(messages), _BATCH):
            end = start + _BATCH
            self._services.store.append(
                session.id,
                messages[start:end],
                counter=target.call.counter,
                at=self._services.clock(),
                oversize_tokens=None if shorts else self._services.oversize(target),
                times=times[start:end],
                shorts=shorts[start:end] if shorts else None,
                indexes=False,
            )
            if on_progress:
                on_progress(min(end, len(messages)), len(messages))

    def _recorded_calls(self, session: SessionInfo, transcript: Transcript) -> Iterator[CallInfo]:
        for usage in transcript.usage:
            yield CallInfo(
                id=self._services.new_id(),
                session_id=session.id,
                created_at=usage.recorded_at or session.created_at,
                purpose="answer",
                is_imported=True,
                model=usage.model,
                seq=usage.after + 1,
                input_tokens=usage.total_input_tokens,
                output_tokens=usage.output_tokens,
                cached_tokens=usage.cache_read_tokens,
                cache_write_tokens=usage.cache_write_tokens,
            )

    def _record_compactions(self, session: SessionInfo, transcript: Transcript) -> None:
        """What the other product compacted, as a chain of this session's own compactions."""
        if not transcript.compactions:
            return
        store, parent = self._services.store, None
        store.record_imported_compactions(
            session.id, [_imported(recorded) for recorded in transcript.compactions]
        )
        cuts = cut_points(transcript.messages)
        for recorded in transcript.compactions:
            cut = cuts[bisect_right(cuts, recorded.at) - 1]
            target = self._services.call_target(session.id)
            record = _to_record(recorded, cut, transcript, target.call.counter)
            after = input_size(target.view, target.call, record)
            info = store.record_compaction(
                session.id,
                self._services.new_id(),
                _measured(record, recorded.before_tokens, after),
                parent_id=parent,
                at=recorded.recorded_at or self._services.clock(),
            )
            parent = info.id

    def _restore_compactions(self, session: SessionInfo, file: NativeFile) -> None:
        store, now = self._services.store, self._services.clock()
        ids: dict[int, str] = {}
        active = None
        for number, (parent, record, details, is_active) in enumerate(file.compactions, start=1):
            ids[number] = self._services.new_id()
            store.record_compaction(
                session.id,
                ids[number],
                record,
                parent_id=ids.get(parent) if parent else None,
                at=now,
                details=details,
                activates=False,
            )
            active = ids[number] if is_active else active
        if active:
            store.activate(session.id, active, expected=None, at=now)


def _preview_native(file: NativeFile, name: str) -> ImportPreview:
    model = file.head.get("model")
    return ImportPreview(
        place=0,
        title=str(file.head.get("title") or name),
        format="ctxcore",
        messages=len(file.messages),
        compactions=len(file.compactions),
        problems=(),
        model=model if isinstance(model, str) else None,
    )


def _preview_transcript(transcript: Transcript, place: int) -> ImportPreview:
    return ImportPreview(
        place=place,
        title=transcript.title,
        format=transcript.format,
        messages=len(transcript.messages),
        compactions=len(transcript.compactions),
        problems=tuple(problem.placed for problem in transcript.problems),
        model=transcript.model,
    )


def _imported(recorded: RecordedCompaction) -> ImportedCompaction:
    return ImportedCompaction(
        before_seq=recorded.at + 1,
        summary=recorded.summary,
        before_tokens=recorded.before_tokens,
        trigger=recorded.trigger,
        recorded_at=recorded.recorded_at,
    )


def _to_record(
    recorded: RecordedCompaction, cut: int, transcript: Transcript, counter: TokenCounter
) -> Compaction:
    covered = transcript.messages[:cut]
    return Compaction(
        covered_until=cut,
        summary=recorded.summary,
        summary_tokens=counter.count(recorded.summary),
        summarized_until=cut,
        covered_messages=sum(not message.is_system for message in covered),
        language=detect_language(covered),
        trigger=TriggerCode.RECORDED(product=transcript.format),
        reason=_recorded(transcript.format, recorded.trigger),
    )


def _recorded(product: str, trigger: str | None) -> Reason:
    if not trigger:
        return OutcomeCode.RECORDED_UNTOLD(product=product)
    return OutcomeCode.RECORDED(product=product, trigger=trigger)


def _measured(record: Compaction, before: int | None, after: int) -> Compaction:
    return replace(record, before_tokens=before or 0, after_tokens=after)


def _markdown(whole: Whole) -> Iterator[str]:
    """The conversation for people to read; nothing in it can be mistaken for a heading of ours."""
    yield f"# {whole.session.title or whole.session.id}\n"
    for info in whole.messages:
        message = info.message
        name = f" `{info.function_name}`" if info.function_name else ""
        yield f"\n## {info.seq} · {message.role}{name}\n\n"
        if message.is_tool_result:
            yield _fenced(message.text)
        elif message.text:
            yield "".join(f"> {line}\n" for line in message.text.split("\n"))
        for call in message.calls:
            yield f"\nCalls `{call.name}`:\n\n{_fenced(call.arguments)}"


def _fenced(text: str) -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}\n{text}\n{fence}\n"
