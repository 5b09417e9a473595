"""Loads the built-in model once per process, at first use, and runs one generation at a time.

Two generations at once share one cache and evict each other (measured: a prompt of 6,000 tokens
took 220 s instead of 45), so they take turns; a cancelled one leaves the queue at once.
"""

from __future__ import annotations

import http.client
import importlib
import json
import logging
import secrets
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, cast

from ctxcore.gateway.local.status import LOCAL_WINDOW_TOKENS, require_local_model

logger = logging.getLogger(__name__)

PROMPT_BATCH_TOKENS = 128  # a prompt can be cancelled between batches: 0.4 s; no slower than 2048
_QUEUE_CHECK_SECONDS = 0.1  # chosen: how late a queued generation notices that it is cancelled

OnChunk = Callable[[Mapping[str, object]], bool]
"""Called with each chunk of llama.cpp; returns True to stop the generation."""


class _Server(Protocol):
    """The part of `xllamacpp.Server` that is used."""

    listening_address: str

    def handle_chat_completions(self, body: Mapping[str, object], callback: OnChunk) -> object: ...


class LocalModel:
    """The model in memory; safe to share between threads."""

    def __init__(self, server: _Server, key: str) -> None:
        self._server = server
        self._key = key
        self._turn = threading.Lock()

    def generate(
        self, body: Mapping[str, object], on_chunk: OnChunk, stop: threading.Event
    ) -> None:
        """Runs one chat completion; returns when it has ended or `stop` is set."""
        while not self._turn.acquire(timeout=_QUEUE_CHECK_SECONDS):
            if stop.is_set():
                return
        try:
            if not stop.is_set():
                self._server.handle_chat_completions(body, on_chunk)
        finally:
            self._turn.release()

    def count(self, text: str) -> int:
        """The exact tokens of `text` in the model's own vocabulary."""
        address = self._server.listening_address.removeprefix("http://")
        connection = http.client.HTTPConnection(address, timeout=10)
        try:
            headers = {"Authorization": f"Bearer {self._key}", "Content-Type": "application/json"}
            connection.request("POST", "/tokenize", json.dumps({"content": text}), headers)
            tokens: Sequence[int] = json.loads(connection.getresponse().read())["tokens"]
        finally:
            connection.close()
        return len(tokens)


_lock = threading.Lock()
_model: LocalModel | None = None


def load_local_model() -> LocalModel:
    """The model, loaded at the first call (0.5 s, 450 MB).

    Raises:
        LocalModelUnavailable: it cannot run here.
    """
    global _model
    with _lock:
        if _model is None:
            _model = _load()
        return _model


def count_local_tokens(text: str) -> int:
    """The exact tokens of `text` for the built-in model, which is loaded if needed.

    Raises:
        LocalModelUnavailable: it cannot run here.
    """
    return load_local_model().count(text)


def _load() -> LocalModel:
    path = require_local_model()
    xllamacpp = importlib.import_module("xllamacpp")
    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.n_ctx = LOCAL_WINDOW_TOKENS
    params.n_parallel = 1
    params.n_batch = params.n_ubatch = PROMPT_BATCH_TOKENS
    params.cpuparams.n_threads = 1  # two threads that spin on busy cores collapse: 32 -> 1.2 tok/s
    params.cpuparams_batch.n_threads = 1
    off = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
    params.flash_attn_type = off  # on, this model decodes three times slower
    key = secrets.token_urlsafe(32)  # the library always opens a loopback port
    params.api_keys = [key]
    params.ui = False
    params.verbosity = -1
    server = cast("_Server", xllamacpp.Server(params))
    logger.info("local model loaded window_tokens=%d", LOCAL_WINDOW_TOKENS)
    return LocalModel(server, key)
