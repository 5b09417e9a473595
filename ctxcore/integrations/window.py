"""Keeps the messages of a framework's call within a window; the framework holds the state."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypedDict, TypeVar

from ctxcore.assembly.states import CompactionState
from ctxcore.compaction.compacting import compact
from ctxcore.engine.asynchronous import run_in_thread
from ctxcore.errors import StateError
from ctxcore.json_types import JsonObject
from ctxcore.messages.values import SentObject
from ctxcore.policy.values import Policy
from ctxcore.summarizers.calling import SummarizerLike

STATE_KEY: Final = "ctxcore"
"""The key under which frameworks hold the state of a conversation."""

T = TypeVar("T")
_LOGGER = logging.getLogger("ctxcore.integrations")


class WindowSettings(TypedDict, total=False):
    """The settings of a `Window`, as integrations take them; `Window` says what each means."""

    policy: Policy | str
    max_tokens: int | None
    model: str | None
    summarizer: SummarizerLike | None
    strict: bool


def function_definition(
    name: str, description: str | None, parameters: Mapping[str, object]
) -> dict[str, object]:
    """The definition of a tool as OpenAI takes it, so that its tokens count."""
    function = {"name": name, "description": description or "", "parameters": parameters}
    return {"type": "function", "function": function}


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What is sent in place of a conversation, and what to remember until the next call."""

    messages: list[SentObject]
    """The caller's own objects where nothing changed."""
    state: JsonObject | None
    """As `CompactionState.to_json()` writes it; the one that was passed where nothing is new."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Fits conversations into a window, each by the state that its last call left behind.

    A fault lets the messages through as they are, and is logged; with `strict` it is raised.
    """

    policy: Policy | str = field(default_factory=Policy)
    """Thresholds, or the name of a preset."""
    max_tokens: int | None = None
    """The input budget; without it the window of the model decides."""
    model: str | None = None
    """Whose tokens count, as litellm names it; without it what the framework says."""
    summarizer: SummarizerLike | None = None
    """Writes summaries; without one they quote."""
    strict: bool = False

    def __post_init__(self) -> None:
        """Looks the preset up.

        Raises:
            PolicyError: there is none of this name.
        """
        if isinstance(self.policy, str):
            object.__setattr__(self, "policy", Policy.preset(self.policy))

    def keep(
        self,
        messages: Sequence[Any],
        state: object = None,
        *,
        tools: Sequence[Mapping[str, object]] | None = None,
        model: str | None = None,
        max_tokens: int | None = None,
    ) -> Kept:
        """`messages` within the window.

        Args:
            messages: the whole conversation, as the framework holds it.
            state: `Kept.state` of the call before; None at the first.
            tools: the tool definitions sent along.
            model: what the framework calls; `Window.model` goes before it.
            max_tokens: the window that the framework knows of; `Window.max_tokens` goes before it.

        Raises:
            ContextError: only with `strict`; what `compact` raises.
        """
        old = state if isinstance(state, dict) else None
        return self.safely(
            lambda: self._kept(messages, old, tools, model, max_tokens),
            otherwise=Kept(messages=[*messages], state=old),
        )

    def safely(self, work: Callable[[], T], *, otherwise: T) -> T:
        """The result of `work`; where it fails, `otherwise`, unless this is strict.

        The user's call must not fail because of us.
        """
        try:
            return work()
        except Exception:
            if self.strict:
                raise
            _LOGGER.exception(
                "The messages are sent as they are: keeping them in the window failed"
            )
            return otherwise

    async def akeep(
        self,
        messages: Sequence[Any],
        state: object = None,
        *,
        tools: Sequence[Mapping[str, object]] | None = None,
        model: str | None = None,
        max_tokens: int | None = None,
    ) -> Kept:
        """`keep` for an event loop; arguments and errors are the same."""
        return await run_in_thread(
            lambda: self.keep(messages, state, tools=tools, model=model, max_tokens=max_tokens)
        )

    def _kept(
        self,
        messages: Sequence[Any],
        state: JsonObject | None,
        tools: Sequence[Mapping[str, object]] | None,
        model: str | None,
        max_tokens: int | None,
    ) -> Kept:
        assert isinstance(self.policy, Policy)  # looked up when this was made
        result = compact(
            messages,
            policy=self.policy,
            max_tokens=self.max_tokens or max_tokens,
            model=self.model or model,
            tools=tools,
            summarizer=self.summarizer,
            state=self._read(state),
            on_mismatch="rebuild",
        )
        return Kept(messages=result.context.in_shape(), state=result.state.to_json())

    def _read(self, state: JsonObject | None) -> CompactionState | None:
        """The state that a framework held; None where it cannot be read, so that it heals."""
        if not state:
            return None
        try:
            return CompactionState.from_json(state)
        except StateError as error:
            if self.strict:
                raise
            _LOGGER.warning("A state is left out, the conversation is compacted anew: %s", error)
            return None
