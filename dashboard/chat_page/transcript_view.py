"""Draws a transcript: messages, tool calls, compactions, and how turns ended.

Text of models and people passes through `show_text`; tool output is shown as code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from ctxcore.assembly.context import Context
from ctxcore.messages.values import Message, ToolCall
from ctxcore.reasons.problems import BudgetProblem
from ctxcore.reasons.values import Reason
from ctxcore.store.values import MessageInfo, TurnInfo
from dashboard import numbers
from dashboard.addresses import place_link
from dashboard.chat_page.partings import Parting
from dashboard.chat_page.signalling import draw_signal
from dashboard.chat_page.transcript import Marker, Transcript
from dashboard.safe_markdown import plain_label
from dashboard.shown_texts import show_text
from dashboard.texts import t
from dashboard.widgets import show_summary
from dashboard.window_panel import effect_text
from dashboard.wording import reason_sentence

ROW_CHARS = 60  # chosen: arguments and result fit one line of a laptop
MOST_CHARS = 6_000  # chosen: of a tool's output; an export has all of it

_ENDING_ICONS = {
    "stopped": ":material/stop_circle:",
    "failed": ":material/error:",
    "interrupted": ":material/power_off:",
    "awaiting_tools": ":material/build:",
    "awaiting_confirmation": ":material/help:",
}

_WAY_ICONS = {"previous": "chevron_left", "next": "chevron_right"}
_BRANCHING = {"user": "edit", "assistant": "regenerate"}
"""The action that makes a branch, by the role of its message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Actions:
    """Callbacks for a message and for a turn."""

    on_message: Callable[[str, int], None]
    """Gets the key of the widget, whose value is the action, and the message number."""
    on_retry: Callable[[], None]
    on_session: Callable[[str | None], None]
    """Gets the id of the session to show in place of this one."""


class TranscriptView:
    """Draws one transcript into the current container."""

    def __init__(
        self,
        transcript: Transcript,
        context: Context | None,
        actions: Actions,
        *,
        partings: Mapping[int, Parting] | None = None,
        can_branch: bool = True,
        found: int | None = None,
    ) -> None:
        """`found` is the message (from 1) that was looked for; it is marked."""
        self._transcript = transcript
        self._context = context
        self._actions = actions
        self._sent = {} if context is None else _shortened(context)
        self._partings = partings or {}
        self._can_branch = can_branch
        self._found = found

    def draw(self, *, can_retry: bool) -> None:
        """Draws everything, oldest first; the last turn gets a button to resume it if it can be."""
        messages = self._transcript.messages
        self._markers(self._transcript.older)
        start = 0
        while start < len(messages):
            end = _block_end(messages, start)
            self._block(messages[start:end])
            start = end
        self._parting(messages[-1].seq + 1 if messages else 1)
        turn = self._transcript.endings.get(messages[-1].seq) if messages else None
        # Without the results, which a program appends and goes on with, resuming only fails.
        if can_retry and turn is not None and turn.state != "awaiting_tools":
            st.button(
                t(_retry_key(turn)),
                key="chat_retry",
                icon=":material/refresh:",
                on_click=self._actions.on_retry,
            )

    def _block(self, block: tuple[MessageInfo, ...]) -> None:
        """Draws a message in a bubble, together with the results of its calls."""
        first = block[0]
        if any(info.seq == self._found for info in block):
            with st.container(border=True, key="chat_found"):
                st.caption(f":material/target: {t('chat.found', seq=self._found)}")
                self._bubble(block)
        else:
            self._bubble(block)
        self._parting(first.seq)
        for info in block:
            if (turn := self._transcript.endings.get(info.seq)) is not None:
                draw_ending(turn, key=f"chat_partial_{info.seq}")
            self._markers(info.seq)

    def _bubble(self, block: tuple[MessageInfo, ...]) -> None:
        first = block[0]
        if first.message.is_system:
            with st.expander(t("chat.system"), type="compact", icon=":material/settings:"):
                _code(first.message.text)
                self._footer(first)
            return
        is_user = first.message.role == "user"
        with st.chat_message("user" if is_user else "assistant"):
            if not first.message.is_tool_result:
                self._message(first)
            for nth, (call, result) in enumerate(paired(block)):
                self._tool(call, result, key=f"chat_tool_{first.seq}_{nth}")

    def _message(self, info: MessageInfo) -> None:
        """Draws what a message says; its calls stand below it, each with its result."""
        draw_words(info.message, key=f"chat_words_{info.seq}")
        if (why := self._transcript.cuts.get(info.seq)) is not None:
            st.caption(f":material/content_cut: {t(f'chat.cut.{why}')}")
        self._footer(info)
        for signal in self._transcript.signals.get(info.seq, ()):
            draw_signal(signal)

    def _tool(self, call: ToolCall | None, result: MessageInfo | None, *, key: str) -> None:
        """Draws a call and its result as one row that opens; each may be without the other.

        What is in it is drawn once it is open: code loads a megabyte of script, and a page of many
        rows would be long.
        """
        label = self._tool_label(call, result)
        row = st.expander(
            label, type="compact", icon=":material/build:", key=key, on_change="rerun"
        )
        if not row.open:
            return
        with row:
            if call is not None:
                _code(call.arguments, language="json")
            if result is not None:
                self._output(result)
                self._menu(result)

    def _tool_label(self, call: ToolCall | None, result: MessageInfo | None) -> str:
        name = call.name if call is not None else None
        if result is not None:
            name = result.function_name or result.message.name or name
        parts = [f"**{plain_label(name or '?')}**"]
        if call is not None:
            parts.append(plain_label(call.arguments, max_chars=ROW_CHARS))
        if result is not None:
            parts.append(f"→ {plain_label(result.message.text, max_chars=ROW_CHARS)}")
            parts.append(self._details(result.seq))
        return " · ".join(filter(None, parts))

    def _output(self, info: MessageInfo) -> None:
        """Draws a tool's output, and beside it what is sent of it where that is shorter."""
        if (sent := self._sent.get(info.seq)) is None:
            _code(info.message.text)
            return
        original, shortened = st.tabs([t("chat.output.original"), t("chat.output.sent")])
        with original:
            _code(info.message.text)
        with shortened:
            _code(sent)

    def _footer(self, info: MessageInfo) -> None:
        with st.container(
            horizontal=True,
            vertical_alignment="center",
            gap="xsmall",
            key=f"chat_about_{info.seq}",  # shown by the style sheet on hover and focus
        ):
            st.caption(self._details(info.seq), width="content")
            self._menu(info)

    def _parting(self, seq: int) -> None:
        """Draws which of the ways to go on from here this one is, and leads to its neighbours."""
        if (parting := self._partings.get(seq)) is None:
            return
        with st.container(
            horizontal=True, vertical_alignment="center", gap="xsmall", key=f"chat_parting_{seq}"
        ):
            self._way("previous", parting.previous, seq)
            place = t("chat.branch.place", number=parting.number, count=parting.count)
            st.caption(place, width="content")
            self._way("next", parting.next, seq)

    def _way(self, name: str, session_id: str | None, seq: int) -> None:
        st.button(
            t(f"chat.branch.{name}"),
            key=f"chat_{name}_{seq}",
            icon=f":material/{_WAY_ICONS[name]}:",
            type="tertiary",
            disabled=session_id is None,
            on_click=self._actions.on_session,
            args=(session_id,),
        )

    def _menu(self, info: MessageInfo) -> None:
        seq = info.seq
        key = f"chat_menu_{seq}"
        st.menu_button(
            "",
            self._options(info),
            key=key,
            icon=":material/more_horiz:",
            type="tertiary",
            help=t("chat.menu"),
            format_func=lambda action: t(f"chat.action.{action}"),
            on_click=self._actions.on_message,
            args=(key, seq),
        )

    def _options(self, info: MessageInfo) -> list[str]:
        seq = info.seq
        is_pinned = seq in self._transcript.pinned
        is_excluded = seq in self._transcript.excluded
        branch = _BRANCHING.get(info.message.role) if self._can_branch else None
        return [
            *([branch] if branch else []),
            "unpin" if is_pinned else "pin",
            "include" if is_excluded else "exclude",
            *([] if info.message.is_tool_result else ["rule"]),
            "fork",
            "story",
        ]

    def _details(self, seq: int) -> str:
        """Number, size and verdict of a message, as far as they are known."""
        parts = [f"#{seq}"]
        context = self._context
        if context is not None and seq <= len(context.verdicts):
            verdict = context.verdict(seq - 1)
            size = numbers.tokens(verdict.before_tokens, is_exact=context.is_exact)
            if verdict.verdict == "compressed":
                after = numbers.tokens(verdict.after_tokens, is_exact=context.is_exact)
                parts.append(t("chat.size_sent", before=size, after=after))
            else:
                parts.append(t("chat.size", tokens=size))
            if verdict.verdict != "kept":
                parts.append(t(f"chat.verdict.{verdict.verdict}"))
        if seq in self._transcript.pinned:
            parts.append(f":material/keep: {t('chat.pinned_mark')}")
        if seq in self._transcript.excluded:
            parts.append(f":material/visibility_off: {t('chat.excluded_mark')}")
        return " · ".join(parts)

    def _markers(self, seq: int) -> None:
        for marker in self._transcript.markers.get(seq, ()):
            _draw_marker(marker)


def _shortened(context: Context) -> dict[int, str]:
    """What is sent of the shortened messages, by message (from 1)."""
    items = (item for group in context.made_of for item in group.items)
    return {
        item.row.seq: item.message.text
        for item in items
        if item.row is not None and item.verdict == "compressed"
    }


def _retry_key(turn: TurnInfo) -> str:
    """The key of the label on the button that resumes a turn."""
    if _is_refused(turn):
        return "chat.retry_refused"
    goes_on = turn.state in ("stopped", "awaiting_confirmation")
    return "chat.retry_stopped" if goes_on else "chat.retry"


def _is_refused(turn: TurnInfo) -> bool:
    """Whether a person refused the compaction that the turn needed."""
    return turn.error is not None and turn.error.code == BudgetProblem.REFUSED


def draw_words(message: Message, *, key: str) -> None:
    """Draws the thinking and the text of a message; keys of widgets begin with `key`."""
    if message.reasoning:
        with st.expander(t("chat.thinking"), type="compact", icon=":material/psychology:"):
            show_text(message.reasoning, key=f"{key}_thinking")
    if message.text:
        show_text(message.text, key=key)
    elif not message.calls:
        st.caption(t("chat.no_words"))


def paired(
    block: Sequence[MessageInfo],
) -> Iterator[tuple[ToolCall | None, MessageInfo | None]]:
    """The calls of a message with their results, and results without a call among them."""
    results = [info for info in block if info.message.is_tool_result]
    for call in block[0].message.calls:
        answer = next((info for info in results if info.message.answers == call.id), None)
        if answer is not None:
            results.remove(answer)
        yield call, answer
    for info in results:
        yield None, info


def draw_ending(turn: TurnInfo, *, key: str) -> None:
    """Draws how a turn ended that did not end normally; `key` is for what it had said."""
    if turn.state == "interrupted" and turn.partial:
        with st.chat_message("assistant"):
            show_text(turn.partial, key=key)
    icon = _ENDING_ICONS[turn.state]
    ending = t(f"chat.ended.{turn.state}")
    if turn.error is not None and _is_refused(turn):
        st.warning(_detail(turn.error), icon=":material/block:")
    elif turn.state == "failed":
        st.error(f"{ending} {_detail(turn.error)}", icon=icon)
    else:
        st.caption(f"{icon} {ending}")


def _detail(error: Reason | None) -> str:
    return "" if error is None else plain_label(reason_sentence(error), max_chars=600)


def _draw_marker(marker: Marker) -> None:
    with st.expander(
        _marker_label(marker), icon=":material/compress:", key=f"chat_marker_{marker.key}"
    ):
        show_summary(marker.summary, key=f"chat_marker_{marker.key}_all")
    if marker.facts_lost:
        with st.container(horizontal=True, vertical_alignment="center", key="chat_lost"):
            st.caption(t("chat.marker.lost", count=f"{marker.facts_lost:,}"), width="content")
            link = t("chat.marker.see_lost")
            icon = ":material/arrow_forward:"
            place_link(marker.session_id, "compaction", marker.number, label=link, icon=icon)
    if marker.is_still_over:
        st.caption(f":material/add_comment: {t('compaction.still_over')}")


def _marker_label(marker: Marker) -> str:
    if marker.is_imported:
        return t("chat.marker_imported", before=numbers.tokens(marker.recorded_tokens))
    return t("chat.marker", effect=effect_text(marker.effect))


def _code(text: str, *, language: str | None = None) -> None:
    st.code(text[:MOST_CHARS], language=language, wrap_lines=True)
    if len(text) > MOST_CHARS:
        st.caption(t("chat.more_chars", count=f"{len(text) - MOST_CHARS:,}"))


def _block_end(messages: tuple[MessageInfo, ...], start: int) -> int:
    """The index behind the tool results that follow the message at `start`."""
    end = start + 1
    while end < len(messages) and messages[end].message.is_tool_result:
        end += 1
    return end
