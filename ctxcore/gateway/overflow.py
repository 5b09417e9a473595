"""Owns recognising that a provider refused a context as too long, from its words alone.

Every wording is one that a provider, a server or a proxy is known to send. A wording about speed
("tokens per minute") is an overflow only if the one request is larger than the whole allowance.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_N = r"(\d[\d,_]*)"

# (wording, which group is the limit, which is what the request needed; 0 = not named).
# The first that matches wins, so wordings that name numbers come first.
_WORDINGS: tuple[tuple[str, int, int], ...] = (
    # OpenAI, DeepSeek, OpenRouter, vLLM
    (
        rf"maximum context length (?:is|of) {_N} tokens?.{{0,80}}?(?:requested|resulted in) "
        rf"(?:about )?(?:a total of )?{_N} tokens",
        1,
        2,
    ),
    (
        rf"maximum context length is {_N} tokens?.{{0,120}}?(?:at least|contains|has) {_N} input",
        1,
        2,
    ),
    (rf"passed {_N} input tokens.{{0,80}}?context length is only {_N}", 2, 1),
    (rf"configured limit of {_N} tokens.{{0,60}}?resulted in {_N}", 1, 2),
    (rf"maximum context length (?:is|of) {_N}", 1, 0),
    # Anthropic
    (rf"prompt is too long: {_N} tokens? > {_N}", 2, 1),
    (rf"exceed context limit: {_N} \+ {_N} > {_N}", 3, 1),
    # Fireworks
    (rf"prompt is too long: {_N}.{{0,40}}?maximum context length: {_N}", 2, 1),
    # Gemini, Vertex
    (rf"input token count \(?{_N}\)? exceeds the maximum number of tokens allowed \(?{_N}", 2, 1),
    (rf"input token count is {_N} but model only supports up to {_N}", 2, 1),
    # Bedrock
    (rf"max input tokens: {_N}, request input token count: {_N}", 1, 2),
    (r"input is too long for requested model", 0, 0),
    # DashScope (Qwen)
    (rf"range of input length should be \[\d+,\s*{_N}\]", 1, 0),
    # xAI
    (rf"maximum prompt length is {_N} but the request contains {_N}", 1, 2),
    # Mistral
    (rf"prompt contains {_N} tokens.{{0,60}}?too large for model with {_N}", 2, 1),
    # Moonshot (Kimi)
    (rf"exceeded model token limit: {_N} \(requested: {_N}\)", 1, 2),
    (rf"exceeded model token limit:? {_N}", 1, 0),
    # llama.cpp, LM Studio, Ollama
    (rf"request \({_N} tokens\) exceeds the available context size \({_N}", 2, 1),
    (r"exceeds the available context size|context size has been exceeded", 0, 0),
    (rf"keep the first {_N} tokens.{{0,80}}?context length of only {_N}", 2, 1),
    (r"tokens to keep from the initial prompt is greater than the context length", 0, 0),
    (r"input length exceeds the (?:model's )?(?:maximum )?context length", 0, 0),
    (r"exceeded max context length by", 0, 0),
    # SGLang, TGI, vLLM's engine
    (rf"input \({_N} tokens\) is longer than the model's context length \({_N}", 2, 1),
    (rf"must be <= {_N}\. given: {_N} `?inputs", 1, 2),
    (rf"`?inputs`? must have less than {_N} tokens\. given: {_N}", 1, 2),
    (rf"prompt \((?:total )?length {_N}\).{{0,80}}?(?:length of|context length) {_N}", 2, 1),
    (rf"prompt too long: {_N} tokens exceeds \w+ {_N}", 2, 1),
    # Cerebras, Groq
    (rf"current length is {_N} while limit is {_N}", 2, 1),
    (r"please reduce the length of the (?:messages|prompt)", 0, 0),
    # Cohere
    (rf"prompt cannot exceed {_N} - received {_N}", 1, 2),
    (rf"too many tokens: .{{0,120}}?limit (?:for this model is|of) {_N}", 1, 0),
    # Copilot, GitHub Models
    (rf"prompt token count of {_N} exceeds the limit of {_N}", 2, 1),
    (rf"request body too large for .{{0,60}}?max size: {_N} tokens", 1, 0),
    # Volcengine, Poolside
    (rf"input length {_N} exceeds the maximum (?:allowed input )?length (?:of )?{_N}", 2, 1),
    (r"exceed(?:s)? max message tokens", 0, 0),
    # MiniMax, Zhipu, Perplexity
    (r"context window exceeds limit|prompt exceeds max length", 0, 0),
    (r"length of all messages is too long", 0, 0),
    # Codes and common words, last
    (
        r"exceeds? (?:(?:the|this) )?(?:model's )?(?:maximum )?context (?:window|length|limit)",
        0,
        0,
    ),
    (r"context_length_exceeded|exceed_context_size|model_context_window_exceeded", 0, 0),
    (r"contextwindowexceedederror", 0, 0),
    (r"\bprompt (?:is )?too long\b|\bprompt tokens too long\b", 0, 0),
    (r"\brequest_too_large\b", 0, 0),
)
_PATTERNS = tuple(
    (re.compile(wording, re.IGNORECASE | re.DOTALL), limit, needed)
    for wording, limit, needed in _WORDINGS
)
_PER_MINUTE = re.compile(r"tokens per (?:minute|day)|\btp[md]\b|throttl|too many requests", re.I)
_ALLOWANCE = re.compile(rf"limit:? {_N}.{{0,60}}?requested:? {_N}", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Overflow:
    """The numbers a refusal named; None for what it left out."""

    limit_tokens: int | None = None
    needed_tokens: int | None = None


def parse_overflow(text: str) -> Overflow | None:
    """What `text` says about a context that is too long; None if it says something else."""
    if _PER_MINUTE.search(text):
        return _parse_allowance(text)
    for pattern, limit, needed in _PATTERNS:
        if found := pattern.search(text):
            return Overflow(limit_tokens=_group(found, limit), needed_tokens=_group(found, needed))
    return None


def _parse_allowance(text: str) -> Overflow | None:
    """One request above the whole allowance per minute: waiting does not help, shortening does."""
    found = _ALLOWANCE.search(text)
    if found is None:
        return None
    limit, needed = _group(found, 1), _group(found, 2)
    if limit is None or needed is None or needed <= limit:
        return None
    return Overflow(limit_tokens=limit, needed_tokens=needed)


def _group(found: re.Match[str], group: int) -> int | None:
    return int(found[group].replace(",", "").replace("_", "")) if group else None
