"""A running dashboard refuses foreign names on every path: pages, files, uploads, websocket."""

from __future__ import annotations

import http.client
import sys
from pathlib import Path

import pytest

from tests.servers import free_port, serving

ROOT = Path(__file__).resolve().parents[2]
COMMANDS = {
    "streamlit": ["-m", "streamlit", "run", "app.py", "--server.headless=true", "--server.port"],
    "ctxcore": ["-m", "ctxcore.cli", "serve", "--host", "0.0.0.0", "--no-browser", "--port"],
}
PATHS = (
    "/",
    "/chat",
    "/usage",
    "/_stcore/health",
    "/_stcore/host-config",
    "/_stcore/bidi-components/any/index.js",
    "/component/any/index.html",
    "/media/any",
    "/static/any.js",
    "/app/static/any",
    "/favicon.png",
)
STREAM = "/_stcore/stream"
UPLOAD = "/_stcore/upload_file/session/file"
WAYS = ("PUT", "DELETE", "OPTIONS")
UPGRADE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
}


def status(port: int, path: str, host: str, method: str = "GET", **headers: str) -> int:
    """The status of the answer; only its head is read."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request(method, path, headers={"Host": host, **headers})
        return connection.getresponse().status
    finally:
        connection.close()


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_a_dashboard_answers_under_its_own_names_only(command: list[str], tmp_path: Path) -> None:
    port = free_port()
    variables = {
        "CTXCORE_DATABASE_URL": f"sqlite:///{tmp_path / 'test.db'}",
        "CTXCORE_ALLOWED_HOSTS": "ctx.example.org",
        "CTXCORE_WITHOUT_LOGIN": "allow",
    }
    started = [sys.executable, *command, str(port)]
    with serving(started, port, folder=ROOT, log=tmp_path / "log", variables=variables):
        for host in ("evil.example", "127.0.0.1.evil.example:8501"):
            origin = {"Origin": f"http://{host}"}
            pages = {path: status(port, path, host, **origin) for path in PATHS}
            uploads = {way: status(port, UPLOAD, host, way, **origin) for way in WAYS}
            assert pages == dict.fromkeys(PATHS, 403)
            assert uploads == dict.fromkeys(WAYS, 403)
            assert status(port, STREAM, host, **UPGRADE, **origin) == 403

        for host in ("localhost", "127.0.0.1", "[::1]", "ctx.example.org"):
            with_port = f"{host}:{port}"
            origin = {"Origin": f"http://{with_port}"}
            assert status(port, "/", with_port) == 200
            assert status(port, "/_stcore/health", host) == 200
            assert status(port, STREAM, with_port, **UPGRADE, **origin) == 101
