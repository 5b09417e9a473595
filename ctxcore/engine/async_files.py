"""Twins for event loops of functions that open stores and files; they load the database's parts."""

from __future__ import annotations

from ctxcore.engine.asynchronous import async_twin
from ctxcore.formats.reading import read_transcripts
from ctxcore.store.sql import open_store

aopen_store = async_twin(open_store)
aread_transcripts = async_twin(read_transcripts)
