"""Owns making a provider's words fit to show: secrets masked, one line, short.

Masking is the last step before a text leaves the gateway; nothing is shown that skipped it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

MASK = "[hidden]"
MAX_DETAIL_CHARS = 300  # enough for a cause; providers append whole request bodies

# Key shapes by their published prefixes, then anything that is named a secret.
_SECRETS = re.compile(
    r"""
      \b(?:sk|rk|gsk|xai|hf|pplx|nvapi|csk)[-_][A-Za-z0-9*_\-]{8,}                  # most vendors
    | \bAIza[0-9A-Za-z_\-]{10,}                                                 # Google
    | \bya29\.[0-9A-Za-z_\-.]+                                                  # Google OAuth
    | \b(?:AKIA|ASIA)[0-9A-Z]{12,}                                              # AWS
    | \beyJ[\w\-]+\.[\w\-]+(?:\.[\w\-]+)?                                       # JWT
    | (?<=//)[^/\s:@]+:[^/\s@]+(?=@)                                            # user:password@host
    """,
    re.VERBOSE,
)
_NAMED = re.compile(
    r"(?i)(bearer\s+|(?:api[-_ ]?key|access[-_]token|token|secret|password|authorization)"
    r"(?:\s+provided)?[\"']?\s*[:=]\s*[\"']?(?:bearer\s+)?|[?&]key=)([^\s\"',;&})\]]{6,})"
)
_LITELLM_PREFIX = re.compile(r"^(?:litellm\.\w+:\s*|\w+(?:Error|Exception)(?::|\s+-)\s*)+")
_MESSAGE_FIELD = re.compile(r"""["']message["']\s*:\s*(["'])((?:\\.|(?!\1).)+)\1""")


def mask_secrets(text: str, known: Iterable[str] = ()) -> str:
    """`text` with everything that looks like a key, and every `known` key, replaced."""
    for secret in known:
        if secret:
            text = text.replace(secret, MASK)
    return _NAMED.sub(rf"\1{MASK}", _SECRETS.sub(MASK, text))


def to_detail(text: str, known: Iterable[str] = ()) -> str:
    """What a provider said, in one short line: the message of its JSON, without wrappers."""
    text = text.partition("Traceback (most recent call last)")[0]  # litellm appends its own
    text = _LITELLM_PREFIX.sub("", text.strip())
    if found := _MESSAGE_FIELD.search(text):
        text = found[2].replace("\\n", " ").replace('\\"', '"').replace("\\'", "'")
    line = " ".join(mask_secrets(text, known).split())
    return line if len(line) <= MAX_DETAIL_CHARS else f"{line[: MAX_DETAIL_CHARS - 1]}…"
