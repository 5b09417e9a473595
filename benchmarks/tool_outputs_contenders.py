"""The contenders measured side by side: this library, plain cuts, and other packages.

Each is called as its documentation says, with the same budget and query. All count in the same
vocabulary: the peers that ask tiktoken for it are given the bundled one, so that none downloads.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

from ctxcore.compression.outputs import compress_with
from ctxcore.tokens.count import counter_by_id

VOCABULARY: Final = "cl100k_base"
COUNTER: Final = counter_by_id(VOCABULARY)
PEERS: Final = ("headroom", "tooltrim", "llmslim", "toons")
"""Import names; as packages headroom-ai, tooltrim, llmslim and toons, all of the extra `bench`."""

Contender = Callable[[str, str, int], str]
"""(output, query, max_tokens) -> what a model would be sent."""


def contenders() -> dict[str, Contender]:
    """Everything that can be measured here; a missing peer is said in one line."""
    found: dict[str, Contender] = {
        "minify": lambda output, query, budget: minify(output),
        "head cut": lambda output, query, budget: head(output, budget),
        "head+tail cut": lambda output, query, budget: head_and_tail(output, budget),
    }
    if find_spec("tiktoken") is not None:
        _share_vocabulary()
    peers: dict[str, Callable[[], dict[str, Contender]]] = {
        "headroom": _headroom,
        "tooltrim": _tooltrim,
        "llmslim": _llmslim,
        "toons": _toons,
    }
    for name in PEERS:
        if find_spec(name) is None:
            print(f"{name} is not installed and left out; install the extra 'bench' to have it")
        else:
            found |= peers[name]()
    found["ctxcore lossless"] = lambda output, query, budget: lossless(output)
    found["ctxcore, no query"] = lambda output, query, budget: ours(output, "", budget)
    found["ctxcore, query"] = ours
    return found


def ours(output: str, query: str, budget: int) -> str:
    """`compress` of this library."""
    return compress_with(output, max_tokens=budget, counter=COUNTER, query=query or None).text


def lossless(output: str) -> str:
    """The lossless ladder of this library alone."""
    return compress_with(output, max_tokens=0, counter=COUNTER, lossless=True).text


def minify(output: str) -> str:
    """JSON without blanks; other text as it is."""
    try:
        return json.dumps(json.loads(output), ensure_ascii=False, separators=(",", ":"))
    except (ValueError, RecursionError):
        return output


def head(output: str, budget: int) -> str:
    """The first tokens."""
    tokens = _encoding().encode_ordinary(output)
    return output if len(tokens) <= budget else str(_encoding().decode(tokens[:budget]))


def head_and_tail(output: str, budget: int) -> str:
    """Half of the budget from the head, half from the tail, with a mark between."""
    tokens = _encoding().encode_ordinary(output)
    if len(tokens) <= budget:
        return output
    half = (budget - 2) // 2
    first, last = (_encoding().decode(part) for part in (tokens[:half], tokens[-half:]))
    return f"{first}\n…\n{last}"


@cache
def _encoding() -> Any:
    return import_module("ctxcore.tokens.exact")._load_vocabulary(VOCABULARY).tables


def _share_vocabulary() -> None:
    registry: Any = import_module("tiktoken.registry")
    registry.ENCODINGS[VOCABULARY] = _encoding()


def _headroom() -> dict[str, Contender]:
    """Its SmartCrusher, with its defaults; it takes no budget."""
    module: Any = import_module("headroom.transforms.smart_crusher")
    crusher = module.SmartCrusher()
    return {
        "headroom SmartCrusher": lambda output, query, budget: str(
            crusher.crush(output, query).compressed
        )
    }


def _tooltrim() -> dict[str, Contender]:
    """With the query and without its footer, which is no JSON; and with the footer, its default."""
    module: Any = import_module("tooltrim")

    def with_footer(is_added: bool) -> Contender:
        return lambda output, query, budget: str(
            module.ToolCompressor(budget, add_footer=is_added)
            .compress(output, query=query or None)
            .text
        )

    return {
        "tooltrim, query, no footer": with_footer(False),
        "tooltrim, query, footer": with_footer(True),
    }


def _llmslim() -> dict[str, Contender]:
    """What it does with JSON that has a list, else its text."""
    fit: Any = import_module("llmslim._fit").fit_text
    shorten: Any = import_module("llmslim._json_output").shorten_json

    def run(output: str, query: str, budget: int) -> str:
        if COUNTER.count(output) <= budget:
            return output
        return str(shorten(output, budget, query or None) or fit(output, budget, query or None))

    return {"llmslim": run}


def _toons() -> dict[str, Contender]:
    """Another notation for JSON; nothing is left out."""
    dumps: Any = import_module("toons").dumps

    def run(output: str, query: str, budget: int) -> str:
        try:
            return str(dumps(json.loads(output)))
        except (ValueError, RecursionError):
            return output

    return {"toons": run}
