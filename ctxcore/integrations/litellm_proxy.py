"""Keeps every request of a LiteLLM Proxy within its window, and stores it as a session.

In the proxy's configuration: `callbacks: ctxcore.integrations.litellm_proxy.hook`.
"""

from __future__ import annotations

import logging
import os
import threading
from collections import OrderedDict
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from ctxcore.engine.asynchronous import run_in_thread
from ctxcore.integrations.proxied import (
    Caller,
    ProxiedCall,
    ProxiedSessions,
    as_dict,
    provider_failure,
    read_reply,
    read_request,
    write_request,
)
from ctxcore.integrations.requirements import require
from ctxcore.messages.shapes.values import ProviderShape
from ctxcore.settings.loading import load_layers
from ctxcore.store.sql import open_store

require("litellm", extra="proxy")

from litellm.integrations.custom_logger import CustomLogger

SESSION_HEADER: Final = "x-ctxcore-session"
SESSION_KEY: Final = "ctxcore_session"
OBSERVE_VARIABLE: Final = "CTXCORE_PROXY_OBSERVE"

_SHAPES: Final[Mapping[str, ProviderShape]] = {
    "completion": "openai",
    "acompletion": "openai",
    "anthropic_messages": "anthropic",
    "responses": "responses",
    "aresponses": "responses",
}
_MOST_OPEN: Final = 10_000  # chosen: requests whose clients hung up are let go at some point

logger = logging.getLogger("ctxcore.integrations")


class ContextHook(CustomLogger):
    """Called by the proxy before each request and after each answer.

    A fault of ours lets a request through as it is, and is logged.
    """

    def __init__(self, sessions: ProxiedSessions | None = None, *, observes: bool | None = None):
        """A hook on `sessions`; without them on the store of the environment.

        Args:
            sessions: where requests are stored; opened at the first request by default.
            observes: whether requests are stored and sent as they are; the variable
                `CTXCORE_PROXY_OBSERVE` by default.
        """
        super().__init__()
        self._sessions = sessions
        self._observes = bool(os.environ.get(OBSERVE_VARIABLE)) if observes is None else observes
        self._open: OrderedDict[str, tuple[ProxiedCall, datetime]] = OrderedDict()
        self._lock = threading.Lock()

    async def async_pre_call_hook(
        self, user_api_key_dict: Any, cache: Any, data: dict[str, Any], call_type: Any
    ) -> dict[str, Any]:
        """Replaces the messages of a request by those that fit."""
        shape = _SHAPES.get(str(getattr(call_type, "value", call_type)))
        if shape is not None:
            try:
                await run_in_thread(lambda: self._begin(user_api_key_dict, data, shape))
            except Exception:
                logger.exception("A request is sent as it is: keeping it in the window failed")
        return data

    async def async_log_success_event(
        self, kwargs: dict[str, Any], response_obj: Any, start_time: Any, end_time: Any
    ) -> None:
        """Stores the answer with its usage."""
        found = self._taken(kwargs.get("litellm_call_id"))
        if found is None:
            return
        proxied, began_at = found
        cost, seconds = kwargs.get("response_cost"), (_now() - began_at).total_seconds()
        try:
            reply = read_reply(
                as_dict(response_obj),
                seconds=seconds,
                cost=cost if isinstance(cost, float) else None,
            )
            await run_in_thread(lambda: self._stored().end(proxied, reply))
        except Exception:
            logger.exception("An answer is not stored")

    async def async_post_call_failure_hook(
        self,
        request_data: dict[str, Any],
        original_exception: Exception,
        user_api_key_dict: Any,
        traceback_str: str | None = None,
    ) -> None:
        """Stores that the provider refused a request."""
        found = self._taken(request_data.get("litellm_call_id"))
        if found is None:
            return
        error = provider_failure(original_exception)
        try:
            await run_in_thread(lambda: self._stored().fail(found[0], error))
        except Exception:
            logger.exception("A failed request is not stored")

    def _begin(self, key: Any, data: dict[str, Any], shape: ProviderShape) -> None:
        request = read_request(data, shape)
        if request is None:
            return
        caller, sessions = _caller(key, data), self._stored()
        sessions.add_user(caller, at=_now())
        proxied = sessions.begin(request, caller, model=_model_behind(data.get("model")))
        if not self._observes:
            write_request(data, proxied)
        if call_id := data.get("litellm_call_id"):
            with self._lock:
                self._open[str(call_id)] = (proxied, _now())
                while len(self._open) > _MOST_OPEN:
                    self._open.popitem(last=False)

    def _taken(self, call_id: object) -> tuple[ProxiedCall, datetime] | None:
        with self._lock:
            return self._open.pop(str(call_id), None)

    def _stored(self) -> ProxiedSessions:
        with self._lock:
            if self._sessions is None:
                self._sessions = ProxiedSessions(open_store(), layers=load_layers())
            return self._sessions


def _caller(key: Any, data: Mapping[str, Any]) -> Caller:
    """Who makes a request: the user of a key, else the key's name; the group is its team."""
    names = (getattr(key, name, None) for name in ("user_id", "key_alias", "key_name"))
    teams = (getattr(key, name, None) for name in ("team_alias", "team_id"))
    return Caller(
        user_id=next((str(name) for name in names if name), "proxy"),
        group=next((str(team) for team in teams if team), ""),
        session=_named_session(data),
    )


def _named_session(data: Mapping[str, Any]) -> str:
    """The session that a header or the metadata of a request names."""
    headers = (data.get("proxy_server_request") or {}).get("headers") or {}
    for name, value in headers.items():
        if str(name).lower() == SESSION_HEADER and value:
            return str(value)
    held = (data.get("metadata"), data.get("litellm_metadata"))
    found = (one.get(SESSION_KEY) for one in held if isinstance(one, dict))
    return next((str(name) for name in found if name), "")


def _model_behind(name: Any) -> str | None:
    """The model that a name of the proxy's configuration stands for, as litellm writes it."""
    try:
        from litellm.proxy.proxy_server import llm_router
    except ImportError:
        llm_router = None
    listed = llm_router.get_model_list(model_name=name) if llm_router and name else None
    models = [(one.get("litellm_params") or {}).get("model") for one in listed or ()]
    return next((str(model) for model in models if model), str(name) if name else None)


def _now() -> datetime:
    return datetime.now(UTC)


hook = ContextHook()
