"""The option `--scope` of commands about stored policies, and the names of scopes in tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ctxcore.engine.core import ContextEngine
    from ctxcore.store.values import Scope

ScopeName = Annotated[
    str,
    typer.Option(
        "--scope",
        metavar="SCOPE",
        help="me, everybody, group:NAME, user:ID, model:NAME (me with that model) or session:ID.",
    ),
]
_FORMS = "me, everybody, group:NAME, user:ID, model:NAME or session:ID"


def scope_named(name: str, engine: ContextEngine) -> Scope:
    """The scope that `--scope` names; a session may be named by the beginning of its id."""
    from ctxcore.cli.sessions import find_session
    from ctxcore.store.values import Scope

    kind, _, owner = name.partition(":")
    if name == "everybody":
        return Scope()
    if name == "me":
        return Scope(kind="user", owner=engine.user_id)
    if kind in ("group", "user") and owner:
        return Scope(kind="group" if kind == "group" else "user", owner=owner)
    if kind == "model" and owner:
        return Scope(kind="user_model", owner=engine.user_id, model=owner)
    if kind == "session" and owner:
        return Scope(kind="session", owner=find_session(engine, owner).id)
    raise typer.BadParameter(f"{name!r} is not one of {_FORMS}", param_hint="--scope")


def scope_text(scope: Scope) -> str:
    """A scope as `--scope` takes it."""
    if scope.kind == "default":
        return "everybody"
    if scope.kind == "user_model":
        return f"user:{scope.owner} with {scope.model}"
    return f"{scope.kind}:{scope.owner}"
