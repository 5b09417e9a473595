"""Owns running tools inside a turn: only where their results find room, and told if they do not."""

from __future__ import annotations

import json
from collections.abc import Generator, Sequence
from dataclasses import replace

from ctxcore.compaction.advising import ToolSafety, larger_input, tool_safety
from ctxcore.compaction.measuring import measure
from ctxcore.compaction.triggers import Trigger
from ctxcore.engine.asked import RunTool
from ctxcore.engine.automatic import Automatic
from ctxcore.engine.desk import Desk, Subject
from ctxcore.engine.events import ToolResultAdded, TurnEvent
from ctxcore.engine.expanding import answer_expand, is_own
from ctxcore.engine.running import RunningTurn
from ctxcore.messages.values import ToolCall, tool_result
from ctxcore.reasons.codes import TriggerCode


class Tools:
    """Runs the calls of a turn."""

    def __init__(self, desk: Desk, automatic: Automatic) -> None:
        self._desk = desk
        self._automatic = automatic

    def answer_own(
        self, running: RunningTurn, calls: Sequence[ToolCall]
    ) -> Generator[TurnEvent, None, list[ToolCall]]:
        """Answers the calls that ask for originals; the others, which are the caller's to run."""
        subject = running.subject
        own = [call for call in calls if is_own(call, subject.tools)]
        for call in own:
            with self._desk.slots:
                output = answer_expand(self._desk, subject, call)
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
        subject = running.subject
        fast = subject.call.policy.override(preference="fast", requires_confirmation=False)
        hurried = replace(subject, call=replace(subject.call, policy=fast))
        trigger = Trigger(reason=TriggerCode.NO_ROOM_FOR_TOOLS(over_by=safety.over_by))
        with running.held():
            yield from self._automatic.run(hurried, trigger)


def _safety(subject: Subject, calls: Sequence[ToolCall]) -> ToolSafety | None:
    """Whether the calls find room; None where nobody asked to look."""
    policy, budget = subject.call.policy, subject.call.budget
    if budget is None or not policy.is_automatic:
        return None
    size = larger_input(measure(subject.view, subject.call, subject.record))
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
