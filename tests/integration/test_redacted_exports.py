"""An export without secrets holds none in any form, and imports as before."""

from __future__ import annotations

import json

from ctxcore.exports.registry import EXPORT_FORMS
from tests.engines import engine_with

KEY = "AKIA" + "Q3EGRZ7WTN5X" + "2MLB"
PASSWORD = "k9#Tulip-Mornings4"


def test_no_form_of_an_export_holds_a_secret_that_was_found() -> None:
    with engine_with() as (engine, _):
        session = engine.create_session(f"about {KEY}", system="You help.")
        call = {"name": "login", "arguments": json.dumps({"password": PASSWORD})}
        engine.append(
            session.id,
            [
                {"role": "user", "content": f"use {KEY}"},
                {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [{"id": "c1", "type": "function", "function": call}],
                },
                {"role": "tool", "tool_call_id": "c1", "content": f"in as ann with {PASSWORD}"},
            ],
        )

        counts = engine.secrets_in(session.id)
        exports = {
            name: b"".join(
                file.data for file in engine.export_many([session.id], name, redacts=True)
            ).decode("utf-8", "replace")
            for name, form in EXPORT_FORMS.items()
            if not form.is_joined
        }

        assert counts == {"aws_key": 1, "password": 1}
        for text in exports.values():
            assert KEY not in text
            assert PASSWORD not in text
            assert "[redacted: AWS key 1]" in text
            assert "[redacted: password 1]" in text
        [copy] = engine.import_(exports["native"], name="copy.jsonl")
        assert engine.secrets_in(copy.id) == {}
        assert KEY in engine.export(session.id)
