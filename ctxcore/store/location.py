"""Owns where the database is: the argument, else the environment, else the user's data folder."""

from __future__ import annotations

import os
import sys
from pathlib import Path

URL_VARIABLE = "CTXCORE_DATABASE_URL"


def database_url(url: str | None) -> str:
    """The address to open; a plain path names an SQLite file."""
    chosen = url or os.environ.get(URL_VARIABLE) or str(data_folder() / "ctxcore.db")
    if "://" not in chosen:
        return f"sqlite:///{chosen}"
    scheme, _, rest = chosen.partition("://")
    if scheme in ("postgres", "postgresql"):
        return f"postgresql+psycopg://{rest}"
    return chosen


def data_folder() -> Path:
    """Where this system keeps a user's application data."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or "~/AppData/Local"
    elif sys.platform == "darwin":
        base = "~/Library/Application Support"
    else:
        base = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(base).expanduser() / "ctxcore"
