"""Reason codes of the dashboard: program errors, inputs of forms, given texts, undo, logins."""

from __future__ import annotations

from ctxcore.errors import ContextError
from ctxcore.reasons.values import Code


class BrokeOff(Code):
    """What a program error ended; the log has the details."""

    TURN = (
        "dashboard.turn_broke_off",
        "the turn broke off because of a program error; see the server's log",
    )


class TypedCode(Code):
    """Allowed values as a form input takes them, where files use another notation."""

    BESIDE = (
        "typed.beside",
        "at most {high}, since summary and recent messages are shares of one budget",
    )
    FALLING = (
        "typed.falling",
        "whole numbers, each smaller than the one before, such as “3, 2, 1”",
    )
    TURNS_BY_MESSAGES = (
        "typed.turns_by_messages",
        "messages and turns, the messages falling, such as “50: 4, 30: 6”",
    )
    TOOL_LIMITS = (
        "typed.tool_limits",
        "tools with their tokens, each at least {low} and no tool twice, such as "
        "“bash: 400, read: 800”",
    )
    TOOL_NAMES = "typed.tool_names", "names of tools, such as “plan, read”"


class GivenProblem(Code):
    """What is wrong with a text or file that a person gives beside a conversation."""

    NOT_JSON = "given.not_json", "line {line}, column {column}: this is not JSON"
    DEEP = "given.deep", "this JSON is nested too deep"
    NO_NAME = "given.no_name", "tool definition {number} has no name"
    NO_TEXT = "given.no_text", "the file {name} is not text in UTF-8"
    NO_QUESTION = "given.no_question", "no user message precedes message {number}"
    IS_RUNNING = "given.is_running", "a turn is running; nothing was changed"


class GivenError(ContextError):
    """A text or file that a person gave cannot be used."""


class UndoProblem(Code):
    """Why something saved is not taken back."""

    SAVED_SINCE = (
        "undo.saved_since",
        "not undone: these settings were changed again since; Settings lists their versions",
    )


class UndoError(ContextError):
    """Something saved cannot be taken back."""


class LoginProblem(Code):
    """Why nobody can log in, or why there must be a login."""

    UNREADABLE = "login.unreadable", "the secrets file {file} cannot be read as TOML"
    LACKS = "login.lacks", "[{section}] lacks {names}"
    CALLBACK = "login.callback", "redirect_uri must end with {path}: {given!r} does not"
    SHORT_SECRET = (
        "login.short_secret",
        "cookie_secret has {chars} characters; it takes {least} random ones at least",
    )
    UNDERSCORE = "login.underscore", "the provider {name!r} may have no underscore in its name"
    NEEDED = "login.needed", "log in first"
    NO_SUBJECT = "login.no_subject", "the login names nobody: its token has no sub"
    OPEN = (
        "login.open",
        "not started: at {address} others could read everything, since no login is configured; "
        "configure one (docs/login.md), listen on 127.0.0.1, or set {variable}={value} where "
        "something else keeps others out",
    )
    OPEN_BROKEN = (
        "login.open_broken",
        "not started: at {address} others could reach it, and the login is incomplete: {problem}",
    )


class LoginError(ContextError):
    """Nobody is logged in, where somebody must be."""
