"""Secrets are found and replaced, and nothing else is; what was JSON stays JSON."""

from __future__ import annotations

import base64
import json
import random
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcore.messages.values import Message, Text, ToolCall
from ctxcore.redaction.redacting import find_secrets, redact, redaction_of
from ctxcore.redaction.shapes import RedactionUnavailableError, found_by_shape


def made_up(chars: str, count: int, seed: int = 7) -> str:
    """Random characters that are the same in every run; nobody's secret."""
    return "".join(random.Random(seed).choices(chars, k=count))


ALNUM = string.ascii_letters + string.digits
UPPER = string.ascii_uppercase + string.digits
PART = base64.urlsafe_b64encode(b'{"alg":"HS256","sub":"1"}').decode().rstrip("=")
LINES = "\n".join(made_up(ALNUM, 64, seed) for seed in range(4))

# Kind, the text around it, the secret.
SECRETS: dict[str, tuple[str, str, str]] = {
    "aws": ("aws_key", "key {} here", "AKIA" + made_up(UPPER, 16)),
    "github": ("github_token", "token {}", "ghp_" + made_up(ALNUM, 36)),
    "github new": ("github_token", "use {}", "github_pat_" + made_up(ALNUM, 60)),
    "gitlab": ("gitlab_token", "{}", "glpat-" + made_up(ALNUM, 20)),
    "slack": ("slack_token", "{}", "xoxb-" + "123456789012-" + made_up(ALNUM, 24)),
    "stripe": ("stripe_key", "{}", "sk_live_" + made_up(ALNUM, 24)),
    "google": ("google_key", "?key={}", "AIza" + made_up(ALNUM, 35)),
    "openai": ("model_key", "{}", "sk-proj-" + made_up(ALNUM, 48)),
    "anthropic": ("model_key", "{}", "sk-ant-api03-" + made_up(ALNUM, 60)),
    "sendgrid": (
        "service_key",
        "{}",
        "SG." + made_up(ALNUM, 22) + "." + made_up(ALNUM, 43),
    ),
    "pypi": ("package_token", "{}", "pypi-AgE" + made_up(ALNUM, 60)),
    "telegram": ("bot_token", "{}", "1234567890:AA" + made_up(ALNUM, 33)),
    "azure": ("azure_key", "AccountKey={};", made_up(ALNUM, 86) + "=="),
    "jwt": ("jwt", "{}", f"{PART}.{PART}.{made_up(ALNUM, 43)}"),
    "bearer": ("bearer_token", "Authorization: Bearer {}", made_up(ALNUM, 40)),
    "url": ("url_password", "postgres://ann:{}@db.internal:5432/shop", "Tr4vel-B00ks"),
    "env": ("secret", "SERVICE_API_KEY={}", made_up(ALNUM, 32)),
    "password": ("password", 'DB_PASSWORD: "{}"', "k9#Tulip-Mornings4"),
    "key": (
        "private_key",
        "{}",
        f"-----BEGIN RSA PRIVATE KEY-----\n{LINES}\n-----END RSA PRIVATE KEY-----",
    ),
}
WORDS = [
    "commit 3f786850e387550fdab836ed7e6dc881de23001b",
    "id 123e4567-e89b-12d3-a456-426614174000",
    "data:image/png;base64," + made_up(ALNUM + "+/", 4_000),
    "/home/ann/projects/shop-2024/tokenizer/password_reset.py",
    "max_tokens: 4096, next_page_token: CAUQAA1234567890abcdXYZ",
    'password = os.environ["DB_PASSWORD"]',
    "api_key=YOUR_API_KEY_1234567890",
    "API_KEY=${SERVICE_API_KEY_2024}",
    'password: "password123"',
    "https://user:password@host/path",
    "token: user.session.token2",
    "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
]


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_is_replaced_and_the_words_around_it_stay(name: str) -> None:
    kind, around, secret = SECRETS[name]

    text, counts = redact(around.format(secret))

    assert counts == {kind: 1}
    assert secret not in text
    before, _, after = around.partition("{}")
    assert text.startswith(f"{before}[redacted: ")
    assert text.endswith(f" 1]{after}")


@pytest.mark.parametrize("name", SECRETS)
def test_secrets_are_found_in_json_and_between_escaped_line_ends(name: str) -> None:
    _, around, secret = SECRETS[name]
    text = json.dumps({"content": f"a\n{around.format(secret)}\nb"})

    cleaned, counts = redact(text)

    assert sum(counts.values()) == 1
    assert secret not in json.loads(cleaned)["content"]
    assert json.loads(cleaned)["content"].endswith("\nb")


@pytest.mark.parametrize("words", WORDS)
def test_what_only_looks_like_a_secret_stays(words: str) -> None:
    assert find_secrets(words) == []


def test_one_secret_has_one_mark_wherever_it_is_said() -> None:
    password, key = SECRETS["password"][2], SECRETS["aws"][2]
    call = ToolCall(id="c1", name="login", arguments=json.dumps({"with": password}))
    messages = [
        Message(role="user", content=(Text(text=f'DB_PASSWORD="{password}" and {key}'),)),
        Message(role="assistant", calls=(call,)),
        Message(role="tool", answers="c1", content=(Text(text="ok"),)),
    ]

    cleaned, counts = redact(messages)

    assert cleaned[0].text == 'DB_PASSWORD="[redacted: password 1]" and [redacted: AWS key 1]'
    assert json.loads(cleaned[1].calls[0].arguments) == {"with": "[redacted: password 1]"}
    assert cleaned[1].calls[0].id == cleaned[2].answers == "c1"
    assert cleaned[2] is messages[2]
    assert counts == {"password": 1, "aws_key": 1}


def test_a_key_is_one_key_whether_its_lines_are_escaped_or_not() -> None:
    key = SECRETS["key"][2]

    redaction = redaction_of([key, json.dumps({"pem": key})])

    assert redaction.counts == {"private_key": 1}
    assert redaction.text(json.dumps({"pem": key})) == '{"pem": "[redacted: private key 1]"}'


def test_numbers_of_marks_that_stand_there_are_not_used_again() -> None:
    text, _ = redact(f"[redacted: AWS key 1] {SECRETS['aws'][2]}")

    assert text == "[redacted: AWS key 1] [redacted: AWS key 2]"


PIECES = st.sampled_from(
    [around.format(secret) for _, around, secret in SECRETS.values()]
    + [*WORDS, "\\", '"', "\u00e9", "\n", "\\u0041", "word"]
)
SPACED = st.lists(PIECES, max_size=5).map(" ".join)
GLUED = st.lists(PIECES, max_size=3).map("".join)


@given(
    st.recursive(
        SPACED | GLUED | st.integers() | st.none(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(GLUED, inner, max_size=3),
        max_leaves=6,
    ),
    st.booleans(),
)
def test_json_stays_json(value: object, is_ascii: bool) -> None:
    cleaned, _ = redact(json.dumps([value], ensure_ascii=is_ascii))

    assert isinstance(json.loads(cleaned), list)


@given(SPACED)
def test_redacting_again_changes_nothing(text: str) -> None:
    once, _ = redact(text)

    again, counts = redact(once)
    assert (again, dict(counts)) == (once, {})


def test_a_missing_package_is_named_with_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    from ctxcore.redaction import shapes

    shapes._patterns.cache_clear()
    monkeypatch.setattr(shapes, "can_redact", lambda: False)

    with pytest.raises(RedactionUnavailableError, match=r"ctxcore-window\[redact\]"):
        list(found_by_shape("text"))
