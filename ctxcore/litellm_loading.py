"""Imports litellm once, late, quietly and offline; an error says how to install it.

The import takes seconds and by default fetches a price list from the network, so it happens at the
first use. After it litellm and openai log only to handlers that the application adds to theirs.
"""

from __future__ import annotations

import gc
import logging
import os
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType

from ctxcore.errors import ConfigurationError
from ctxcore.packages import is_installed
from ctxcore.reasons.problems import PackageProblem

# Warnings of pydantic about litellm's own classes, on ordinary calls.
LITELLM_WARNINGS: tuple[tuple[str, type[Warning]], ...] = (
    ("Accessing the 'model_(computed_)?fields' attribute", DeprecationWarning),
    (r"Items? .* on TypedDict class .* using the `ReadOnly` qualifier", UserWarning),
)

_LOGGERS = ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy", "openai")
"""openai's too: releases before 3 log whole requests, which hold what was said."""
_INSTALL = 'pip install "ctxcore-window[gateway]"'

_lock = threading.Lock()
_litellm: ModuleType | None = None


def load_litellm() -> ModuleType:
    """litellm, imported and set up. The first call takes 2-5 s, later ones nothing.

    Raises:
        ConfigurationError: litellm is not installed.
    """
    global _litellm
    with _lock:
        if _litellm is None:
            require_litellm()
            _litellm = _import_quietly()
        return _litellm


def require_litellm() -> None:
    """Checks that litellm is there, without importing it.

    Raises:
        ConfigurationError: litellm is not installed.
    """
    if not is_installed("litellm"):
        problem = PackageProblem.MISSING(package="litellm", command=_INSTALL)
        raise ConfigurationError(problem=problem)


def _import_quietly() -> ModuleType:
    for message, category in LITELLM_WARNINGS:
        warnings.filterwarnings("ignore", message=message, category=category)
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # read while it is imported
    with _silenced():
        litellm = import_module("litellm")
    settings = {
        "disable_hf_tokenizer_download": True,  # else Llama names wait 23 s for a download
        "telemetry": False,
        "suppress_debug_info": True,  # else it prints help texts to stdout on errors
    }
    for name, value in settings.items():
        setattr(litellm, name, value)
    # The import leaves a million objects. Unfrozen, every full collection would visit all of them
    # and stop all threads for a quarter of a second.
    gc.collect()
    gc.freeze()
    return litellm


@contextmanager
def _silenced() -> Iterator[None]:
    """Their loggers are off while it is imported, and then without the handlers it added.

    Handlers of the application stay; without one nothing is logged anywhere.
    """
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    present = {handler for found in loggers for handler in found.handlers}
    for found in loggers:
        found.disabled = True
    yield
    # Where the application had imported litellm, litellm's handler was among those present.
    own = vars(import_module("litellm._logging")).get("handler")
    for found in loggers:
        for handler in list(found.handlers):
            if handler is own or handler not in present:
                found.removeHandler(handler)
        found.addHandler(logging.NullHandler())
        found.propagate = found.disabled = False
