"""This library's middleware for LangChain beside LangChain's own, call by call of conversations.

Run it as `python -m benchmarks.langchain`. Every conversation is replayed under one limit, a share
of its own tokens, which both may fill. Both summarize by the same offline summarizer, which quotes;
LangChain's may read all that it folds. `cost` takes a token at 1 and one that the provider has
cached at CACHED. A break is a call for which more than LOST of what the call before sent must be
sent anew. `literals` are values that a later call uses, `facts` those that hold at a call: the
share of each that is still sent.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from itertools import islice, takewhile
from pathlib import Path
from typing import Any, Final

from benchmarks.conversations import DEMO
from benchmarks.fidelity.caching import CACHED, LOST
from benchmarks.peers import MODEL, is_there
from benchmarks.policies import preset_for_input
from benchmarks.timing import print_command
from ctxcore import Policy, read_transcripts
from ctxcore.assembly.history import ListHistory
from ctxcore.compaction.loss_report import message_text
from ctxcore.facts.ledger import Ledger, live
from ctxcore.facts.presence import SearchedText
from ctxcore.integrations.window import Window
from ctxcore.messages.openai import to_openai
from ctxcore.messages.shapes.reading import parse_messages
from ctxcore.messages.values import Message
from ctxcore.replay.references import find_literal_uses, says_literal
from ctxcore.summarizers.extractive import ExtractiveSummarizer
from ctxcore.summarizers.protocol import SummaryRequest
from ctxcore.tokens.count import count_message, counter_for

Keep = tuple[str, int]
Sends = Callable[[Sequence[Any]], Sequence[Any]]
"""What is sent for a call, given all messages of the conversation so far."""

OURS: Final = "ctxcore ContextMiddleware"
COUNTER: Final = counter_for(MODEL)
LEAST_LIMIT: Final = 1_000  # tokens; chosen: less holds no tool output
SUMMARY_SHARE: Final = 0.2  # of the limit, for a summary of LangChain's; chosen: about as ours
KEPT_SHARE: Final = 0.3  # of the limit; source: the docstring of `SummarizationMiddleware`
DEFAULT_KEEP: Final = ("messages", 20)  # source: the same
LOOKS: Final = 25  # calls of a conversation at which facts are looked for, evenly spaced


@dataclass(slots=True)
class Figures:
    """What was sent over all calls."""

    calls: int = 0
    over: int = 0
    """Calls above the limit."""
    sent: int = 0
    cached: int = 0
    breaks: int = 0
    literals: list[bool] = field(default_factory=list)
    facts: list[bool] = field(default_factory=list)

    @property
    def cost(self) -> float:
        """In tokens of fresh input."""
        return self.sent - self.cached + CACHED * self.cached


def main() -> None:
    """Prints a line for each middleware."""
    print_command()
    options = _options()
    if not is_there("langchain"):
        return
    found: dict[str, Figures] = {}
    conversations = _conversations(options.data, options.most)
    for messages in conversations:
        tokens = sum(count_message(message, COUNTER) for message in messages)
        limit = max(LEAST_LIMIT, int(tokens * options.share))
        for name, sends in contenders(limit).items():
            replay(messages, sends, limit, found.setdefault(name, Figures()))
    print(f"{len(conversations)} conversations, limit {options.share:.0%} of each")
    print_figures(found)


def contenders(limit: int) -> Mapping[str, Sends]:
    """The middlewares for one conversation, each with its own state."""
    policy = preset_for_input("default")
    share = ("tokens", int(KEPT_SHARE * limit))
    return {
        OURS: _Ours(limit, policy),
        f"{OURS}, nothing recalled": _Ours(limit, policy.override(recall_ratio=None)),
        f"SummarizationMiddleware, keeps {DEFAULT_KEEP[1]} messages": _Theirs(limit, DEFAULT_KEEP),
        f"SummarizationMiddleware, keeps {KEPT_SHARE:.0%}": _Theirs(limit, share),
    }


class _Ours:
    """What `ContextMiddleware` sends; the messages of the agent stay whole."""

    def __init__(self, limit: int, policy: Policy) -> None:
        self._window = Window(policy=policy, max_tokens=limit, model=MODEL, strict=True)
        self._state: object = None

    def __call__(self, messages: Sequence[Any]) -> Sequence[Any]:
        kept = self._window.keep(messages, self._state)
        self._state = kept.state
        return kept.messages


class _Theirs:
    """What `SummarizationMiddleware` sends; its summary replaces messages of the agent."""

    def __init__(self, limit: int, keep: Keep) -> None:
        module: Any = import_module("langchain.agents.middleware")
        models: Any = import_module("langchain_core.language_models.fake_chat_models")
        self._middleware = module.SummarizationMiddleware(
            models.FakeListChatModel(responses=[]),  # is never called: `summarizer` writes
            trigger=("tokens", limit),
            keep=keep,
            token_counter=lambda messages: sum(map(tokens_of, parse_messages(messages))),
            trim_tokens_to_summarize=None,
            summarizer=partial(_quoted, round(SUMMARY_SHARE * limit)),
        )
        self._held: list[Any] = []
        self._seen = 0

    def __call__(self, messages: Sequence[Any]) -> Sequence[Any]:
        self._held += messages[self._seen :]
        self._seen = len(messages)
        update = self._middleware.before_model({"messages": self._held}, None)
        if update is not None:
            _, *self._held = update["messages"]  # the first one removes all others
        return list(self._held)


def _quoted(max_tokens: int, messages: Sequence[Any]) -> str:
    """The summary of `messages`, of which the first may be the summary before."""
    is_summary = messages[0].additional_kwargs.get("lc_source") == "summarization"
    request = SummaryRequest(
        messages=tuple(parse_messages(messages[is_summary:])),
        previous=messages[0].text.partition("\n\n")[2] if is_summary else "",
        max_tokens=max_tokens,
    )
    return ExtractiveSummarizer(COUNTER).summarize(request)


def replay(messages: Sequence[Message], sends: Sends, limit: int, figures: Figures) -> None:
    """Adds to `figures` what is sent for each answer in `messages`."""
    own = import_module("langchain_core.messages").convert_to_messages(
        [to_openai(message) for message in messages]
    )
    uses = find_literal_uses(messages)
    facts, ledger = list(ListHistory(messages, COUNTER).facts()), Ledger()
    calls = [at for at, one in enumerate(messages) if one.role == "assistant" and at]
    looked = set(calls[:: max(1, len(calls) // LOOKS)])
    before: list[Message] = []
    for at in calls:
        now = parse_messages(sends(own[:at]))
        _count(before, now, limit, figures)
        text = "\n".join(map(message_text, now))
        wanted = [use.literal for use in uses if use.used_at == at]
        figures.literals += [says_literal(text, literal) for literal in wanted]
        while facts and facts[0][0] <= at:
            ledger.add(*facts.pop(0))
        if at in looked:
            searched = SearchedText(text)
            figures.facts += [searched.says(entry.fact) for entry in live(ledger)]
        before = now


def _count(before: list[Message], now: list[Message], limit: int, figures: Figures) -> None:
    sizes = [tokens_of(message) for message in now]
    pairs = takewhile(lambda pair: pair[0] == pair[1], zip(before, now, strict=False))
    same = sum(1 for _ in pairs)
    figures.calls += 1
    figures.over += sum(sizes) > limit
    figures.sent += sum(sizes)
    figures.cached += sum(sizes[:same])
    held = sum(map(tokens_of, before))
    figures.breaks += held - sum(sizes[:same]) > LOST * held


def tokens_of(message: Message) -> int:
    """The size of a message."""
    return count_message(message, COUNTER)


def print_figures(found: Mapping[str, Figures]) -> None:
    """A line each; the ratios are to this library's."""
    ours = found[OURS]
    print(
        f"{'':44}{'sent':>12}{'ratio':>7}{'cost':>12}{'ratio':>7}{'breaks':>9}"
        f"{'literals':>10}{'facts':>7}{'over':>6}"
    )
    for name, one in found.items():
        print(
            f"{name:44}{one.sent:>12,}{one.sent / ours.sent:>7.2f}"
            f"{one.cost:>12,.0f}{one.cost / ours.cost:>7.2f}{one.breaks:>9,}"
            f"{_share(one.literals):>10}{_share(one.facts):>7}{one.over:>6,}"
        )


def _share(found: Sequence[bool]) -> str:
    return f"{sum(found) / len(found):.2f}" if found else "-"


def _conversations(folder: Path, most: int) -> list[list[Message]]:
    """The first `most` conversations of each file, without system prompts."""
    paths = sorted([*folder.glob("*.json"), *folder.glob("*.jsonl")])
    found = [
        [message for message in transcript.messages if not message.is_system]
        for path in paths
        for transcript in islice(read_transcripts(path), most)
    ]
    if not found:
        raise SystemExit(f"{folder} holds no conversations")
    return found


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DEMO, help="a folder of conversations")
    parser.add_argument("--share", type=float, default=0.25, help="the limit, of the tokens")
    parser.add_argument("--most", type=int, default=10, help="conversations of a file")
    return parser.parse_args()


if __name__ == "__main__":
    main()
