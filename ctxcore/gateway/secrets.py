"""Finds the key for a call, and shortens providers' errors to one line without secrets.

Every text of a provider passes `to_detail` before it leaves the gateway.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from types import ModuleType

from ctxcore.gateway.errors import MissingKeyError
from ctxcore.gateway.values import ModelRequest
from ctxcore.redaction.shapes import KEY_PREFIXES

MASK = "[hidden]"
MAX_DETAIL_CHARS = 300  # chosen: enough for a cause; providers append whole request bodies

# Key shapes by their published prefixes, then anything that is named a secret.
_SECRETS = re.compile(
    rf"""
      \b(?:{KEY_PREFIXES})[-_][A-Za-z0-9*_\-]{{8,}}                                # most vendors
    | \bAIza[0-9A-Za-z_\-]{{10,}}                                               # Google
    | \bya29\.[0-9A-Za-z_\-.]+                                                  # Google OAuth
    | \b(?:AKIA|ASIA)[0-9A-Z]{{12,}}                                              # AWS
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
    """A provider's error as one short line: the message in its JSON, without wrappers."""
    text = text.partition("Traceback (most recent call last)")[0]  # litellm appends its own
    text = _LITELLM_PREFIX.sub("", text.strip())
    if found := _MESSAGE_FIELD.search(text):
        text = found[2].replace("\\n", " ").replace('\\"', '"').replace("\\'", "'")
    line = " ".join(mask_secrets(text, known).split())
    return line if len(line) <= MAX_DETAIL_CHARS else f"{line[: MAX_DETAIL_CHARS - 1]}…"


KeySource = Callable[[str], str | None]
"""Returns the key behind a variable's name, or None; `os.environ.get` by default."""

_KEY_VARIABLES: Mapping[str, str] = {  # of the providers whose one key is all that they need
    "anthropic": "ANTHROPIC_API_KEY",
    "cerebras": "CEREBRAS_API_KEY",
    "cohere": "COHERE_API_KEY",
    "dashscope": "DASHSCOPE_API_KEY",
    "deepseek": "DEEPSEEK_API_KEY",
    "fireworks_ai": "FIREWORKS_AI_API_KEY",
    "gemini": "GEMINI_API_KEY",
    "groq": "GROQ_API_KEY",
    "mistral": "MISTRAL_API_KEY",
    "moonshot": "MOONSHOT_API_KEY",
    "openai": "OPENAI_API_KEY",
    "openrouter": "OPENROUTER_API_KEY",
    "together_ai": "TOGETHERAI_API_KEY",
    "xai": "XAI_API_KEY",
}


def key_variable(model: str, provider: str | None = None) -> str | None:
    """The environment variable with the key of a public model; None if that is not known.

    Tells without litellm what the best-known providers need; `provider` is the catalogue's.
    """
    prefix = model.partition("/")[0].lower() if "/" in model else ""
    return _KEY_VARIABLES.get(prefix) or _KEY_VARIABLES.get(provider or "")


NO_KEY = "no-key-set"  # clients require some text; own servers mostly ignore it


def find_key(request: ModelRequest, source: KeySource, litellm: ModuleType) -> str | None:
    """The key to send; None lets litellm find what the provider needs beyond one key.

    Raises:
        MissingKeyError: a key is needed and its variable is not set.
    """
    connection = request.connection
    if connection is not None and connection.key_env is not None:
        key = source(connection.key_env)
        if not key:
            raise MissingKeyError(model=request.model, variables=(connection.key_env,))
        return key
    if connection is not None and connection.api_base is not None:
        return NO_KEY
    return _provider_key(request.model, source, litellm)


def _provider_key(model: str, source: KeySource, litellm: ModuleType) -> str | None:
    """The key of a provider that needs nothing else; None for clouds that need several values."""
    found: Mapping[str, object] = litellm.validate_environment(model)
    names = found.get("missing_keys")
    if not isinstance(names, list) or not names:
        return None
    variables = tuple(str(name) for name in names)
    if not all(name.endswith(("_API_KEY", "_TOKEN")) for name in variables):
        return None
    key = next(filter(None, map(source, variables)), None)
    if key is None:
        raise MissingKeyError(model=model, variables=variables)
    return key
