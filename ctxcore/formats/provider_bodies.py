"""The formats of providers' APIs; a log may hold bodies of several, and each is read as its own."""

from __future__ import annotations

from collections.abc import Callable

from ctxcore.formats.anthropic_api import ANTHROPIC_API
from ctxcore.formats.exchanges import Api, api_of, reader
from ctxcore.formats.gemini_api import GEMINI_API
from ctxcore.formats.openai_api import OPENAI_API
from ctxcore.formats.preferences import preferred
from ctxcore.formats.records import Records
from ctxcore.formats.responses_api import RESPONSES_API
from ctxcore.formats.values import Format
from ctxcore.reasons.storage_problems import FormatCode

_APIS = (ANTHROPIC_API, RESPONSES_API, GEMINI_API, OPENAI_API)  # OpenAI's messages ask for least
_SUFFIXES = (".json", ".jsonl", ".ndjson")
_read = reader(_APIS, preferred)


def _is_of(api: Api) -> Callable[[Records], bool]:
    return lambda records: api_of(records, _APIS, preferred) is api


ANTHROPIC = Format(
    name=ANTHROPIC_API.name,
    label=FormatCode.ANTHROPIC(),
    matches=_is_of(ANTHROPIC_API),
    read=_read,
    suffixes=_SUFFIXES,
)
OPENAI_RESPONSES = Format(
    name=RESPONSES_API.name,
    label=FormatCode.OPENAI_RESPONSES(),
    matches=_is_of(RESPONSES_API),
    read=_read,
    suffixes=_SUFFIXES,
)
GEMINI = Format(
    name=GEMINI_API.name,
    label=FormatCode.GEMINI(),
    matches=_is_of(GEMINI_API),
    read=_read,
    suffixes=_SUFFIXES,
)
OPENAI_CHAT = Format(
    name=OPENAI_API.name,
    label=FormatCode.OPENAI(),
    matches=_is_of(OPENAI_API),
    read=_read,
    suffixes=(*_SUFFIXES, ".traj"),  # SWE-agent names its JSON files so
)
