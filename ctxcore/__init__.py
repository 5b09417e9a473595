"""Token-budgeted context windows for LLM conversations: nothing lost, everything explained.

Public names are loaded on first use, so that importing the library costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ctxcore.assembly.context import Context
    from ctxcore.assembly.fitting import fit
    from ctxcore.assembly.legality import Violation, lint
    from ctxcore.assembly.records import Compaction, CompactionState
    from ctxcore.assembly.verdicts import Verdict
    from ctxcore.budget import TokenBudget
    from ctxcore.compaction.compacting import CompactionResult, compact, plan_compaction
    from ctxcore.compaction.planning import CompactionPlan
    from ctxcore.compression.outputs import Compressed, compress
    from ctxcore.engine.asynchronous import acompact
    from ctxcore.engine.core import ContextEngine
    from ctxcore.errors import (
        BudgetError,
        ContextError,
        FormatError,
        MessageError,
        PolicyError,
        SummarizerError,
        UnknownWindowError,
    )
    from ctxcore.formats.reading import read_transcripts
    from ctxcore.gateway.litellm_gateway import LiteLLMGateway
    from ctxcore.policy import Policy
    from ctxcore.store.sql import open_store
    from ctxcore.summarizers.extractive import ExtractiveSummarizer
    from ctxcore.tokens.catalog import model_info
    from ctxcore.tokens.count import count_messages, count_tokens

__all__ = [
    "BudgetError",
    "Compaction",
    "CompactionPlan",
    "CompactionResult",
    "CompactionState",
    "Compressed",
    "Context",
    "ContextEngine",
    "ContextError",
    "ExtractiveSummarizer",
    "FormatError",
    "LiteLLMGateway",
    "MessageError",
    "Policy",
    "PolicyError",
    "SummarizerError",
    "TokenBudget",
    "UnknownWindowError",
    "Verdict",
    "Violation",
    "__version__",
    "acompact",
    "compact",
    "compress",
    "count_messages",
    "count_tokens",
    "fit",
    "lint",
    "model_info",
    "open_store",
    "plan_compaction",
    "read_transcripts",
]

__version__ = "0.1.0"

_HOMES = {
    "acompact": "engine.asynchronous",
    "BudgetError": "errors",
    "Compaction": "assembly.records",
    "CompactionPlan": "compaction.planning",
    "CompactionResult": "compaction.compacting",
    "CompactionState": "assembly.records",
    "Compressed": "compression.outputs",
    "Context": "assembly.context",
    "ContextEngine": "engine.core",
    "ContextError": "errors",
    "ExtractiveSummarizer": "summarizers.extractive",
    "FormatError": "errors",
    "LiteLLMGateway": "gateway.litellm_gateway",
    "MessageError": "errors",
    "Policy": "policy",
    "PolicyError": "errors",
    "SummarizerError": "errors",
    "TokenBudget": "budget",
    "UnknownWindowError": "errors",
    "Verdict": "assembly.verdicts",
    "Violation": "assembly.legality",
    "compact": "compaction.compacting",
    "compress": "compression.outputs",
    "count_messages": "tokens.count",
    "count_tokens": "tokens.count",
    "fit": "assembly.fitting",
    "lint": "assembly.legality",
    "model_info": "tokens.catalog",
    "open_store": "store.sql",
    "plan_compaction": "compaction.compacting",
    "read_transcripts": "formats.reading",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
