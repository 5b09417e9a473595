"""One detector of errors for facts, compression and summaries."""

from __future__ import annotations

import pytest

from ctxcore.text.signals import error_report, is_error_reply, mentions_error

REPORTS = [
    "Error: connect ECONNREFUSED 127.0.0.1:5432",
    "connect ECONNREFUSED 127.0.0.1:5432",
    "npm ERR! code ENOENT",
    "Killed",
    "worker-7  0/1  OOMKilled  3  12m",
    "web-0  0/1  CrashLoopBackOff  5  4m",
    "[1]    4242 segmentation fault (core dumped)  ./server",
    "ValueError: no such port",
    "main.go:12:2: error: undefined name",
    "src/app.ts(3,5): error TS2322: Type 'string'",
    "bash: kubectl: command not found",
    "cat: notes.md: No such file or directory",
    "2026-03-02 ERROR worker: job 7 broke off",
    "FAILED tests/test_port.py::test_open",
    "fatal: not a git repository",
    "panic: runtime error: index out of range",
    "java.lang.NullPointerException: name",
    "错误：找不到文件",
    "失敗：無法連線",
]
MENTIONS = [
    "the login was denied for user ada",
    "request timed out after 30 s",
    "status: forbidden",
]
NEITHER = [
    "everything went well",
    "12 passed in 0.4 s",
    "the terror of the deep",
    "the enemy had killed the mayor of the village",
    "he skilled up in a week",
    "def handle(request):",
    "一切正常",
]


@pytest.mark.parametrize("line", REPORTS)
def test_a_line_that_reports_an_error(line: str) -> None:
    assert error_report(line)
    assert mentions_error(line)


@pytest.mark.parametrize("line", MENTIONS)
def test_a_line_that_speaks_of_an_error(line: str) -> None:
    assert mentions_error(line)
    assert not error_report(line)


@pytest.mark.parametrize("line", NEITHER)
def test_a_line_without_errors(line: str) -> None:
    assert not mentions_error(line)
    assert not error_report(line)


@pytest.mark.parametrize("line", ["0 errors", "errors: 0", "no failures: FAILED 0 failed"])
def test_a_report_that_there_was_none(line: str) -> None:
    assert not error_report(line)


@pytest.mark.parametrize(
    "line", ["    raise ValueError('x')", "+ except Error:", "12→ log.error('Error: x')"]
)
def test_code_that_handles_errors_reports_none(line: str) -> None:
    assert not error_report(line)


def test_an_error_in_place_of_an_answer() -> None:
    assert is_error_reply("Error: quota exceeded")
    assert is_error_reply("HTTP 502 Bad Gateway")
    assert is_error_reply("502 Bad Gateway")
    assert is_error_reply("<html><head><title>503 Service Unavailable</title></head></html>")
    assert is_error_reply("upstream connect error or disconnect/reset before headers")
    assert is_error_reply("This model's maximum context length is 8192 tokens.")
    assert is_error_reply("litellm.APIConnectionError: OllamaException - Server disconnected.")
    assert is_error_reply("Internal Server Error")
    assert is_error_reply("Rate limit reached for gpt-4o on tokens per min")
    assert is_error_reply("The server is overloaded, please try again later.")
    assert is_error_reply("请求失败：服务器繁忙，请稍后再试。")
    assert is_error_reply("服务暂时不可用，请稍后重试")
    assert is_error_reply("系统繁忙，请稍后再试")
    assert not is_error_reply("The error was fixed: the port is 8080.")
    assert not is_error_reply("The user saw 502 Bad Gateway and raised the rate limit.")
    assert not is_error_reply("Rate limits were discussed; 100 a minute are enough.")
    assert not is_error_reply("Request: fix the proxy that answers 502.")
    assert not is_error_reply("请求失败的原因是端口错误，已修复。")
    assert not is_error_reply("服务器已重启，用户满意。")
