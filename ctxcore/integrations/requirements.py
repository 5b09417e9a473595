"""Says how to install the package of a framework that is missing."""

from __future__ import annotations

from ctxcore.errors import ConfigurationError
from ctxcore.packages import is_installed
from ctxcore.reasons.problems import PackageProblem


def require(package: str, *, extra: str) -> None:
    """Checks that `package` is there, without importing it.

    Raises:
        ConfigurationError: it is not installed; `extra` of this library brings it.
    """
    if not is_installed(package):
        command = f'pip install "ctxcore-window[{extra}]"'
        raise ConfigurationError(problem=PackageProblem.MISSING(package=package, command=command))
