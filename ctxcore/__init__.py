"""Token-budgeted context windows for LLM conversations: nothing lost, everything explained.

Importing the package loads none of its modules: each public name is loaded when it is first used.
A public name is declared twice, under `TYPE_CHECKING` for type checkers and in `_PUBLIC_NAMES`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ctxcore.assembly.context import Context as Context
    from ctxcore.assembly.fitting import fit as fit
    from ctxcore.assembly.legality import lint as lint
    from ctxcore.assembly.records import Compaction as Compaction
    from ctxcore.assembly.records import WorkingState as WorkingState
    from ctxcore.assembly.rules.registry import register_rule as register_rule
    from ctxcore.assembly.rules.values import EachExchange as EachExchange
    from ctxcore.assembly.rules.values import EachMessage as EachMessage
    from ctxcore.assembly.rules.values import Rule as Rule
    from ctxcore.assembly.rules.values import Violation as Violation
    from ctxcore.assembly.rules.values import WholeRequest as WholeRequest
    from ctxcore.assembly.states import CompactionState as CompactionState
    from ctxcore.assembly.verdicts import Verdict as Verdict
    from ctxcore.budget import TokenBudget as TokenBudget
    from ctxcore.compaction.advising import Recommendation as Recommendation
    from ctxcore.compaction.advising import ToolSafety as ToolSafety
    from ctxcore.compaction.advising import check_tool_safety as check_tool_safety
    from ctxcore.compaction.advising import recommend as recommend
    from ctxcore.compaction.compacting import CompactionResult as CompactionResult
    from ctxcore.compaction.compacting import compact as compact
    from ctxcore.compaction.compacting import plan_compaction as plan_compaction
    from ctxcore.compaction.drafting import Draft as Draft
    from ctxcore.compaction.plans import CompactionPlan as CompactionPlan
    from ctxcore.compaction.plans import Confirmation as Confirmation
    from ctxcore.compaction.simulation import Recording as Recording
    from ctxcore.compaction.strategies import register_strategy as register_strategy
    from ctxcore.compression.extracting import elided_text as elided_text
    from ctxcore.compression.extracting import extract as extract
    from ctxcore.compression.lossless import decompress as decompress
    from ctxcore.compression.outputs import Compressed as Compressed
    from ctxcore.compression.outputs import compress as compress
    from ctxcore.compression.own_tools import EXPAND_TOOL as EXPAND_TOOL
    from ctxcore.compression.own_tools import RECALL_TOOL as RECALL_TOOL
    from ctxcore.engine.alerts import AlertRules as AlertRules
    from ctxcore.engine.async_files import aopen_store as aopen_store
    from ctxcore.engine.async_files import aread_transcripts as aread_transcripts
    from ctxcore.engine.asynchronous import acompact as acompact
    from ctxcore.engine.asynchronous import afit as afit
    from ctxcore.engine.core import ContextEngine as ContextEngine
    from ctxcore.engine.policies import ModelCatalog as ModelCatalog
    from ctxcore.engine.policies import save_connections as save_connections
    from ctxcore.engine.policies import save_figures as save_figures
    from ctxcore.engine.requests import RebuiltRequest as RebuiltRequest
    from ctxcore.errors import BudgetError as BudgetError
    from ctxcore.errors import CompactionRefusedError as CompactionRefusedError
    from ctxcore.errors import ConfigurationError as ConfigurationError
    from ctxcore.errors import ContextError as ContextError
    from ctxcore.errors import FormatError as FormatError
    from ctxcore.errors import MessageError as MessageError
    from ctxcore.errors import PartNotFoundError as PartNotFoundError
    from ctxcore.errors import PolicyError as PolicyError
    from ctxcore.errors import StateError as StateError
    from ctxcore.errors import StrategyError as StrategyError
    from ctxcore.errors import SummarizerError as SummarizerError
    from ctxcore.errors import SummarizerTypeError as SummarizerTypeError
    from ctxcore.errors import UnknownWindowError as UnknownWindowError
    from ctxcore.errors import WorkingStateError as WorkingStateError
    from ctxcore.formats.reading import read_transcripts as read_transcripts
    from ctxcore.formats.reading import register_format as register_format
    from ctxcore.formats.values import Format as Format
    from ctxcore.formats.values import Transcript as Transcript
    from ctxcore.gateway.litellm_gateway import LiteLLMGateway as LiteLLMGateway
    from ctxcore.gateway.scripted import ScriptedModel as ScriptedModel
    from ctxcore.gateway.scripted import ScriptedReply as ScriptedReply
    from ctxcore.gateway.summarizing import ModelSummarizer as ModelSummarizer
    from ctxcore.gateway.values import Connection as Connection
    from ctxcore.gateway.whole_replies import reply_of as reply_of
    from ctxcore.messages.values import Message as Message
    from ctxcore.messages.values import Text as Text
    from ctxcore.messages.values import ToolCall as ToolCall
    from ctxcore.messages.values import text_message as text_message
    from ctxcore.plugins import load_plugins as load_plugins
    from ctxcore.policy.presets import register_preset as register_preset
    from ctxcore.policy.values import Policy as Policy
    from ctxcore.reasons.values import Reason as Reason
    from ctxcore.replay.replaying import Replaying as Replaying
    from ctxcore.settings.loading import load_layers as load_layers
    from ctxcore.settings.loading import load_policy as load_policy
    from ctxcore.store.sql import open_store as open_store
    from ctxcore.summarizers.extractive import ExtractiveSummarizer as ExtractiveSummarizer
    from ctxcore.summarizers.protocol import SummaryRequest as SummaryRequest
    from ctxcore.tokens.catalog import model_info as model_info
    from ctxcore.tokens.count import ToolTokens as ToolTokens
    from ctxcore.tokens.count import count_messages as count_messages
    from ctxcore.tokens.count import count_tokens as count_tokens
    from ctxcore.tokens.count import tool_tokens as tool_tokens

__version__ = "0.1.0"

_PUBLIC_NAMES = {
    "assembly.context": ("Context",),
    "assembly.fitting": ("fit",),
    "assembly.legality": ("lint",),
    "assembly.records": ("Compaction", "WorkingState"),
    "assembly.rules.registry": ("register_rule",),
    "assembly.rules.values": ("EachExchange", "EachMessage", "Rule", "Violation", "WholeRequest"),
    "assembly.states": ("CompactionState",),
    "assembly.verdicts": ("Verdict",),
    "budget": ("TokenBudget",),
    "compaction.advising": ("Recommendation", "ToolSafety", "check_tool_safety", "recommend"),
    "compaction.compacting": ("CompactionResult", "compact", "plan_compaction"),
    "compaction.drafting": ("Draft",),
    "compaction.plans": ("CompactionPlan", "Confirmation"),
    "compaction.simulation": ("Recording",),
    "compaction.strategies": ("register_strategy",),
    "compression.extracting": ("elided_text", "extract"),
    "compression.lossless": ("decompress",),
    "compression.outputs": ("Compressed", "compress"),
    "compression.own_tools": ("EXPAND_TOOL", "RECALL_TOOL"),
    "engine.alerts": ("AlertRules",),
    "engine.async_files": ("aopen_store", "aread_transcripts"),
    "engine.asynchronous": ("acompact", "afit"),
    "engine.core": ("ContextEngine",),
    "engine.policies": ("ModelCatalog", "save_connections", "save_figures"),
    "engine.requests": ("RebuiltRequest",),
    "errors": (
        "BudgetError",
        "CompactionRefusedError",
        "ConfigurationError",
        "ContextError",
        "FormatError",
        "MessageError",
        "PartNotFoundError",
        "PolicyError",
        "StateError",
        "StrategyError",
        "SummarizerError",
        "SummarizerTypeError",
        "UnknownWindowError",
        "WorkingStateError",
    ),
    "formats.reading": ("read_transcripts", "register_format"),
    "formats.values": ("Format", "Transcript"),
    "gateway.litellm_gateway": ("LiteLLMGateway",),
    "gateway.scripted": ("ScriptedModel", "ScriptedReply"),
    "gateway.summarizing": ("ModelSummarizer",),
    "gateway.values": ("Connection",),
    "gateway.whole_replies": ("reply_of",),
    "messages.values": ("Message", "Text", "ToolCall", "text_message"),
    "plugins": ("load_plugins",),
    "policy.presets": ("register_preset",),
    "policy.values": ("Policy",),
    "reasons.values": ("Reason",),
    "replay.replaying": ("Replaying",),
    "settings.loading": ("load_layers", "load_policy"),
    "store.sql": ("open_store",),
    "summarizers.extractive": ("ExtractiveSummarizer",),
    "summarizers.protocol": ("SummaryRequest",),
    "tokens.catalog": ("model_info",),
    "tokens.count": ("ToolTokens", "count_messages", "count_tokens", "tool_tokens"),
}
"""The public names of each module, which is named relative to this package."""

_HOMES = {name: module for module, names in _PUBLIC_NAMES.items() for name in names}

__all__ = sorted([*_HOMES, "__version__"])


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
