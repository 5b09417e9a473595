"""An autopsy as one HTML page to share: no script, nothing from elsewhere, light and dark."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import PurePath
from typing import Final

from ctxcore.autopsy.summing import breaks_by_cause, largest_causes, spending_of, worst_folds
from ctxcore.autopsy.values import (
    Autopsy,
    ExaminedFold,
    ExaminedSession,
    Spending,
    SpendingKind,
    sum_known,
)
from ctxcore.compaction.loss_report import loss_code
from ctxcore.html_page import html_page, html_table
from ctxcore.messages.canonical import printable
from ctxcore.reasons.values import Reason
from ctxcore.tokens.costs import dollars_text, tokens_text

WORDS: Final[Mapping[str, str]] = {
    "title": "Autopsy of recorded conversations",
    "lost": "Compactions recorded: {folds}. They lost {gone} of {needed} things that were needed "
    "later; with as many tokens, ctxcore's default would have lost {ours}{scope}.",
    "lost_scope": ", where the programs lost {gone}, in the {folds} in which it fits",
    "lost_nothing": "Compactions recorded: {folds}. Nothing of what they folded was needed later "
    "and gone.",
    "no_folds": "These files record no compactions.",
    "conversations": "Conversations",
    "calls": "Calls to models",
    "sent": "Tokens sent",
    "cached": "{share} from cache",
    "cost": "Cost",
    "list_prices": "by list prices",
    "unpriced": "no usage or no price known",
    "compactions": "Compactions",
    "needed_gone": "Needed, and lost",
    "of_needed": "of {needed}; default {ours}",
    "rules_gone": "Rules lost",
    "rules_ours": "default {ours}",
    "said_again": "Said again by users",
    "said_again_note": "after a compaction folded it",
    "read_again": "Tokens read again",
    "read_again_note": "after a compaction",
    "folds": "What each compaction lost",
    "folds_note": "Facts are rules, decisions, open questions, values, identifiers and files that "
    "held before. Kept: the context right after still says it. Lost: it was needed later, in a "
    "call or in what user or model said, and the context no longer said it. The default got the "
    "same messages and as many tokens as the program's context had.",
    "conversation": "Conversation",
    "message": "Message",
    "size": "Tokens before → after",
    "kept": "Facts kept",
    "kept_ours": "by the default",
    "gone": "Needed, lost",
    "gone_ours": "by the default",
    "unfit": "does not fit",
    "unknown": "unknown",
    "show_lost": "What was lost ({count})",
    "said_at": "said in message {said}, needed in {needed}",
    "rule_at": "rule, said in message {said}",
    "again": "What users had to say again",
    "again_of": "message {at}, said before in {earlier}",
    "hidden_text": "(text left out)",
    "spending": "Where the tokens went",
    "spending_note": "Sent: each message counted for every call that sent it. A file's tokens are "
    "also those of the tools that read and wrote it.",
    "who": "Who or what",
    "once": "Once",
    "in_all": "Sent in all calls",
    "system": "system prompt",
    "user": "users",
    "assistant": "answers",
    "summary": "summaries",
    "hidden": "system prompt and tools that the files do not hold",
    "files": "Files",
    "causes": "Largest avoidable causes",
    "breaks": "Where the prompt cache was lost",
    "breaks_note": "A call that found less than half of the call before in the cache.",
    "cause": "Cause",
    "times": "Times",
    "resent": "Tokens paid again",
    "extra": "Extra cost",
    "each": "Each conversation",
    "inputs": "Input of each call, at most {peak} tokens",
    "inputs_and_window": "Input of each call, at most {peak} tokens; the dashed line is the window",
    "facts": "{messages} messages, {turns} turns, {calls} calls, {sent} tokens sent, at most "
    "{peak} at once",
    "unread": "Files without a conversation, or that could not be read ({count})",
    "copies": "{count} copies of conversations that other files hold too are left out.",
    "own": "Tokens are the provider's counts where the files have them. Written by ctxcore on this "
    "machine; nothing was sent anywhere.",
}
"""The texts of the page, by key."""

_STYLE: Final = """
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(9.5rem,1fr));gap:.75rem;
margin:1.25rem 0}
.card{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:.7rem .9rem}
.card b{display:block;font-size:1.45rem;line-height:1.25}
.card span{display:block;color:var(--soft);font-size:.85rem}
.verdict{font-size:1.1rem;color:var(--ink)}
.bar{display:inline-block;height:.6rem;background:var(--accent);border-radius:2px;
vertical-align:middle;margin-right:.4rem}
.bar.theirs{background:var(--warn)}
blockquote{margin:.6rem 0;padding:.1rem .9rem;border-left:3px solid var(--line)}
tr.above td{border-bottom:0}
td[colspan]{text-align:left;white-space:normal;padding-left:2rem;overflow-wrap:anywhere}
blockquote small,li small{color:var(--soft)}
summary{cursor:pointer}
details details{margin-left:1rem}
svg .line{stroke:var(--accent);fill:none}
svg .window{stroke:var(--warn);stroke-dasharray:4 3}
"""
# Chosen: what one reads; `--json` has all.
_MOST_FOLDS: Final = 40
_MOST_AGAIN: Final = 20
_MOST_ROWS: Final = 12
_MOST_CAUSES: Final = 8
_MOST_SESSIONS: Final = 200
_MOST_UNREAD: Final = 100
_BAR_REM: Final = 6.0
_FAR: Final = 2.0  # times the largest input that a window may be away
_WHO: Final[tuple[SpendingKind, ...]] = (
    *("system", "user", "assistant"),
    *("tool", "summary", "hidden"),
)
_WIDTH, _HEIGHT = 640, 90
_WITHOUT_FOLDS: Final = 4  # figures

Say = Callable[[Reason], str]


def render_page(
    autopsy: Autopsy,
    words: Mapping[str, str] = WORDS,
    *,
    language: str = "en",
    say: Say = str,
    has_texts: bool = True,
) -> str:
    """The page of an autopsy.

    Args:
        autopsy: What was found.
        words: Those of `WORDS`, in another language.
        language: Its tag.
        say: The text of a reason in that language.
        has_texts: Whether the page may quote the conversations; without, only kinds, places and
            figures are told, and files by their names alone.
    """
    page = _Page(autopsy, words, say, has_texts)
    return html_page(words["title"], page.parts(), language=language, style=_STYLE)


def verdict_of(autopsy: Autopsy, words: Mapping[str, str] = WORDS) -> str:
    """The one sentence on what compactions lost."""
    totals = autopsy.totals
    if not totals.folds:
        return words["no_folds"]
    if not totals.gone:
        return _filled(words["lost_nothing"], folds=totals.folds)
    beside = sum(fold.ours_gone is not None for one in autopsy.sessions for fold in one.folds)
    is_whole = beside == totals.folds
    scope = _filled(words["lost_scope"], gone=totals.gone_beside, folds=beside)
    return _filled(
        words["lost"],
        folds=totals.folds,
        gone=totals.gone,
        needed=totals.needed,
        ours=totals.ours_gone,
        scope="" if is_whole else scope,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A figure of all sessions together, as text."""

    key: str
    label: str
    value: str
    note: str


def figures_of(autopsy: Autopsy, words: Mapping[str, str] = WORDS) -> list[Figure]:
    """The figures of an autopsy; those of compactions are left out where there are none."""
    totals = autopsy.totals
    cached = totals.cached_tokens / totals.sent_tokens if totals.sent_tokens else 0.0
    dollars = totals.dollars
    of_needed = _filled(words["of_needed"], needed=totals.needed, ours=totals.ours_gone)
    rows = [
        ("conversations", f"{totals.sessions:,}", ""),
        ("calls", f"{totals.calls:,}", ""),
        ("sent", tokens_text(totals.sent_tokens), _filled(words["cached"], share=f"{cached:.0%}")),
        (
            "cost",
            words["unknown"] if dollars is None else dollars_text(dollars),
            words["unpriced" if dollars is None else "list_prices"],
        ),
        ("compactions", f"{totals.folds:,}", ""),
        ("needed_gone", f"{totals.gone:,}", of_needed),
        (
            "rules_gone",
            f"{totals.rules_gone:,}",
            _filled(words["rules_ours"], ours=totals.ours_rules_gone),
        ),
        ("said_again", f"{totals.said_again:,}", words["said_again_note"]),
        ("read_again", tokens_text(totals.repeated_tokens), words["read_again_note"]),
    ]
    shown = rows if totals.folds else rows[:_WITHOUT_FOLDS]
    return [Figure(key=key, label=words[key], value=value, note=note) for key, value, note in shown]


def _filled(text: str, **facts: object) -> str:
    shown = {name: f"{fact:,}" if isinstance(fact, int) else fact for name, fact in facts.items()}
    return text.format(**shown)


@dataclass(frozen=True, slots=True)
class _Page:
    autopsy: Autopsy
    words: Mapping[str, str]
    say: Say
    has_texts: bool

    def parts(self) -> Iterator[str]:
        """The sections in order; empty ones are left out."""
        yield f'<p class="verdict">{escape(verdict_of(self.autopsy, self.words))}</p>'
        yield self._cards()
        yield from self._folds()
        yield from self._again()
        yield from self._causes()
        yield from self._spending()
        yield from self._breaks()
        yield from self._sessions()
        yield from self._unread()
        yield f"<p>{escape(self.words['own'])}</p>"

    def _cards(self) -> str:
        drawn = "".join(
            f'<div class="card"><span>{escape(one.label)}</span><b>{escape(one.value)}</b>'
            f"<span>{escape(one.note)}</span></div>"
            for one in figures_of(self.autopsy, self.words)
        )
        return f'<div class="cards">{drawn}</div>'

    def _folds(self) -> Iterator[str]:
        worst = worst_folds(self.autopsy, _MOST_FOLDS)
        if not worst:
            return
        heads = [
            self.words[key]
            for key in (
                "message", "conversation", "size", "kept", "kept_ours", "gone", "gone_ours",
            )
        ]  # fmt: skip
        most = max(max(fold.gone, fold.ours_gone or 0) for _, fold in worst)
        yield f"<h2>{escape(self.words['folds'])}</h2>"
        yield html_table(heads, (self._fold_row(*pair, most) for pair in worst))
        yield f"<p>{escape(self.words['folds_note'])}</p>"

    def _fold_row(self, session: ExaminedSession, fold: ExaminedFold, most: int) -> str:
        before = self.words["unknown"] if fold.before_tokens is None else f"{fold.before_tokens:,}"
        unfit = self.words["unfit"]
        cells = [
            f"<td>{fold.at + 1:,}</td>",
            f'<td class="name">{self._name(session)}</td>',
            f"<td>{escape(before)} → {fold.after_tokens:,}</td>",
            f"<td>{fold.kept:,} / {fold.facts:,}</td>",
            f"<td>{unfit if fold.ours_kept is None else f'{fold.ours_kept:,}'}</td>",
            f"<td>{_bar(fold.gone, most, 'theirs')}{fold.gone:,} / {fold.needed:,}</td>",
            f"<td>{unfit}</td>"
            if fold.ours_gone is None
            else f"<td>{_bar(fold.ours_gone, most)}{fold.ours_gone:,}</td>",
        ]
        lost = f'<tr><td colspan="{len(cells)}">{self._lost(fold)}</td></tr>' if fold.lost else ""
        return f"<tr{' class=above' if lost else ''}>{''.join(cells)}</tr>{lost}"

    def _lost(self, fold: ExaminedFold) -> str:
        """The losses of a compaction, folded away."""
        items = []
        for thing in fold.lost:
            key = "rule_at" if thing.needed_at is None else "said_at"
            where = self._text(key, said=thing.said_at + 1, needed=(thing.needed_at or 0) + 1)
            what = self.say(loss_code(thing.kind)())
            text = f" {escape(printable(thing.text))}" if self.has_texts else ""
            items.append(f"<li>{escape(what)}:{text} <small>{escape(where)}</small></li>")
        summary = escape(self._text("show_lost", count=len(fold.lost)))
        return f"<details><summary>{summary}</summary><ul>{''.join(items)}</ul></details>"

    def _again(self) -> Iterator[str]:
        found = [(one, said) for one in self.autopsy.sessions for said in one.said_again]
        if not found:
            return
        yield f"<h2>{escape(self.words['again'])}</h2>"
        for session, said in found[:_MOST_AGAIN]:
            where = self._text("again_of", at=said.at + 1, earlier=(said.earlier_at or 0) + 1)
            quote = printable(said.text) if self.has_texts else self.words["hidden_text"]
            yield (
                f"<blockquote>{escape(quote)}<br><small>{self._name(session)}, "
                f"{escape(where)}</small></blockquote>"
            )

    def _causes(self) -> Iterator[str]:
        causes = largest_causes(self.autopsy, _MOST_CAUSES)
        if not causes:
            return
        heads = ["#", *(self.words[key] for key in ("cause", "in_all", "cost"))]
        rows = []
        for number, cause in enumerate(causes, 1):
            reason = (
                self.say(cause.hint.reason) if self.has_texts else self._kind(cause.hint.reason)
            )
            rows.append(
                f'<tr><td>{number}</td><td class="name">{escape(printable(reason))}'
                f"<br><small>{self._name(cause.session)}</small></td>"
                f"<td>{cause.hint.tokens:,}</td><td>{self._dollars(cause.hint.dollars)}</td></tr>"
            )
        yield f"<h2>{escape(self.words['causes'])}</h2>"
        yield html_table(heads, rows)

    def _kind(self, reason: Reason) -> str:
        """A reason without what it names."""
        return reason.code.partition(".")[2].replace("_", " ")

    def _spending(self) -> Iterator[str]:
        sessions = self.autopsy.sessions
        yield f"<h2>{escape(self.words['spending'])}</h2>"
        yield self._spending_table(spending_of(sessions, _WHO, _MOST_ROWS))
        if files := spending_of(sessions, ("file",), _MOST_ROWS):
            yield f"<h3>{escape(self.words['files'])}</h3>"
            yield self._spending_table(files)
        yield f"<p>{escape(self.words['spending_note'])}</p>"

    def _spending_table(self, spent: Sequence[Spending]) -> str:
        heads = ["", *(self.words[key] for key in ("who", "once", "in_all", "cost"))]
        most = max((one.sent_tokens or one.tokens for one in spent), default=0)
        rows = (
            f"<tr><td>{_bar(one.sent_tokens or one.tokens, most)}</td>"
            f'<td class="name">{escape(self._spender(one))}</td><td>{one.tokens:,}</td>'
            f"<td>{one.sent_tokens:,}</td><td>{self._dollars(one.dollars)}</td></tr>"
            for one in spent
        )
        return html_table(heads, rows)

    def _spender(self, spent: Spending) -> str:
        if not spent.name:
            return self.words[spent.kind]
        is_path = spent.kind == "file" and not self.has_texts
        return printable(PurePath(spent.name).name if is_path else spent.name)

    def _breaks(self) -> Iterator[str]:
        ordered = breaks_by_cause(self.autopsy)
        if not ordered:
            return
        heads = ["#", *(self.words[key] for key in ("cause", "times", "resent", "extra"))]
        rows = (
            f'<tr><td>{number}</td><td class="name">{escape(self.say(cuts[0].reason))}</td>'
            f"<td>{len(cuts):,}</td><td>{sum(cut.tokens for cut in cuts):,}</td>"
            f"<td>{self._dollars(sum_known(cut.dollars for cut in cuts))}</td></tr>"
            for number, cuts in enumerate(ordered, 1)
        )
        yield f"<h2>{escape(self.words['breaks'])}</h2>"
        yield html_table(heads, rows)
        yield f"<p>{escape(self.words['breaks_note'])}</p>"

    def _sessions(self) -> Iterator[str]:
        yield f"<h2>{escape(self.words['each'])}</h2>"
        ordered = sorted(self.autopsy.sessions, key=lambda one: -(one.dollars or 0.0))
        for session in ordered[:_MOST_SESSIONS]:
            about = self._text(
                "facts",
                messages=session.messages,
                turns=session.turns,
                calls=session.calls,
                sent=session.sent_tokens,
                peak=session.peak_tokens,
            )
            model = escape(printable(session.model or ""))
            yield (
                f"<details><summary>{self._name(session)} <small>{model} "
                f"{self._dollars(session.dollars)}</small></summary><p>{escape(about)}</p>"
                f"{self._sawtooth(session)}</details>"
            )

    def _sawtooth(self, session: ExaminedSession) -> str:
        """The input of each call as a line, the window as another."""
        sizes, window = session.inputs, session.window_tokens
        if len(sizes) < 2:
            return ""
        if window and window > _FAR * max(sizes):
            window = None  # it would flatten the line
        most = max(*sizes, window or 0, 1)
        step = _WIDTH / (len(sizes) - 1)
        line = " ".join(
            f"{at * step:.1f},{_HEIGHT - 2 - size / most * (_HEIGHT - 6):.1f}"
            for at, size in enumerate(sizes)
        )
        top = _HEIGHT - 2 - (window or 0) / most * (_HEIGHT - 6)
        limit = (
            f'<line class="window" x1="0" x2="{_WIDTH}" y1="{top:.1f}" y2="{top:.1f}"></line>'
            if window
            else ""
        )
        label = escape(
            self._text("inputs_and_window" if window else "inputs", peak=session.peak_tokens)
        )
        return (
            f'<figure><svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{label}">'
            f'{limit}<polyline class="line" points="{line}"></polyline></svg>'
            f"<figcaption>{label}</figcaption></figure>"
        )

    def _unread(self) -> Iterator[str]:
        if self.autopsy.copies:
            yield f"<p>{escape(self._text('copies', count=self.autopsy.copies))}</p>"
        if not self.autopsy.unread:
            return
        summary = escape(self._text("unread", count=len(self.autopsy.unread)))
        items = "".join(
            f"<li>{escape(printable(self._path(one.path)))}: "
            f"<small>{escape(printable(self.say(one.reason)))}</small></li>"
            for one in self.autopsy.unread[:_MOST_UNREAD]
        )
        yield f"<details><summary>{summary}</summary><ul>{items}</ul></details>"

    def _name(self, session: ExaminedSession) -> str:
        """A conversation by its title, or its id where texts are left out, as HTML."""
        name = session.title if self.has_texts else session.id
        return escape(printable(name))

    def _path(self, path: str) -> str:
        return path if self.has_texts else PurePath(path).name

    def _dollars(self, dollars: float | None) -> str:
        return escape("–" if dollars is None else dollars_text(dollars))

    def _text(self, key: str, **facts: object) -> str:
        return _filled(self.words[key], **facts)


def _bar(value: int, most: int, kind: str = "") -> str:
    width = _BAR_REM * value / most if most else 0.0
    return f'<span class="bar {kind}" style="width:{width:.2f}rem"></span>' if value else ""
