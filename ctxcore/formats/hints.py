"""Finds what costs tokens for nothing in a conversation, or may: each with its place and its price.

A hint says only what the record shows. Where the calls cannot be told from it, there is none.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil

from ctxcore.facts.agent_records import arguments_of, file_uses, strings_of
from ctxcore.facts.dates import without_times
from ctxcore.formats.stays import Stays, stays_in
from ctxcore.formats.values import RecordedCompaction, RecordedUsage, Transcript
from ctxcore.messages.values import JsonObject, Message, ToolCall, text_message
from ctxcore.plain import Plain
from ctxcore.reasons.report_codes import HintCode
from ctxcore.reasons.values import Reason
from ctxcore.replay.references import answered_calls
from ctxcore.tokens.count import count_each, count_message, count_tools
from ctxcore.tokens.families import TokenCounter
from ctxcore.tokens.prices import PER_MILLION, Price, cost_of

# Chosen: smaller things are not worth a person's time.
LEAST_OUTPUT_TOKENS = 1_000
LEAST_STAY_CALLS = 10
LEAST_READ_TOKENS = 100
LEAST_AGAIN_TOKENS = 500
LEAST_TOOLS_TOKENS = 300
LEAST_TOOL_CALLS = 10
LEAST_CLOCK_CHANGES = 2
_MOST_STAYED = 10  # chosen: the table of tools has all
_SHOWN_TOOLS = 5
_WHAT_CHARS = 48  # chosen: the end of a path, and room for the rest of the sentence in a table
_EXCESS_RATIO = 1.25  # chosen: further than any of our counts is from a provider's
_UNTRUE_SHARE = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Hint(Plain):
    """What costs tokens, with the place that shows it."""

    reason: Reason
    tokens: int
    """The input tokens of all calls together, by our count."""
    dollars: float | None
    """What these cost; of a compaction what it cost more than it saved. None: not known."""
    at: int | None = None
    """The message, an index into the conversation; None: it is no single one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptSent:
    """The system prompt of a call, and what of its input was not in the cache; None: not known."""

    text: str
    missed_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Fold:
    """A compaction with the calls that followed it, up to the next one."""

    at: int
    """The message before which it was made."""
    before_tokens: int
    """The input of the call without it."""
    after_tokens: int
    """The input of the call with it."""
    calls: int
    summary_tokens: int
    summary_dollars: float | None = None
    """What the summary cost; None: what it read and wrote is priced."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """What the calls of a conversation sent; places are indexes into `messages`."""

    messages: Sequence[Message]
    counts: Sequence[int]
    """The tokens of each message."""
    stays: Sequence[float]
    """In how many calls each message was sent whole."""
    was_shown: Callable[[int, int], bool]
    """Whether the call that wrote the message at the second place was sent the first one."""
    tools: Sequence[JsonObject] = ()
    tool_calls: int = 0
    """How many calls sent `tools`."""
    prompts: Sequence[PromptSent] = ()
    """The system prompt of each call, in order."""
    folds: Sequence[Fold] = ()
    rate: float | None = None
    """What a token of input cost on average, in US dollars."""
    price: Price | None = None


def find_hints(sent: Sent, counter: TokenCounter) -> list[Hint]:
    """All hints, those with the most tokens first."""
    found = [
        *_stayed(sent),
        *_read_again(sent),
        *_unused_tools(sent, counter),
        *_clock(sent),
        *_unpaid(sent),
    ]
    return sorted(found, key=lambda hint: (-hint.tokens, hint.at or 0))


def transcript_hints(
    transcript: Transcript,
    counter: TokenCounter,
    price_of: Callable[[str | None], Price | None],
    *,
    counts: Sequence[int] | None = None,
    stays: Stays | None = None,
) -> list[Hint]:
    """The hints of a recorded conversation; what is known of it already can be passed."""
    messages = transcript.messages
    counts = count_each(messages, counter) if counts is None else counts
    stays = known_stays(transcript, counts, counter) if stays is None else stays
    answers = sum(message.role == "assistant" for message in messages)
    sent = Sent(
        messages=messages,
        counts=counts,
        stays=stays.messages,
        was_shown=_shown_between(transcript.compactions, stays),
        tools=transcript.tools,
        tool_calls=len(transcript.usage) or answers,
        folds=_folds_in(transcript, counter),
        rate=input_rate(transcript.usage, price_of),
        price=price_of(transcript.model),
    )
    return find_hints(sent, counter)


def known_stays(transcript: Transcript, counts: Sequence[int], counter: TokenCounter) -> Stays:
    """In how many calls each message was sent; none, where that cannot be told from the file."""
    stays = stays_in(transcript, counter)
    if is_reconstructed(transcript, counts, counter):
        return stays
    return replace(stays, messages=[0.0] * len(transcript.messages), summary_tokens=0)


def is_reconstructed(transcript: Transcript, counts: Sequence[int], counter: TokenCounter) -> bool:
    """Whether the calls sent what the file suggests: all messages since the last compaction.

    Programs may also clear old outputs; then the provider counts far less than these messages.
    """
    calls, folds = transcript.usage, sorted(transcript.compactions, key=lambda fold: fold.at)
    sums = [0]
    for count in counts:
        sums.append(sums[-1] + count)
    untrue = 0
    for call in calls:
        fold = next((fold for fold in reversed(folds) if fold.at <= call.after), None)
        shown = sums[call.after] - sums[fold.at if fold else 0]
        untrue += shown > _EXCESS_RATIO * max(call.total_input_tokens, 1)
    return bool(calls) and untrue <= _UNTRUE_SHARE * len(calls)


def _shown_between(
    compactions: Sequence[RecordedCompaction], stays: Stays
) -> Callable[[int, int], bool]:
    places = [fold.at for fold in compactions]

    def was_shown(at: int, later: int) -> bool:
        return bool(stays.messages[at]) and not any(at < place <= later for place in places)

    return was_shown


def _folds_in(transcript: Transcript, counter: TokenCounter) -> list[Fold]:
    """The compactions with usage of a call before and after them."""
    calls = sorted(transcript.usage, key=lambda call: call.after)
    folds = sorted(transcript.compactions, key=lambda fold: fold.at)
    ends = [*(fold.at for fold in folds[1:]), len(transcript.messages) + 1]
    found = []
    for fold, end in zip(folds, ends, strict=False):
        before = [call for call in calls if call.after < fold.at]
        after = [call for call in calls if fold.at <= call.after < end]
        if before and after:
            summary = text_message("user", fold.summary)
            found.append(
                Fold(
                    at=fold.at,
                    before_tokens=fold.before_tokens or before[-1].total_input_tokens,
                    after_tokens=after[0].total_input_tokens,
                    calls=len(after),
                    summary_tokens=count_message(summary, counter) if fold.summary else 0,
                )
            )
    return found


def input_rate(
    usage: Iterable[RecordedUsage], price_of: Callable[[str | None], Price | None]
) -> float | None:
    """What a token of input cost on average, in US dollars; None where no call has a price."""
    tokens, dollars = 0, 0.0
    for call in usage:
        paid = cost_of(replace(call.billed, output_tokens=0), price_of(call.model))
        if paid is not None:
            tokens, dollars = tokens + call.total_input_tokens, dollars + paid
    return dollars / tokens if tokens else None


def _stayed(sent: Sent) -> list[Hint]:
    """The outputs that were sent in many calls."""
    found = [
        Hint(
            reason=HintCode.OUTPUT_STAYED(
                tool=call.name, what=_what(call), calls=round(calls), size=size
            ),
            tokens=round(size * calls),
            dollars=_dollars(size * calls, sent.rate),
            at=result,
        )
        for _, call, result in answered_calls(sent.messages)
        if result is not None
        for size, calls in [(sent.counts[result], sent.stays[result])]
        if size >= LEAST_OUTPUT_TOKENS and calls >= LEAST_STAY_CALLS
    ]
    return sorted(found, key=lambda hint: -hint.tokens)[:_MOST_STAYED]


def _read_again(sent: Sent) -> Iterator[Hint]:
    """The files that were read again with the same result, while the context still had it."""
    reads: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for head, call, result in answered_calls(sent.messages):
        for fact in file_uses(call.name, arguments_of(call.arguments), "assistant"):
            if fact.kind == "file_read" and result is not None:
                reads[fact.key].append((head, result))
    for path, places in reads.items():
        again = list(_same_again(sent, places))
        tokens = sum(sent.counts[at] * sent.stays[at] for at in again)
        if tokens >= LEAST_AGAIN_TOKENS:
            yield Hint(
                reason=HintCode.READ_AGAIN(path=path, times=len(again)),
                tokens=round(tokens),
                dollars=_dollars(tokens, sent.rate),
                at=again[0],
            )


def _same_again(sent: Sent, reads: Sequence[tuple[int, int]]) -> Iterator[int]:
    """The results of `reads` that an earlier one has word for word and the context still had."""
    known: dict[str, int] = {}
    for head, result in reads:
        text = sent.messages[result].text
        earlier = known.get(text)
        is_large = sent.counts[result] >= LEAST_READ_TOKENS
        if earlier is not None and earlier < head and is_large and sent.was_shown(earlier, head):
            yield result
        known[text] = result


def _unused_tools(sent: Sent, counter: TokenCounter) -> Iterator[Hint]:
    used = {call.name for message in sent.messages for call in message.calls}
    unused = [tool for tool in sent.tools if _name(tool) not in used]
    if not unused or sent.tool_calls < LEAST_TOOL_CALLS:
        return
    kept = [tool for tool in sent.tools if _name(tool) in used]
    size = count_tools(sent.tools, counter) - (count_tools(kept, counter) if kept else 0)
    if size < LEAST_TOOLS_TOKENS:
        return
    by_size = sorted(unused, key=lambda tool: -count_tools([tool], counter))
    yield Hint(
        reason=HintCode.TOOLS_UNUSED(
            count=len(unused),
            defined=len(sent.tools),
            calls=sent.tool_calls,
            size=size,
            names=tuple(map(_name, by_size[:_SHOWN_TOOLS])),
        ),
        tokens=size * sent.tool_calls,
        dollars=_dollars(size * sent.tool_calls, sent.rate),
    )


def _clock(sent: Sent) -> Iterator[Hint]:
    """A system prompt that changes from call to call in its times alone."""
    changed = [
        after
        for before, after in zip(sent.prompts, sent.prompts[1:], strict=False)
        if before.text != after.text and differs_in_time(before.text, after.text)
    ]
    missed = [one.missed_tokens for one in changed if one.missed_tokens]
    if len(missed) < LEAST_CLOCK_CHANGES:
        return
    tokens, price = sum(missed), sent.price
    yield Hint(
        reason=HintCode.CLOCK(times=len(missed)),
        tokens=tokens,
        dollars=None if price is None else tokens * price.lost_cache / PER_MILLION,
    )


def differs_in_time(before: str, after: str) -> bool:
    """Whether two texts are the same but for dates and times."""
    old, new = before.split("\n"), after.split("\n")
    if len(old) != len(new):
        return False
    pairs = [(a, b) for a, b in zip(old, new, strict=True) if a != b]
    masked = [(without_times(a), without_times(b)) for a, b in pairs]
    return bool(masked) and all(a is not None and a == b for a, b in masked)


def _unpaid(sent: Sent) -> Iterator[Hint]:
    """The compactions that were followed by too few calls to save what they cost."""
    price = sent.price
    for fold in sent.folds:
        gain = fold.before_tokens - fold.after_tokens
        if price is None or not fold.calls or gain <= 0:
            continue
        cost, each = _fold_dollars(fold, price), gain * price.from_cache / PER_MILLION
        needed = ceil(cost / each)
        if fold.calls < needed:
            yield Hint(
                reason=HintCode.FOLD_UNPAID(calls=fold.calls, needed=needed),
                tokens=fold.before_tokens + fold.after_tokens,
                dollars=cost - fold.calls * each,
                at=fold.at,
            )


def _fold_dollars(fold: Fold, price: Price) -> float:
    """What a compaction cost: its summary, and the new beginning that no cache has."""
    summary = fold.summary_dollars
    if summary is None:
        read, wrote = fold.before_tokens * price.from_cache, fold.summary_tokens * price.output
        summary = (read + wrote) / PER_MILLION
    return summary + fold.after_tokens * price.lost_cache / PER_MILLION


def _dollars(tokens: float, rate: float | None) -> float | None:
    return None if rate is None else tokens * rate


def _what(call: ToolCall) -> str:
    """What a call is about: the end of its file's path, or the beginning of its first argument."""
    arguments = arguments_of(call.arguments)
    paths = [fact.key for fact in file_uses(call.name, arguments, "assistant")]
    if paths:
        return paths[0] if len(paths[0]) <= _WHAT_CHARS else f"…{paths[0][1 - _WHAT_CHARS :]}"
    texts = [" ".join(text.split()) for text in strings_of(arguments).values()]
    first = next(filter(None, texts), "…")
    return first if len(first) <= _WHAT_CHARS else f"{first[: _WHAT_CHARS - 1]}…"


def _name(tool: JsonObject) -> str:
    function = tool.get("function")
    named = function if isinstance(function, dict) else tool
    return str(named.get("name", ""))
