"""Exports sessions to files and imports conversations from them.

A file is parsed and checked completely before the first row is written. Its conversations are seen
at once when all are written; nothing is left of an import that fails.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain, islice

from ctxcore.assembly.effects import CompactionEffect
from ctxcore.assembly.records import Compaction
from ctxcore.compaction.triggers import input_size
from ctxcore.engine.costs import cost_of_calls, with_cost
from ctxcore.engine.imported import ImportedBefore, imported_before, note_of
from ctxcore.engine.native import NativeFile, parse_native, to_call
from ctxcore.engine.policies import ModelCatalog
from ctxcore.engine.services import EngineServices
from ctxcore.engine.sources import ImportSource
from ctxcore.engine.staging import StagedSessions, erase_abandoned, staged_sessions
from ctxcore.exports.files import ExportedFile, exported_files
from ctxcore.exports.native import digest
from ctxcore.exports.registry import export_form
from ctxcore.exports.values import ExportError, SessionContent
from ctxcore.formats.reading import in_order, stream_transcripts, visit_transcripts
from ctxcore.formats.records import Problem
from ctxcore.formats.values import RecordedCompaction, RepairSum, Transcript, sum_repairs
from ctxcore.messages.blocks import cut_points
from ctxcore.messages.values import Message
from ctxcore.plain import Plain
from ctxcore.reasons.codes import OutcomeCode, TriggerCode
from ctxcore.reasons.storage_problems import DamageCode, ExportProblem
from ctxcore.reasons.values import Reason
from ctxcore.redaction.redacting import redact, redaction_in
from ctxcore.redaction.shapes import SecretKind
from ctxcore.store.errors import RecordKind, record_code
from ctxcore.store.values import AuditAction, CallInfo, ImportedCompaction, Scope, SessionInfo
from ctxcore.text.languages import (
    CHARS_READ,
    Language,
    count_han,
    count_latin,
    detect_language,
)
from ctxcore.tokens.families import TokenCounter

Progress = Callable[[int, int], None]

# A write; chosen: speed against how often progress is reported, and against memory.
_BATCH = 1_000
_BATCH_CHARS = 2_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportPreview(Plain):
    """A conversation of a file, before anything of it is written."""

    place: int
    """The index of the conversation in the file."""
    id: str
    """The file's own id of it; of an export of this library the name of the file."""
    title: str
    format: str
    messages: int
    calls: int
    """Calls of tools."""
    compactions: int
    problems: tuple[Reason, ...]
    """What could not be read and was left out."""
    model: str | None
    repairs: tuple[RepairSum, ...] = ()
    """What was put right."""
    ignored: tuple[tuple[str, int], ...] = ()
    """Kinds of records that are no messages, with their number."""


class Exchange:
    """Exports and imports, as described in `ContextEngine`."""

    def __init__(self, services: EngineServices) -> None:
        self._services = services

    def digest(self, session_id: str) -> str:
        return digest(self._content(session_id, "open"))

    def secrets_in(self, session_id: str) -> Mapping[SecretKind, int]:
        return redaction_in(self._content(session_id)).counts

    def export(self, session_id: str, form: str, *, redacts: bool = False) -> str:
        [written] = export_form(form).write([self._exported(session_id, redacts)])
        if isinstance(written, bytes):
            raise ExportError(problem=ExportProblem.NOT_TEXT(form=form))
        return written

    def export_many(
        self, session_ids: Sequence[str], form: str, *, redacts: bool = False
    ) -> Iterator[ExportedFile]:
        contents = (self._exported(session_id, redacts) for session_id in session_ids)
        return exported_files(export_form(form), contents)

    def _exported(self, session_id: str, redacts: bool) -> SessionContent:
        content = self._content(session_id)
        return redact(content)[0] if redacts else content

    def _content(self, session_id: str, action: AuditAction = "export") -> SessionContent:
        store, session = self._services.store, self._services.session(session_id, action)
        policy = store.policy(Scope(kind="session", owner=session_id))
        stored = store.record_counts(session_id)  # before they are read, since others may be added
        calls = store.calls(session_id)
        priced = with_cost(calls, ModelCatalog.load(store)) if calls else []
        content = SessionContent(
            session=session,
            messages=store.messages(session_id),
            marks=store.marks(session_id),
            rule_edits=store.rule_edits(session_id),
            compactions=store.compactions(session_id),
            calls=calls,
            cost=cost_of_calls(priced) if calls else None,
            call_costs={call.id: call.cost for call in priced if call.cost is not None},
            imported=store.imported_compactions(session_id),
            texts=store.sent_texts(session_id),
            signals=store.signals(session_id),
            settings=policy.overrides if policy else {},
        )
        return replace(content, damage=tuple(_damage(content, stored)))

    def damage(self, session_id: str) -> tuple[Reason, ...]:
        return self._content(session_id, "open").damage

    def preview(self, source: ImportSource) -> list[ImportPreview]:
        if source.is_native:
            return [_preview_native(parse_native(source.text, name=source.name), source.name)]
        return _checked(source)

    def import_(
        self,
        source: ImportSource,
        *,
        places: Sequence[int] | None = None,
        on_progress: Progress | None = None,
    ) -> list[SessionInfo]:
        services, store = self._services, self._services.store
        erase_abandoned(services)
        with staged_sessions(services) as staged:
            made = dict(self._imported(source, staged, places, on_progress))
            now = services.clock()
            staged.settings |= note_of(store, services.user_id, source.digest, made, at=now)
        return [store.session(made[place].id) for place in (made if places is None else places)]

    def imported_before(
        self, source: ImportSource, places: Sequence[int] | None
    ) -> dict[int, ImportedBefore]:
        services = self._services
        return imported_before(services.store, services.user_id, source.digest, places)

    def _imported(
        self,
        source: ImportSource,
        staged: StagedSessions,
        places: Sequence[int] | None,
        on_progress: Progress | None,
    ) -> Iterator[tuple[int, SessionInfo]]:
        """Writes the conversations one after the other; the file is checked before the first."""
        if source.is_native:
            file = parse_native(source.text, name=source.name)
            yield 0, self._import_native(file, staged, on_progress)
            return
        found = range(len(_checked(source)))
        wanted = set(found if places is None else [found[place] for place in places])
        streamed = stream_transcripts(source.records())
        transcripts = (one for one in streamed if isinstance(one, Transcript))
        for place, transcript in enumerate(transcripts):
            if place in wanted:
                yield place, self._import_transcript(transcript, staged, on_progress)

    def _import_transcript(
        self, transcript: Transcript, staged: StagedSessions, on_progress: Progress | None
    ) -> SessionInfo:
        session = staged.create(
            title=transcript.title,
            model=transcript.model,
            origin=transcript.format,
            tools=transcript.tools,
        )
        self._append(session, transcript.messages, transcript.times, on_progress)
        calls = self._recorded_calls(session, transcript)
        while batch := list(islice(calls, _BATCH)):
            self._services.store.record_calls(batch)
        self._record_compactions(session, transcript)
        return session

    def _import_native(
        self, file: NativeFile, staged: StagedSessions, on_progress: Progress | None
    ) -> SessionInfo:
        model, tools = file.head.get("model"), file.head.get("tools")
        listed = tools if isinstance(tools, list) else []
        session = staged.create(
            title=str(file.head.get("title", "")),
            model=model if isinstance(model, str) else None,
            origin=str(file.head.get("origin", "import")),
            tools=[tool for tool in listed if isinstance(tool, dict)],
        )
        store, now = self._services.store, self._services.clock()
        if file.settings:
            scope = Scope(kind="session", owner=session.id)
            store.save_policy(scope, file.settings, by=self._services.user_id, at=now)
        self._append(session, file.messages, file.times, on_progress, file.shorts)
        if file.goal_seq is not None:
            store.set_goal(session.id, file.goal_seq)
        store.set_working_state(session.id, file.working)
        store.restore_system(session.id, file.changes)
        for kind, seq in file.marks:
            store.add_mark(session.id, seq, kind, at=now)
        for edit, by, at in file.rule_edits:
            store.add_rule_edit(session.id, edit, by=by or self._services.user_id, at=at or now)
        store.record_imported_compactions(session.id, file.imported)
        compactions = self._restore_compactions(session, file)
        signals = [
            replace(signal, session_id=session.id, compaction_id=compactions.get(number or 0))
            for signal, number in file.signals
        ]
        store.record_signals(signals)
        calls = [
            to_call(raw, call_id=self._services.new_id(), session_id=session.id, at=now)
            for raw in file.calls
        ]
        store.record_calls(calls, texts=file.texts)
        return session

    def _append(
        self,
        session: SessionInfo,
        messages: Sequence[Message],
        times: Sequence[datetime | None],
        on_progress: Progress | None,
        shorts: Sequence[str | None] | None = None,
    ) -> None:
        target = self._services.call_target(session.id)
        start = 0
        for batch in _batches(messages):
            end = start + len(batch)
            self._services.store.append(
                session.id,
                batch,
                counter=target.call.counter,
                at=self._services.clock(),
                oversize_tokens=None if shorts else self._services.oversize(target),
                times=times[start:end],
                shorts=shorts[start:end] if shorts else None,
                indexes=False,
            )
            start = end
            if on_progress:
                on_progress(end, len(messages))

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
                cache_hour_tokens=usage.cache_hour_tokens,
                cleared_parts=usage.cleared_parts,
                cleared_tokens=usage.cleared_tokens,
            )

    def _record_compactions(self, session: SessionInfo, transcript: Transcript) -> None:
        """Records the other product's compactions as compactions of this session."""
        if not transcript.compactions:
            return
        store, parent = self._services.store, None
        imported = [
            ImportedCompaction(
                before_seq=recorded.at + 1,
                summary=recorded.summary,
                before_tokens=recorded.before_tokens,
                trigger=recorded.trigger,
                recorded_at=recorded.recorded_at,
            )
            for recorded in transcript.compactions
        ]
        store.record_imported_compactions(session.id, imported)
        legal = cut_points(transcript.messages)
        cuts = [legal[bisect_right(legal, one.at) - 1] for one in transcript.compactions]
        covered = _covered_until(cuts, transcript.messages)
        for recorded, cut in zip(transcript.compactions, cuts, strict=True):
            target = self._services.call_target(session.id)
            record = _to_record(recorded, covered[cut], transcript, target.call.counter)
            after = input_size(target.view, target.call, record)
            effect = _recorded_effect(recorded, transcript, record)
            info = store.record_compaction(
                session.id,
                self._services.new_id(),
                replace(record, before_tokens=recorded.before_tokens or 0, after_tokens=after),
                parent_id=parent,
                details={"effect": effect.to_dict()} if effect else None,
                at=recorded.recorded_at or self._services.clock(),
            )
            parent = info.id

    def _restore_compactions(self, session: SessionInfo, file: NativeFile) -> dict[int, str]:
        """Stores the compactions of a file; returns their ids by number."""
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
        return ids


def _damage(content: SessionContent, stored: Mapping[RecordKind, int]) -> Iterator[Reason]:
    """What of a session could not be read, given how many records of each kind are stored."""
    yield from content.session.damage
    broken = (info.damage for info in content.messages)
    lost = (info.damage for info in content.compactions)
    yield from (damage for damage in chain(broken, lost) if damage is not None)
    read: dict[RecordKind, int] = {
        "call": len(content.calls),
        "signal": len(content.signals),
        "rule edit": len(content.rule_edits),
    }
    for kind, count in read.items():
        if (unread := stored[kind] - count) > 0:
            yield DamageCode.ROWS(count=unread, what=record_code(kind))


def _preview_native(file: NativeFile, name: str) -> ImportPreview:
    model = file.head.get("model")
    return ImportPreview(
        place=0,
        id=name,
        title=str(file.head.get("title") or name),
        format="ctxcore",
        messages=len(file.messages),
        calls=sum(len(message.calls) for message in file.messages),
        compactions=len(file.compactions),
        problems=(),
        model=model if isinstance(model, str) else None,
    )


def _checked(source: ImportSource) -> list[ImportPreview]:
    """Reads a file to its end, each message too, and holds one conversation at a time.

    Raises:
        FormatError: it cannot be read or holds no conversation.
    """
    found, outside = visit_transcripts(source.records, _previewed, name=source.name)
    first, own = found[0]
    listed = [(first, in_order((*own, *outside))), *found[1:]]
    return [
        replace(preview, place=place, problems=tuple(problem.placed for problem in problems))
        for place, (preview, problems) in enumerate(listed)
    ]


def _previewed(transcript: Transcript) -> tuple[ImportPreview, tuple[Problem, ...]]:
    messages = calls = 0
    for message in transcript.messages:  # reads those of long sessions, too
        messages += 1
        calls += len(message.calls)
    preview = ImportPreview(
        place=0,
        id=transcript.id,
        title=transcript.title,
        format=transcript.format,
        messages=messages,
        calls=calls,
        compactions=len(transcript.compactions),
        problems=(),
        repairs=tuple(sum_repairs(transcript.repairs)),
        ignored=transcript.ignored,
        model=transcript.model,
    )
    return preview, transcript.problems


def _to_record(
    recorded: RecordedCompaction, covered: _Covered, transcript: Transcript, counter: TokenCounter
) -> Compaction:
    product = transcript.format
    reason = OutcomeCode.RECORDED_WITHOUT_TRIGGER(product=product)
    if recorded.trigger:
        reason = OutcomeCode.RECORDED(product=product, trigger=recorded.trigger)
    return Compaction(
        covered_until=covered.until,
        summary=recorded.summary,
        summary_tokens=counter.count(recorded.summary),
        summarized_until=covered.until,
        covered_messages=covered.messages,
        language=covered.language,
        trigger=TriggerCode.RECORDED(product=product),
        reason=reason,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Covered:
    """What a compaction covers."""

    until: int
    messages: int
    """How many, system messages left out."""
    language: Language


def _covered_until(cuts: Iterable[int], messages: Iterable[Message]) -> dict[int, _Covered]:
    """What is before each of `cuts`, found in one pass."""
    wanted, found = {*cuts}, dict[int, _Covered]()
    count = han = latin = 0

    def note(at: int) -> None:
        language = detect_language((), han=han, latin=latin)
        found[at] = _Covered(until=at, messages=count, language=language)

    at = -1
    for at, message in enumerate(messages):
        if at in wanted:
            note(at)
        count += not message.is_system
        if not message.is_tool_result:
            han += count_han(message.text[:CHARS_READ])
            latin += count_latin(message.text[:CHARS_READ])
    note(at + 1)
    return found


def _batches(messages: Iterable[Message]) -> Iterator[list[Message]]:
    """The messages, as many at a time as are written in one go."""
    batch, chars = list[Message](), 0
    for message in messages:
        batch.append(message)
        chars += len(message.text) + sum(len(call.arguments) for call in message.calls)
        if len(batch) >= _BATCH or chars >= _BATCH_CHARS:
            yield batch
            batch, chars = [], 0
    if batch:
        yield batch


def _recorded_effect(
    recorded: RecordedCompaction, transcript: Transcript, record: Compaction
) -> CompactionEffect | None:
    """What a recorded compaction changed, by the provider's counts; None where they are missing."""
    after = next((usage for usage in transcript.usage if usage.after >= recorded.at), None)
    if after is None or not recorded.before_tokens or not after.total_input_tokens:
        return None
    return CompactionEffect(
        without_tokens=recorded.before_tokens,
        with_tokens=after.total_input_tokens,
        summary_tokens=record.summary_tokens,
    )
