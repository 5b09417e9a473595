"""Opens what the pages work with: one store and one gateway per process, one engine per user.

Nothing is opened at import; the first page opens it. litellm is imported in the background after
the first page has been drawn, because its import takes seconds.
"""

from __future__ import annotations

import logging
import os
import threading
from pathlib import Path

import streamlit as st

from ctxcore.engine.core import ContextEngine
from ctxcore.engine.jobs import JobRunner
from ctxcore.errors import ConfigurationError
from ctxcore.gateway.litellm_gateway import LiteLLMGateway
from ctxcore.gateway.local.status import LOCAL_MODEL
from ctxcore.integrations.telemetry import instrument_if_asked
from ctxcore.litellm_loading import load_litellm
from ctxcore.plugins import Plugin, load_plugins
from ctxcore.policy.layers import Layer
from ctxcore.settings.loading import load_layers
from ctxcore.store import sql
from ctxcore.store.protocol import SessionStore
from ctxcore.store.sql import DATABASE_VARIABLE, open_store
from dashboard import demos
from dashboard.housekeeping import Housekeeping
from dashboard.login import login_roles, user_id, user_name
from dashboard.texts import language_of

logger = logging.getLogger(__name__)

PROJECT = Path(__file__).resolve().parent.parent
MODEL_VARIABLE = "CTXCORE_MODEL"
WARM_UP_VARIABLE = "CTXCORE_WARM_UP"
WARM_UP_SECONDS = (
    2.0  # chosen: later than the first page's own requests, which the import would slow
)

_ROLES = "services_roles"
_seeding = threading.Lock()


def database_url() -> str:
    """The address of the database: the environment's, else `data/` in a checkout.

    Installed from a wheel, the default is the user's data folder.
    """
    if not os.environ.get(DATABASE_VARIABLE) and (PROJECT / "pyproject.toml").is_file():
        return f"sqlite:///{PROJECT / 'data' / 'ctxcore.db'}"
    return sql.database_url(None)


def default_model() -> str:
    """The model of sessions that name none."""
    return os.environ.get(MODEL_VARIABLE) or LOCAL_MODEL


def engine() -> ContextEngine:
    """The engine of the current user.

    Raises:
        LoginError: people log in here, and nobody is logged in.
        StoreError: the database cannot be opened.
        PolicyError, ConfigurationError: environment or configuration file has an invalid value.
    """
    found = user_id()
    roles = login_roles()
    if roles is not None and st.session_state.get(_ROLES) != (found, roles):
        roles_of = ContextEngine(_store(), user_id=found).people
        roles_of.take_roles(is_operator=roles.is_operator, is_auditor=roles.is_auditor)
        st.session_state[_ROLES] = (found, roles)
    return _engine(found)


@st.cache_resource(show_spinner=False)
def _store() -> SessionStore:
    store = open_store(database_url())
    housekeeper = ContextEngine(store)
    housekeeper.interrupt_stale_turns()
    housekeeper.jobs.interrupt_stale()
    return store


@st.cache_resource(show_spinner=False, on_release=Housekeeping.stop)
def _housekeeping() -> Housekeeping:
    """Deletes and erases what is due, at start-up and once a day, in a thread of its own."""
    return Housekeeping(ContextEngine(_store(), layers=_layers(), model=default_model()))


@st.cache_resource(show_spinner=False)
def _job_runner() -> JobRunner:
    """What runs the jobs of all users of this process."""
    return JobRunner(_store())


@st.cache_resource(show_spinner=False)
def _layers() -> tuple[Layer, ...]:
    """The policies of environment and file; an error is not cached, so each run raises it."""
    return load_layers()


@st.cache_resource(show_spinner=False)
def plugins() -> list[Plugin]:
    """The installed plug-ins; looking for them takes too long for every run."""
    return load_plugins()


@st.cache_resource(show_spinner=False, max_entries=1_000)
def _engine(user: str) -> ContextEngine:
    found = ContextEngine(
        _store(),
        user_id=user,
        gateway=LiteLLMGateway(),
        model=default_model(),
        layers=_layers(),
        job_runner=_job_runner(),
    )
    instrument_if_asked(found)
    if found.user().name == user and (name := user_name()):
        found.store.update_user(user, name=name)
    demos.prepare_readers()
    with _seeding:
        demos.offer_demos(found, language_of(st.context.locale))
    _housekeeping()
    return found


def warm_up_later() -> None:
    """Imports litellm in the background, once per process, unless it is switched off."""
    if os.environ.get(WARM_UP_VARIABLE) != "0":
        _start_warm_up()


@st.cache_resource(show_spinner=False)
def _start_warm_up() -> threading.Timer:
    timer = threading.Timer(WARM_UP_SECONDS, _warm_up)
    timer.daemon = True
    timer.start()
    return timer


def _warm_up() -> None:
    try:
        load_litellm()
    except ConfigurationError as error:  # pages work without it; a call says the same
        logger.warning("litellm is not there error=%s", error)
