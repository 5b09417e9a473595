"""The hook that LiteLLM Proxy calls before and after each request.

What fails here never fails a request: it is sent as it came, and the failure is logged.
"""

from __future__ import annotations

import logging
import sys
import threading
from collections import OrderedDict
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final, Generic, TypeVar

from litellm.integrations.custom_logger import CustomLogger

from ctxcore.engine.asynchronous import run_in_thread
from ctxcore.engine.core import ContextEngine
from ctxcore.engine.relaying import Relayed, RelayedRequest
from ctxcore.errors import without_message
from ctxcore.gateway.values import ModelReply
from ctxcore.integrations.litellm_proxy.answers import read_reply
from ctxcore.integrations.litellm_proxy.bodies import read_body
from ctxcore.integrations.litellm_proxy.callers import Caller, caller_of, name_of_session
from ctxcore.integrations.telemetry import instrument_if_asked
from ctxcore.policy.layers import Layer
from ctxcore.reasons.codes import CallCode
from ctxcore.reasons.values import Reason
from ctxcore.settings.loading import load_layers
from ctxcore.store.protocol import SessionStore
from ctxcore.store.sql import open_store

logger = logging.getLogger(__name__)

SESSION_HEADER: Final = "x-ctxcore-session"
"""Names the session in a request; in an answer it has the session's id."""
_MOST_OPEN: Final = 10_000  # requests whose end is awaited; chosen: more than a proxy has at once
_MOST_ENGINES: Final = 1_000  # chosen: users at one time, each with a small engine
_Value = TypeVar("_Value")


class ContextHook(CustomLogger):
    """Fits requests within their window and records them, in the store of `CTXCORE_DATABASE_URL`.

    Args:
        store: the sessions; without one, what the environment names is opened at the first request.
        observes: whether requests are only recorded and go on as they came.
    """

    def __init__(self, store: SessionStore | None = None, *, observes: bool = False) -> None:
        super().__init__()
        self._observes = observes
        self._engines = _Engines(store)
        self._open = _Recent[Relayed](_MOST_OPEN)

    async def async_pre_call_hook(
        self, user_api_key_dict: Any, cache: Any, data: dict[str, Any], call_type: str
    ) -> dict[str, Any] | None:
        """Puts the fitted messages into `data`; None leaves it as it is."""
        try:
            return await run_in_thread(lambda: self._begin(user_api_key_dict, data, call_type))
        except Exception as error:
            logger.exception(
                "a request is sent as it came: ctxcore could not read or record it",
                exc_info=without_message(error),
            )
            return None

    async def async_log_success_event(
        self, kwargs: Any, response_obj: Any, start_time: datetime, end_time: datetime
    ) -> None:
        """Records an answer."""
        relayed = self._open.pop(kwargs.get("litellm_call_id"))
        if relayed is not None:
            await self._end(relayed, read_reply(kwargs, response_obj, start_time, end_time))

    async def async_post_call_failure_hook(
        self,
        request_data: dict[str, Any],
        original_exception: Exception,
        user_api_key_dict: Any,
        traceback_str: str | None = None,
    ) -> None:
        """Records a request that failed after all retries and fallbacks."""
        relayed = self._open.pop(request_data.get("litellm_call_id"))
        if relayed is not None:
            error = CallCode.REFUSED_THERE(error=type(original_exception).__name__)
            await self._end(relayed, None, error)

    async def async_post_call_response_headers_hook(
        self,
        data: dict[str, Any],
        user_api_key_dict: Any,
        response: Any,
        request_headers: dict[str, str] | None = None,
        litellm_call_info: dict[str, Any] | None = None,
    ) -> dict[str, str] | None:
        """Tells the session that a request joined."""
        relayed = self._open.get(data.get("litellm_call_id"))
        return None if relayed is None else {SESSION_HEADER: relayed.session_id}

    def _begin(self, key: object, data: dict[str, Any], call_type: str) -> dict[str, Any] | None:
        body = read_body(call_type, data)
        if body is None:
            return None
        tools = data.get("tools")
        relayed = self._engines.of(caller_of(key)).begin_relayed(
            RelayedRequest(
                messages=body.messages,
                system=body.system,
                tools=tools if isinstance(tools, list) else (),
                model=_served_model(data.get("model")),
                session=name_of_session(data, SESSION_HEADER),
                observes=self._observes,
            )
        )
        self._open.put(data.get("litellm_call_id"), relayed)
        if relayed.context is None:
            return None
        fitted = body.fitted(relayed.context, relayed.offset)
        return None if fitted is None else {**data, body.route.messages: fitted}

    async def _end(
        self, relayed: Relayed, reply: ModelReply | None, error: Reason | None = None
    ) -> None:
        engine = self._engines.of_user(relayed.target.session.user_id)
        try:
            await engine.aend_relayed(relayed, reply, error=error)
        except Exception as failed:
            told = without_message(failed)
            logger.exception("a call is not recorded session=%s", relayed.session_id, exc_info=told)


class _Recent(Generic[_Value]):
    """The last values by key; safe to share between threads."""

    def __init__(self, most: int) -> None:
        self._values: OrderedDict[str, _Value] = OrderedDict()
        self._most = most
        self._lock = threading.Lock()

    def put(self, key: object, value: _Value) -> None:
        with self._lock:
            self._values[str(key)] = value
            if len(self._values) > self._most:
                self._values.popitem(last=False)

    def get(self, key: object) -> _Value | None:
        with self._lock:
            return self._values.get(str(key))

    def pop(self, key: object) -> _Value | None:
        with self._lock:
            return self._values.pop(str(key), None)


class _Engines:
    """One engine for each caller, over one store, which is opened at the first request."""

    def __init__(self, store: SessionStore | None) -> None:
        self._store = store
        self._layers: tuple[Layer, ...] = ()
        self._is_ready = False
        self._engines = _Recent[ContextEngine](_MOST_ENGINES)
        self._groups: dict[str, str] = {}
        self._lock = threading.Lock()

    def of(self, caller: Caller) -> ContextEngine:
        """The engine of a caller, who becomes a user of the store."""
        with self._lock:
            engine = self.of_user(caller.user)
            if self._groups.get(caller.user) != caller.group:
                user = engine.store.create_user(
                    caller.user, at=datetime.now(UTC), name=caller.name, group=caller.group
                )
                if caller.group and user.group != caller.group:
                    engine.store.update_user(caller.user, group=caller.group)
                self._groups[caller.user] = caller.group
        return engine

    def of_user(self, user_id: str) -> ContextEngine:
        """The engine of a user."""
        engine = self._engines.get(user_id)
        if engine is None:
            store = self._opened()
            engine = ContextEngine(store, user_id=user_id, layers=self._layers)
            instrument_if_asked(engine)
            self._engines.put(user_id, engine)
        return engine

    def _opened(self) -> SessionStore:
        if self._store is None or not self._is_ready:
            self._store = self._store or open_store()
            self._layers = tuple(load_layers())
            ContextEngine(self._store).user()  # the first user, an operator, is no caller's key
            self._is_ready = True
        return self._store


def _served_model(name: object) -> str | None:
    """The model behind a name of the proxy's model list, which windows and tokens are known of."""
    if not isinstance(name, str):
        return None
    router = getattr(sys.modules.get("litellm.proxy.proxy_server"), "llm_router", None)
    deployments = router.get_model_list(model_name=name) if router is not None else None
    for deployment in deployments or ():
        for part, key in (("model_info", "base_model"), ("litellm_params", "model")):
            settings = deployment.get(part)
            found = settings.get(key) if isinstance(settings, Mapping) else None
            if isinstance(found, str) and found:
                return found
    return name


ctxcore_hook = ContextHook()
ctxcore_observer = ContextHook(observes=True)
