"""`ctxcore serve`: opens the dashboard, from any folder.

A wheel carries the dashboard in a private folder of the library; in a checkout it stands beside it.
"""

from __future__ import annotations

import os
import runpy
import sys
from pathlib import Path
from typing import Annotated

import typer

from ctxcore.cli.options import Database
from ctxcore.cli.output import print_error
from ctxcore.packages import is_installed
from ctxcore.reasons.problems import PackageProblem

_LIBRARY = Path(__file__).resolve().parent.parent
_PLACES = (_LIBRARY / "_dashboard", _LIBRARY.parent)
_NEEDED = ("streamlit", "plotly")
_EVERY_ADDRESS = ("0.0.0.0", "::")
_INSTALL = 'pip install "ctxcore-window[dashboard]"'

Host = Annotated[
    str,
    typer.Option(
        "--host",
        metavar="ADDRESS",
        help="Address to listen on. Others than 127.0.0.1 are reachable from the network.",
    ),
]
Port = Annotated[
    int | None,
    typer.Option(
        "--port", metavar="N", min=1, max=65_535, help="Port; default: 8501, or the next free one."
    ),
]
Model = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="NAME",
        help="Model of new sessions; default: CTXCORE_MODEL, or the built-in model.",
    ),
]
OpensBrowser = Annotated[
    bool, typer.Option("--browser/--no-browser", help="Open the dashboard in a web browser.")
]


def run_serve(
    host: Host = "127.0.0.1",
    port: Port = None,
    database: Database = None,
    model: Model = None,
    opens_browser: OpensBrowser = True,
) -> None:
    """Open the dashboard; Ctrl-C ends it.

    Sessions are kept in the user's data folder unless --database or CTXCORE_DATABASE_URL names
    another place.
    """
    from ctxcore.store.sql import DATABASE_VARIABLE, database_url

    script = dashboard_script()
    missing = next((name for name in _NEEDED if not is_installed(name)), None)
    if script is None or missing is not None:
        print_error(
            str(
                PackageProblem.MISSING(
                    package=missing or "ctxcore-window[dashboard]", command=_INSTALL
                )
            )
        )
        raise typer.Exit(1)
    os.environ[DATABASE_VARIABLE] = database_url(database)
    if model is not None:
        os.environ["CTXCORE_MODEL"] = model
    sys.argv = ["streamlit", "run", str(script), *_flags(host, port, opens_browser=opens_browser)]
    runpy.run_module("streamlit", run_name="__main__", alter_sys=True)


def dashboard_script() -> Path | None:
    """The dashboard's main script; None where it is not installed."""
    return next((place / "app.py" for place in _PLACES if _is_dashboard(place)), None)


def _is_dashboard(folder: Path) -> bool:
    return (folder / "app.py").is_file() and (folder / "dashboard" / "main.py").is_file()


def _flags(host: str, port: int | None, *, opens_browser: bool) -> list[str]:
    """What differs from the settings that are packed with the dashboard."""
    flags = [f"--server.address={host}"]
    flags.append("--server.fileWatcherType=none")  # installed code does not change while it runs
    if host in _EVERY_ADDRESS:  # else Streamlit asks another server for this one's address
        flags.append("--browser.serverAddress=localhost")
    if port is not None:
        flags.append(f"--server.port={port}")
    if not opens_browser:
        flags.append("--server.headless=true")
    return flags
