"""Loads plug-ins: packages that register strategies, formats and rules by an entry point.

The command line and the dashboard load them as they start; importing the library loads none.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from threading import Lock

from ctxcore.reasons.foreign import reason_of
from ctxcore.reasons.problems import PluginProblem
from ctxcore.reasons.values import Reason

GROUP = "ctxcore.plugins"
"""The group of entry points; each names a function without arguments that registers things."""

logger = logging.getLogger(__name__)

_loading = Lock()
_loaded: dict[tuple[str, str], Plugin] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugin:
    """An installed plug-in, with the reason if it could not be loaded."""

    name: str
    problem: Reason | None = None


def load_plugins() -> list[Plugin]:
    """Loads every installed plug-in once per process; one that fails stops no other.

    What a failing plug-in registered before it failed stays registered.
    """
    with _loading:
        found = sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value))
        for point in found:
            key = (point.name, point.value)
            if key not in _loaded:
                _loaded[key] = _load(point)
        return [_loaded[point.name, point.value] for point in found]


def _load(point: EntryPoint) -> Plugin:
    try:
        point.load()()
    except (Exception, SystemExit) as error:  # noqa: BLE001  # a plug-in is other people's code
        logger.warning("plug-in failed name=%s error=%s", point.name, type(error).__name__)
        problem = PluginProblem.FAILED(
            name=point.name, where=point.value, kind=type(error).__name__, problem=reason_of(error)
        )
        return Plugin(name=point.name, problem=problem)
    logger.info("plug-in loaded name=%s", point.name)
    return Plugin(name=point.name)
