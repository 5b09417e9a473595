"""The import view: upload, preview, choice, import with progress, and its result.

Nothing is written before the user confirms; an unreadable file is reported beside the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import cast

import streamlit as st

from ctxcore.engine.core import ContextEngine
from ctxcore.engine.errors import ImportRefusedError
from ctxcore.engine.exchange import ImportPreview
from ctxcore.engine.imported import ImportedBefore
from ctxcore.errors import ContextError, FormatError
from ctxcore.formats.reading import readable_suffixes
from ctxcore.formats.records import decode_text
from ctxcore.store.values import SessionInfo
from dashboard.demos import add_demos
from dashboard.safe_markdown import plain_label
from dashboard.selection import select_session, session_title
from dashboard.services import engine
from dashboard.sessions_page.causes import forget_causes, show_causes
from dashboard.sessions_page.chosen import page_links
from dashboard.sessions_page.examining import forget_examination, show_examination
from dashboard.texts import language, t
from dashboard.thread_jobs import Job, Progress
from dashboard.uploads import IMPORT_MEGABYTES, import_types
from dashboard.widgets import Row, empty_state, plain_table
from dashboard.wording import error_text, reason_text

SHOWN_BEFORE = 5  # chosen: more would push the button out of sight
SHOWN_PROBLEMS = 200  # chosen: keeps the table quick to draw
_JOB = "sessions_import_job"
_ROUND = "sessions_import_round"
_READ = "sessions_import_read"


def show_import() -> None:
    """Draws the current step of the import."""
    if (job := st.session_state.get(_JOB)) is not None:
        _follow(cast("Job[Imported]", job))
        return
    st.caption(t("sessions.import.told"))
    files = st.file_uploader(
        t("sessions.import.upload", types=", ".join(readable_suffixes())),
        type=import_types(),
        accept_multiple_files=True,
        max_upload_size=IMPORT_MEGABYTES,
        key=f"sessions_upload_{st.session_state.get(_ROUND, 0)}",
    )
    if not files:
        st.session_state.pop(_READ, None)
        empty_state(t("sessions.import.empty"), icon=":material/upload_file:")
        _demos()
        return
    uploads = [_read(file.file_id, file.name, file.getvalue()) for file in files]
    examined = st.container(key="sessions_autopsy")
    _choose(uploads)
    readable = [(upload.name, upload.text) for upload in uploads if upload.found]
    if readable:
        show_examination(readable, examined)


def _read(file_id: str, name: str, data: bytes) -> Upload:
    """The parsed file, cached in the session state: parsing again on every click would be slow."""
    known = cast("dict[str, Upload]", st.session_state.setdefault(_READ, {}))
    if file_id not in known:
        with st.spinner(t("sessions.import.reading", name=name)):
            known[file_id] = read_upload(engine(), name, data)
    return known[file_id]


def _choose(uploads: Sequence[Upload]) -> None:
    for upload in uploads:
        if upload.error:
            _error(upload.name, upload.error)
    found = choices(uploads)
    if not found:
        return
    plain_table([_found_row(uploads, choice) for choice in found], alt=t("sessions.import.found"))
    _problems(uploads)
    chosen = _chosen(uploads, found)
    known = before(engine(), uploads, chosen)
    for choice, seen in list(known.items())[:SHOWN_BEFORE]:
        _imported_before(uploads[choice.file].name, choice, seen)
    again = "start_again" if chosen and len(known) == len(chosen) else "start"
    st.button(
        t(f"sessions.import.{again}", count=len(chosen)),
        key="sessions_import_start",
        type="primary",
        icon=":material/upload:",
        disabled=not chosen,
        on_click=_start,
        args=(uploads, chosen),
    )


def _imported_before(name: str, choice: Choice, seen: ImportedBefore) -> None:
    """Says that a conversation was imported before, and leads to it."""
    with st.container(
        horizontal=True,
        vertical_alignment="center",
        key=f"sessions_before_{choice.file}_{choice.place}",
    ):
        st.info(
            t(
                "sessions.import.before",
                name=plain_label(name),
                title=plain_label(session_title(seen.session)),
                at=f"{seen.imported_at:%Y-%m-%d %H:%M}",
            ),
            icon=":material/history:",
        )
        st.button(
            t("sessions.import.open"),
            key=f"sessions_before_open_{choice.file}_{choice.place}",
            on_click=select_session,
            args=(seen.session.id,),
        )


def _demos() -> None:
    """Offers the demo sessions once more."""
    with st.container(horizontal=True, vertical_alignment="center", key="sessions_demos"):
        st.button(
            t("sessions.demos.add"),
            key="sessions_demos_add",
            icon=":material/school:",
            on_click=_add_demos,
        )
        st.caption(t("sessions.demos.told"), width="stretch")


def _add_demos() -> None:
    made = add_demos(engine(), language())
    if made:
        select_session(made[-1].id)
    st.toast(t("sessions.import.done", count=len(made)), icon=":material/check:")


def _error(name: str, error: ContextError) -> None:
    """Draws what is wrong with a file."""
    text = error_text(error)
    if not isinstance(error, FormatError | ImportRefusedError):  # those name the file
        text = f"{name}: {text}"
    st.error(plain_label(text, max_chars=500), icon=":material/error:")


def _found_row(uploads: Sequence[Upload], choice: Choice) -> Row:
    preview = uploads[choice.file].found[choice.place]
    return {
        t("sessions.import.file"): uploads[choice.file].name,
        t("sessions.name"): preview.title,
        t("sessions.import.format"): preview.format,
        t("sessions.messages"): preview.messages,
        t("usage.compactions"): preview.compactions,
        t("sessions.model"): preview.model or t("common.unknown"),
        t("sessions.import.problems"): len(preview.problems),
        t("sessions.import.repairs"): sum(repair.count for repair in preview.repairs),
        t("sessions.import.ignored"): sum(count for _, count in preview.ignored),
    }


def _problems(uploads: Sequence[Upload]) -> None:
    lines = problem_lines(uploads)
    if not lines:
        return
    title = t("sessions.import.problems.title", count=len(lines))
    with st.expander(title, key="sessions_import_problems", icon=":material/report:"):
        rows: list[Row] = [
            {t("sessions.import.file"): name, t("sessions.import.problem"): problem}
            for name, problem in lines[:SHOWN_PROBLEMS]
        ]
        plain_table(rows, alt=title)


def _chosen(uploads: Sequence[Upload], found: Sequence[Choice]) -> list[Choice]:
    """The conversations picked, or all of them."""
    if len(found) == 1:
        return list(found)
    names = {
        f"{choice.file}:{choice.place}": uploads[choice.file].found[choice.place].title
        for choice in found
    }
    by_option = dict(zip(names, found, strict=True))
    picked = st.multiselect(
        t("sessions.import.pick"),
        list(names),
        format_func=lambda option: f"{names[option]} ({option})",
        placeholder=t("sessions.import.all", count=len(found)),
        key="sessions_import_pick",
    )
    return [by_option[option] for option in picked] or list(found)


def _start(uploads: Sequence[Upload], chosen: Sequence[Choice]) -> None:
    st.session_state[_JOB] = Job(import_work(engine(), list(uploads), list(chosen)))


def _follow(job: Job[Imported]) -> None:
    """Draws the progress of a running import, then its result."""
    place = st.empty()
    for done, total in job.follow():
        share = min(done / total, 1.0) if total else 0.0
        text = t("sessions.import.progress", done=f"{done:,}", total=f"{total:,}")
        place.progress(share, text=text)
    place.empty()
    if job.error is not None:
        st.error(plain_label(error_text(job.error), max_chars=500), icon=":material/error:")
    if job.result is not None:
        _result(job.result)
    st.button(t("sessions.import.again"), key="sessions_import_again", on_click=_again)


def _result(result: Imported) -> None:
    for name, error in result.errors:
        _error(name, error)
    if result.sessions:
        st.success(
            t("sessions.import.done", count=len(result.sessions)), icon=":material/check_circle:"
        )
        show_causes(result.sessions)
    for session in result.sessions[:50]:
        _imported(session)


def _imported(session: SessionInfo) -> None:
    title = plain_label(session_title(session))
    st.markdown(t("sessions.import.one", title=title, messages=f"{session.length:,}"))
    with st.container(
        horizontal=True, vertical_alignment="center", key=f"sessions_imported_{session.id}"
    ):
        st.button(
            t("sessions.take"),
            key=f"sessions_take_{session.id}",
            on_click=select_session,
            args=(session.id,),
        )
        page_links(session)


def _again() -> None:
    """Resets the view for the next files."""
    forget_causes()
    forget_examination()
    for key in (_JOB, _READ, "sessions_import_pick"):
        st.session_state.pop(key, None)
    st.session_state[_ROUND] = st.session_state.get(_ROUND, 0) + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """An uploaded file with the conversations in it."""

    name: str
    text: str
    found: tuple[ImportPreview, ...] = ()
    error: ContextError | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One conversation of the uploads, by file and place."""

    file: int
    place: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """The result of an import."""

    sessions: tuple[SessionInfo, ...]
    errors: tuple[tuple[str, ContextError], ...] = ()
    """Errors by file name; translated when they are shown."""


def read_upload(engine: ContextEngine, name: str, data: bytes) -> Upload:
    """Parses a file; writes nothing."""
    text = decode_text(data)
    try:
        return Upload(name=name, text=text, found=tuple(engine.preview_import(text, name=name)))
    except ContextError as error:
        return Upload(name=name, text="", error=error)


def choices(uploads: Sequence[Upload]) -> list[Choice]:
    """All conversations in the order of the files."""
    return [
        Choice(file=at, place=preview.place)
        for at, upload in enumerate(uploads)
        for preview in upload.found
    ]


def before(
    engine: ContextEngine, uploads: Sequence[Upload], chosen: Sequence[Choice]
) -> dict[Choice, ImportedBefore]:
    """Which of the chosen conversations the user imported before, as what and when."""
    found: dict[Choice, ImportedBefore] = {}
    for at, upload in enumerate(uploads):
        places = [choice.place for choice in chosen if choice.file == at]
        if places:
            known = engine.imported_before(upload.text, places)
            found |= {Choice(file=at, place=place): seen for place, seen in known.items()}
    return found


def import_work(
    engine: ContextEngine, uploads: Sequence[Upload], chosen: Iterable[Choice]
) -> Callable[[Progress], Imported]:
    """The import of `chosen` as work for a `Job`; progress counts messages."""
    wanted = list(chosen)
    sizes = {
        Choice(file=at, place=preview.place): preview.messages
        for at, upload in enumerate(uploads)
        for preview in upload.found
    }
    total = sum(sizes[choice] for choice in wanted)

    def work(note: Progress) -> Imported:
        sessions: list[SessionInfo] = []
        errors: list[tuple[str, ContextError]] = []
        for at, upload in enumerate(uploads):
            places = [choice.place for choice in wanted if choice.file == at]
            before = sum(session.length for session in sessions)
            if not places:
                continue
            try:
                sessions += engine.import_(
                    upload.text,
                    name=upload.name,
                    places=places,
                    on_progress=_Sum(note, before, total),
                )
            except ContextError as error:
                errors.append((upload.name, error))
        return Imported(sessions=tuple(sessions), errors=tuple(errors))

    return work


class _Sum:
    """Sums the progress of several conversations, each of which reports only its own."""

    def __init__(self, note: Progress, before: int, total: int) -> None:
        self._note, self._before, self._total = note, before, total

    def __call__(self, done: int, of: int) -> None:
        self._note(self._before + done, self._total)
        if done == of:
            self._before += of


def problem_lines(uploads: Iterable[Upload]) -> list[tuple[str, str]]:
    """The problems in the files, each with the name of its file."""
    return [
        (upload.name, reason_text(problem))
        for upload in uploads
        for preview in upload.found
        for problem in preview.problems
    ]
