"""Reads SWE-agent's trajectories: the history of each agent and attempt.

A file counts its tokens over all calls together, so that no usage of single calls can be read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from ctxcore.errors import MessageError
from ctxcore.formats.building import TranscriptBuilder, or_problems
from ctxcore.formats.fields import file_stem, id_at, object_at, objects_in, text_at
from ctxcore.formats.records import Problem, Records
from ctxcore.formats.tools import parsed
from ctxcore.formats.values import Format, Transcript
from ctxcore.json_types import JsonObject, JsonValue
from ctxcore.messages.shapes.openai_chat import OpenAIChat
from ctxcore.reasons.storage_problems import FileProblem, FormatCode

_OWN_KEYS: Final = ("message_type", "agent", "thought", "is_demo", "tool_call_ids")
_STEP_KEYS: Final = ("action", "observation", "response", "thought")
_SENT_KEYS: Final = ("query", "messages")  # what a step sent to the model, by version
_MESSAGE_KEYS: Final = ("role", "content", "tool_calls", "thinking_blocks", "reasoning_content")
_MAIN: Final = ""


def _is_swe_agent(records: Records) -> bool:
    return any(map(_is_trajectory, records.values))


def _is_trajectory(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    if any(_is_trajectory(attempt) for attempt in objects_in(value.get("attempts"))):
        return True
    has_history = any(_is_own(entry) for entry in objects_in(value.get("history")))
    return has_history or any(_is_step(step) for step in objects_in(value.get("trajectory")))


def _is_own(entry: JsonObject) -> bool:
    return isinstance(entry.get("role"), str) and any(key in entry for key in _OWN_KEYS)


def _is_step(step: JsonObject) -> bool:
    """Whether this is one step of a trajectory: what was done, and what came of it."""
    return "observation" in step and "action" in step and ("response" in step or "state" in step)


def _read(records: Records) -> Iterator[Transcript | Problem]:
    for record in records:
        value = record.value
        if not isinstance(value, dict) or not _is_trajectory(value):
            yield Problem(line=record.line, reason=FileProblem.NEITHER())
            continue
        attempts = [one for one in objects_in(value.get("attempts")) if _is_trajectory(one)]
        chosen = [value] if _is_trajectory({**value, "attempts": None}) else []
        others = [one for one in attempts if not chosen or not _is_same(one, value)]
        for attempt in (*chosen, *others):
            yield from _conversations(attempt, record.line, records.name)


def _is_same(attempt: JsonObject, chosen: JsonObject) -> bool:
    """Whether this attempt is the one that was chosen, which a file holds twice."""
    return all(attempt.get(key) == chosen.get(key) for key in ("history", "trajectory"))


def _conversations(
    trajectory: JsonObject, line: int | None, name: str
) -> Iterator[Transcript | Problem]:
    """The conversation of the main agent, then those of the agents that it called."""
    config = _config(trajectory)
    task_id = id_at(object_at(config, "problem_statement"), "id")
    task_id = task_id or id_at(trajectory, "instance_id") or file_stem(name)
    history = trajectory.get("history")
    entries = history if isinstance(history, list) else []
    entries = entries or _said_in_steps(objects_in(trajectory.get("trajectory")))
    for nth, (agent, found) in enumerate(_by_agent(entries).items()):
        builder = TranscriptBuilder(format="swe-agent", path=name)
        builder.model = text_at(object_at(object_at(config, "agent"), "model"), "name")
        for at, entry in found:
            _add(builder, entry, at, line)
        own_id = f"{task_id}/{agent}" if nth else task_id
        prompts = (entry for _, entry in found if isinstance(entry, dict) and _is_prompt(entry))
        built = builder.build(
            id=own_id,
            titles=[text_at(prompt, "content") for prompt in prompts],
            parent_id=task_id if nth else None,
        )
        yield from or_problems(built, line=line)


def _config(trajectory: JsonObject) -> Mapping[str, object]:
    """The configuration to replay a trajectory with: an object, or its text."""
    config = trajectory.get("replay_config")
    value = parsed(config) if isinstance(config, str) else config
    return value if isinstance(value, dict) else {}


def _by_agent(entries: Sequence[JsonValue]) -> dict[str, list[tuple[int, JsonValue]]]:
    """The entries of each agent with their places, the agent that began first."""
    found: dict[str, list[tuple[int, JsonValue]]] = {}
    for at, entry in enumerate(entries):
        agent = text_at(entry, "agent") if isinstance(entry, dict) else None
        first = next(iter(found), _MAIN)
        found.setdefault(agent or first, []).append((at, entry))
    return found


def _said_in_steps(steps: Sequence[JsonObject]) -> list[JsonValue]:
    """The messages of a trajectory without a history: first what the first step sent."""
    sent = next((steps[0][key] for key in _SENT_KEYS if steps and steps[0].get(key)), None)
    said: list[JsonValue] = [one for one in objects_in(sent) if one]
    for step in steps:
        answer = text_at(step, "response") or "\n".join(
            text for key in ("thought", "action") if (text := text_at(step, key))
        )
        said.append({"role": "assistant", "content": answer})
        if text_at(step, "observation") is not None:
            said.append({"role": "user", "content": step["observation"]})
    return said


def _is_prompt(entry: JsonObject) -> bool:
    """Whether an entry is what the user asked, rather than the example of a demonstration."""
    return entry.get("role") == "user" and entry.get("is_demo") is not True


def _add(builder: TranscriptBuilder, entry: JsonValue, at: int, line: int | None) -> None:
    if not isinstance(entry, dict):
        builder.problem(FileProblem.NEITHER(), line=line)
        return
    raw = {key: entry[key] for key in _MESSAGE_KEYS if entry.get(key) is not None}
    answered = entry.get("tool_call_ids")
    if raw.get("role") == "tool":
        first = answered[0] if isinstance(answered, list) and answered else None
        raw["tool_call_id"] = first if isinstance(first, str) else entry.get("tool_call_id")

    def refuse(_: int, error: MessageError) -> None:
        builder.problem(error.reason, line=line)

    for message in OpenAIChat().to([(at, raw)], refuse).messages:
        builder.add(message, key=str(at), line=line)


SWE_AGENT = Format(
    name="swe-agent",
    label=FormatCode.SWE_AGENT(),
    matches=_is_swe_agent,
    read=_read,
    suffixes=(".traj", ".json", ".jsonl"),
)
