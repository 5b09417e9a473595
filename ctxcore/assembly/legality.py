"""Makes a context legal for every provider, and finds what a provider would refuse.

Each rule in `rules` has its own repair; here is the order: calls with their results, each message,
the request, neighbours. Each repair is listed. The history itself is never changed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from operator import is_, itemgetter

from ctxcore.assembly.history import note
from ctxcore.assembly.items import Item, Merged, with_message
from ctxcore.assembly.rules.registry import BUILT_IN, RULES
from ctxcore.assembly.rules.values import (
    NO_TOOLS,
    Bench,
    Conversation,
    EachExchange,
    EachMessage,
    Exchange,
    Neighbours,
    Note,
    Repair,
    Rule,
    SentNames,
    Violation,
    WholeRequest,
    defined_names,
)
from ctxcore.assembly.rules.values import PROVIDERS as PROVIDERS
from ctxcore.assembly.rules.words import is_sayable
from ctxcore.errors import MessageError
from ctxcore.messages.arguments import checked_tools
from ctxcore.messages.blocks import pair_results
from ctxcore.messages.shapes.reading import Given, read_list
from ctxcore.messages.values import Message, ToolCall
from ctxcore.reasons.codes import RepairCode
from ctxcore.reasons.places import Place, PlaceCode
from ctxcore.reasons.values import Reason, as_reason
from ctxcore.tokens.families import Provider, TokenCounter

Change = Callable[[Message, Note], Message]
QuickLook = Callable[[Message], bool] | None


class Repairer:
    """Makes items legal; lists the repairs."""

    def __init__(
        self,
        counter: TokenCounter,
        *,
        taken_ids: Collection[str] = (),
        names: SentNames = NO_TOOLS,
    ) -> None:
        """`taken_ids`: those of calls before the first item. `names`: what tools are sent as."""
        self.bench = Bench(counter=counter, taken_ids=taken_ids, names=names)
        rules = tuple(RULES.values())
        repairs = [rule.repair for rule in rules]
        self._of_exchange = [repair for repair in repairs if isinstance(repair, EachExchange)]
        self._of_message = _by_quick_look(rules)
        self._is_extended = len(rules) > len(BUILT_IN)
        self._passes_sayable = [passes for passes, _ in self._of_message] == [is_sayable]
        self._of_request = [repair for repair in repairs if isinstance(repair, WholeRequest)]
        self._joining = next(repair for repair in repairs if isinstance(repair, Neighbours))

    @property
    def repairs(self) -> list[Repair]:
        """What was done so far."""
        return self.bench.repairs

    def repair(self, items: Sequence[Item]) -> list[Merged]:
        """`items` as legal messages, in order; sizes of changed items are counted anew."""
        legal = self.repair_block(items)
        for rule in self._of_request:
            legal = rule.change(legal, self.bench)
        return self._joining.join(legal, self.bench)

    def repair_block(self, block: Sequence[Item]) -> list[Item]:
        """The items of one block, legal by themselves."""
        legal: list[Item] = []
        for group in _groups(block):
            if len(group) == 1 and group[0].plain_text:
                legal.append(group[0])
            else:
                legal += group if self._is_known(group) else self._paired(group)
        if not self._passes_sayable:
            return [self._repaired(item) for item in legal]
        return [
            item if item.plain_text or is_sayable(item.message) else self._repaired(item)
            for item in legal
        ]

    def _is_known(self, group: list[Item]) -> bool:
        """Whether `group` needed no repair before, and none of its ids is taken."""
        if self._is_extended or group[0].sound_with != group[1:]:
            return False
        ids, bench = [call.id for call in group[0].message.calls], self.bench
        if any(one in bench.used_ids or one in bench.taken_ids for one in ids):
            return False
        bench.used_ids.update(ids)
        return True

    def _paired(self, group: list[Item]) -> list[Item]:
        noted = len(self.bench.repairs)
        paired = list(self._pair(group))
        is_same = len(paired) == len(group) and all(map(is_, paired, group))
        if is_same and len(self.bench.repairs) == noted:
            note(group[0], "sound_with", group[1:])
        return paired

    def _pair(self, group: Sequence[Item]) -> Iterable[Item]:
        first = group[0].message
        if len(group) == 1 and not first.calls and first.role != "tool":
            return group  # most messages: nothing to pair
        exchange = _exchange(group)
        for rule in self._of_exchange:
            exchange = rule.change(exchange, self.bench)
        return self._items(exchange)

    def _items(self, exchange: Exchange) -> Iterator[Item]:
        head, calls = exchange.head, exchange.calls
        if head is not None:
            if calls is not head.message.calls:
                head = with_message(head, replace(head.message, calls=calls), self.bench.counter)
            yield head
        # In the order of their calls, also where one is missing or was recorded earlier.
        for place, item in sorted(exchange.results, key=itemgetter(0)):
            yield self._answering(item, calls[place])
        yield from exchange.orphans

    def _answering(self, item: Item, call: ToolCall) -> Item:
        """The result `item` under its call's id; counted anew, as that names its function."""
        counted_as = item.message.name or (item.function_name if item.row else call.name)
        if item.message.answers == call.id and counted_as == (item.message.name or call.name):
            return item
        message = replace(item.message, answers=call.id)
        return with_message(item, message, self.bench.counter, call.name)

    def _repaired(self, item: Item) -> Item:
        message = item.message
        for passes, repairs in self._of_message:
            if passes is None or not passes(message):
                for rule, change in repairs:
                    message = self._changed(item, message, rule, change)
        if message is item.message:
            return item
        return with_message(item, message, self.bench.counter, item.function_name)

    def _changed(self, item: Item, message: Message, rule: str, change: Change) -> Message:
        noted = len(self.bench.repairs)
        changed = change(message, lambda why: self.bench.note(item, as_reason(why)))
        if changed is not message and len(self.bench.repairs) == noted:
            self.bench.note(item, RepairCode.BY_RULE(rule=rule))
        return changed


def refuse(merged: Sequence[Merged]) -> None:
    """Raises for what no repair makes legal; the library's own rules raise as a list is read.

    Raises:
        MessageError: the first such place of the history.
    """
    rules = [rule for rule in RULES.values() if rule.refuse == "building"]
    if not rules:
        return
    placed = [(max(0, made.items[-1].seq - 1), made.message) for made in merged]
    conversation = Conversation(placed=placed)
    for rule in rules:
        found = chain.from_iterable(rule.violations(conversation, one) for one in rule.providers)
        if (first := next(found, None)) is not None:
            raise MessageError(place=Place(PlaceCode.MESSAGE, first.at or 0), problem=first.reason)


def _by_quick_look(rules: Iterable[Rule]) -> list[tuple[QuickLook, list[tuple[str, Change]]]]:
    """The repairs of single messages, each with its rule, grouped by their quick look."""
    found: dict[QuickLook, list[tuple[str, Change]]] = {}
    for rule in rules:
        if isinstance(rule.repair, EachMessage):
            found.setdefault(rule.repair.passes, []).append((rule.name, rule.repair.change))
    return list(found.items())


def _exchange(group: Sequence[Item]) -> Exchange:
    head = None if group[0].message.is_tool_result else group[0]
    results = group[1:] if head else group
    calls = head.message.calls if head else ()
    if not results:
        return Exchange(head, calls, (), ())
    answered_by, orphans = pair_results(calls, [item.message for item in results])
    pairs = sorted((at, place) for place, at in enumerate(answered_by) if at is not None)
    answered = tuple((place, results[at]) for at, place in pairs)
    return Exchange(head, calls, answered, tuple(results[at] for at in orphans))


def _groups(items: Sequence[Item]) -> Iterator[list[Item]]:
    """Each message with the tool messages that directly follow it."""
    group: list[Item] = []
    for item in items:
        if group and (item.plain_text or not item.message.is_tool_result):
            yield group
            group = []
        group.append(item)
    if group:
        yield group


def lint(
    messages: Given,
    provider: Provider,
    *,
    tools: Sequence[Mapping[str, object]] | None = None,
) -> list[Violation]:
    """Everything `provider` would refuse in `messages` and `tools`; empty for none.

    What is wrong with a tool definition comes first. An empty conversation has nothing to refuse.
    Raises ValueError for an unknown provider, and MessageError where `messages` is no list.
    """
    if provider not in PROVIDERS:
        raise ValueError(f"unknown provider {provider!r}; one of {', '.join(PROVIDERS)}")
    unread: list[tuple[int, Reason]] = []

    def note(at: int, error: MessageError) -> None:
        unread.append((at, error.reason))

    passed = read_list(messages, refuse=note)
    firsts = (passed.places_of(at)[0] for at in range(len(passed.messages)))
    conversation = Conversation(
        placed=list(zip(firsts, passed.messages, strict=True)),
        unread=unread,
        tools=defined_names(checked_tools(tools)),
    )
    found = chain.from_iterable(rule.violations(conversation, provider) for rule in RULES.values())
    return sorted(found, key=lambda violation: -1 if violation.at is None else violation.at)
