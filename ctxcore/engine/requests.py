"""Makes the request of a past call again, and says whether it is the one that was sent.

What a call keeps is a digest, a recipe and the texts that no message holds; the rest is read from
the history.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from ctxcore import __version__
from ctxcore.assembly.context import Context
from ctxcore.assembly.recipes import Made, Part, Recipe, RecipeReader, Sending, write_recipe
from ctxcore.assembly.verdicts import Run
from ctxcore.compaction.for_one_call import OneCall
from ctxcore.gateway.values import ModelRequest
from ctxcore.messages.canonical import to_canonical
from ctxcore.messages.values import JsonObject, JsonValue, Message, SentObject
from ctxcore.plain import Plain, to_plain
from ctxcore.reasons.codes import RequestCode
from ctxcore.reasons.values import Reason, document, from_json, to_json
from ctxcore.store.protocol import SessionStore
from ctxcore.store.values import CallInfo, SessionInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class RebuiltPart(Plain):
    """What a message that was sent is made of: a message of the history, or a text beside it."""

    at: int | None
    """The place in the history, from 0; None for a text that no message holds."""
    segment: str
    """Of a text that no message holds, e.g. `summary`; else empty."""
    tokens: int | None
    verdict: str
    """Of a message of the history; empty for other texts."""
    reason: Reason | None

    @property
    def is_own(self) -> bool:
        """Whether no message of the history holds it."""
        return self.at is None


@dataclass(frozen=True, slots=True, kw_only=True)
class RebuiltMessage(Plain):
    """A message as it was sent, and what it is made of."""

    message: SentObject
    parts: tuple[RebuiltPart, ...]

    @property
    def tokens(self) -> int | None:
        """The size of its parts together; None where one is unknown."""
        sizes = [part.tokens for part in self.parts]
        known = [size for size in sizes if size is not None]
        return sum(known) if len(known) == len(sizes) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class RebuiltRequest:
    """The request of a past call; without messages where it cannot be made again."""

    call: CallInfo
    verdict: Reason
    """Whether it is the same as what was sent, or why that is not known; a `RequestCode`."""
    messages: tuple[RebuiltMessage, ...] = ()
    tools: tuple[SentObject, ...] = ()
    max_output_tokens: int | None = None
    temperature: float | None = None
    differs_at: int | None = None
    """The first of `messages` that was sent otherwise."""
    library: str = ""
    """The version of this library that made the call."""
    knowledge_trigger: Reason | None = None
    """The rule that asked for a compaction only because knowledge counted."""
    knowledge_outcome: Reason | None = None
    """What was done about it, for this call alone."""
    knowledge_strategies: tuple[str, ...] = ()

    @property
    def is_rebuilt(self) -> bool:
        """Whether it could be made again, the same or not."""
        return bool(self.call.digest)

    @property
    def is_identical(self) -> bool:
        """Whether it is known to be the same, byte for byte."""
        return self.verdict.code == RequestCode.IDENTICAL

    @property
    def model(self) -> str:
        """The model that it was sent to."""
        return self.call.model or ""

    def to_dict(self) -> JsonObject:
        """The request as JSON, with the verdict and what is known of the call."""
        call = self.call
        return {
            "verdict": document(self.verdict),
            "differs_at": self.differs_at,
            "model": self.model,
            "messages": [made.message for made in self.messages],
            "made_of": [[part.to_dict() for part in made.parts] for made in self.messages],
            "tools": list(self.tools),
            "max_output_tokens": self.max_output_tokens,
            "temperature": self.temperature,
            "digest": call.digest,
            "counter": call.counter_id,
            "count_factor": call.count_factor,
            "library": self.library or None,
            "knowledge": self._knowledge(),
            "error": to_plain(call.error),
            "estimate": dict(call.estimate),
            "input_tokens": call.input_tokens,
            "output_tokens": call.output_tokens,
            "cached_tokens": call.cached_tokens,
        }

    def _knowledge(self) -> JsonObject | None:
        """What knowledge made this call do; None for nothing."""
        if self.knowledge_outcome is None:
            return None
        return {
            "trigger": to_plain(self.knowledge_trigger),
            "outcome": to_plain(self.knowledge_outcome),
            "strategies": list(self.knowledge_strategies),
        }


def to_recipe(context: Context, sent: ModelRequest, one_call: OneCall | None) -> Recipe:
    """The recipe of a request, with its limits and what knowledge made the call do."""
    recipe = write_recipe(context, _sending(sent.model, sent.tools, sent.max_output_tokens))
    body: JsonObject = {**recipe.body, "library": __version__, "temperature": sent.temperature}
    if one_call is not None:
        strategies = one_call.outcome.strategies if one_call.outcome and one_call.folds else ()
        body["knowledge"] = {
            "trigger": to_json(one_call.trigger.reason),
            "outcome": to_json(one_call.reason(context)),
            "strategies": list(strategies),
        }
    return replace(recipe, body=body)


def _sending(
    model: str, tools: Sequence[Mapping[str, Any]], max_output_tokens: int | None
) -> Sending:
    return Sending(
        model=model, tools=[dict(tool) for tool in tools], max_output_tokens=max_output_tokens
    )


def rebuilt_request(store: SessionStore, session: SessionInfo, call_id: str) -> RebuiltRequest:
    """The request of a call, made again.

    Raises:
        RecordNotFoundError: there is no such call.
    """
    call = store.call(session.id, call_id)
    if call.recipe is None or call.digest is None:
        return RebuiltRequest(call=call, verdict=_why_not(call, session))
    reader = RecipeReader(body=call.recipe)
    seqs, addresses = reader.needed()
    rows = store.view(session.id).get(seqs) if seqs else []
    stored = {row.seq: row.message for row in rows}
    return _rebuilt(call, reader, stored, store.sent_texts(session.id, addresses))


def _why_not(call: CallInfo, session: SessionInfo) -> Reason:
    if call.is_imported:
        return RequestCode.IMPORTED(product=session.origin)
    return RequestCode.OF_SUMMARY() if call.purpose == "summary" else RequestCode.NO_DIGEST()


def _rebuilt(
    call: CallInfo, reader: RecipeReader, stored: Mapping[int, Message], texts: Mapping[str, str]
) -> RebuiltRequest:
    made, tools = reader.make(stored, texts), reader.tools(texts)
    messages, runs = [one.message for one in made], _by_place(call.runs)
    sending = _sending(call.model or "", tools or (), reader.max_output_tokens)
    is_same = sending.digest_with(map(to_canonical, messages)) == call.digest
    differs_at = None if is_same else _first_difference(made, reader)
    body = reader.body
    verdict = RequestCode.IDENTICAL()
    if not is_same:
        verdict = _difference(made, differs_at, body.get("library"), has_tools=tools is not None)
    knowledge = body.get("knowledge") or {}
    return RebuiltRequest(
        call=call,
        verdict=verdict,
        messages=tuple(
            RebuiltMessage(
                message=one.message, parts=tuple(_part(part, runs) for part in one.parts)
            )
            for one in made
        ),
        tools=tuple(tools or ()),
        max_output_tokens=reader.max_output_tokens,
        temperature=body.get("temperature"),
        differs_at=differs_at,
        library=str(body.get("library", "")),
        knowledge_trigger=_reason(knowledge.get("trigger")),
        knowledge_outcome=_reason(knowledge.get("outcome")),
        knowledge_strategies=tuple(knowledge.get("strategies", ())),
    )


def _first_difference(made: Sequence[Made], reader: RecipeReader) -> int | None:
    missing = next((at for at, one in enumerate(made) if not one.is_whole), None)
    marked = reader.first_difference([one.message for one in made])
    found = [at for at in (missing, marked) if at is not None]
    return min(found, default=None)


def _difference(
    made: Sequence[Made], at: int | None, library: object, *, has_tools: bool
) -> Reason:
    """The verdict on a request that is not the same, with the likely cause."""
    is_other = library != __version__
    told = RequestCode.LIBRARY(then=str(library), now=__version__)
    if at is None:
        why = RequestCode.UNKNOWN() if has_tools else RequestCode.TOOLS_GONE()
        return RequestCode.OTHER_PARTS(why=told if is_other and has_tools else why)
    if not made[at].is_whole:
        why = RequestCode.GONE()
    else:
        why = told if is_other else RequestCode.CHANGED()
    return RequestCode.DIFFERS(at=at + 1, count=len(made), why=why)


def _by_place(runs: Sequence[Run]) -> dict[int, Run]:
    """The verdicts on single messages; what was sent has one of its own each."""
    return {run.first: run for run in runs if run.first == run.last}


def _part(part: Part, runs: Mapping[int, Run]) -> RebuiltPart:
    if part.seq is None:
        return RebuiltPart(
            at=None, segment=part.segment, tokens=part.tokens, verdict="", reason=None
        )
    run = runs.get(part.seq - 1)
    return RebuiltPart(
        at=part.seq - 1,
        segment="",
        tokens=run.after_tokens if run else None,
        verdict=run.verdict if run else "",
        reason=run.reason if run else None,
    )


def _reason(stored: JsonValue) -> Reason | None:
    return None if stored is None else from_json(cast("JsonObject", stored))
