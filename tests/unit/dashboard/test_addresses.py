"""The addresses that the web application answers beside those of its pages."""

from __future__ import annotations

import pytest
from starlette.requests import Request

from app import ROUTES, to_chat


@pytest.mark.parametrize("query", ["", "session=a%20b&x=1"])
def test_the_address_of_the_chat_page_leads_to_it(query: str) -> None:
    asked = {"type": "http", "path": "/chat", "query_string": query.encode(), "headers": []}

    response = to_chat(Request(asked))

    assert [route.path for route in ROUTES] == ["/chat"]
    assert response.status_code == 307
    assert response.headers["location"] == (f"./?{query}" if query else "./")
