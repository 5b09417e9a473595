"""The methods of other packages, each where the package is installed.

Each is used as its documentation shows, with the same counter as everybody.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from importlib import import_module
from typing import Any

from benchmarks.fidelity.memories import LLAMA_MEMORY, has_llama_index, remembered
from benchmarks.fidelity.methods import Folded, Method, chosen
from benchmarks.fidelity.said import content_words
from benchmarks.fidelity.talks import MODEL, Talk, count, words_of
from benchmarks.peers import OFFLINE, is_there
from ctxcore.messages.values import JsonObject


def package_methods() -> list[Method]:
    """What is installed of langchain-core, sumy, litellm and LlamaIndex."""
    found = []
    if is_there("langchain_core"):
        module: Any = import_module("langchain_core.messages")
        fold = partial(_trimmed, module)
        found.append(Method(name="langchain-core trim_messages", fold=fold))
    if is_there("sumy") and is_there("numpy"):
        found.append(Method(name="sumy LexRank", fold=_lex_ranked, is_slow=True))
    if is_there("litellm"):
        os.environ.update(OFFLINE)
        if squeeze := getattr(import_module("litellm"), "compress", None):
            found.append(Method(name="litellm compress", fold=partial(_stubbed, squeeze)))
    if has_llama_index():
        found.append(Method(name=LLAMA_MEMORY, fold=remembered))
    return found


def _trimmed(module: Any, talk: Talk, budget_tokens: int) -> Folded:
    """`trim_messages` for a chat: the newest ones, from a user's on, behind the system prompt."""
    own = _converted(talk, module.convert_to_messages)
    sizes = {id(message): tokens for message, tokens in zip(own, talk.tokens, strict=True)}
    places = {id(message): at for at, message in enumerate(own)}
    kept = module.trim_messages(
        list(own),
        max_tokens=budget_tokens,
        token_counter=lambda found: sum(_size(message, sizes, module) for message in found),
        strategy="last",
        start_on="human",
        include_system=True,
    )
    whole = [places.get(id(message)) for message in kept]
    if None not in whole:
        return [talk.messages[at] for at in whole if at is not None]
    return list(module.convert_to_openai_messages(kept))


def _size(message: Any, sizes: dict[int, int], module: Any) -> int:
    if id(message) in sizes:
        return sizes[id(message)]
    return count(module.convert_to_openai_messages(message))


@lru_cache(maxsize=4)
def _converted(talk: Talk, convert: Callable[[list[JsonObject]], list[Any]]) -> Sequence[Any]:
    return convert([_plain(message) for message in talk.messages])


def _plain(message: JsonObject) -> JsonObject:
    keys = ("role", "content", "tool_calls", "tool_call_id")
    plain: JsonObject = {key: message[key] for key in keys if key in message}
    return {**plain, "content": plain.get("content") or ""}


def _lex_ranked(talk: Talk, budget_tokens: int) -> Folded:
    return chosen(talk, _lex_ranks(talk), budget_tokens)


@lru_cache(maxsize=8)
def _lex_ranks(talk: Talk) -> Sequence[int]:
    """The messages by their centrality, each one taken as a sentence; words are ours."""
    dom: Any = import_module("sumy.models.dom")
    own = [dom.Sentence(f"{at}", _Words(talk)) for at in range(len(talk.messages))]
    document = dom.ObjectDocumentModel([dom.Paragraph(own)])
    summarizer: Any = import_module("sumy.summarizers.lex_rank").LexRankSummarizer()
    ranked: list[int] = []

    def all_of(infos: Sequence[Any]) -> Sequence[Any]:
        ranked.extend(info.order for info in infos)
        return infos

    summarizer(document, all_of)
    return ranked


class _Words:
    """A tokenizer for sumy, whose own would fetch data: a sentence is the place of a message."""

    def __init__(self, talk: Talk) -> None:
        self._talk = talk

    def to_words(self, place: str) -> tuple[str, ...]:
        """The content words of the message there."""
        return tuple(sorted(content_words(words_of(self._talk.messages[int(place)]))))


def _stubbed(squeeze: Callable[..., Any], talk: Talk, budget_tokens: int) -> Folded:
    """litellm's `compress`: BM25 with the last user message; what is dropped leaves a stub."""
    messages = [_plain(message) for message in talk.messages]
    made = squeeze(
        messages, MODEL, compression_trigger=budget_tokens, compression_target=budget_tokens
    )
    return list(made["messages"])
