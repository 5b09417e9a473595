"""Places of a session in the address of its page: a message, a call, a turn, a compaction.

`/?session=…&m=135` is message 135. Numbers count from 1. A link takes a place; a page follows it,
and names the place that a person chose, so that Back and a copied address lead there again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

import streamlit as st

from dashboard.safe_markdown import plain_label
from dashboard.texts import t

Place: TypeAlias = Literal["m", "call", "turn", "compaction"]

PAGES: Final[dict[Place, str]] = {
    "m": "../pages/chat.py",
    "call": "../pages/usage.py",
    "turn": "../pages/usage.py",
    "compaction": "../pages/compaction.py",
}
CONTEXT_PAGE: Final = "../pages/context.py"
"""Shows a call as well: `call=` is its context there."""


def named(place: Place) -> int | None:
    """The number that the address names, if it is one."""
    text = st.query_params.get(place, "")
    return int(text) if text.isdecimal() and len(text) < 10 and int(text) else None


def name_place(place: Place, number: int | None) -> None:
    """Writes a place into the address, or takes it out."""
    if number is None:
        st.query_params.pop(place, None)
    elif st.query_params.get(place) != str(number):
        st.query_params[place] = str(number)


def forget_places() -> None:
    """Takes all places out of the address: they are of another session."""
    for place in PAGES:
        st.query_params.pop(place, None)


def follow(place: Place, pick: str, options: Mapping[int, object]) -> None:
    """Selects what the address names in the list with the key `pick`, once for each address.

    `options` are the list's options by their numbers.
    """
    state, number, followed = st.session_state, named(place), f"{pick}_followed"
    is_new = pick not in state or state.get(followed) != number  # a first visit, or another address
    if is_new and number is not None and number in options:
        state[pick] = options[number]
    state[followed] = number


def name_choice(place: Place, pick: str, number: int, *, default: int) -> None:
    """Names what is selected in the list with the key `pick`, unless it is the default."""
    wanted = None if number == default and named(place) is None else number
    name_place(place, wanted)
    st.session_state[f"{pick}_followed"] = wanted


def place_link(
    session_id: str, place: Place, number: int, *, label: str, icon: str, page: str | None = None
) -> None:
    """Draws a link to a place, on its own page unless another is named."""
    st.page_link(
        page or PAGES[place],
        label=label,
        icon=icon,
        query_params={"session": session_id, place: str(number)},
    )


def place_button(place: Place, number: int, *, label: str, icon: str, key: str) -> None:
    """Draws a button to a place of the page that is shown, which a link would leave as it is."""
    st.button(label, key=key, icon=icon, type="tertiary", on_click=name_place, args=(place, number))


_TRY: Final = "try"


def try_link(session_id: str, preset: str) -> None:
    """Draws a link to the Lab, with a session and a preset chosen there."""
    st.page_link(
        "../pages/lab.py",
        label=t("story.try.lab", name=plain_label(preset)),
        icon=":material/science:",
        query_params={"session": session_id, _TRY: preset},
    )


def asked_preset() -> str | None:
    """The preset that the address asks the Lab to try; told once."""
    return st.query_params.pop(_TRY, None)


_WHY: Final = "why"


def why_link(session_id: str, seq: int) -> None:
    """Draws a link to message `seq` that opens its story."""
    st.page_link(
        PAGES["m"],
        label=t("story.why.link"),
        icon=":material/help_center:",
        query_params={"session": session_id, "m": str(seq), _WHY: "1"},
    )


def is_asked_why() -> bool:
    """Whether the address asks for the story of its message; told once."""
    return st.query_params.pop(_WHY, None) is not None
