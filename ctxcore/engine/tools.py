"""Owns getting originals back: for a caller by reference, for a model that calls the tool.

A session's messages are all that is read, so whose session it is decides; a model is not shown
what a person left out of its contexts.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Sequence
from dataclasses import replace

from ctxcore.compaction.advising import ToolSafety, larger_input, tool_safety
from ctxcore.compaction.triggers import Trigger, measure
from ctxcore.compression.extracting import extract_with
from ctxcore.compression.markers import (
    EXPAND_NAME,
    EXPAND_TOKENS,
    EXPAND_TOOL,
    LEAST_TOKENS,
    is_answered_beside,
    seq_of,
)
from ctxcore.engine.automatic import Automatic
from ctxcore.engine.events import ToolResultAdded, TurnEvent
from ctxcore.engine.running import RunningTurn
from ctxcore.engine.services import CallTarget, EngineServices, RunTool
from ctxcore.errors import ContextError, PartNotFoundError
from ctxcore.messages.values import JsonObject, ToolCall, tool_result
from ctxcore.reasons.codes import TriggerCode
from ctxcore.reasons.problems import PartProblem
from ctxcore.reasons.values import Reason
from ctxcore.tokens.count import counter_for
from ctxcore.tokens.families import TokenCounter

_MOST_USABLE_RATIO = 0.25  # of an answer, as of an output that is shortened when it is appended


def expand(
    services: EngineServices,
    session_id: str,
    ref: str,
    *,
    path: str | None = None,
    rows: str | None = None,
    grep: str | None = None,
    max_tokens: int = EXPAND_TOKENS,
    counter: TokenCounter | None = None,
) -> str:
    """Exact parts of the message that `ref` means; see `ContextEngine.expand`."""
    session = services.session(session_id)
    seq = seq_of(ref)
    if seq is None or not 1 <= seq <= session.length:
        raise PartNotFoundError(part=ref, problem=_what_there_is(session.length))
    text = services.store.messages(session_id, seq, seq)[0].message.text
    if not text:
        raise PartNotFoundError(part=ref, problem=PartProblem.NO_TEXT())
    return extract_with(
        text,
        path=path,
        rows=rows,
        grep=grep,
        max_tokens=max_tokens,
        counter=counter or counter_for(session.model or services.default_model),
    )


def is_own(call: ToolCall, tools: Sequence[JsonObject]) -> bool:
    """Whether `call` is this library's to answer in a request with `tools`."""
    return call.name == EXPAND_NAME and is_answered_beside(tools)


def answer_expand(services: EngineServices, target: CallTarget, call: ToolCall) -> str:
    """What a model that calls the tool is told; what is wrong with the call, as an error."""
    try:
        return _answer(services, target, json.loads(call.arguments or "{}"))
    except (ValueError, RecursionError):
        return "Error: the arguments are not a JSON object"
    except ContextError as error:
        return f"Error: {error}"


def _answer(services: EngineServices, target: CallTarget, arguments: object) -> str:
    if not isinstance(arguments, dict):
        raise ValueError
    ref = str(arguments.get("ref", ""))
    if seq_of(ref) in target.view.anchors().excluded:
        raise PartNotFoundError(part=ref, problem=PartProblem.LEFT_OUT())
    return expand(
        services,
        target.session.id,
        ref,
        path=_text(arguments.get("path")),
        rows=_text(arguments.get("rows")),
        grep=_text(arguments.get("grep")),
        max_tokens=_limit(target, arguments.get("max_tokens")),
        counter=target.call.counter,
    )


def _limit(target: CallTarget, asked: object) -> int:
    budget = target.call.budget
    wanted = asked if isinstance(asked, int) and asked > 0 else EXPAND_TOKENS
    most = wanted if budget is None else int(budget.usable_tokens * _MOST_USABLE_RATIO)
    return max(LEAST_TOKENS, min(wanted, most))


def _text(value: object) -> str | None:
    """An argument; models write an empty text, or a number, where they mean none or a text."""
    return None if value is None or value == "" else str(value)


def _what_there_is(length: int) -> Reason:
    return PartProblem.MESSAGES(last=length) if length else PartProblem.NO_MESSAGES()


def without_expand(tools: Sequence[JsonObject]) -> tuple[JsonObject, ...]:
    """`tools` as the caller gave them."""
    return tuple(tool for tool in tools if tool != EXPAND_TOOL)


class Tools:
    """Runs the calls of a turn."""

    def __init__(self, services: EngineServices, automatic: Automatic) -> None:
        self._services = services
        self._automatic = automatic

    def answer_own(
        self, running: RunningTurn, calls: Sequence[ToolCall]
    ) -> Generator[TurnEvent, None, list[ToolCall]]:
        """Answers the calls that ask for originals; the others, which are the caller's to run."""
        target = running.target
        own = [call for call in calls if is_own(call, target.tools)]
        for call in own:
            with self._services.slots:
                output = answer_expand(self._services, target, call)
                running.add([tool_result(call.id, output, name=call.name)])
            yield ToolResultAdded(call_id=call.id, output=output)
        return [call for call in calls if call not in own]

    def run(
        self, run_tool: RunTool, running: RunningTurn, calls: Sequence[ToolCall]
    ) -> Generator[TurnEvent, None, None]:
        """Runs `calls`, or tells the model why they were not run."""
        if not calls:
            return
        refusal = yield from self._room_for(running, calls)
        for call in calls:
            if refusal:
                output = refusal
            else:
                with running.held():
                    output = _run_safely(run_tool, call)
            running.add([tool_result(call.id, output, name=call.name)])
            yield ToolResultAdded(call_id=call.id, output=output)

    def _room_for(
        self, running: RunningTurn, calls: Sequence[ToolCall]
    ) -> Generator[TurnEvent, None, str]:
        """Why `calls` may not be run; empty where they may. Compacts first if that helps."""
        safety = _safety(running.renew(), calls)
        if safety is None or safety.is_safe:
            return ""
        yield from self._make_room(running, safety)
        after = _safety(running.renew(), calls)
        if after is None or after.is_safe:
            return ""
        return (
            f"Error: not called, there is no room for the result: {after.message}. "
            "Answer with what you know, or ask for less at once."
        )

    def _make_room(
        self, running: RunningTurn, safety: ToolSafety
    ) -> Generator[TurnEvent, None, None]:
        """Compacts in the fastest way the policy knows."""
        target = running.target
        fast = target.call.policy.override(preference="fast", requires_confirmation=False)
        hurried = replace(target, call=replace(target.call, policy=fast))
        trigger = Trigger(reason=TriggerCode.NO_ROOM_FOR_TOOLS(over_by=safety.over_by))
        with running.held():
            yield from self._automatic.run(hurried, trigger)


def _safety(target: CallTarget, calls: Sequence[ToolCall]) -> ToolSafety | None:
    """Whether the calls find room; None where nobody asked to look."""
    policy, budget = target.call.policy, target.call.budget
    if budget is None or not policy.is_automatic:
        return None
    size = larger_input(measure(target.view, target.call, target.record))
    return tool_safety(size, budget.usable_tokens, len(calls))


def _run_safely(run_tool: RunTool, call: ToolCall) -> str:
    """The tool's output; an exception of the tool is told to the model, not to the user."""
    try:
        output: object = run_tool(call)
    except Exception as error:  # noqa: BLE001  # a tool is the caller's code and may raise anything
        return f"Error: {type(error).__name__}: {error}"
    if isinstance(output, str):
        return output
    return json.dumps(output, ensure_ascii=False, default=str)  # a caller forgot to write it down
