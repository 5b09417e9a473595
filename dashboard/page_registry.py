"""The pages of the dashboard, in the order of its navigation."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ctxcore.registries import Registry

_FOLDER: Final = Path(__file__).resolve().parent.parent / "pages"


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page script that the shell shows."""

    name: str
    """Its path in the address."""
    file: Path
    title: str
    """The key of its title in the texts, or the title itself."""
    icon: str = ":material/extension:"
    shows_session: bool = False
    """Whether it shows the current session, so that lists of sessions link to it."""
    is_for_operators: bool = False
    """Whether others neither see nor open it."""


def _own(
    name: str, icon: str, *, shows_session: bool = True, is_for_operators: bool = False
) -> Page:
    return Page(
        name=name,
        file=_FOLDER / f"{name}.py",
        title=f"shell.page.{name}",
        icon=icon,
        shows_session=shows_session,
        is_for_operators=is_for_operators,
    )


PAGES: Final[Registry[Page]] = Registry(
    "page",
    {
        page.name: page
        for page in (
            _own("chat", ":material/chat:"),
            _own("context", ":material/visibility:"),
            _own("usage", ":material/monitoring:"),
            _own("compaction", ":material/compress:"),
            _own("lab", ":material/science:", shows_session=False),
            _own("sessions", ":material/folder_open:", shows_session=False),
            _own("reports", ":material/assessment:", shows_session=False),
            _own("settings", ":material/tune:", shows_session=False),
            _own(
                "health",
                ":material/monitor_heart:",
                shows_session=False,
                is_for_operators=True,
            ),
        )
    },
)


def register_page(page: Page, *, before: str | None = None) -> None:
    """Adds a page to the navigation, at the end or before the one named.

    Raises:
        NameTakenError: there is a page of this name.
        KeyError: there is no page named `before`.
    """
    PAGES.register(page.name, page, before=before)
