"""The dashboard's main script: the shell, and in it the page that the address names."""

from dashboard.shell import run_shell

run_shell()
