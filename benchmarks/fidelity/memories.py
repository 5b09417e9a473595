"""A kept memory of another library, which needs no key and no server: LlamaIndex's `Memory`.

It keeps the newest messages and hands older ones to a block. The block here is the library's BM25
retriever with the last message as its query, everything else as the documentation shows it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from importlib import import_module
from typing import Any, Final

from benchmarks.fidelity.methods import Folded
from benchmarks.fidelity.talks import MODEL, Talk, count, words_of
from benchmarks.peers import is_there
from ctxcore.messages.values import JsonObject
from ctxcore.tokens.count import counter_for

LLAMA_MEMORY: Final = "LlamaIndex Memory + BM25"
_NEWEST_SHARE: Final = 0.7  # of the tokens, for the newest messages: the library's default
_FLUSHED_SHARE: Final = 0.1  # of the tokens, that the newest give to the block at a time
_FRAME_TOKENS: Final = 3


def has_llama_index() -> bool:
    """Whether the library and its BM25 retriever are installed; says so if not."""
    return is_there("llama_index") and is_there("bm25s")


def remembered(talk: Talk, budget_tokens: int) -> Folded:
    """What the memory hands out for the last message, the oldest left out that do not fit."""
    system = [talk.messages[at] for at in talk.system]
    asked = talk.messages[-1]
    room = budget_tokens - talk.system_tokens - talk.tokens[-1] - _FRAME_TOKENS
    sent = _handed_out(talk, room)
    memory = [message for message in sent if message["role"] == "system"]
    newest = sent[len(memory) :]
    left = room - sum(map(count, memory))
    while newest and sum(map(count, newest)) > left:
        del newest[0]
    return [*system, *memory, *newest, asked]


def llama_ranks(talk: Talk, query: str) -> list[int]:
    """The messages by the retriever with `query`, the best first, system messages left out."""
    return [found.node.metadata["at"] for found in _retriever_of(talk).retrieve(query)]


def _handed_out(talk: Talk, room: int) -> list[JsonObject]:
    types: Any = import_module("llama_index.core.llms")
    core: Any = import_module("llama_index.core.memory")
    said = [m for m in talk.messages[:-1] if m["role"] != "system"]
    own = [
        types.ChatMessage(role=_role(message), content=words_of(message) or " ") for message in said
    ]
    memory = core.Memory.from_defaults(
        session_id=talk.id,
        token_limit=max(1, room),
        chat_history_token_ratio=_NEWEST_SHARE,
        token_flush_size=max(1, round(_FLUSHED_SHARE * room)),
        tokenizer_fn=_pieces,
        memory_blocks=[_block()(name="recalled", room=round((1 - _NEWEST_SHARE) * room))],
    )
    memory.put_messages(own)
    given = memory.get(input=words_of(talk.messages[-1]))
    return [{"role": one.role.value, "content": one.content or ""} for one in given]


def _role(message: JsonObject) -> str:
    """As text, the output of a tool needs its call; here it is an answer."""
    return "user" if message["role"] == "user" else "assistant"


def _pieces(text: str) -> range:
    """As many things as `text` has tokens; the library asks no more than their number."""
    return range(counter_for(MODEL).count(text))


@cache
def _block() -> Any:
    """A block of memory that finds older messages by the retriever."""
    core: Any = import_module("llama_index.core.memory")

    class Recalled(core.BaseMemoryBlock[str]):  # type: ignore[misc]  # its base is not installed
        room: int
        texts: tuple[str, ...] = ()

        async def _aput(self, messages: Sequence[Any]) -> None:
            self.texts += tuple(message.content for message in messages)

        async def _aget(self, messages: Sequence[Any] | None = None, **_: Any) -> str:
            if not (messages and self.texts):
                return ""
            found = _retriever(self.texts).retrieve(messages[-1].content)
            left, taken = self.room, list[str]()
            for one in found:
                size = len(_pieces(one.node.text)) + 1
                if size <= left:
                    left -= size
                    taken.append(one.node.text)
            return "\n".join(taken)

    return Recalled


def _retriever_of(talk: Talk) -> Any:
    spoken = [at for at in range(len(talk.messages)) if at not in talk.system]
    return _retriever(tuple(words_of(talk.messages[at]) or " " for at in spoken), tuple(spoken))


@lru_cache(maxsize=8)
def _retriever(texts: Sequence[str], places: Sequence[int] = ()) -> Any:
    schema: Any = import_module("llama_index.core.schema")
    made: Any = import_module("llama_index.retrievers.bm25").BM25Retriever
    found = zip(texts, places or range(len(texts)), strict=True)
    nodes = [schema.TextNode(text=text, metadata={"at": at}) for text, at in found]
    return made.from_defaults(nodes=nodes, similarity_top_k=len(nodes), language="en")
