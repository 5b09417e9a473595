"""One question to a model under several policies: what each would send, and what it may cost.

Each side is sent what its policy had made of the conversation if it had been in force from the
first message, as in a trial. What is stored of it is what is sent later, byte for byte.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any

from ctxcore.assembly.building import build_context
from ctxcore.assembly.context import Context
from ctxcore.assembly.items import Merged, total
from ctxcore.compaction.simulation import Recording, Walk
from ctxcore.compaction.triggers import measure
from ctxcore.errors import BudgetError
from ctxcore.facts.rule_edits import NO_EDITS, RuleEdits
from ctxcore.json_types import JsonObject, JsonValue
from ctxcore.messages.canonical import to_canonical
from ctxcore.messages.values import text_message
from ctxcore.plain import to_plain
from ctxcore.reasons.problems import TrialProblem
from ctxcore.reasons.values import Reason
from ctxcore.reasons.values import from_json as reason_from_json
from ctxcore.reasons.values import to_json as reason_to_json
from ctxcore.tokens.prices import BilledTokens, Price, cost_of
from ctxcore.trials.candidates import Candidate
from ctxcore.trials.values import TrialSession, text_of


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveMessage:
    """One message of a request, with the messages of the session that it is made of."""

    message: JsonObject
    """As it is sent."""
    tokens: int
    places: tuple[int, ...]
    """Numbers of messages, from 1; none for a text of this library."""
    verdicts: tuple[str, ...]

    @property
    def role(self) -> str:
        """The role under which it is sent."""
        return str(self.message.get("role", ""))

    @property
    def text(self) -> str:
        """Its words; where it has more than words, all of it as JSON."""
        return text_of(self.message)

    @property
    def key(self) -> str:
        """Equal for messages that are sent alike."""
        return to_canonical(self.message)


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveSide:
    """What one policy would send; without messages where the request does not fit."""

    candidate: Candidate
    refused: Reason | None = None
    """Why nothing can be sent."""
    tokens: int = 0
    """The input by our count, with framing and tools."""
    max_output_tokens: int | None = None
    """The limit of the reply that is sent along; None: the provider's own."""
    most_cost: float | None = None
    """US dollars where nothing comes from a cache, what is new is written to one, and the reply is
    as long as it may be; None where the price or the limit is not known."""
    messages: tuple[LiveMessage, ...] = ()
    tools: tuple[JsonObject, ...] = ()
    own_tools: dict[str, str] | None = None
    """The session's names of tools that are sent under others, by the name that is sent."""

    def to_dict(self) -> JsonObject:
        """The same as JSON."""
        return {
            "candidate": self.candidate.to_dict(),
            "refused": reason_to_json(self.refused) if self.refused else None,
            "tokens": self.tokens,
            "max_output_tokens": self.max_output_tokens,
            "most_cost": self.most_cost,
            "messages": [to_plain(one) for one in self.messages],
            "tools": [*self.tools],
            "own_tools": {**self.own_tools} if self.own_tools else None,
        }

    @classmethod
    def from_dict(cls, plain: JsonObject) -> LiveSide:
        """What `to_dict` gave."""
        raw: dict[str, Any] = plain
        messages = (
            LiveMessage(
                message=one["message"],
                tokens=one["tokens"],
                places=tuple(one["places"]),
                verdicts=tuple(one["verdicts"]),
            )
            for one in raw["messages"]
        )
        return cls(
            candidate=Candidate.from_dict(raw["candidate"]),
            refused=reason_from_json(raw["refused"]) if raw["refused"] else None,
            tokens=raw["tokens"],
            max_output_tokens=raw["max_output_tokens"],
            most_cost=raw["most_cost"],
            messages=tuple(messages),
            tools=tuple(raw["tools"]),
            own_tools=raw["own_tools"],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveOffer:
    """A question as each side would send it, before anything is sent."""

    session_id: str
    title: str
    question: str
    model: str
    window_tokens: int
    is_window_assumed: bool
    is_exact: bool
    """Whether tokens are counted with the model's own vocabulary."""
    price: Price | None
    sides: tuple[LiveSide, ...]

    @property
    def sendable(self) -> tuple[LiveSide, ...]:
        """The sides that fit."""
        return tuple(side for side in self.sides if side.refused is None)

    @property
    def most_cost(self) -> float | None:
        """US dollars for all sides that fit, at most; None where one is not known."""
        costs = [side.most_cost for side in self.sendable]
        known = [cost for cost in costs if cost is not None]
        return sum(known) if len(known) == len(costs) else None

    @property
    def is_same(self) -> bool:
        """Whether all sides would send the same."""
        return len({_request_key(side) for side in self.sides}) == 1

    def only_in(self, at: int) -> list[LiveMessage]:
        """The messages that only side `at` sends."""
        others = {
            one.key for place, side in enumerate(self.sides) if place != at for one in side.messages
        }
        return [one for one in self.sides[at].messages if one.key not in others]

    def to_dict(self) -> JsonObject:
        """The same as JSON."""
        return {
            "session": self.session_id,
            "title": self.title,
            "question": self.question,
            "model": self.model,
            "window_tokens": self.window_tokens,
            "is_window_assumed": self.is_window_assumed,
            "is_exact": self.is_exact,
            "price": self.price.to_dict() if self.price else None,
            "sides": [side.to_dict() for side in self.sides],
        }

    @classmethod
    def from_dict(cls, plain: JsonObject) -> LiveOffer:
        """What `to_dict` gave."""
        raw: dict[str, Any] = plain
        return cls(
            session_id=raw["session"],
            title=raw["title"],
            question=raw["question"],
            model=raw["model"],
            window_tokens=raw["window_tokens"],
            is_window_assumed=raw["is_window_assumed"],
            is_exact=raw["is_exact"],
            price=Price(**raw["price"]) if raw["price"] else None,
            sides=tuple(map(LiveSide.from_dict, raw["sides"])),
        )


def _request_key(side: LiveSide) -> str:
    tools: list[JsonValue] = [*side.tools]
    sent: list[JsonValue] = [one.message for one in side.messages]
    return to_canonical([sent, tools, side.max_output_tokens, side.refused is None])


class Asking:
    """A session with a question behind its last message, under any number of candidates.

    The edits of rules have numbers of messages of `session`, from 1.
    """

    def __init__(
        self,
        session: TrialSession,
        question: str,
        *,
        rule_edits: RuleEdits = NO_EDITS,
    ) -> None:
        self.session = session
        self.size = len(session.messages) + 1
        self._recording = Recording(
            [*session.messages, text_message("user", question)],
            model=session.model,
            tools=session.tools,
            pinned=session.pinned,
            excluded=session.excluded,
            factor=session.factor,
            rule_edits=rule_edits,
        )

    def under(self, candidate: Candidate) -> Generator[int, None, Context | Reason]:
        """What would be sent, or why nothing can be; yields how many messages were passed.

        Raises (from the generator):
            PolicyError: the candidate has no policy in this session.
            BudgetError: its window cannot work.
        """
        walk = Walk(
            self._recording,
            candidate.policy_for(self.session.today),
            window_tokens=self.session.window_tokens,
            refuses=candidate.is_refusing,
        )
        passed = 0
        for call in walk:
            yield call.at - passed
            passed = call.at
        context = walk.result().context
        yield self.size - passed
        return _why_not(walk) if context is None else context

    def message(self, group: Merged, message: JsonObject) -> LiveMessage:
        """A message of a context, with the stored numbers of what it is made of."""
        seqs = self.session.seqs
        rows = [item for item in group.items if item.row is not None]
        stored = [item.seq for item in rows if item.seq < self.size]
        return LiveMessage(
            message=message,
            tokens=total(group.items),
            places=tuple(seqs[seq - 1] if seqs else seq for seq in stored),
            verdicts=tuple(dict.fromkeys(item.verdict for item in rows)),
        )


def _why_not(walk: Walk) -> Reason:
    """Why a walk ends with nothing that can be sent."""
    try:
        build_context(walk.view, walk.call, walk.active)
    except BudgetError as error:
        return error.reason
    budget = walk.call.budget
    return TrialProblem.NOT_WHOLE(
        tokens=measure(walk.view, walk.call).input_tokens,
        usable=budget.usable_tokens if budget else 0,
    )


def most_cost(price: Price | None, input_tokens: int, output_tokens: int | None) -> float | None:
    """US dollars for a call at most: nothing is cached, and a cache may be written.

    None where the price or the limit of the reply is not known.
    """
    if price is None or output_tokens is None:
        return None
    ways = ((0, 0), (input_tokens, 0), (input_tokens, input_tokens))
    costs = [
        cost_of(
            BilledTokens(
                input_tokens=input_tokens,
                cache_write_tokens=written,
                cache_hour_tokens=for_hour,
                output_tokens=output_tokens,
            ),
            price,
        )
        for written, for_hour in ways
    ]
    return max(cost for cost in costs if cost is not None)


def side_of(
    asking: Asking,
    candidate: Candidate,
    found: Context | Reason,
    *,
    max_output_tokens: int | None,
    price: Price | None,
    count_factor: float,
) -> LiveSide:
    """What a candidate would send, with what that costs at most.

    `count_factor` is what the provider counts for one of our tokens.
    """
    if isinstance(found, Reason):
        return LiveSide(candidate=candidate, refused=found)
    tokens = round(found.tokens * max(1.0, count_factor))
    pairs: Sequence[tuple[Merged, Any]] = list(zip(found.made_of, found.messages, strict=True))
    tools: list[Any] = found.sent_tools(asking.session.tools)
    return LiveSide(
        candidate=candidate,
        tokens=found.tokens,
        max_output_tokens=max_output_tokens,
        most_cost=most_cost(price, tokens, max_output_tokens),
        messages=tuple(asking.message(group, message) for group, message in pairs),
        tools=tuple(tools),
        own_tools=dict(found.renamed_tools) or None,
    )
