"""Draws what changed between the requests of two calls: where they part, why, and every message."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import unified_diff

import streamlit as st

from ctxcore.engine.request_changes import Change, RequestChanges, compare_requests
from ctxcore.engine.requests import RebuiltMessage, RebuiltRequest
from ctxcore.reasons.values import Reason
from ctxcore.store.values import SessionInfo
from ctxcore.trials.values import text_of
from dashboard import numbers
from dashboard.call_view.messages import made_of, role_of, show_parts
from dashboard.excerpts import excerpt
from dashboard.reads import call_request, calls_of
from dashboard.safe_markdown import plain_label
from dashboard.texts import about, language, t
from dashboard.widgets import Row, table_with_choice
from dashboard.wording import reason_sentence, reason_text

SHOWN_CHANGES = 300  # chosen: keeps the section quick to draw
_CONTEXT_LINES = 2
_SENTENCE_END = re.compile(r"(?<=[.!?;。！？；]) *(?=\S)")


def show_changes(session: SessionInfo, request: RebuiltRequest, key: str) -> None:
    """Draws what changed from another call to this one; the call before it, unless one is chosen.

    Calls have the numbers of the timeline.
    """
    calls = calls_of(session)
    places = {call.id: number for number, call in enumerate(calls, start=1)}
    number = places.get(request.call.id)
    if number is None or len(calls) < 2:
        st.caption(t("usage.changes.alone"))
        return
    chosen = st.number_input(
        t("usage.changes.choose", number=f"{number:,}"),
        min_value=1,
        max_value=len(calls),
        value=_default(number, [call.purpose for call in calls]),
        step=1,
        key=f"{key}_against_{request.call.id}",
        width=260,
    )
    other = int(chosen)
    if other == number:
        st.caption(t("usage.changes.same_call"))
        return
    found = call_request(session, calls[other - 1].id)
    earlier, later = (found, request) if other < number else (request, found)
    changes = compare_requests(earlier, later)
    if changes is None:
        missing = found if not found.messages else request
        st.info(plain_label(reason_sentence(missing.verdict), max_chars=400))
        return
    _told(changes, earlier)
    _changes(changes.changes, earlier, later, f"{key}_change_{request.call.id}_{other}")


def _default(number: int, purposes: Sequence[str]) -> int:
    """The last call before that was made for the same purpose, else a neighbour."""
    wanted = purposes[number - 1]
    before = (at for at in range(number - 1, 0, -1) if purposes[at - 1] == wanted)
    return next(before, number - 1 or number + 1)


def _told(changes: RequestChanges, earlier: RebuiltRequest) -> None:
    """Says how far both begin alike, why they part, and what became of the first message gone."""
    shared = f"{changes.shared:,}"
    tokens = numbers.tokens(changes.shared_tokens)
    if changes.cause is None:
        st.success(
            t("usage.changes.grown", shared=shared, tokens=tokens), icon=":material/check_circle:"
        )
        return
    sentences = [
        t(
            "usage.changes.part",
            shared=shared,
            messages=f"{len(earlier.messages):,}",
            tokens=tokens,
            cause=reason_text(changes.cause),
        )
    ]
    if changes.verdict is not None:
        sentences.append(_verdict(changes.verdict))
    text = about(language()).between_sentences.join(sentences)
    st.warning(plain_label(text, max_chars=600), icon=":material/call_split:")


def _verdict(reason: Reason) -> str:
    return t("usage.changes.verdict", reason=reason_text(reason))


def _changes(
    changes: Sequence[Change], earlier: RebuiltRequest, later: RebuiltRequest, key: str
) -> None:
    """Draws a table of the changes, and the text of the open one line by line."""
    shown = changes[:SHOWN_CHANGES]
    first = next((at for at, change in enumerate(shown) if change.kind != "same"), 0)
    chosen = table_with_choice(
        [_row(change, earlier, later) for change in shown],
        [str(at) for at in range(len(shown))],
        key=key,
        alt=t("usage.changes"),
        newest=first,
    )
    if len(changes) > SHOWN_CHANGES:
        count = f"{len(changes):,}"
        st.caption(t("usage.changes.first", shown=f"{SHOWN_CHANGES:,}", count=count))
    if (change := shown[int(chosen)]).kind == "same":
        st.caption(t("usage.changes.unchanged"))
        return
    old, new = _sides(change, earlier, later)
    show_parts(changed_lines(old, new), key=f"{key}_{chosen}_part", language="diff")


def _row(change: Change, earlier: RebuiltRequest, later: RebuiltRequest) -> Row:
    old, new = _sides(change, earlier, later)
    made = new or old
    is_one = made is not None and change.count == 1
    return {
        t("usage.changes.kind"): t(f"usage.changes.{change.kind}"),
        t("usage.changes.before"): _places(change.before, change.count),
        t("usage.changes.after"): _places(change.after, change.count),
        t("usage.request.role"): role_of(made) if made and is_one else "",
        t("usage.request.made_of"): made_of(made) if made and is_one else "",
        t("common.segment.before"): _tokens(change.before, change.count, earlier),
        t("common.segment.after"): _tokens(change.after, change.count, later),
        t("usage.said"): excerpt(text_of(made.message)) if made and is_one else "",
    }


def _sides(
    change: Change, earlier: RebuiltRequest, later: RebuiltRequest
) -> tuple[RebuiltMessage | None, RebuiltMessage | None]:
    old = None if change.before is None else earlier.messages[change.before]
    new = None if change.after is None else later.messages[change.after]
    return old, new


def _places(first: int | None, count: int) -> str:
    if first is None:
        return ""
    return f"{first + 1}" if count == 1 else f"{first + 1}–{first + count}"


def _tokens(first: int | None, count: int, request: RebuiltRequest) -> int | None:
    if first is None:
        return 0
    sizes = [made.tokens for made in request.messages[first : first + count]]
    known = [size for size in sizes if size is not None]
    return sum(known) if len(known) == count else None


def changed_lines(old: RebuiltMessage | None, new: RebuiltMessage | None) -> str:
    """The lines that differ, with `-` and `+`, and two around them; a sentence is a line."""
    before, after = (_lines(made) for made in (old, new))
    found = list(unified_diff(before, after, n=_CONTEXT_LINES, lineterm=""))
    return "\n".join(line for line in found[2:] if not line.startswith("@@"))


def _lines(made: RebuiltMessage | None) -> list[str]:
    if made is None:
        return []
    lines = text_of(made.message).splitlines()
    return [part for line in lines for part in (_SENTENCE_END.split(line) if line else [line])]
