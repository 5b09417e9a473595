"""Lets people correct the rules that were found: dismiss one that is none, add one that was missed.

An edit takes back the one that said the opposite, so that at most one is in force for the same
words of a message.
"""

from __future__ import annotations

from ctxcore.engine.errors import RuleError
from ctxcore.engine.services import EngineServices
from ctxcore.facts.finding import find_rules
from ctxcore.facts.reading import statement_key
from ctxcore.facts.rule_edits import RuleEdit, RuleEditKind, lays_down
from ctxcore.messages.values import Message
from ctxcore.reasons.storage_problems import RuleProblem
from ctxcore.store.values import RuleEditInfo

MOST_CHARS = 2_000  # of a rule that is added; chosen: more than any sentence


class RuleCorrections:
    """Records what people say of the rules of sessions."""

    def __init__(self, services: EngineServices) -> None:
        self._services = services

    def add(self, session_id: str, seq: int, text: str) -> RuleEditInfo | None:
        """Records that words of message `seq` are a rule; None where they count as one now."""
        message, words = self._message(session_id, seq), " ".join(text.split())
        if len(words) > MOST_CHARS:
            raise RuleError(problem=RuleProblem.TOO_LONG(chars=len(words), most=MOST_CHARS))
        key = statement_key(words)
        if not key or words not in " ".join(message.text.split()):
            raise RuleError(problem=RuleProblem.NOT_SAID(number=seq, text=words))
        cleared = self._clear(session_id, "dismiss", seq, key)
        if cleared or lays_down(find_rules(message), key):
            return None
        return self._record(session_id, RuleEdit(kind="add", seq=seq, text=words))

    def dismiss(self, session_id: str, seq: int, text: str) -> RuleEditInfo | None:
        """Records that a rule of message `seq` is none; None where it had only been added."""
        message, key = self._message(session_id, seq), statement_key(text)
        found = [fact for fact in find_rules(message) if fact.key == key]
        cleared = self._clear(session_id, "add", seq, key)
        if not (found or cleared):
            raise RuleError(problem=RuleProblem.NO_RULE(number=seq, text=text))
        if cleared and not lays_down(found, key):
            return None
        return self._record(session_id, RuleEdit(kind="dismiss", seq=seq, text=text))

    def undo(self, session_id: str, edit_id: int) -> bool:
        """Takes an edit back; False if it was taken back before."""
        services = self._services
        return services.store.clear_rule_edit(
            session_id, edit_id, by=services.user_id, at=services.clock()
        )

    def _message(self, session_id: str, seq: int) -> Message:
        [info] = self._services.store.messages(session_id, seq, seq)
        return info.message

    def _clear(self, session_id: str, kind: RuleEditKind, seq: int, key: str) -> bool:
        """Takes back the edit of that kind for these words that holds at message `seq`."""
        found = [
            known.id
            for known in self._services.store.rule_edits(session_id)
            if known.kind == kind
            and known.edit.key == key
            and (known.seq == seq or (kind == "dismiss" and known.seq < seq))
        ]
        for edit_id in found:
            self.undo(session_id, edit_id)
        return bool(found)

    def _record(self, session_id: str, edit: RuleEdit) -> RuleEditInfo:
        services = self._services
        return services.store.add_rule_edit(
            session_id, edit, by=services.user_id, at=services.clock()
        )
