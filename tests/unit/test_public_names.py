"""The library's promise: its public names, and how little importing it costs."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import ctxcore

PUBLIC_NAMES = [
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

HEAVY = ("alembic", "litellm", "pandas", "pydantic", "sqlmodel", "streamlit", "tiktoken", "typer")


def _run(code: str) -> str:
    """What a fresh interpreter prints for `code`."""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout


def test_the_public_names_are_these() -> None:
    assert ctxcore.__all__ == PUBLIC_NAMES


def test_every_public_name_can_be_imported_alone() -> None:
    code = (
        "import importlib, json, sys\n"
        f"names = {PUBLIC_NAMES!r}\n"
        "for name in names:\n"
        "    for loaded in [m for m in sys.modules if m.split('.')[0] == 'ctxcore']:\n"
        "        if loaded != 'ctxcore.tables':\n"  # a table is defined once in a process
        "            del sys.modules[loaded]\n"
        "    getattr(importlib.import_module('ctxcore'), name)\n"
        "print(json.dumps(names))"
    )

    assert json.loads(_run(code)) == PUBLIC_NAMES


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

    assert "tiktoken" in loaded
    assert not {"litellm", "sqlmodel", "sqlalchemy", "streamlit", "pandas"} & set(loaded)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        ctxcore.nothing  # noqa: B018
