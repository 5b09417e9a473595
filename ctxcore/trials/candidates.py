"""What is tried: presets, edited policies, no compaction, and what simple programs do.

All of them are policies, so that each can be edited by field and applied. Under `none` nothing is
ever left out: a call whose input does not fit is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, cast, get_args

from ctxcore.errors import TrialError
from ctxcore.json_types import JsonObject, JsonValue
from ctxcore.plain import Plain
from ctxcore.policy.layers import PRESET_FIELD, to_policy
from ctxcore.policy.values import Policy
from ctxcore.reasons.problems import TrialProblem

CandidateKind: TypeAlias = Literal["none", "baseline", "preset", "today", "edited"]

NONE: Final = "none"
TODAY: Final = "today"
DEFAULT_BASELINE: Final = "last-messages=20"
MOST_CANDIDATES: Final = 40  # chosen: more rows than anybody reads


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate(Plain):
    """A policy to try, with the name it has in results."""

    name: str
    kind: CandidateKind
    overrides: JsonObject
    """Its fields, on the preset that it names."""
    extends_today: bool = False
    """Whether they change the policy that a session has today."""

    @property
    def is_refusing(self) -> bool:
        """Whether a call that does not fit is refused instead of cut."""
        return self.kind == "none"

    def overrides_for(self, today: JsonObject) -> JsonObject:
        """Its fields in a session whose policy is `today`."""
        if not self.extends_today:
            return self.overrides
        if self.overrides.get(PRESET_FIELD, today.get(PRESET_FIELD)) != today.get(PRESET_FIELD):
            return self.overrides
        return {**today, **self.overrides}

    def policy_for(self, today: JsonObject) -> Policy:
        """Its policy in a session whose policy is `today`.

        Raises:
            PolicyError: a field is unknown or a value is outside its range.
        """
        return to_policy(self.overrides_for(today))

    @classmethod
    def from_dict(cls, plain: JsonObject) -> Candidate:
        """What `to_dict` gave."""
        kind, overrides = plain["kind"], plain["overrides"]
        assert kind in get_args(CandidateKind)
        assert isinstance(overrides, dict)
        return cls(
            name=str(plain["name"]),
            kind=cast("CandidateKind", kind),
            overrides=overrides,
            extends_today=bool(plain.get("extends_today")),
        )


_SIMPLE: Final[JsonObject] = {
    "offers_expand": False,
    "offers_recall": False,
    "shorten_arguments_over_tokens": None,
    "oversize_ratio": None,
    "facts_ratio": None,
    "recall_ratio": None,
    "rebuild_after": None,
    "goal_max_tokens": 0,
    "recent_ratio": 0.0,
    "min_gain_ratio": 0.0,
    "check_at": "before_send",
    "trigger_on": "history",
    "trigger_ratio": None,
}
"""Nothing of what this library does beside leaving messages out or summarizing them."""

_TRUNCATING: Final[JsonObject] = {**_SIMPLE, "fold_as": "truncation"}


def no_compaction() -> Candidate:
    """Everything is sent as it is, until a call does not fit any more."""
    overrides: JsonObject = {**_SIMPLE, "trigger_on": "input", "trigger_ratio": 1.0}
    return Candidate(name=NONE, kind="none", overrides=overrides)


def today() -> Candidate:
    """The policy that each session has."""
    return Candidate(name=TODAY, kind="today", overrides={}, extends_today=True)


def of_preset(name: str) -> Candidate:
    """A preset as it is."""
    return Candidate(name=name, kind="preset", overrides={PRESET_FIELD: name})


def edited(changes: JsonObject, *, preset: str | None = None) -> Candidate:
    """A preset, or what each session has today, with some fields changed."""
    changed = " ".join(f"{name}={_shown(value)}" for name, value in changes.items())
    if preset is None:
        return Candidate(name=changed, kind="edited", overrides=changes, extends_today=True)
    overrides: JsonObject = {PRESET_FIELD: preset, **changes}
    return Candidate(name=f"{preset} {changed}", kind="edited", overrides=overrides)


def _shown(value: JsonValue) -> str:
    if isinstance(value, list):
        return ",".join(map(_shown, value))
    return "none" if value is None else str(value)


def last_messages(count: int) -> Candidate:
    """The system prompt and the last `count` messages; results stay with their calls."""
    overrides: JsonObject = {
        **_TRUNCATING,
        "strategies": ["sliding_window"],
        "keep_messages": count,
        "upper_tokens": 1,
        "lower_tokens": 1,
    }
    return Candidate(name=f"last-messages={count}", kind="baseline", overrides=overrides)


def last_tokens(tokens: int) -> Candidate:
    """The system prompt and as many of the last messages as `tokens` hold."""
    overrides: JsonObject = {
        **_TRUNCATING,
        "strategies": ["fold_to_tail"],
        "upper_tokens": tokens,
        "lower_tokens": tokens,
    }
    return Candidate(name=f"last-tokens={tokens}", kind="baseline", overrides=overrides)


def summarize_at(tokens: int, keep: int) -> Candidate:
    """Once messages take `tokens`, all but the last `keep` tokens become a summary."""
    overrides: JsonObject = {
        **_SIMPLE,
        "strategies": ["fold_to_tail"],
        "upper_tokens": tokens,
        "lower_tokens": keep,
        "summary_usable_ratio": None,
    }
    return Candidate(name=f"summarize={tokens}/{keep}", kind="baseline", overrides=overrides)


_BASELINE = re.compile(r"(last-messages|last-tokens|summarize)=([\d_]+)(?:/([\d_]+))?")


def parse_baseline(text: str) -> Candidate:
    """What a simple program does: `last-messages=20`, `last-tokens=8000`, `summarize=20000/4000`.

    Raises:
        TrialError: it is none of these, or a number is 0 or not smaller than the other.
    """
    found = _BASELINE.fullmatch(text.strip())
    kind, first, second = found.groups() if found else ("", "0", None)
    size, keep = _whole(first), _whole(second)
    if kind == "summarize" and 0 < keep < size:
        return summarize_at(size, keep)
    if second is None and size > 0 and kind in ("last-messages", "last-tokens"):
        return last_messages(size) if kind == "last-messages" else last_tokens(size)
    raise TrialError(TrialProblem.BASELINE(text=text))


def _whole(digits: str | None) -> int:
    return int((digits or "").replace("_", "") or 0)


def distinct(candidates: Iterable[Candidate]) -> list[Candidate]:
    """`candidates` without repeated names.

    Raises:
        TrialError: there are more than `MOST_CANDIDATES`.
    """
    found = list({candidate.name: candidate for candidate in candidates}.values())
    if len(found) > MOST_CANDIDATES:
        raise TrialError(TrialProblem.MANY(count=len(found), most=MOST_CANDIDATES))
    return found


def find_candidate(candidates: Sequence[Candidate], name: str) -> Candidate:
    """The candidate of this name.

    Raises:
        TrialError: there is none.
    """
    for candidate in candidates:
        if candidate.name == name:
            return candidate
    raise TrialError(TrialProblem.NO_CANDIDATE(name=name))
