"""Owns stopping a provider's stream for good, from whichever thread.

Dropping litellm's stream, or a plain `break`, leaves the provider generating (measured: the
built-in model and a llama.cpp server both went on). What stops it is closing what lies under it.
"""

from __future__ import annotations

import contextlib
import logging
import socket
from collections.abc import Iterator

logger = logging.getLogger(__name__)

# Where litellm and its clients keep the thing that reads: iterator, response, network stream.
_INNER = ("completion_stream", "streaming_response", "response_iterator", "http_response")
_INNER_CLIENT = ("response", "_response", "_iterator", "_stream")
MAX_DEPTH = 6


def close_stream(stream: object) -> None:
    """Cancel what feeds `stream`; never raises, does nothing the second time."""
    for part in _layers(stream):
        _shut_socket(part)
    for part in reversed(list(_layers(stream))):
        close = getattr(part, "close", None)
        if callable(close):
            # A generator that is running in another thread refuses; its socket is shut already.
            with contextlib.suppress(Exception):
                close()


def _layers(stream: object, depth: int = 0) -> Iterator[object]:
    """`stream` and what it reads from, outermost first."""
    yield stream
    if depth < MAX_DEPTH:
        for name in (*_INNER, *_INNER_CLIENT):
            inner = getattr(stream, name, None)
            if inner is not None and inner is not stream:
                yield from _layers(inner, depth + 1)


def _shut_socket(part: object) -> None:
    """Wake a thread that waits on the connection: closing alone leaves it waiting."""
    extensions = getattr(part, "extensions", None)
    network = extensions.get("network_stream") if isinstance(extensions, dict) else None
    if network is None or getattr(part, "is_closed", True):
        return
    found = network.get_extra_info("socket")
    if isinstance(found, socket.socket):
        with contextlib.suppress(OSError):
            # The plain socket's own method, under TLS too: its session is not ours to touch
            # while another thread reads.
            socket.socket.shutdown(found, socket.SHUT_RDWR)
