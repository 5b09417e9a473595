"""The demo sessions, and what their scripted models answer.

`demo/demos.json` lists them. A new user gets them once, and again on request; the last one is in
the user's language, so that the chat page opens with it.
"""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from ctxcore.engine.core import ContextEngine
from ctxcore.errors import ContextError
from ctxcore.gateway.reader import Prepared, register_readers
from ctxcore.messages.values import text_message
from ctxcore.store.values import SessionInfo
from ctxcore.tokens.catalog import READER_WINDOWS
from dashboard.guide import Guide, offer_guide
from dashboard.texts import Language

logger = logging.getLogger(__name__)

FOLDER: Final = Path(__file__).parent / "demo"
_FOLDERS: Final = (FOLDER, Path(__file__).parent.parent / "data")
OFFERED: Final = "demo_offered"


@dataclass(frozen=True, slots=True, kw_only=True)
class Demo:
    """A demo session: its file, and the scripted model whose window it nearly fills."""

    file: str
    title: str
    language: Language
    model: str
    closing: str = ""
    """An answer to the last message of the file, where it is a question."""
    tries: tuple[str, ...] = ()
    """Questions that its model answers."""

    @property
    def path(self) -> Path:
        """Where the file is."""
        return next(path for folder in _FOLDERS if (path := folder / self.file).is_file())


@cache
def demos() -> tuple[Demo, ...]:
    """All demo sessions."""
    return tuple(
        Demo(**{**entry, "tries": tuple(entry.get("tries", ()))}) for entry in _listed("sessions")
    )


@cache
def answers() -> tuple[Prepared, ...]:
    """The answers that are written beforehand."""
    return tuple(
        Prepared(asks=tuple(one["asks"]), needs=tuple(one["needs"]), says=one["says"])
        for one in _listed("answers")
    )


def tries_of(session: SessionInfo) -> tuple[str, ...]:
    """Questions to try in a demo session; none in any other."""
    if session.model not in READER_WINDOWS:
        return ()
    return next((demo.tries for demo in demos() if demo.title == session.title), ())


def prepare_readers() -> None:
    """Lets the scripted demo models give the prepared answers."""
    register_readers(answers())


def offer_demos(engine: ContextEngine, language: Language) -> None:
    """Adds the demo sessions and opens the guide, once, for a user who never had a session."""
    key = f"{OFFERED}:{engine.user_id}"
    if engine.store.setting(key):
        return
    engine.store.save_setting(key, True)
    is_new = not engine.sessions(limit=1) and not engine.sessions(limit=1, deleted=True)
    if is_new and add_demos(engine, language):
        offer_guide(engine, Guide())


def add_demos(engine: ContextEngine, language: Language) -> list[SessionInfo]:
    """Adds all demo sessions, those in `language` last; one that fails is left out."""
    ordered = sorted(demos(), key=lambda demo: demo.language == language)
    return [session for demo in ordered for session in _add(engine, demo)]


def _add(engine: ContextEngine, demo: Demo) -> list[SessionInfo]:
    try:
        made = engine.import_(demo.path.read_text(encoding="utf-8"), name=demo.path.stem)
        for session in made:
            engine.set_model(session.id, demo.model)
            if demo.closing:
                engine.append(session.id, [text_message("assistant", demo.closing)])
    except (OSError, StopIteration, ContextError) as error:
        logger.warning("demo session left out file=%s error=%s", demo.file, error)
        return []
    return made


def _listed(name: str) -> list[dict[str, Any]]:
    """A list of `demos.json`, which is the project's own."""
    found: dict[str, list[dict[str, Any]]] = json.loads(
        (FOLDER / "demos.json").read_text(encoding="utf-8")
    )
    return found[name]
