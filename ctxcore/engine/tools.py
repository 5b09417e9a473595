"""Runs the tool calls of a turn; answers those of the library's own tools itself.

These return parts of original messages, only of the own session, and none that a person excluded
from its contexts.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Sequence
from dataclasses import replace

from ctxcore.assembly.arguments import told
from ctxcore.assembly.recall_hits import find_hits, hits_text
from ctxcore.compaction.advising import ToolSafety, larger_input_tokens, tool_safety
from ctxcore.compaction.triggers import Trigger, measure
from ctxcore.compression.extracting import extract_with
from ctxcore.compression.markers import LEAST_TOKENS, parse_reference
from ctxcore.compression.own_tools import (
    EXPAND_ANSWER_TOKENS,
    EXPAND_NAME,
    RECALL_RESULTS,
    is_own_call_with,
)
from ctxcore.engine.automatic import AutomaticCompactions
from ctxcore.engine.events import ToolResultAdded, TurnEvent
from ctxcore.engine.running import RunningTurn
from ctxcore.engine.services import CallTarget, EngineServices, RunTool
from ctxcore.errors import ContextError, PartNotFoundError
from ctxcore.messages.values import JsonObject, ToolCall, tool_result
from ctxcore.reasons.codes import TriggerCode
from ctxcore.reasons.problems import PartProblem
from ctxcore.store.protocol import SessionStore
from ctxcore.store.values import SessionInfo

_MAX_USABLE_RATIO = 0.25  # of an answer; the same as for outputs shortened when appended
_NOTHING_FOUND = "Nothing said before this request has any of these words; try others."


def original_text(store: SessionStore, session: SessionInfo, ref: str) -> str:
    """The text of the message that `ref` names, with the arguments of its calls.

    Raises:
        PartNotFoundError: there is no such message, or it has neither.
    """
    seq, last = parse_reference(ref), session.length
    if seq is None or not 1 <= seq <= last:
        problem = PartProblem.MESSAGES(last=last) if last else PartProblem.NO_MESSAGES()
        raise PartNotFoundError(part=ref, problem=problem)
    text = told(store.messages(session.id, seq, seq)[0].message)
    if not text:
        raise PartNotFoundError(part=ref, problem=PartProblem.NO_TEXT())
    return text


def is_own(call: ToolCall, tools: Sequence[JsonObject]) -> bool:
    """Whether `call` is one of the library's own tools, in a request with `tools`."""
    return is_own_call_with(call.name, tools)


def answer(services: EngineServices, target: CallTarget, call: ToolCall) -> str:
    """The output of a call of an own tool; a wrong call gets an error text."""
    try:
        arguments = json.loads(call.arguments or "{}")
        if not isinstance(arguments, dict):
            raise ValueError
        if call.name == EXPAND_NAME:
            return _expanded(services, target, arguments)
        return _recalled(target, arguments)
    except (ValueError, RecursionError):
        return "Error: the arguments are not a JSON object"
    except ContextError as error:
        return f"Error: {error}"


def _expanded(services: EngineServices, target: CallTarget, arguments: JsonObject) -> str:
    ref = str(arguments.get("ref", ""))
    if parse_reference(ref) in target.view.anchors().excluded:
        raise PartNotFoundError(part=ref, problem=PartProblem.LEFT_OUT())
    session = services.session(target.session.id)  # as long as it is now
    return extract_with(
        original_text(services.store, session, ref),
        path=_text(arguments.get("path")),
        rows=_text(arguments.get("rows")),
        grep=_text(arguments.get("grep")),
        max_tokens=_limit(target, _count(arguments.get("max_tokens"), EXPAND_ANSWER_TOKENS)),
        counter=target.call.counter,
    )


def _recalled(target: CallTarget, arguments: JsonObject) -> str:
    """What was said before the request that is being answered."""
    query, call = _text(arguments.get("query")), target.call
    if not query:
        return "Error: query is missing; name words to look for"
    hits = find_hits(
        target.view,
        query,
        call.counter,
        limit=_count(arguments.get("max_results"), RECALL_RESULTS),
        before=target.view.anchors().last_user,
    )
    limit = _limit(target, call.policy.recall_max_tokens)
    return hits_text(hits, call.counter, max_tokens=limit) or _NOTHING_FOUND


def _count(requested: object, usual: int) -> int:
    return requested if isinstance(requested, int) and requested > 0 else usual


def _limit(target: CallTarget, wanted: int) -> int:
    budget = target.call.budget
    most = wanted if budget is None else int(budget.usable_tokens * _MAX_USABLE_RATIO)
    return max(LEAST_TOKENS, min(wanted, most))


def _text(value: object) -> str | None:
    """An argument as text; models also write "" for none, and numbers for texts."""
    return None if value is None or value == "" else str(value)


class Tools:
    """Runs the calls of a turn."""

    def __init__(self, services: EngineServices, automatic: AutomaticCompactions) -> None:
        self._services = services
        self._automatic = automatic

    def answer_own(
        self, running: RunningTurn, calls: Sequence[ToolCall]
    ) -> Generator[TurnEvent, None, list[ToolCall]]:
        """Answers the calls of the own tools; returns the others."""
        target = running.target
        own = [call for call in calls if is_own(call, target.tools)]
        for call in own:
            with self._services.slots:
                output = answer(self._services, target, call)
                running.add([tool_result(call.id, output, name=call.name)])
            yield ToolResultAdded(call_id=call.id, output=output)
        return [call for call in calls if call not in own]

    def run(
        self, run_tool: RunTool, running: RunningTurn, calls: Sequence[ToolCall]
    ) -> Generator[TurnEvent, None, None]:
        """Runs `calls`, or gives the model the reason why they were not run."""
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
        """The error text for calls without room for results, else ""; compacts first if needed."""
        safety = _safety(running.renew(), calls)
        if safety is None or safety.is_safe:
            return ""
        target = running.target
        policy = target.call.policy.override(preference="fast", requires_confirmation=False)
        hurried = replace(target, call=replace(target.call, policy=policy))
        trigger = Trigger(reason=TriggerCode.NO_ROOM_FOR_TOOLS(over_by=safety.over_by))
        with running.held():
            yield from self._automatic.run(hurried, trigger)
        after = _safety(running.renew(), calls)
        if after is None or after.is_safe:
            return ""
        return (
            f"Error: not called, there is no room for the result: {after.message}. "
            "Answer with what you know, or ask for less at once."
        )


def _safety(target: CallTarget, calls: Sequence[ToolCall]) -> ToolSafety | None:
    """Whether there is room for the results; None where the policy does not check it."""
    policy, budget = target.call.policy, target.call.budget
    if budget is None or not policy.is_automatic:
        return None
    alone = target.call.without_knowledge  # it gives way to results
    size = larger_input_tokens(measure(target.view, alone, target.record))
    return tool_safety(size, budget.usable_tokens, len(calls))


def _run_safely(run_tool: RunTool, call: ToolCall) -> str:
    """The tool's output; its exceptions become error texts for the model."""
    try:
        output: object = run_tool(call)
    except Exception as error:  # noqa: BLE001  # a tool is the caller's code and may raise anything
        return f"Error: {type(error).__name__}: {error}"
    if isinstance(output, str):
        return output
    return json.dumps(
        output, ensure_ascii=False, default=str
    )  # not a text, whatever its annotation
