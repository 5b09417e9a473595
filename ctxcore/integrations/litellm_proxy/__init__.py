"""Fits and records what goes through a LiteLLM Proxy: name `ctxcore_hook` in its configuration.

`ctxcore_observer` records the same and changes nothing.
"""

import sys

from ctxcore.integrations.requirements import require
from ctxcore.litellm_loading import load_litellm

require("litellm", extra="proxy")
if "litellm" not in sys.modules:  # else it is the proxy's, which logs as it is told
    load_litellm()

from ctxcore.integrations.litellm_proxy.hook import ContextHook, ctxcore_hook, ctxcore_observer

__all__ = ["ContextHook", "ctxcore_hook", "ctxcore_observer"]
