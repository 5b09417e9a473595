"""The rule that a user speaks first: before an assistant a text of our own is put."""

from __future__ import annotations

from collections.abc import Iterator

from ctxcore.assembly.items import Item
from ctxcore.assembly.rules.values import (
    STRICT,
    Bench,
    Conversation,
    Finding,
    Provider,
    Rule,
    WholeRequest,
)
from ctxcore.assembly.texts import START
from ctxcore.messages.values import text_message
from ctxcore.reasons.codes import LegalityCode, RepairCode
from ctxcore.tokens.count import count_message


def _check_first(conversation: Conversation, _: Provider) -> Iterator[Finding]:
    first = next((one for one in conversation.placed if not one[1].is_system), None)
    if first is not None and first[1].role != "user":
        yield first[0], LegalityCode.FIRST_ROLE()


def _repair_first(items: list[Item], bench: Bench) -> list[Item]:
    at = next((at for at, item in enumerate(items) if not item.message.is_system), None)
    if at is None or items[at].message.role == "user":
        return items
    bench.note(items[at], RepairCode.LEADING_ASSISTANT())
    message = text_message("user", START)
    start = Item(
        segment=items[at].segment,
        message=message,
        tokens=count_message(message, bench.counter),
        is_laid_out=False,
    )
    return [*items[:at], start, *items[at:]]


FIRST_ROLE = Rule(
    name="first_role",
    check=_check_first,
    providers=STRICT,
    repair=WholeRequest(_repair_first),
    broken=[{"role": "assistant", "content": "welcome"}, {"role": "user", "content": "hi"}],
)
