"""Token-budgeted context windows for LLM conversations: nothing lost, everything explained.

Public names are loaded on first use, so that importing the library costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ctxcore.assembly.context import Context
    from ctxcore.assembly.fitting import fit
    from ctxcore.assembly.legality import lint
    from ctxcore.assembly.records import Compaction, WorkingState
    from ctxcore.assembly.rules.registry import register_rule
    from ctxcore.assembly.rules.values import EachMessage, Rule, Violation
    from ctxcore.assembly.states import CompactionState
    from ctxcore.assembly.verdicts import Verdict
    from ctxcore.budget import TokenBudget
    from ctxcore.compaction.advising import (
        Recommendation,
        ToolSafety,
        check_tool_safety,
        recommend,
    )
    from ctxcore.compaction.compacting import CompactionResult, compact, plan_compaction
    from ctxcore.compaction.drafting import Draft
    from ctxcore.compaction.plans import CompactionPlan, Confirmation
    from ctxcore.compaction.strategies import register_strategy
    from ctxcore.compression.lossless import decompress
    from ctxcore.compression.markers import EXPAND_TOOL
    from ctxcore.compression.outputs import Compressed, compress
    from ctxcore.engine.asynchronous import acompact
    from ctxcore.engine.core import ContextEngine
    from ctxcore.errors import (
        BudgetError,
        ConfigurationError,
        ContextError,
        FormatError,
        MessageError,
        PartNotFoundError,
        PolicyError,
        StateError,
        StrategyError,
        SummarizerError,
        UnknownWindowError,
        WorkingStateError,
    )
    from ctxcore.formats.reading import read_transcripts, register_format
    from ctxcore.formats.values import Format, Transcript
    from ctxcore.gateway.litellm_gateway import LiteLLMGateway
    from ctxcore.gateway.summarizing import ModelSummarizer
    from ctxcore.plugins import load_plugins
    from ctxcore.policy.presets import register_preset
    from ctxcore.policy.values import Policy
    from ctxcore.reasons.values import Reason
    from ctxcore.settings.loading import load_layers, load_policy
    from ctxcore.store.sql import open_store
    from ctxcore.summarizers.extractive import ExtractiveSummarizer
    from ctxcore.tokens.catalog import model_info
    from ctxcore.tokens.count import count_messages, count_tokens

__all__ = [
    "EXPAND_TOOL",
    "BudgetError",
    "Compaction",
    "CompactionPlan",
    "CompactionRefusedError",
    "CompactionResult",
    "CompactionState",
    "Compressed",
    "ConfigurationError",
    "Confirmation",
    "Context",
    "ContextEngine",
    "ContextError",
    "Draft",
    "EachMessage",
    "ExtractiveSummarizer",
    "Format",
    "FormatError",
    "LiteLLMGateway",
    "MessageError",
    "ModelSummarizer",
    "PartNotFoundError",
    "Policy",
    "PolicyError",
    "Reason",
    "Recommendation",
    "Rule",
    "StateError",
    "StrategyError",
    "SummarizerError",
    "TokenBudget",
    "ToolSafety",
    "Transcript",
    "UnknownWindowError",
    "Verdict",
    "Violation",
    "WorkingState",
    "WorkingStateError",
    "__version__",
    "acompact",
    "check_tool_safety",
    "compact",
    "compress",
    "count_messages",
    "count_tokens",
    "decompress",
    "fit",
    "lint",
    "load_layers",
    "load_plugins",
    "load_policy",
    "model_info",
    "open_store",
    "plan_compaction",
    "read_transcripts",
    "recommend",
    "register_format",
    "register_preset",
    "register_rule",
    "register_strategy",
]

__version__ = "0.1.0"

_HOMES = {
    "acompact": "engine.asynchronous",
    "BudgetError": "errors",
    "check_tool_safety": "compaction.advising",
    "compact": "compaction.compacting",
    "Compaction": "assembly.records",
    "CompactionPlan": "compaction.plans",
    "CompactionRefusedError": "errors",
    "CompactionResult": "compaction.compacting",
    "CompactionState": "assembly.states",
    "compress": "compression.outputs",
    "Compressed": "compression.outputs",
    "ConfigurationError": "errors",
    "Confirmation": "compaction.plans",
    "Context": "assembly.context",
    "ContextEngine": "engine.core",
    "ContextError": "errors",
    "count_messages": "tokens.count",
    "count_tokens": "tokens.count",
    "decompress": "compression.lossless",
    "Draft": "compaction.drafting",
    "EachMessage": "assembly.rules.values",
    "EXPAND_TOOL": "compression.markers",
    "ExtractiveSummarizer": "summarizers.extractive",
    "fit": "assembly.fitting",
    "Format": "formats.values",
    "FormatError": "errors",
    "lint": "assembly.legality",
    "LiteLLMGateway": "gateway.litellm_gateway",
    "load_layers": "settings.loading",
    "load_plugins": "plugins",
    "load_policy": "settings.loading",
    "MessageError": "errors",
    "model_info": "tokens.catalog",
    "ModelSummarizer": "gateway.summarizing",
    "open_store": "store.sql",
    "PartNotFoundError": "errors",
    "plan_compaction": "compaction.compacting",
    "Policy": "policy.values",
    "PolicyError": "errors",
    "read_transcripts": "formats.reading",
    "Reason": "reasons.values",
    "recommend": "compaction.advising",
    "Recommendation": "compaction.advising",
    "register_format": "formats.reading",
    "register_preset": "policy.presets",
    "register_rule": "assembly.rules.registry",
    "register_strategy": "compaction.strategies",
    "Rule": "assembly.rules.values",
    "StateError": "errors",
    "StrategyError": "errors",
    "SummarizerError": "errors",
    "TokenBudget": "budget",
    "ToolSafety": "compaction.advising",
    "Transcript": "formats.values",
    "UnknownWindowError": "errors",
    "Verdict": "assembly.verdicts",
    "Violation": "assembly.rules.values",
    "WorkingState": "assembly.records",
    "WorkingStateError": "errors",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
