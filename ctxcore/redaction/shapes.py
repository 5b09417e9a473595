"""What secrets look like: the library's patterns, and those it lacks or has too loosely."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Final, Literal, get_args

from ctxcore.errors import ContextError
from ctxcore.packages import is_installed
from ctxcore.plain import Plain
from ctxcore.reasons.problems import PackageProblem

SecretKind = Literal[
    "aws_key",
    "azure_key",
    "bearer_token",
    "bot_token",
    "github_token",
    "gitlab_token",
    "google_key",
    "jwt",
    "model_key",
    "package_token",
    "password",
    "private_key",
    "secret",
    "service_key",
    "slack_token",
    "stripe_key",
    "url_password",
]
SECRET_KINDS: Final[tuple[SecretKind, ...]] = get_args(SecretKind)
LIBRARY: Final = "detect_secrets"
INSTALL: Final = 'pip install "ctxcore-window[redact]"'
KEY_PREFIXES: Final = "sk|rk|gsk|xai|hf|pplx|nvapi|csk"
"""How keys of model providers begin, as alternatives of a pattern."""

# Module, class and kind of the library's detectors. Left out: the two for random strings and the
# one for every value with a telling name, which are wrong more often than right in conversations.
_DETECTORS: Final[tuple[tuple[str, str, SecretKind], ...]] = (
    ("artifactory", "ArtifactoryDetector", "service_key"),
    ("aws", "AWSKeyDetector", "aws_key"),
    ("basic_auth", "BasicAuthDetector", "url_password"),
    ("cloudant", "CloudantDetector", "service_key"),
    ("discord", "DiscordBotTokenDetector", "bot_token"),
    ("github_token", "GitHubTokenDetector", "github_token"),
    ("ibm_cos_hmac", "IbmCosHmacDetector", "service_key"),
    ("jwt", "JwtTokenDetector", "jwt"),
    ("mailchimp", "MailchimpDetector", "service_key"),
    ("npm", "NpmDetector", "package_token"),
    ("sendgrid", "SendGridDetector", "service_key"),
    ("slack", "SlackDetector", "slack_token"),
    ("softlayer", "SoftlayerDetector", "service_key"),
    ("square_oauth", "SquareOAuthDetector", "service_key"),
    ("stripe", "StripeDetector", "stripe_key"),
    ("twilio", "TwilioKeyDetector", "service_key"),
)
_OWN: Final[tuple[tuple[SecretKind, str], ...]] = (
    ("private_key", r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----"
     r"(?:[^\"'`]{40,20000}?-----END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----"
     r"|[A-Za-z0-9+/=\s]{40,})"),
    ("github_token", r"github_pat_[A-Za-z0-9_]{36,}"),
    ("gitlab_token", r"gl(?:pat|dt|rt|cbt)-[\w\-]{20,}"),
    ("google_key", r"AIza[0-9A-Za-z_\-]{35}|ya29\.[0-9A-Za-z_\-.]{20,}|GOCSPX-[\w\-]{28}"),
    ("package_token", r"pypi-AgE[\w\-]{50,}"),
    ("bot_token", r"\d{8,10}:AA[\w\-]{33}"),
    ("stripe_key", r"(?:[rs]k_(?:live|test)|whsec)_[0-9a-zA-Z]{24,}"),
    ("slack_token", r"xox[a-z](?:-\d+)+-[A-Za-z0-9\-]{10,}|xapp-\d-[A-Z0-9]+-\d+-[a-f0-9]{32,}"),
    ("azure_key", r"[A-Za-z0-9+/]{86}=="),
)  # fmt: skip
_MODEL_KEY: Final = re.compile(rf"(?:{KEY_PREFIXES})[-_][A-Za-z0-9_\-]{{20,}}")
_BEARER: Final = re.compile(
    r"(?i)\b(?:bearer|authorization[\"']?\s{0,3}[:=]\s{0,3}[\"']?(?:basic|token))\s+"
    r"([A-Za-z0-9._~+/\-]{16,}={0,2})"
)
_NAMED: Final = re.compile(
    r"(?i)(api[_.\-]?key|(?:auth|service|account|access|db|database|private|client|secret|master"
    r"|signing|encryption)[_\-]?key|passw(?:or)?d|passphrase|pwd|_pass\b|token|secret)"
    r"(\w{0,30})([\"'`\]]{0,2})\s{0,3}(?::=|=>|[:=])\s{0,3}([\"'`]?)"
    r"([^\s\"'`,;<>(){}\[\]\\|]{8,200})"
)
# Names of values that are no secrets although they sound so.
_HARMLESS: Final = re.compile(
    r"(?i)(?:next|page|continuation|cursor|sync|max|min|num|total|public|stop|pad|eos|bos|count"
    r"|input|output|prompt|completion|special)[\w.\-]*$|^(?:s\b|iz|_?(?:type|id|name|url|uri|path"
    r"|file|count|limit|len|endpoint|hash|arn|expir\w*|usage|ttl|class|field|policy|version)\b)"
)
_STAND_IN: Final = re.compile(
    r"(?i)example|your|placeholder|change_?me|dummy|fake|sample|redacted|xxx|\*\*\*|\.\.\."
    r"|mock|hidden|<|\$\{|\{\{|^\$|^%|^pass(?:w(?:or)?d)?[\W\d]*$|(?:^|[-_])test(?:ing)?(?:$|[-_\d])"
    r"|^(?:user|username|foo|bar|admin|root|secret|postgres)[\d!]{0,4}$|0123456|1234567890|abcdef"
)
_REFERENCE: Final = re.compile(r"[A-Za-z_]\w*(?:(?:\.|::|->)[A-Za-z_]\w*)+|[@/~.].*|\w+://.*")
_SHORT_ENTROPY, _LONG_ENTROPY = (
    2.7,
    3.2,
)  # bits a character; chosen: words and counts lie below, random values above
_LONG_CHARS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Secret(Plain):
    """A secret in a text, from `start` up to before `end`."""

    start: int
    end: int
    kind: SecretKind


class RedactionUnavailableError(ContextError):
    """The package that recognises secrets is not installed."""

    def __init__(self) -> None:
        super().__init__(PackageProblem.MISSING(package="bc-detect-secrets", command=INSTALL))


def can_redact() -> bool:
    """Whether the package that recognises secrets is installed."""
    return is_installed(LIBRARY)


def found_by_shape(text: str) -> Iterator[Secret]:
    """Every secret in a text; they may overlap.

    Raises:
        RedactionUnavailableError: the package that recognises secrets is not installed.
    """
    for kind, pattern in _patterns():
        for match in pattern.finditer(text):
            start, end = match.span(1 if pattern.groups and match[1] else 0)
            if _stands_alone(text, start, end) and _is_kind(kind, text[start:end]):
                yield Secret(start=start, end=end, kind=kind)
    yield from _named(text)


@cache
def _patterns() -> tuple[tuple[SecretKind, re.Pattern[str]], ...]:
    if not can_redact():
        raise RedactionUnavailableError
    found: list[tuple[SecretKind, re.Pattern[str]]] = [
        (kind, re.compile(pattern)) for kind, pattern in _OWN
    ]
    for module, name, kind in _DETECTORS:
        detector = getattr(import_module(f"{LIBRARY}.plugins.{module}"), name)
        found.extend((kind, _whole(kind, pattern)) for pattern in detector.denylist)
    return (*found, ("model_key", _MODEL_KEY), ("bearer_token", _BEARER))


def _whole(kind: SecretKind, pattern: re.Pattern[str]) -> re.Pattern[str]:
    """The pattern without a group around a mere prefix, which GitHub's has."""
    if kind != "github_token":
        return pattern
    return re.compile(re.sub(r"(?<!\\)\((?!\?)", "(?:", pattern.pattern), pattern.flags)


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Whether it is not a piece of a longer word, as in the base64 of an image."""
    before, after = text[start - 1 : start], text[end : end + 1]
    starts = not (before.isalnum() or before == "+") or not text[start].isalnum()
    return starts and not (after.isalnum() and text[end - 1].isalnum())


def _is_kind(kind: SecretKind, value: str) -> bool:
    match kind:
        case "private_key":
            return len(re.findall(r"[A-Za-z0-9+/]", value)) >= 90
        case "jwt":
            detector = import_module(f"{LIBRARY}.plugins.jwt").JwtTokenDetector
            return bool(detector.is_formally_valid(value))
        case "url_password":
            return len(value) >= 3 and not _STAND_IN.search(value) and not value.isdigit()
        case "model_key" | "bearer_token":
            return _is_random(value) and not _STAND_IN.search(value)
    return entropy(value) >= _SHORT_ENTROPY and not re.search(r"(?i)example|xxxx", value)


def _named(text: str) -> Iterator[Secret]:
    """Values assigned to a name like `API_KEY`, `db_password` or `token`."""
    for match in _NAMED.finditer(text):
        name, suffix, closing, quote, value = match.groups()
        before = text[max(0, match.start() - 30) : match.start()]
        if _HARMLESS.search(re.split(r"[^\w.\-]", before)[-1]) or _HARMLESS.search(suffix):
            continue
        if closing and not quote:
            continue  # of JSON and the like: numbers, and names of variables
        if text[match.end() : match.end() + 1] in ("(", "[", "{") and not quote:
            continue  # a call
        value = value if quote else value.rstrip(".:!?")
        is_password = name.lower().startswith("pass") or name.lower() in ("pwd", "_pass")
        if _is_value(value, is_password=is_password):
            kind: SecretKind = "password" if is_password else "secret"
            start = match.start(5)
            yield Secret(start=start, end=start + len(value), kind=kind)


def _is_value(value: str, *, is_password: bool) -> bool:
    if _STAND_IN.search(value) or _REFERENCE.fullmatch(value):
        return False
    if not is_password or len(value) >= _LONG_CHARS:
        return _is_random(value)
    has_letter = any(char.isalpha() for char in value)
    has_other = any(char.isdigit() for char in value)
    return len(value) >= 8 and has_letter and has_other and entropy(value) >= _SHORT_ENTROPY


def _is_random(value: str) -> bool:
    """Whether a long value has letters and digits, as evenly as random ones."""
    letters = sum(char.isalpha() for char in value)
    digits = sum(char.isdigit() for char in value)
    if len(value) < _LONG_CHARS or not letters or digits < 2 or not value.isascii():
        return False
    return entropy(value) >= _LONG_ENTROPY


def entropy(value: str) -> float:
    """Shannon's entropy of the characters, in bits a character."""
    size = len(value)
    return -sum(n / size * math.log2(n / size) for n in Counter(value).values())
