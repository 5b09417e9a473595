"""The dashboard's main script: runs the shell, which runs the page that the address names."""

from __future__ import annotations

from dashboard.shell import run_shell

run_shell()
