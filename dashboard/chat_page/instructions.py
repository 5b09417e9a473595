"""Draws the fields for a system prompt and tool definitions, with the tokens that they take."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from ctxcore.errors import ContextError
from ctxcore.messages.values import text_message
from ctxcore.tokens.count import count_message, counter_for
from dashboard import numbers
from dashboard.chat_page.tool_definitions import Definitions, ToolSizes, parse_tools, sizes_of
from dashboard.safe_markdown import plain_label
from dashboard.services import engine
from dashboard.texts import t
from dashboard.uploads import TEXT_MEGABYTES, text_of_file
from dashboard.widgets import Row, plain_table, report_errors, show_problem
from dashboard.wording import error_text

FIELD_HEIGHT = 110  # pixels; chosen: the warning under both fields is in sight on a laptop


@dataclass(frozen=True, slots=True, kw_only=True)
class Fields:
    """The session-state keys of one form; `name` sets apart the forms of a page."""

    name: str

    @property
    def system(self) -> str:
        """Of the system prompt's text."""
        return f"{self.name}_system"

    @property
    def tools(self) -> str:
        """Of the tool definitions' text."""
        return f"{self.name}_tools"

    @property
    def upload(self) -> str:
        """Of the file with tool definitions."""
        return f"{self.name}_upload"

    @property
    def problem(self) -> str:
        """Of the last problem."""
        return f"{self.name}_problem"

    def fill(self, *, system: str = "", tools: str = "") -> None:
        """Sets both texts; for callbacks."""
        st.session_state[self.system], st.session_state[self.tools] = system, tools
        st.session_state.pop(self.problem, None)

    def written(self) -> tuple[str, str]:
        """Both texts as they stand; a blank system prompt is none."""
        system = str(st.session_state.get(self.system) or "")
        return system if system.strip() else "", str(st.session_state.get(self.tools) or "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """What the model of a session says about sizes."""

    name: str | None
    window_tokens: int | None

    @classmethod
    def named(cls, name: str | None) -> Model:
        """The model of this name, with this installation's window of it."""
        return cls(name=name, window_tokens=engine().models().info(name).window_tokens)

    @property
    def is_exact(self) -> bool:
        """Whether its counts are exact."""
        return counter_for(self.name).is_exact

    def size(self, tokens: int) -> str:
        """`tokens` in words, with their share of the window where that is known."""
        shown = numbers.tokens(tokens, is_exact=self.is_exact)
        if self.window_tokens is None:
            return t("chat.size", tokens=shown)
        share = numbers.percent(tokens, self.window_tokens)
        return t("instructions.size", tokens=shown, share=share)

    def system_tokens(self, text: str) -> int:
        """What a system prompt takes; nothing if it is empty."""
        return count_message(text_message("system", text), counter_for(self.name)) if text else 0


def draw_system(fields: Fields, model: Model) -> None:
    """Draws the field for the system prompt."""
    text = st.text_area(
        t("instructions.system"),
        key=fields.system,
        height=FIELD_HEIGHT,
        help=t("instructions.system.help"),
    )
    st.caption(model.size(model.system_tokens(text or "")))


def draw_tools(fields: Fields, model: Model) -> Definitions | None:
    """Draws the field for tool definitions; returns them, or None if they cannot be read."""
    text = st.text_area(
        t("instructions.tools"),
        key=fields.tools,
        height=FIELD_HEIGHT,
        help=t("instructions.tools.help"),
    )
    st.file_uploader(
        t("instructions.upload"),
        type=["json"],
        max_upload_size=TEXT_MEGABYTES,
        key=fields.upload,
        on_change=_take_file,
        args=(fields,),
    )
    show_problem(fields.problem)
    try:
        tools = parse_tools(text or "")
    except ContextError as error:
        st.error(plain_label(error_text(error), max_chars=400), icon=":material/error:")
        return None
    if tools:
        _draw_tool_sizes(tools, model)
    else:
        st.caption(t("instructions.no_tools"))
    return tools


def _take_file(fields: Fields) -> None:
    """Puts the text of the uploaded file into the field."""
    if (file := st.session_state.get(fields.upload)) is None:
        return
    with report_errors(fields.problem):
        st.session_state[fields.tools] = text_of_file(file.name, file.getvalue())


def _draw_tool_sizes(tools: Definitions, model: Model) -> None:
    """Draws what each definition takes; without a model's own count, about what others count."""
    if (sizes := sizes_of(tools, model.name)).total:
        _draw_sizes(sizes, model.size(sizes.total), is_exact=model.is_exact)
        return
    st.caption(t("instructions.not_sent"))
    sizes = sizes_of(tools, None)
    total = numbers.tokens(sizes.total, is_exact=False)
    _draw_sizes(sizes, t("chat.size", tokens=total), is_exact=False)


def _draw_sizes(sizes: ToolSizes, total: str, *, is_exact: bool) -> None:
    tokens = f"{t('instructions.tokens')} · {numbers.exactness(is_exact)}"
    rows: list[Row] = [
        {
            t("instructions.tool"): size.name,
            tokens: size.tokens,
            t("instructions.share"): numbers.percent(size.tokens, sizes.total),
        }
        for size in sizes.each
    ]
    plain_table(rows, alt=t("instructions.tools"))
    count = f"{len(sizes.each):,}"
    st.caption(t("instructions.sum", count=count, size=total))
