"""The library's promise: its public names, and how little importing it costs."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

import ctxcore
from tests.processes import printed_by

PUBLIC_NAMES = [
    "AlertRules",
    "BudgetError",
    "Compaction",
    "CompactionPlan",
    "CompactionRefusedError",
    "CompactionResult",
    "CompactionState",
    "Compressed",
    "ConfigurationError",
    "Confirmation",
    "Connection",
    "Context",
    "ContextEngine",
    "ContextError",
    "Draft",
    "EXPAND_TOOL",
    "EachExchange",
    "EachMessage",
    "ExtractiveSummarizer",
    "Format",
    "FormatError",
    "LiteLLMGateway",
    "Message",
    "MessageError",
    "ModelCatalog",
    "ModelSummarizer",
    "PartNotFoundError",
    "Policy",
    "PolicyError",
    "RECALL_TOOL",
    "Reason",
    "RebuiltRequest",
    "Recommendation",
    "Recording",
    "Replaying",
    "Rule",
    "ScriptedModel",
    "ScriptedReply",
    "StateError",
    "StrategyError",
    "SummarizerError",
    "SummarizerTypeError",
    "SummaryRequest",
    "Text",
    "TokenBudget",
    "ToolCall",
    "ToolSafety",
    "ToolTokens",
    "Transcript",
    "UnknownWindowError",
    "Verdict",
    "Violation",
    "WholeRequest",
    "WorkingState",
    "WorkingStateError",
    "__version__",
    "acompact",
    "afit",
    "aopen_store",
    "aread_transcripts",
    "check_tool_safety",
    "compact",
    "compress",
    "count_messages",
    "count_tokens",
    "decompress",
    "elided_text",
    "extract",
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
    "reply_of",
    "save_connections",
    "save_figures",
    "text_message",
    "tool_tokens",
]

HEAVY = ("alembic", "litellm", "pandas", "pydantic", "sqlmodel", "streamlit", "tiktoken", "typer")


def _run(code: str) -> str:
    """What a fresh interpreter prints for `code`."""
    return printed_by(code)


def test_the_public_names_are_these() -> None:
    assert ctxcore.__all__ == PUBLIC_NAMES


def test_type_checkers_see_each_name_where_it_is_loaded_from() -> None:
    source = ast.parse(Path(str(ctxcore.__file__)).read_text(encoding="utf-8"))
    block = next(node for node in source.body if isinstance(node, ast.If))
    imports = [node for node in block.body if isinstance(node, ast.ImportFrom)]
    seen = {alias.asname: node.module for node in imports for alias in node.names}

    assert seen == {name: f"ctxcore.{module}" for name, module in ctxcore._HOMES.items()}


@pytest.mark.slow
def test_a_name_of_every_module_can_be_imported_alone() -> None:
    of_modules = {module: name for name, module in ctxcore._HOMES.items()}
    names = [*of_modules.values()]
    code = (
        "import importlib, json, sys\n"
        f"names = {names!r}\n"
        "for name in names:\n"
        "    for loaded in [m for m in sys.modules if m.split('.')[0] == 'ctxcore']:\n"
        "        if loaded != 'ctxcore.tables':\n"  # a table is defined once in a process
        "            del sys.modules[loaded]\n"
        "    getattr(importlib.import_module('ctxcore'), name)\n"
        "print(json.dumps(names))"
    )

    assert json.loads(_run(code)) == names


def test_importing_the_library_loads_nothing_heavy() -> None:
    loaded = _run("import ctxcore, sys; print(' '.join(sys.modules))").split()

    assert not [name for name in loaded if name.split(".")[0] in HEAVY]


def test_fitting_loads_neither_litellm_nor_a_database() -> None:
    code = (
        "import sys; from ctxcore import compact\n"
        "compact([{'role': 'user', 'content': 'hi'}], max_tokens=100)\n"
        "print(' '.join(sys.modules))"
    )
    loaded = _run(code).split()

    assert "regex" in loaded
    assert not {"tiktoken", "litellm", "sqlmodel", "sqlalchemy", "streamlit", "pandas"} & set(
        loaded
    )


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        ctxcore.nothing  # noqa: B018
