"""Owns importing litellm: once, late, quiet and offline.

The import takes seconds and, unasked, fetches a price list from the network, so nothing here runs
before the first call or `preload()`.
"""

from __future__ import annotations

import gc
import importlib
import os
import threading
import warnings
from types import ModuleType

# What pydantic says about litellm's own classes, on ordinary calls; nobody here can act on it.
NOISE: tuple[tuple[str, type[Warning]], ...] = (
    ("Accessing the 'model_(computed_)?fields' attribute", DeprecationWarning),
    (r"Items? .* on TypedDict class .* using the `ReadOnly` qualifier", UserWarning),
)

_lock = threading.Lock()
_litellm: ModuleType | None = None


def load_litellm() -> ModuleType:
    """litellm, imported and set up. The first call takes 2-5 s, later ones nothing."""
    global _litellm
    with _lock:
        if _litellm is None:
            _litellm = _import_quietly()
        return _litellm


def preload() -> threading.Thread:
    """Import litellm in the background, so that the first call does not wait for it."""
    thread = threading.Thread(target=load_litellm, name="ctxcore-litellm", daemon=True)
    thread.start()
    return thread


def register_provider(prefix: str, handler: object) -> None:
    """Let litellm answer models named `prefix/…` through `handler.streaming(…)`."""
    litellm = load_litellm()
    with _lock:
        known: list[dict[str, object]] = litellm.__dict__["custom_provider_map"]
        known[:] = [item for item in known if item["provider"] != prefix]
        known.append({"provider": prefix, "custom_handler": handler})
        importlib.import_module("litellm.utils").custom_llm_setup()


def _import_quietly() -> ModuleType:
    for message, category in NOISE:
        warnings.filterwarnings("ignore", message=message, category=category)
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # read while it is imported
    litellm = importlib.import_module("litellm")
    settings = {
        "disable_hf_tokenizer_download": True,  # else Llama names wait 23 s for a download
        "telemetry": False,
        "suppress_debug_info": True,  # else it prints help texts to stdout on errors
    }
    for name, value in settings.items():
        setattr(litellm, name, value)
    # A million objects that stay for good: every full collection would look at all of them and
    # stop every thread, an event loop's among them, for a quarter of a second.
    gc.collect()
    gc.freeze()
    return litellm
