"""`ctxcore compact --compare`: presets and strategies side by side at the end of conversations.

A file is compared by the policy of the command line, a stored session by its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.text import Text

from ctxcore.cli.choices import choose_policy
from ctxcore.cli.output import amount, one_line, plural
from ctxcore.cli.running import About
from ctxcore.cli.tables import add_row, facts, make_table
from ctxcore.policy.layers import PRESET_FIELD
from ctxcore.tokens.costs import dollars_text

if TYPE_CHECKING:
    from ctxcore.assembly.building import Call
    from ctxcore.engine.core import ContextEngine
    from ctxcore.formats.values import Transcript
    from ctxcore.messages.values import JsonObject
    from ctxcore.policy.values import Policy
    from ctxcore.replay.alternatives import Alternative, Compared

_COLUMNS = (
    "Gone: of the needed facts. Rules: lost rules, decisions, tasks and open questions. "
    "Lost: all lost facts."
)
_DOLLARS = (
    "Costs once: the summary, and what the next call writes to the prompt cache anew. It has paid "
    "after as many calls as save that much. Summaries are quotes."
)
_TOKENS = (
    "The price of the model is not known. Costs once: the tokens that a model reads and writes for "
    "the summary, 0 for quotes. It has paid after as many calls as save so many."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """The policy of the command line, and where its values come from."""

    policy: Policy
    preset: str | None
    window: int | None
    max_tokens: int | None
    config: Path | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ways:
    """One conversation with what each preset and strategy would make of its next call."""

    about: About
    rows: tuple[Compared, ...]


def ways_of(transcript: Transcript, model: str | None, given: Given) -> Ways:
    """Compares the ways to compact a conversation at its end."""
    from ctxcore.compaction.simulation import Recording
    from ctxcore.replay.alternatives import Compared, Moment, alternatives, compare_all
    from ctxcore.tokens.prices import list_price

    about, policy = About.of(transcript, model), given.policy
    recording = Recording(transcript.messages, model=about.model, tools=transcript.tools)
    view, call = recording.prepare(policy, max_tokens=given.max_tokens)
    moment = Moment(
        view=view, call=call, active=None, price=list_price(about.model), prices=list_price
    )

    def under(way: Alternative) -> Call:
        return recording.prepare(_policy(way, given), max_tokens=given.max_tokens)[1]

    found = compare_all(moment, under, alternatives(policy), recording.messages)
    rows = tuple(row for row in found if isinstance(row, Compared))
    return Ways(about=about, rows=rows)


def ways_of_session(
    engine: ContextEngine, session_id: str, model: str | None, given: Given
) -> Ways:
    """Compares the ways to compact a stored session at its next call.

    The preset and the window of the command line stand before the session's own.
    """
    session = engine.session(session_id)
    overrides: JsonObject = {}
    if given.preset is not None:
        overrides[PRESET_FIELD] = given.preset
    if given.window is not None:
        overrides["window_tokens"] = given.window
    about = About.of_session(
        session.id, session.title, model or session.model or engine.default_model
    )
    rows = engine.compare_compactions(session.id, model=about.model, overrides=overrides)
    return Ways(about=about, rows=tuple(rows))


def _policy(way: Alternative, given: Given) -> Policy:
    if way.kind == "preset":
        return choose_policy(way.name, given.window, given.max_tokens, given.config)
    if way.kind == "strategy":
        return given.policy.override(strategies=(way.name,), direct_strategies=())
    return given.policy


def ways_document(ways: Ways) -> JsonObject:
    """The comparison as JSON."""
    preset = ways.rows[0].alternative.name  # the policy in force stands first
    rows = [row.to_dict() for row in ways.rows]
    return {**ways.about.to_dict(), "preset": preset, "ways": [*rows]}


def ways_details(ways: Ways) -> Iterator[RenderableType]:
    """The comparison as a table below what all rows share."""
    yield ways.about.heading()
    first = next((row for row in ways.rows if row.effect is not None), None)
    if first is None or first.effect is None:
        yield Text("Nothing can be folded, whatever the preset or strategy.\n", style="yellow")
        return
    now = amount(first.effect.without_tokens, is_exact=first.effect.is_exact)
    yield facts(
        (
            ("model", one_line(ways.about.model or "not named")),
            ("next call now", f"{now} tokens"),
            ("needed", f"{first.needed:,} facts are used at the end"),
        )
    )
    table = make_table(
        "way", ">next call", ">gone", ">rules", ">lost", ">costs once", ">pays after"
    )
    for row in ways.rows:
        if row.effect is not None:
            add_row(table, *_cells(row))
    yield table
    for row in ways.rows:
        if row.effect is None:
            yield Text(f"{_name(row.alternative)}: {one_line(str(row.reason))}")
    is_priced = first.payback is not None and first.payback.unit == "dollars"
    yield Text(f"{_COLUMNS} {_DOLLARS if is_priced else _TOKENS}\n", style="dim")


def _cells(row: Compared) -> tuple[str, ...]:
    assert row.effect is not None
    assert row.payback is not None
    paid, size = row.payback, amount(row.effect.with_tokens, is_exact=row.effect.is_exact)
    once = dollars_text(paid.once) if paid.unit == "dollars" else f"{paid.once:,.0f}"
    calls = "never" if paid.calls is None else plural(paid.calls, "call")
    counts = (f"{row.gone:,}", f"{row.standing:,}", f"{row.lost:,}")
    return (_name(row.alternative), size, *counts, once, calls)


def _name(way: Alternative) -> str:
    if way.kind == "policy":
        return f"this policy ({way.name})"
    return way.name if way.kind == "preset" else f"only {way.name}"
