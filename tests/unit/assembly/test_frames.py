"""What messages take that become one."""

from __future__ import annotations

import pytest

from ctxcore.assembly.layout import frame_shared
from ctxcore.messages.values import text_message
from ctxcore.tokens.count import count_message, counter_for


@pytest.mark.parametrize("end", ["", ".", " .", "?!", " …", "。", ".)"])
@pytest.mark.parametrize("model", ["gpt-4", "gpt-4o"])
def test_a_frame_that_is_shared_is_as_large_as_joined_texts_say(model: str, end: str) -> None:
    counter, first, second = counter_for(model), f"Rubber buttons{end}", "Titanium scratches."
    alone = [count_message(text_message("user", text), counter) for text in (first, second)]
    joined = count_message(text_message("user", f"{first}\n\n{second}"), counter)

    shared = frame_shared(text_message("user", second), counter, behind=first)

    assert sum(alone) - shared == joined
