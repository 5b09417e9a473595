"""Keeps agents of LangChain within their model's window; a graph's node uses `Window` itself."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any, NotRequired, Unpack

from ctxcore.integrations.requirements import require
from ctxcore.integrations.window import STATE_KEY, Kept, Window, WindowSettings

require("langchain", extra="langchain")

from langchain.agents.middleware import AgentMiddleware, AgentState
from langchain.agents.middleware.types import (
    ExtendedModelResponse,
    ModelRequest,
    ModelResponse,
    PrivateStateAttr,
)
from langchain_core.messages import SystemMessage
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.types import Command


class ContextState(AgentState[Any]):
    """An agent's state with what compactions left behind: objects, lists, texts and numbers."""

    ctxcore: NotRequired[Annotated[dict[str, Any], PrivateStateAttr]]


class ContextMiddleware(AgentMiddleware[ContextState, Any, Any]):
    """Sends each call of an agent within the window; the agent's messages stay whole.

    The state that keeps the prefix of requests stable is part of the agent's own state, so a
    checkpointer stores it with the messages.
    """

    state_schema = ContextState

    def __init__(self, **settings: Unpack[WindowSettings]) -> None:
        """A middleware for any number of agents and conversations.

        Args:
            settings: those of `Window`; without `max_tokens` and `model` the agent's model decides.

        Raises:
            PolicyError: there is no preset of this name.
        """
        super().__init__()
        self.window = Window(**settings)

    def wrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], ModelResponse[Any]],
    ) -> ExtendedModelResponse[Any]:
        """Calls the model with messages that fit."""
        call: dict[str, Any] = self.window.safely(lambda: _call_of(request), otherwise={})
        kept = self.window.keep(*_conversation(request), **call)
        return _answered(handler(_with(request, kept)), kept)

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ExtendedModelResponse[Any]:
        """`wrap_model_call` for an event loop."""
        call: dict[str, Any] = self.window.safely(lambda: _call_of(request), otherwise={})
        kept = await self.window.akeep(*_conversation(request), **call)
        return _answered(await handler(_with(request, kept)), kept)


def _conversation(request: ModelRequest[Any]) -> tuple[list[Any], object]:
    """The messages with the system prompt in front, and the state."""
    front = [request.system_message] if request.system_message is not None else []
    return [*front, *request.messages], request.state.get(STATE_KEY)


def _call_of(request: ModelRequest[Any]) -> dict[str, Any]:
    """What is known of the call beside its messages."""
    return {
        "tools": [tool_definition(tool) for tool in request.tools],
        "model": model_name(request.model),
        "max_tokens": max_input_tokens(request.model),
    }


def _with(request: ModelRequest[Any], kept: Kept) -> ModelRequest[Any]:
    """`request` with what is sent."""
    has_system = bool(kept.messages) and isinstance(kept.messages[0], SystemMessage)
    if request.system_message is None or not has_system:
        return request.override(messages=kept.messages)
    return request.override(messages=kept.messages[1:], system_message=kept.messages[0])


def _answered(response: ModelResponse[Any], kept: Kept) -> ExtendedModelResponse[Any]:
    update = {STATE_KEY: kept.state} if kept.state is not None else {}
    return ExtendedModelResponse(response, Command(update=update))


def tool_definition(tool: Any) -> Mapping[str, object]:
    """The definition of a tool as OpenAI takes it; what a provider defines itself, as it is."""
    if isinstance(tool, dict) and "function" not in tool and "parameters" not in tool:
        return {"type": "function", "function": {"name": str(tool.get("type", "tool"))}}
    return convert_to_openai_tool(tool)


def model_name(model: Any) -> str | None:
    """The name of a chat model as litellm writes it; None where it has none."""
    params = model._get_ls_params()
    name, provider = params.get("ls_model_name"), params.get("ls_provider")
    if not isinstance(name, str):
        return None
    return f"{provider}/{name}" if isinstance(provider, str) and "/" not in name else name


def max_input_tokens(model: Any) -> int | None:
    """The window that LangChain knows for a model; None where it knows none."""
    profile: Mapping[str, object] = getattr(model, "profile", None) or {}
    tokens = profile.get("max_input_tokens")
    return tokens if isinstance(tokens, int) else None
