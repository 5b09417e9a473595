"""The command line `ctxcore`: one module for each command, and modules that they share.

Commands read files, call the library and print the result. They import the library's heavier parts
when they run, so that help appears at once.
"""

from __future__ import annotations

from typing import Annotated

import typer

from ctxcore import __version__
from ctxcore.cli.alerts import run_alerts
from ctxcore.cli.autopsying import run_autopsy
from ctxcore.cli.checking import run_check
from ctxcore.cli.compacting import run_compact
from ctxcore.cli.comparing import run_compare
from ctxcore.cli.compressing import run_compress
from ctxcore.cli.doctor import run_backup, run_doctor, run_restore
from ctxcore.cli.exporting import run_export as run_export_sessions
from ctxcore.cli.fitting import run_fit
from ctxcore.cli.formats import run_formats
from ctxcore.cli.health import run_health
from ctxcore.cli.importing import run_import as run_import_files
from ctxcore.cli.inspecting import run_inspect
from ctxcore.cli.mcp import run_mcp
from ctxcore.cli.output import print_error
from ctxcore.cli.people import run_audit, run_users
from ctxcore.cli.policies import run_fields, run_show
from ctxcore.cli.policy_files import run_export, run_import
from ctxcore.cli.policy_reports import run_effects, run_history
from ctxcore.cli.recalling import run_recall
from ctxcore.cli.replaying import run_replay
from ctxcore.cli.savings import run_savings, run_shadow
from ctxcore.cli.serving import run_serve
from ctxcore.cli.sessions import run_expand, run_sessions
from ctxcore.cli.signals import run_signals
from ctxcore.plugins import load_plugins

__all__ = ["app"]

app = typer.Typer(
    name="ctxcore",
    help="See what fills the context window of recorded conversations, and what would fit in it.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,  # its tracebacks print locals, which hold users' texts
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(is_set: bool) -> None:
    if is_set:
        typer.echo(f"ctxcore {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """See what fills the context window of recorded conversations, and what would fit in it."""
    for plugin in load_plugins():
        if plugin.problem is not None:
            print_error(str(plugin.problem))


app.command("serve")(run_serve)
app.command("mcp")(run_mcp)
app.command("inspect")(run_inspect)
app.command("autopsy")(run_autopsy)
app.command("fit")(run_fit)
app.command("compact")(run_compact)
app.command("compare")(run_compare)
app.command("replay")(run_replay)
app.command("check")(run_check)
app.command("compress")(run_compress)
app.command("formats")(run_formats)
app.command("import")(run_import_files)
app.command("sessions")(run_sessions)
app.command("export")(run_export_sessions)
app.command("expand")(run_expand)
app.command("recall")(run_recall)
app.command("signals")(run_signals)
app.command("savings")(run_savings)
app.command("shadow")(run_shadow)
app.command("alerts")(run_alerts)
app.command("users")(run_users)
app.command("audit")(run_audit)
app.command("health")(run_health)
app.command("doctor")(run_doctor)
app.command("backup")(run_backup)
app.command("restore")(run_restore)

_policy = typer.Typer(
    no_args_is_help=True, help="See the fields of policies, their values, changes and effects."
)
_policy.command("fields")(run_fields)
_policy.command("show")(run_show)
_policy.command("export")(run_export)
_policy.command("import")(run_import)
_policy.command("history")(run_history)
_policy.command("effects")(run_effects)
app.add_typer(_policy, name="policy")
