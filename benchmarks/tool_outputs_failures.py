"""Failures in long logs of twenty made-up tools: which of their lines are still there.

In a template `{n}` is a number, `{w}` a word, `{p}` a path, `{t}` a time, `{h}` hex digits; those
of one failure are the same in all its lines.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from benchmarks.tool_outputs_lookups import NOUN, PART

LEAST_LINES: Final = 40
MOST_LINES: Final = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A long log and the lines of it that say what failed."""

    content: str
    tool: str
    wanted: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Log:
    """What one tool prints: usual lines, and the lines of a failure."""

    tool: str
    usual: Sequence[str]
    failing: Sequence[Sequence[str]]
    last: Sequence[str] = ()
    """Lines at the end of a log with a failure."""


def make_failures(count: int, seed: int) -> Iterator[Failure]:
    """So many logs, all tools in turn."""
    chance = random.Random(seed)
    for nth in range(count):
        yield _failure(LOGS[nth % len(LOGS)], chance)


def _failure(log: Log, chance: random.Random) -> Failure:
    total = chance.randint(LEAST_LINES, MOST_LINES)
    lines = [_filled(chance.choice(log.usual), chance) for _ in range(total)]
    values = random.Random(chance.random())
    seed = values.random()
    failing = [_filled(line, random.Random(seed)) for line in chance.choice(log.failing)]
    at = chance.randrange(total)
    last = [_filled(line, chance) for line in log.last]
    content = "\n".join([*lines[:at], *failing, *lines[at:], *last])
    return Failure(content=content, tool=log.tool, wanted=(*failing, *last))


def _filled(template: str, chance: random.Random) -> str:
    hour, minute, second = (chance.randrange(top) for top in (24, 60, 60))
    folder, name, word = (chance.choice(PART) for _ in range(3))
    return template.format(
        n=chance.randrange(2, 5000),
        w=f"{word}_{chance.choice(NOUN)}",
        p=f"src/{folder}/{name}_{chance.choice(NOUN)}",
        t=f"2025-03-{chance.randrange(1, 29):02} {hour:02}:{minute:02}:{second:02}",
        h=f"{chance.randrange(16**8):08x}",
    )


LOGS: Final = (
    Log(
        "pytest",
        ["{p}_test.py::test_{w} PASSED [ {n}%]", "{p}_test.py::test_{w}[{n}] PASSED"],
        [["E       AssertionError: assert {n} == 17", "{p}_test.py:{n}: AssertionError"]],
        ["FAILED {p}_test.py::test_{w} - AssertionError: assert {n} == 17"],
    ),
    Log(
        "unittest",
        ["test_{w} ({w}.Case{n}) ... ok"],
        [["test_{w} ({w}.Case{n}) ... FAIL"], ["test_{w} ({w}.Case{n}) ... ERROR"]],
        ["FAILED (failures=1)"],
    ),
    Log(
        "jest",
        ["  ✓ keeps {w} when {w} is set ({n} ms)", "PASS {p}.test.ts"],
        [
            [
                "  ✕ keeps {w} when {w} is gone ({n} ms)",
                "    Expected: {n}",
                "    Received: undefined",
            ]
        ],
        ["Tests:       1 failed, {n} passed, {n} total"],
    ),
    Log(
        "npm",
        ["npm http fetch GET 200 https://registry.example.org/{w} {n}ms (cache hit)"],
        [["npm ERR! code ERESOLVE", "npm ERR! Could not resolve dependency: {w}@{n}"]],
    ),
    Log(
        "cargo",
        ["   Compiling {w} v0.{n}.0", "   Fresh {w} v1.{n}.2"],
        [["error[E0308]: mismatched types", "  --> {p}.rs:{n}:9"]],
        ["error: could not compile `{w}` (lib) due to 1 previous error"],
    ),
    Log(
        "gcc",
        ["gcc -O2 -Wall -c {p}.c -o {p}.o", "[{n}/5000] Building C object {p}.o"],
        [["{p}.c:{n}:12: error: implicit declaration of function '{w}'"]],
        ["make: *** [Makefile:{n}: all] Error 2"],
    ),
    Log(
        "go",
        ["ok  \texample.org/{w}/{w}\t0.{n}s", "=== RUN   Test_{w}", "--- PASS: Test_{w} (0.{n}s)"],
        [["--- FAIL: Test_{w} (0.{n}s)", "    {w}_test.go:{n}: got {n}, want 3"]],
    ),
    Log(
        "java",
        ["{t} INFO  [main] c.e.{w} - loaded {n} entries", "{t} DEBUG [pool-{n}] c.e.{w} - tick"],
        [
            [
                "java.lang.IllegalStateException: {w} is closed",
                "Caused by: java.io.IOException: Broken pipe {h}",
            ]
        ],
    ),
    Log(
        "python",
        ["{t} INFO worker {w}: job {n} done in 0.{n}s"],
        [
            [
                "Traceback (most recent call last):",
                '  File "{p}.py", line {n}, in {w}',
                "KeyError: '{w}'",
            ]
        ],
    ),
    Log(
        "server",
        ["{t} [info] {n}#0: *{n} GET /{w}/{n} 200", "{t} [info] {n}#0: *{n} POST /{w} 201"],
        [
            ["{t} [crit] {n}#0: connect() to 10.0.0.7:{n} refused while connecting to upstream"],
            ["{t} [warn] {n}#0: upstream timed out (110) while reading {w}"],
        ],
    ),
    Log(
        "ssh",
        ["Mar {n} host sshd[{n}]: Accepted publickey for {w} port {n}"],
        [["Mar {n} host sshd[{n}]: Permission denied (publickey) for {w} port {n}"]],
    ),
    Log(
        "containers",
        ["{h}: Pull complete", "Step {n}/5000 : COPY {p} /app/{w}", " ---> {h}"],
        [["cannot open '{p}.lock': No such file or directory"], ["exec {p}.sh: permission denied"]],
        ["The command '/bin/sh -c make {w}' returned a non-zero code: 127"],
    ),
    Log(
        "cluster",
        ["Normal  Pulled  {n}s  kubelet  Container image {w} already present", "pod/{w}-{h} ready"],
        [["Warning  BackOff  {n}s  kubelet  Back-off restarting container {w} in pod {w}-{h}"]],
    ),
    Log(
        "infrastructure",
        [
            "{w}_{n}.main: Refreshing state... [id={h}]",
            "{w}_{n}.main: Creation complete after {n}s",
        ],
        [["│ Error: Invalid index on {p}.tf line {n}", "│ The given key does not identify {w}"]],
    ),
    Log(
        "deploy",
        ["ok: [host{n}] => (item={w})", "changed: [host{n}] => (item={p})"],
        [["fatal: [host{n}]: UNREACHABLE! => {{'msg': 'Failed to connect to {w}'}}"]],
    ),
    Log(
        "sync",
        ["copied {p}.dat ({n} KB)", "skipped {p}.dat (unchanged)"],
        [
            ["could not write {p}.dat: disk full after {n} KB"],
            ["unable to reach {w}.example.org: name not found"],
            ["aborted: lock {p}.lck is held by process {n}"],
        ],
        ["exit status 23"],
    ),
    Log(
        "database",
        ["{t} LOG:  statement: SELECT * FROM {w} WHERE id = {n}", "{t} LOG:  duration: {n} ms"],
        [
            ["{t} ERROR:  deadlock detected in {w}", "{t} DETAIL:  Process {n} waits for {h}"],
            ["{t} LOG:  connection to {w} lost, giving up after {n} tries"],
        ],
    ),
    Log(
        "json lines",
        ['{{"ts":"{t}","level":"info","msg":"handled {w}","ms":{n}}}'],
        [['{{"ts":"{t}","level":"error","msg":"cannot parse {w}","line":{n}}}']],
    ),
    Log(
        "服务",
        ["{t} 信息 处理订单 {n} 完成", "{t} 信息 读取 {p} 共 {n} 行"],
        [
            ["{t} 错误 订单 {n} 写入失败:磁盘已满"],
            ["{t} 警告 连接 {w} 超时,已重试 {n} 次"],
            ["{t} 无法打开 {p}:权限不足"],
            ["{t} 找不到文件 {p}.csv"],
        ],
    ),
    Log(
        "agent",
        ["✔ step {n}: {w} finished", "… reading {p}.md"],
        [
            ["✘ step {n}: {w} did not finish"],
            ["✗ {p}.md could not be read"],
            ["process {n} exited with code 137"],
            ["step {n} crashed while {w} was open"],
        ],
    ),
)
