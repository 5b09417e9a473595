"""A chat endpoint whose requests stay within the window; runs without a key.

uvicorn examples.fastapi.app:app --port 8000
"""

from __future__ import annotations

import litellm
from fastapi import FastAPI
from pydantic import BaseModel

from ctxcore import ContextEngine, open_store, reply_of

MODEL = "gpt-4o"
ANSWER = "Noted."  # stands for the provider's; without it a key is needed

app = FastAPI()
engine = ContextEngine(open_store("sqlite://"), user_id="web", model=MODEL)


class Said(BaseModel):
    """What a user says, in a session or a new one."""

    text: str
    session: str = ""


class Answer(BaseModel):
    """The answer, and the session to go on in."""

    text: str
    session: str


@app.post("/chat")
async def chat(said: Said) -> Answer:
    """Answers a message with what fits of the session."""
    session = said.session or (await engine.acreate_session(said.text[:80])).id
    call = await engine.abegin_call(session, [{"role": "user", "content": said.text}])
    response = await litellm.acompletion(
        model=MODEL, messages=call.context.messages, mock_response=ANSWER
    )
    await engine.aend_call(call, reply_of(response))
    return Answer(text=response.choices[0].message.content or "", session=session)
