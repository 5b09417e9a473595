"""The files in deploy/ agree with each other and with what they deploy."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import yaml

DEPLOY = Path(__file__).resolve().parent.parent.parent / "deploy"


def read(name: str) -> str:
    return (DEPLOY / name).read_text(encoding="utf-8")


def services() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(read("compose.yaml"))["services"]
    return found


def test_every_variable_of_the_services_is_explained() -> None:
    used = set(re.findall(r"\$\{([A-Z_]+)", read("compose.yaml")))
    named = set(re.findall(r"^([A-Z_]+)=", read("env.example"), flags=re.MULTILINE))

    assert used == named


def test_all_services_of_ours_work_on_the_same_database() -> None:
    urls = {
        found["environment"]["CTXCORE_DATABASE_URL"]
        for name, found in services().items()
        if name in ("app1", "app2", "proxy")
    }

    assert len(urls) == 1


def test_the_balancer_knows_exactly_the_services_that_there_are() -> None:
    balanced = re.findall(r"server (\w+):\d+", read("nginx.conf"))

    assert sorted(balanced) == sorted(services().keys() - {"balancer", "postgres"})
    assert services()["balancer"]["depends_on"] == balanced


def test_what_is_mounted_and_built_is_there() -> None:
    mounted = [
        volume.split(":")[0] for found in services().values() for volume in found.get("volumes", ())
    ]

    files = {DEPLOY / name for name in mounted if name.startswith("./")}
    assert files
    assert DEPLOY / "secrets.toml" in files  # copied from its example, and filled in
    assert all(path.is_file() for path in files - {DEPLOY / "secrets.toml"})
    assert set(tomllib.loads(read("secrets.example"))) == {"auth"}
    assert (DEPLOY.parent / services()["proxy"]["build"]["dockerfile"]).is_file()


def test_the_proxy_calls_the_hook() -> None:
    called = yaml.safe_load(read("litellm.yaml"))["litellm_settings"]["callbacks"]

    assert called == "ctxcore.integrations.litellm_proxy.ctxcore_hook"
