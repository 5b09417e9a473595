"""A server on this machine that speaks the APIs of OpenAI and Anthropic, and keeps what it got."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Body = dict[str, Any]
Say = Callable[[Body], str]


def _numbered(body: Body) -> str:
    """An answer that says how many messages it got."""
    return f"answer to {len(body.get('messages') or body.get('input') or ())} messages"


@dataclass
class Upstream:
    """What was received, in order, and what is answered."""

    url: str = ""
    requests: list[Body] = field(default_factory=list)
    say: Say = _numbered
    status: int = 200
    """Of the next answers; others than 200 answer an error."""
    cached_tokens: Callable[[Body], int] = field(default=lambda body: 7)
    """What is said to have come from the cache, of 100 tokens of input."""


@contextmanager
def scripted_upstream() -> Iterator[Upstream]:
    """Serves while the block runs."""
    upstream = Upstream()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            upstream.requests.append(body)
            if upstream.status != 200:
                self._send(upstream.status, {"error": {"message": "no", "type": "server_error"}})
                return
            answers = {
                "/chat/completions": _chat,
                "/messages": _anthropic,
                "/responses": _responses,
            }
            path = self.path.partition("?")[0]
            answer = next(make for end, make in answers.items() if path.endswith(end))
            whole, events = answer(body, upstream.say(body), upstream.cached_tokens(body))
            if body.get("stream"):
                self._stream(events, ends=path.endswith("/completions"))
            else:
                self._send(200, whole)

        def _send(self, status: int, body: Body) -> None:
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def _stream(self, events: list[Body], *, ends: bool) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            for event in events:
                name = f"event: {event['type']}\n" if "type" in event else ""
                self.wfile.write(f"{name}data: {json.dumps(event)}\n\n".encode())
            if ends:
                self.wfile.write(b"data: [DONE]\n\n")

        def log_message(self, format: str, *args: object) -> None:
            """Nothing is printed."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    upstream.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield upstream
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _chat(body: Body, text: str, cached: int) -> tuple[Body, list[Body]]:
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": 5,
        "total_tokens": 105,
        "prompt_tokens_details": {"cached_tokens": cached},
    }
    head = {"id": "c1", "created": 1, "model": body["model"]}
    message = {"role": "assistant", "content": text}
    whole = {
        **head,
        "object": "chat.completion",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": usage,
    }
    chunk = {**head, "object": "chat.completion.chunk"}
    events = [
        {**chunk, "choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]},
        *(
            {**chunk, "choices": [{"index": 0, "delta": {"content": part}}]}
            for part in _parts(text)
        ),
        {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
        {**chunk, "choices": [], "usage": usage},
    ]
    return whole, events


def _anthropic(body: Body, text: str, cached: int) -> tuple[Body, list[Body]]:
    usage: Mapping[str, int] = {
        "input_tokens": 100 - cached,
        "cache_read_input_tokens": cached,
        "cache_creation_input_tokens": 0,
        "output_tokens": 5,
    }
    head = {"id": "m1", "type": "message", "role": "assistant", "model": body["model"]}
    end = {"stop_reason": "end_turn", "stop_sequence": None}
    whole = {**head, **end, "content": [{"type": "text", "text": text}], "usage": usage}
    begun = {**head, "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
    events: list[Body] = [
        {"type": "message_start", "message": begun},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        *(
            {
                "type": "content_block_delta",
                "index": 0,
                "delta": {"type": "text_delta", "text": part},
            }
            for part in _parts(text)
        ),
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": end, "usage": {"output_tokens": 5}},
        {"type": "message_stop"},
    ]
    return whole, events


def _responses(body: Body, text: str, cached: int) -> tuple[Body, list[Body]]:
    part = {"type": "output_text", "text": text, "annotations": []}
    item = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [part],
    }
    whole: Body = {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "status": "completed",
        "model": body["model"],
        "output": [item],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": 100,
            "input_tokens_details": {"cached_tokens": cached},
            "output_tokens": 5,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 105,
        },
    }
    place = {"item_id": "msg_1", "output_index": 0}
    begun = {**whole, "status": "in_progress", "output": [], "usage": None}
    events: list[Body] = [
        {"type": "response.created", "response": begun},
        {
            "type": "response.output_item.added",
            "output_index": 0,
            "item": {**item, "content": [], "status": "in_progress"},
        },
        *(
            {"type": "response.output_text.delta", **place, "content_index": 0, "delta": piece}
            for piece in _parts(text)
        ),
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": whole},
    ]
    for number, event in enumerate(events):
        event["sequence_number"] = number
    return whole, events


def _parts(text: str) -> list[str]:
    return [text[: len(text) // 2], text[len(text) // 2 :]]
