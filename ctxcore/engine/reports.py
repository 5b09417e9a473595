"""Reports over many sessions: savings, effects of policies, shadow mode, changes, alerts.

Users see what is theirs, operators what is of all users.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from functools import cache

from ctxcore.engine.alerts import SETTING, AlertRules
from ctxcore.engine.asynchronous import async_twin
from ctxcore.engine.errors import NotAllowedError
from ctxcore.engine.events import FAILED, PLANNED
from ctxcore.engine.hints import session_hints
from ctxcore.engine.policies import ModelCatalog, merge_layers
from ctxcore.engine.policy_effects import CallRecords, VersionEffect, effects_of
from ctxcore.engine.policy_files import PolicyDraft, draft_of, policy_text, scopes_above
from ctxcore.engine.savings import PriceOf, Saving, savings_of
from ctxcore.engine.services import EngineServices
from ctxcore.engine.shadow import SWITCH, ShadowResult, ShadowSwitch, shadow_results, switched_on
from ctxcore.formats.hints import Hint
from ctxcore.reasons.report_codes import AlertCode
from ctxcore.reasons.storage_problems import AccessCode
from ctxcore.store.values import Alert, PolicyChange, PolicyVersion, Scope

MOST_EVENTS = 5_000  # chosen: read and summed in less than a second
EVERYBODY = Scope()


class Reports:
    """The reports that one user may see.

    Methods that take a `user_id` raise `NotAllowedError` for another user's, and for those of all
    (None), unless the user is an operator.
    """

    def __init__(self, services: EngineServices) -> None:
        self._services = services

    def savings(self, user_id: str | None = None) -> list[Saving]:
        """What compactions saved by month, user and version of the policy, newest month first."""
        scope = self._of_user(user_id)
        return savings_of(self._services.store.call_tallies(scope), self._price_of())

    def effects(self, scope: Scope) -> list[VersionEffect]:
        """The figures before and under each version of a scope's policy, newest first.

        Raises:
            NotAllowedError: it is another user's, and this user is no operator.
        """
        self._services.check_scope(scope)
        store = self._services.store
        failures = store.events_of(FAILED, scope, limit=MOST_EVENTS)
        records = CallRecords(
            calls=store.call_tallies(scope),
            compactions=store.compaction_tallies(scope),
            signals=store.signal_counts(scope),
            failures=[_version(event.body.get("policy_version_id")) for _, event in failures],
        )
        changes = store.policy_changes([scope], limit=MOST_EVENTS)
        own = [change for change in changes if change.version.scope == scope]
        return effects_of(own, records, ModelCatalog.load(store))

    def shadow(self, user_id: str | None = None) -> list[ShadowResult]:
        """What policies in shadow mode would have done, for each user.

        Of very many checks the newest 5,000 count.
        """
        scope, store = self._of_user(user_id), self._services.store
        events = store.events_of(PLANNED, scope, limit=MOST_EVENTS)
        return shadow_results(events, self._price_of())

    def shadow_switches(self, user_id: str) -> list[ShadowSwitch]:
        """The changes that would have a user's policy act, the user's own scope first.

        Wider scopes follow where they set shadow mode themselves and this user may change them.

        Raises:
            NotAllowedError: it is another user's, and this user is no operator.
        """
        self._of_user(user_id)
        own = Scope(kind="user", owner=user_id)
        scopes = [own, *reversed(scopes_above(self._services, own))]
        stored = self._services.store.policies(scopes)
        switches = [
            switched_on(scope, version, is_inherited=self._is_shadow_above(scope))
            for scope, version in zip(scopes, stored, strict=True)
            if scope == own or (_sets_shadow(version) and self._may_change(scope))
        ]
        return [switch for switch in switches if switch is not None]

    def changes(
        self, *, user_id: str | None = None, by: str | None = None, limit: int = 200
    ) -> list[PolicyChange]:
        """The newest versions of policies, each beside the one before it, newest first.

        With `user_id` only those that concern this user: for all, the group, and the user alone;
        with `by` only those that this user saved.
        """
        self._of_user(user_id)
        scopes = None if user_id is None else self._scopes_of(user_id)
        return self._services.store.policy_changes(scopes, by=by, limit=limit)

    def policy_text(self, scope: Scope, *, whole: bool = False) -> str:
        """What a scope changes about the policy as YAML; `whole`: with all that it inherits.

        Raises:
            NotAllowedError: it is another user's, and this user is no operator.
        """
        return policy_text(self._services, scope, whole=whole)

    def draft(self, scope: Scope, text: str, *, name: str) -> PolicyDraft:
        """What a YAML file `name` would change in a scope; `save_policy` then saves `after`.

        Raises:
            ConfigurationError, PolicyError: the file is no policy, or a value is not allowed there;
                the error names the line and the field.
            NotAllowedError: it is another user's, and this user is no operator.
        """
        return draft_of(self._services, scope, text, name=name)

    def authors(self) -> list[str]:
        """The users who changed any policy; for operators."""
        self._services.require_operator(AccessCode.REPORTS())
        return self._services.store.policy_authors()

    def hints(self, session_id: str) -> list[Hint]:
        """What cost tokens for nothing in a session, the most first; reads all of it."""
        return session_hints(self._services, session_id)

    def alert_rules(self) -> AlertRules:
        """What operators want to be told."""
        self._services.require_operator(AccessCode.ALERTS())
        return self._services.alerts.rules()

    def save_alert_rules(self, rules: AlertRules) -> None:
        """Replaces what operators want to be told; for operators."""
        self._services.require_operator(AccessCode.ALERTS())
        store = self._services.store
        store.save_setting(SETTING, rules.to_dict())
        store.forget_spending()

    def alerts(self, *, unseen: bool = False) -> list[Alert]:
        """The newest alerts, newest first; for operators."""
        self._services.require_operator(AccessCode.ALERTS())
        services = self._services
        alerts = services.store.alerts(unseen=unseen)
        if services.user().reads_others:
            quoted = [one for one in alerts if one.reason.code == AlertCode.RULES_LOST]
            read = [(one.session_id, one.user_id) for one in quoted if one.session_id]
            services.audit.reads(read, "open")
            return alerts
        return [one if one.user_id == services.user_id else _without_texts(one) for one in alerts]

    def unseen_alerts(self) -> int:
        """The number of alerts that no operator has seen; 0 for other users."""
        is_operator = self._services.user().is_operator
        return self._services.store.count_unseen_alerts() if is_operator else 0

    def see_alerts(self, alert_ids: Collection[int]) -> int:
        """Marks alerts as seen by this operator; returns how many were not yet."""
        self._services.require_operator(AccessCode.ALERTS())
        services = self._services
        return services.store.see_alerts(alert_ids, by=services.user_id, at=services.clock())

    def _of_user(self, user_id: str | None) -> Scope:
        """The scope of a user's sessions, or of all."""
        if user_id != self._services.user_id:
            self._services.require_operator(AccessCode.REPORTS())
        return EVERYBODY if user_id is None else Scope(kind="user", owner=user_id)

    def _scopes_of(self, user_id: str) -> list[Scope]:
        group = self._services.store.user(user_id).group
        own: list[Scope] = [
            Scope(kind="user", owner=user_id),
            Scope(kind="user_model", owner=user_id),
            EVERYBODY,
        ]
        sessions = self._services.store.session_ids(user_id)
        own += [Scope(kind="session", owner=session) for session in sessions]
        return [*own, Scope(kind="group", owner=group)] if group else own

    def _is_shadow_above(self, scope: Scope) -> bool:
        """Whether what a scope inherits is in shadow mode."""
        stored = self._services.store.policies(scopes_above(self._services, scope))
        versions = [version for version in stored if version]
        return merge_layers(versions, {}, outer=self._services.layers).policy.is_shadow

    def _may_change(self, scope: Scope) -> bool:
        try:
            self._services.check_scope(scope)
        except NotAllowedError:
            return False
        return True

    def _price_of(self) -> PriceOf:
        models = ModelCatalog.load(self._services.store)
        return cache(lambda model: models.price(model, is_imported=False))

    # the same for an event loop, each verb in a thread of its own

    asavings = async_twin(savings)
    aeffects = async_twin(effects)
    ashadow = async_twin(shadow)
    ashadow_switches = async_twin(shadow_switches)
    achanges = async_twin(changes)
    apolicy_text = async_twin(policy_text)
    adraft = async_twin(draft)
    aauthors = async_twin(authors)
    ahints = async_twin(hints)
    aalert_rules = async_twin(alert_rules)
    asave_alert_rules = async_twin(save_alert_rules)
    aalerts = async_twin(alerts)
    aunseen_alerts = async_twin(unseen_alerts)
    asee_alerts = async_twin(see_alerts)


def _sets_shadow(own: PolicyVersion | None) -> bool:
    return own is not None and own.overrides.get(SWITCH) is True


def _without_texts(alert: Alert) -> Alert:
    """An alert that does not say what was said."""
    if alert.reason.code != AlertCode.RULES_LOST:
        return alert
    count = AlertCode.RULES_LOST_COUNT(count=alert.reason.facts["count"])
    return replace(alert, reason=count)


def _version(stored: object) -> int | None:
    return stored if isinstance(stored, int) else None
