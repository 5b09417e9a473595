"""The codes of what can be wrong with plug-ins."""

from __future__ import annotations

from ctxcore.reasons.values import Code


class PluginProblem(Code):
    """Why a plug-in is not there, or what of it fails as it is used."""

    FAILED = "plugin.failed", "the plug-in {name!r} ({where}) failed: {kind}: {problem}"
    STRATEGY = "plugin.strategy", "the strategy {name!r} failed: {kind}: {problem}"
