"""Keeps agents of Pydantic AI within their model's window."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any

from ctxcore.integrations.requirements import require
from ctxcore.integrations.window import STATE_KEY, Window, function_definition
from ctxcore.policy.values import Policy
from ctxcore.summarizers.calling import SummarizerLike

require("pydantic_ai", extra="pydantic-ai")

from pydantic_ai.capabilities import AbstractCapability, WrapModelRequestHandler
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import ModelRequestContext
from pydantic_ai.tools import RunContext


@dataclass
class KeepContext(AbstractCapability[Any]):
    """Sends each request of an agent within the window; the history of the run stays whole.

    What keeps the prefix of requests stable is in the metadata of the latest response, so it goes
    wherever the history goes, as JSON too.
    """

    _: KW_ONLY
    policy: Policy | str = "default"
    """Thresholds, or the name of a preset."""
    max_tokens: int | None = None
    """The input budget; without it the window of the model decides."""
    model_name: str | None = None
    """Whose tokens count, as litellm names it; without it the agent's model."""
    summarizer: SummarizerLike | None = None
    """Writes summaries; without one they quote."""
    strict: bool = False
    """Whether a fault is raised instead of logged."""
    window: Window = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.window = Window(
            policy=self.policy,
            max_tokens=self.max_tokens,
            model=self.model_name,
            summarizer=self.summarizer,
            strict=self.strict,
        )

    async def wrap_model_request(
        self,
        ctx: RunContext[Any],
        *,
        request_context: ModelRequestContext,
        handler: WrapModelRequestHandler,
    ) -> ModelResponse:
        """Calls the model with messages that fit."""
        messages = request_context.messages
        call: dict[str, Any] = self.window.safely(lambda: _call_of(request_context), otherwise={})
        kept = await self.window.akeep(messages, _state_in(messages), **call)
        response = await handler(replace(request_context, messages=kept.messages))
        return replace(response, metadata={**(response.metadata or {}), STATE_KEY: kept.state})


def _call_of(request: ModelRequestContext) -> dict[str, Any]:
    """What is known of the call beside its messages."""
    tools = request.model_request_parameters.function_tools
    return {
        "tools": [
            function_definition(tool.name, tool.description, tool.parameters_json_schema)
            for tool in tools
        ],
        "model": f"{request.model.system}/{request.model.model_name}",
    }


def _state_in(messages: list[ModelMessage]) -> object:
    """The state that the latest response carries."""
    answers = (one for one in reversed(messages) if isinstance(one, ModelResponse))
    found = ((one.metadata or {}).get(STATE_KEY) for one in answers)
    return next((state for state in found if state), None)
