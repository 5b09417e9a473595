"""Fits and records what goes through a LiteLLM Proxy: name `ctxcore_hook` in its configuration.

`ctxcore_observer` records the same and changes nothing.
"""

from ctxcore.integrations.requirements import require

require("litellm", extra="proxy")

from ctxcore.integrations.litellm_proxy.hook import ContextHook, ctxcore_hook, ctxcore_observer

__all__ = ["ContextHook", "ctxcore_hook", "ctxcore_observer"]
