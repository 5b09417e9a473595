"""Runs the command line as `python -m ctxcore.cli`."""

from ctxcore.cli import app

app(prog_name="ctxcore")
