"""A conversation through LiteLLM Proxy, started with the `config.yaml` beside this file."""

from __future__ import annotations

import json
import os
from typing import Any
from urllib.request import Request, urlopen

URL = os.environ.get("PROXY_URL", "http://127.0.0.1:4000")
KEY = os.environ["LITELLM_MASTER_KEY"]

messages: list[dict[str, Any]] = []
for turn in range(3):
    messages.append({"role": "user", "content": f"Delivery {turn} has {turn * 17} crates."})
    body = json.dumps({"model": "demo", "messages": messages}).encode()
    headers = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
    with urlopen(Request(f"{URL}/v1/chat/completions", body, headers)) as answer:
        said = json.load(answer)["choices"][0]["message"]
        session = answer.headers["x-ctxcore-session"]
    messages.append({"role": "assistant", "content": said["content"]})
    print(f"turn {turn + 1} of session {session}: {said['content']}")
